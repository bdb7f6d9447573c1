# SPDX-License-Identifier: Apache-2.0
"""cloudsim must not be what limits a measurement: many connections, latency side by side, little processor time."""
import concurrent.futures
import http.client
import os
import time

import botocore.auth
import botocore.awsrequest
import botocore.credentials

from simulator import KEY, CloudsimTest

CONNECTIONS = 100
CALLS = 1000


class Performance(CloudsimTest):
    knobs = {"throttling": False, "latency_ms": {"CreateTags": 100}}

    def processor_seconds(self):
        with open("/proc/%d/stat" % self.sim.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def signed(self, number, machine):
        body = ("Action=CreateTags&Version=2016-11-15&ResourceId.1=%s&Tag.1.Key=Name&Tag.1.Value=node-%d"
                % (machine, number))
        request = botocore.awsrequest.AWSRequest("POST", self.sim.url + "/", data=body, headers={
            "Content-Type": "application/x-www-form-urlencoded"})
        botocore.auth.SigV4Auth(botocore.credentials.Credentials(*KEY.values()), "ec2", "us-east-1").add_auth(request)
        return body, dict(request.headers.items())

    def test_a_thousand_slow_calls_over_a_hundred_connections(self):
        ids = self.fleet_ids(CALLS)
        requests = [self.signed(n, machine) for n, machine in enumerate(ids)]
        address = self.sim.url.split("//")[1]

        def serve(share):
            connection = http.client.HTTPConnection(address, timeout=30)
            statuses = []
            for body, headers in share:
                connection.request("POST", "/", body, headers)
                reply = connection.getresponse()
                reply.read()
                statuses.append(reply.status)
            connection.close()
            return statuses

        before = self.processor_seconds()
        started = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            shares = [requests[n::CONNECTIONS] for n in range(CONNECTIONS)]
            statuses = [status for part in pool.map(serve, shares) for status in part]
        seconds = time.monotonic() - started
        used = self.processor_seconds() - before
        self.assertEqual(statuses, [200] * CALLS)
        self.assertEqual({i["tags"]["Name"] for i in self.sim.instances()}, {"node-%d" % n for n in range(CALLS)})
        self.assertGreater(self.sim.calls("CreateTags")["peak_concurrency"], CONNECTIONS // 4)
        print("%d calls: %.2f s, of which cloudsim computed %.3f s" % (CALLS, seconds, used))
        # 10 rounds of 100 ms are the floor; the rest is this client's, and the margin for a busy computer.
        self.assertGreater(seconds, 1.0)
        self.assertLess(seconds, 10.0)
        self.assertLess(used, 1.0)

    def test_idle_connections_cost_nothing(self):
        address = self.sim.url.split("//")[1]
        connections = [http.client.HTTPConnection(address, timeout=30) for _ in range(256)]
        for connection in connections:
            connection.request("GET", "/_control/machines")
            connection.getresponse().read()
        self.assertGreaterEqual(self.sim.control("GET", "/calls")["connections"], 256)
        before = self.processor_seconds()
        time.sleep(0.5)
        self.assertLessEqual(self.processor_seconds() - before, 0.02)
        for connection in connections:
            connection.close()
