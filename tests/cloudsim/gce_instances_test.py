# SPDX-License-Identifier: Apache-2.0
"""Machines, operations and lists of the simulated Compute Engine."""
import datetime
import threading
import unittest
import uuid

from gce_simulator import LINK, PROJECT, REGION, ZONE, ComputeTest
from simulator import http, wait_until


class BulkInsert(ComputeTest):
    def test_makes_the_machines_that_are_named(self):
        operation = self.done(self.bulk(["n-1", "n-10", "n-2"], instanceProperties={"labels": {"cluster": "c"}}))
        self.assertNotIn("error", operation)
        counts = operation["instancesBulkInsertOperationMetadata"]["perLocationStatus"]["zones/" + ZONE]
        self.assertEqual((counts["targetVmCount"], counts["createdVmCount"], counts["status"]), (3, 3, "DONE"))
        machine = self.machine("n-10")
        self.assertEqual(machine["machineType"], LINK + "zones/%s/machineTypes/n2-standard-2" % ZONE)
        self.assertEqual(machine["labels"], {"cluster": "c"})
        self.assertTrue(machine["networkInterfaces"][0]["networkIP"].startswith("127.20."))
        wait_until(lambda: self.machine("n-10")["status"] == "RUNNING")
        inserts = self.call("GET", "zones/%s/operations" % ZONE, filter="(operationGroupId eq \"%s\") AND (operationType eq "
                            "\"insert\")" % operation["operationGroupId"])["items"]
        self.assertEqual(sorted(item["targetLink"].rsplit("/", 1)[1] for item in inserts), ["n-1", "n-10", "n-2"])

    def test_a_machine_passes_through_its_states(self):
        self.turn(boot_ms=400, terminate_ms=300)
        self.bulk(["n-1"])
        seen = []

        def watch(last):
            state = self.states().get("n-1", "gone")
            if not seen or seen[-1] != state:
                seen.append(state)
            return state == last
        wait_until(lambda: watch("RUNNING"))
        operation = self.call("DELETE", "zones/%s/instances/n-1" % ZONE)
        wait_until(lambda: watch("gone"))
        self.assertEqual(seen, ["PROVISIONING", "STAGING", "RUNNING", "STOPPING", "gone"])
        self.done(operation)
        self.refused(404, "notFound", "GET", "zones/%s/instances/n-1" % ZONE)

    def test_an_operation_takes_its_time_and_wait_waits_for_it(self):
        self.turn(operation_ms=300)
        operation = self.bulk(["n-1"])
        path = operation["selfLink"].split(PROJECT + "/")[1]
        self.assertEqual(operation["status"], "PENDING")
        self.assertEqual(self.call("GET", path)["status"], "PENDING")
        self.assertEqual(self.call("POST", path + "/wait")["status"], "DONE")
        self.turn(wait_ms=50)
        operation = self.bulk(["n-2"])
        self.assertNotEqual(self.call("POST", operation["selfLink"].split(PROJECT + "/")[1] + "/wait")["status"], "DONE")
        self.done(operation)

    def test_a_reset_lets_nobody_wait_for_ever(self):
        self.turn(operation_ms=60000)
        path = self.bulk(["n-1"])["selfLink"].split(PROJECT + "/")[1]
        url = "%s/compute/v1/projects/%s/%s/wait" % (self.sim.url, PROJECT, path)
        waiting = threading.Thread(target=http, args=("POST", url, b"", {"Authorization": "Bearer " + self.token}))
        waiting.start()
        wait_until(lambda: self.sim.calls("Zoneoperations.wait")["attempts"] == 1)
        self.sim.control("POST", "/reset")
        waiting.join(10)
        self.assertFalse(waiting.is_alive())

    def test_what_lacks_is_told_for_each_machine(self):
        self.sim.control("POST", "/gce/capacity", type="n2-standard-2", where=ZONE, available=2)
        operation = self.done(self.bulk(["n-1", "n-2", "n-3"], minCount="1"))
        self.assertNotIn("error", operation)
        counts = operation["instancesBulkInsertOperationMetadata"]["perLocationStatus"]["zones/" + ZONE]
        self.assertEqual((counts["createdVmCount"], counts["failedToCreateVmCount"]), (2, 1))
        failed = [item for item in self.call("GET", "zones/%s/operations" % ZONE,
                                             filter="operationGroupId=" + operation["operationGroupId"])["items"]
                  if "error" in item]
        self.assertEqual([item["error"]["errors"][0]["code"] for item in failed], ["ZONE_RESOURCE_POOL_EXHAUSTED"])
        self.assertEqual((failed[0]["httpErrorStatusCode"], failed[0]["targetLink"].rsplit("/", 1)[1]), (503, "n-3"))

    def test_too_few_are_rolled_back(self):
        self.turn(quota={"vms": 2}, terminate_ms=100)
        operation = self.done(self.bulk(["n-1", "n-2", "n-3"]))
        self.assertEqual(self.codes(operation), ["VM_MIN_COUNT_NOT_REACHED"])
        counts = operation["instancesBulkInsertOperationMetadata"]["perLocationStatus"]["zones/" + ZONE]
        self.assertEqual((counts["createdVmCount"], counts["deletedVmCount"]), (2, 2))
        self.assertEqual(self.states(), {})
        inserts = self.call("GET", "zones/%s/operations" % ZONE, filter="operationType=insert")["items"]
        self.assertEqual(sorted(self.codes(item)[0] for item in inserts if "error" in item), ["QUOTA_EXCEEDED"])
        self.turn(insert_operations=False)
        operation = self.done(self.bulk(["n-1", "n-2", "n-3"]))
        all_of_it = self.call("GET", "zones/%s/operations" % ZONE,
                              filter="operationGroupId=" + operation["operationGroupId"])["items"]
        self.assertEqual([item["operationType"] for item in all_of_it], ["bulkInsert"])

    def test_a_name_is_there_once_in_a_zone(self):
        self.done(self.bulk(["n-1"]))
        operation = self.done(self.bulk(["n-1", "n-2"], minCount="1"))
        self.assertNotIn("error", operation)
        failed = self.call("GET", "zones/%s/operations" % ZONE, filter="operationType eq insert")["items"]
        self.assertEqual([self.codes(item) for item in failed if "error" in item], [["RESOURCE_ALREADY_EXISTS"]])
        self.assertEqual(sorted(self.states()), ["n-1", "n-2"])

    def test_a_region_has_room_where_its_policy_lets_it_look(self):
        self.turn(capacity=[{"where": "us-central1-a", "available": 1}, {"where": "us-central1-b", "available": 2}])
        policy = {"zones": [{"zone": "zones/us-central1-a"}, {"zone": "zones/us-central1-b"}]}

        def zones(shape, names):
            self.done(self.bulk(names, "regions/" + REGION, minCount="1",
                                locationPolicy={"targetShape": shape, **policy}))
            found = sorted((machine["zone"][-1], machine["name"]) for machine in self.machines())
            for machine in self.machines():
                self.done(self.call("DELETE", "zones/%s/instances/%s" % (machine["zone"], machine["name"])))
            return "".join(zone for zone, _ in found)
        self.assertEqual(zones("ANY", ["x-1", "x-2"]), "ab")
        self.assertEqual(zones("ANY_SINGLE_ZONE", ["x-1", "x-2"]), "bb")
        self.assertEqual(zones("ANY_SINGLE_ZONE", ["x-1", "x-2", "x-3"]), "bb")
        self.assertEqual(zones("BALANCED", ["x-1", "x-2", "x-3"]), "abb")
        denied = {"locations": {"zones/us-central1-%s" % z: {"preference": "DENY"} for z in "abc"}}
        self.done(self.bulk(["x-1"], "regions/" + REGION, locationPolicy=denied))
        self.assertEqual([machine["zone"] for machine in self.machines()], ["us-central1-f"])

    def test_refuses_what_google_refuses(self):
        def refuse(status, reason, **change):
            body = {"count": "1", "sourceInstanceTemplate": "global/instanceTemplates/template-name",
                    "perInstanceProperties": {"n-1": {}}}
            body.update(change)
            return self.refused(status, reason, "POST", "zones/%s/instances/bulkInsert" % ZONE,
                                {key: value for key, value in body.items() if value is not None})
        refuse(400, "invalid", count="0")
        refuse(400, "invalid", count="5001")
        refuse(400, "invalid", count="2")
        refuse(400, "invalid", minCount="2")
        refuse(400, "invalid", perInstanceProperties={"N_1": {}})
        refuse(400, "invalid", sourceInstanceTemplate="template-name")
        refuse(404, "notFound", sourceInstanceTemplate="global/instanceTemplates/none")
        refuse(400, "required", sourceInstanceTemplate=None)
        refuse(400, "invalid", locationPolicy={"targetShape": "ANY"})
        refuse(400, "invalid", instanceProperties={"machineType": "n9-huge"})
        refuse(400, "invalid", instanceProperties={"labels": {"Upper": "x"}})
        refuse(400, "invalid", instanceProperties={"scheduling": {"maxRunDuration": {"seconds": "29"},
                                                                  "instanceTerminationAction": "DELETE"}})
        refuse(400, "invalid", instanceProperties={"scheduling": {"maxRunDuration": {"seconds": "3600"}}})
        refuse(400, "invalid", instanceProperties={"scheduling": {"provisioningModel": "CHEAP"}})
        self.refused(400, "invalid", "GET", "zones/us-central1-x/instances")
        self.refused(404, "notFound", "GET", "zones/us-central1-x")
        self.assertEqual(self.machines(), [])

    def test_the_same_request_id_gives_the_same_operation(self):
        body = {"count": "1", "sourceInstanceTemplate": "global/instanceTemplates/template-name",
                "perInstanceProperties": {"n-1": {}}}
        path, once = "zones/%s/instances/bulkInsert" % ZONE, str(uuid.uuid4())
        first = self.call("POST", path, body, requestId=once)
        again = self.call("POST", path, body, requestId=once)
        self.assertEqual(first["name"], again["name"])
        self.assertEqual(self.codes(again), [])
        self.refused(400, "invalid", "POST", path, body, requestId="mine")
        self.refused(400, "invalid", "DELETE", "zones/%s/instances/n-1" % ZONE, requestId=once)


