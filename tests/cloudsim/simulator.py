# SPDX-License-Identifier: Apache-2.0
"""Starts cloudsim for a test and speaks to it through botocore and its control API."""
import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import boto3
import botocore.config

KEY = {"aws_access_key_id": "AKIACLOUDSIM00000001", "aws_secret_access_key": "cloudsim-secret-key"}
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def wait_until(condition, seconds=20):
    """Asks again and again, as one who watches from outside must; gives the first true value, or fails."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("it did not become true in %s seconds" % seconds)
        time.sleep(0.005)


def http(method, url, body=None, headers=None):
    """(status, text) of a plain request."""
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with DIRECT.open(request, timeout=20) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Simulator:
    def __init__(self, *options, knobs=None):
        self.clients = []
        self.folder = tempfile.TemporaryDirectory(prefix="cloudsim-test-")
        port_file = self.path("port")
        command = [os.environ["CLOUDSIM"], "--port-file", port_file, "--seed", "7", *options]
        if knobs is not None:
            with open(self.path("knobs.json"), "w") as file:
                json.dump(knobs, file)
            command += ["--config", self.path("knobs.json")]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(port_file) or self.process.poll() is not None)
        with open(port_file) as file:
            self.url = "http://127.0.0.1:" + file.read().strip()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def stop(self):
        self.process.terminate()
        status = self.process.wait(20)
        self.folder.cleanup()
        return status

    def control(self, method, path, **body):
        data = json.dumps(body).encode() if method == "POST" else None
        status, text = http(method, self.url + "/_control" + path, data)
        if status != 200:
            raise AssertionError("%s %s: %s %s" % (method, path, status, text))
        return json.loads(text)

    def fault(self, action, kind, **more):
        return self.control("POST", "/faults", action=action, kind=kind, **more)

    def instances(self):
        return self.control("GET", "/instances")

    def calls(self, action):
        return self.control("GET", "/calls")["actions"].get(action, {"attempts": 0, "ok": 0, "errors": {}})

    def client(self, service="ec2", region="us-east-1", key=None, attempts=1, **config):
        """A client that does not retry unless it is told to."""
        client = boto3.client(
            service, region_name=region, endpoint_url=self.url, **(key or KEY),
            config=botocore.config.Config(retries={"total_max_attempts": attempts, "mode": "standard"}, proxies={},
                                          **config))
        self.clients.append(client)
        return client

    def close_clients(self):
        for client in self.clients:
            client.close()
        self.clients.clear()


class CloudsimTest(unittest.TestCase):
    """One cloudsim for the class, as new for each test."""
    options = ()
    knobs = None

    @classmethod
    def setUpClass(cls):
        cls.sim = Simulator(*cls.options, knobs=cls.knobs)

    @classmethod
    def tearDownClass(cls):
        status = cls.sim.stop()
        assert status == 0, "cloudsim ended with %s" % status

    def setUp(self):
        self.sim.control("POST", "/reset")
        self.ec2 = self.sim.client()

    def tearDown(self):
        self.sim.close_clients()

    def refused(self, code, call, **parameters):
        """Asserts that the call ends in that error; gives (HTTP status, message)."""
        with self.assertRaises(self.ec2.exceptions.ClientError) as caught:
            call(**parameters)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return (caught.exception.response["ResponseMetadata"]["HTTPStatusCode"],
                caught.exception.response["Error"]["Message"])

    def fleet(self, count, overrides=None, ec2=None, **more):
        overrides = overrides or [{"InstanceType": "c5.large", "SubnetId": "subnet-11111111"}]
        request = {
            "Type": "instant",
            "TargetCapacitySpecification": {"TotalTargetCapacity": count, "DefaultTargetCapacityType": "on-demand"},
            "LaunchTemplateConfigs": [{
                "LaunchTemplateSpecification": {"LaunchTemplateName": "template-name", "Version": "$Latest"},
                "Overrides": overrides,
            }],
        }
        request.update(more)
        return (ec2 or self.ec2).create_fleet(**request)

    def fleet_ids(self, count, **more):
        return ids_of(self.fleet(count, **more))

    def described(self, **parameters):
        pages = self.ec2.get_paginator("describe_instances").paginate(**parameters)
        return [instance for page in pages for reservation in page["Reservations"]
                for instance in reservation["Instances"]]


def ids_of(fleet):
    return [instance for item in fleet["Instances"] for instance in item["InstanceIds"]]


def tags_of(resource):
    return {tag["Key"]: tag["Value"] for tag in resource["Tags"]}