class Ends(ComputeTest):
    def test_a_run_duration_ends_a_machine_at_the_time_that_it_tells(self):
        self.turn(run_duration_scale=0.001)
        self.done(self.bulk(["n-1"], instanceProperties={
            "scheduling": {"maxRunDuration": {"seconds": "600"}, "instanceTerminationAction": "DELETE"}}))
        machine = self.machine("n-1")
        ends = datetime.datetime.fromisoformat(machine["resourceStatus"]["scheduling"]["terminationTimestamp"])
        began = datetime.datetime.fromisoformat(machine["creationTimestamp"])
        self.assertAlmostEqual((ends - began).total_seconds(), 0.6, 2)
        wait_until(lambda: not self.states())
        self.assertGreaterEqual(datetime.datetime.now(datetime.timezone.utc), ends)

    def test_a_test_ends_them(self):
        self.turn(terminate_ms=0)
        spot = {"scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}}
        self.done(self.bulk(["s-1"], instanceProperties=spot))
        self.done(self.bulk(["s-2"], instanceProperties={"scheduling": {"provisioningModel": "SPOT"}}))
        self.done(self.bulk(["n-1", "n-2"]))
        self.assertTrue(self.machine("s-1")["scheduling"]["preemptible"])
        for name, action in (("s-1", "preempt"), ("s-2", "preempt"), ("n-1", "expire"), ("n-2", "stop")):
            self.sim.control("POST", "/gce/instances/" + name, action=action)
        wait_until(lambda: self.states() == {"s-2": "TERMINATED", "n-2": "TERMINATED"})
        preempted = self.call("GET", "zones/%s/operations" % ZONE, filter="operationType=compute.instances.preempted")
        self.assertEqual(len(preempted["items"]), 2)
        self.done(self.call("DELETE", "zones/%s/instances/n-2" % ZONE))
        self.assertEqual(list(self.states()), ["s-2"])

    def test_foreign_machines(self):
        self.sim.control("POST", "/gce/instances", name="theirs", zone="europe-west4-b", labels={"a": "b"},
                         age_seconds=3600)
        machine = self.machine("theirs", "europe-west4-b")
        began = datetime.datetime.fromisoformat(machine["creationTimestamp"])
        age = datetime.datetime.now(datetime.timezone.utc) - began
        self.assertGreater(age.total_seconds(), 3599)
        self.assertEqual(self.sim.instances(), [])  # EC2's


class Lists(ComputeTest):
    def test_come_in_pages(self):
        self.done(self.bulk(["n-%d" % i for i in range(7)]))
        token, pages = None, []
        while token != "":
            more = {"pageToken": token} if token else {}
            answer = self.call("GET", "zones/%s/instances" % ZONE, maxResults="3", filter="name eq n-.*", **more)
            pages.append([item["name"] for item in answer["items"]])
            token = answer.get("nextPageToken", "")
            if len(pages) == 1:  # what comes and goes in between moves nothing
                self.done(self.call("DELETE", "zones/%s/instances/n-0" % ZONE))
        self.assertEqual(pages, [["n-0", "n-1", "n-2"], ["n-3", "n-4", "n-5"], ["n-6"]])
        self.refused(400, "invalid", "GET", "zones/%s/instances" % ZONE, maxResults="501")
        self.refused(400, "invalid", "GET", "zones/%s/instances" % ZONE, pageToken="x")

    def test_zones_together(self):
        self.done(self.bulk(["n-1"]))
        self.done(self.bulk(["n-2"], "zones/europe-west4-a"))
        items = self.call("GET", "aggregated/instances")["items"]
        self.assertEqual(len(items), 7)
        self.assertEqual([i["name"] for i in items["zones/europe-west4-a"]["instances"]], ["n-2"])
        self.assertEqual(items["zones/us-central1-f"]["warning"]["code"], "NO_RESULTS_ON_PAGE")
        self.turn(unreachable=[ZONE])
        self.refused(503, "backendError", "GET", "aggregated/instances")
        answer = self.call("GET", "aggregated/instances", returnPartialSuccess="true")
        self.assertEqual(answer["items"]["zones/" + ZONE]["warning"]["code"], "UNREACHABLE")
        self.assertEqual(answer["unreachables"], ["zones/" + ZONE])
        self.refused(503, "backendError", "GET", "zones/%s/instances/n-1" % ZONE)

    def test_lag_behind(self):
        self.turn(visible_ms=300, address_ms=300)
        self.bulk(["n-1"])
        self.assertEqual(self.names(), [])
        self.assertNotIn("networkIP", self.machine("n-1")["networkInterfaces"][0])
        wait_until(lambda: self.names() == ["n-1"])
        self.assertIn("networkIP", self.machine("n-1")["networkInterfaces"][0])

    def test_machine_types_templates_zones_and_regions(self):
        kind = self.call("GET", "zones/%s/machineTypes/a3-ultragpu-8g" % ZONE)
        self.assertEqual(kind["accelerators"], [{"guestAcceleratorType": "nvidia-h200-141gb",
                                                 "guestAcceleratorCount": 8}])
        self.refused(404, "notFound", "GET", "zones/%s/machineTypes/none" % ZONE)
        self.assertEqual([t["name"] for t in self.call("GET", "global/instanceTemplates")["items"]],
                         ["flex-template", "template-name"])
        own = {"name": "own", "properties": self.call("GET", "global/instanceTemplates/flex-template")["properties"]}
        self.done(self.call("POST", "regions/%s/instanceTemplates" % REGION, own))
        self.refused(409, "alreadyExists", "POST", "regions/%s/instanceTemplates" % REGION, own)
        self.bulk(["n-1"], sourceInstanceTemplate=LINK + "regions/%s/instanceTemplates/own" % REGION)
        self.assertEqual(len(self.call("GET", "zones")["items"]), 7)
        self.assertEqual(len(self.call("GET", "regions/" + REGION)["zones"]), 4)


class Faults(ComputeTest):
    def test_strike_by_the_method_s_name(self):
        self.sim.fault("Instances.list", "throttle")
        self.sim.fault("Instances.list", "throttle", status=429)
        self.sim.fault("Instances.list", "error", code="forbidden", status=403, message="no")
        self.refused(403, "rateLimitExceeded", "GET", "zones/%s/instances" % ZONE)
        self.refused(429, "rateLimitExceeded", "GET", "zones/%s/instances" % ZONE)
        self.assertEqual(self.refused(403, "forbidden", "GET", "zones/%s/instances" % ZONE), "no")
        self.assertEqual(self.names(), [])
        self.assertEqual(self.sim.calls("Instances.list")["errors"], {"rateLimitExceeded": 2, "forbidden": 1})

    def test_an_operation_that_fails_has_done_nothing(self):
        self.sim.fault("Instances.bulkInsert", "operation_error", code="QUOTA_EXCEEDED", message="no")
        self.assertEqual(self.codes(self.bulk(["n-1"])), ["QUOTA_EXCEEDED"])
        self.assertEqual(self.machines(), [])

    def test_a_field_may_miss(self):
        self.done(self.bulk(["n-1"]))
        self.sim.fault("*", "missing_field", field="networkInterfaces", count=3)
        self.assertNotIn("networkInterfaces", self.machine("n-1"))
        self.assertNotIn("networkInterfaces", self.call("GET", "zones/%s/instances" % ZONE)["items"][0])
        scope = self.call("GET", "aggregated/instances")["items"]["zones/" + ZONE]
        self.assertNotIn("networkInterfaces", scope["instances"][0])
        self.assertIn("networkInterfaces", self.machine("n-1"))

    def test_a_bucket_that_is_empty_throttles(self):
        self.turn(buckets={"gce/list": {"capacity": 2, "refill": 0}})
        self.names()
        self.names()
        self.refused(403, "rateLimitExceeded", "GET", "zones/%s/instances" % ZONE)
        self.names("europe-west4-a")  # another region

    def test_a_bad_token_opens_nothing(self):
        self.token = "mine"
        self.assertEqual(self.request("GET", "zones")[0], 401)


if __name__ == "__main__":
    unittest.main()
