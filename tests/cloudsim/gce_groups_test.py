# SPDX-License-Identifier: Apache-2.0
"""Managed instance groups and resize requests of the simulated Compute Engine."""
import datetime
import unittest

from gce_simulator import LINK, REGION, ZONE, ComputeTest
from simulator import wait_until


class ResizeRequests(ComputeTest):
    def test_are_queued_and_then_have_their_machines(self):
        self.turn(accepted_ms=None)
        self.insert_group(description="slurm_nodes:n-[1-2]", allInstancesConfig={
            "properties": {"labels": {"cluster": "c"}, "metadata": {"job": "42"}}})
        self.ask(["n-1", "n-2"])
        self.until_state("ACCEPTED")
        group = self.call("GET", self.mig())
        self.assertEqual((group["targetSize"], group["currentActions"]["creating"], group["status"]["isStable"]),
                         (2, 2, False))
        self.assertEqual([(m["name"], m["currentAction"], m.get("instance")) for m in self.managed()],
                         [("n-1", "CREATING", None), ("n-2", "CREATING", None)])
        self.assertEqual(self.machines(), [])
        self.sim.control("POST", "/gce/resize_requests/mig", action="succeed")
        request = self.until_state("SUCCEEDED")
        self.assertEqual(request["instances"], [{"name": "n-1"}, {"name": "n-2"}])
        wait_until(lambda: self.call("GET", self.mig())["status"]["isStable"])
        machine = self.machine("n-1")
        self.assertEqual(machine["labels"], {"cluster": "c"})
        items = {item["key"]: item["value"] for item in machine["metadata"]["items"]}
        self.assertEqual(items, {"job": "42", "created-by":
                                 "projects/123456789012/regions/us-central1/instanceGroupManagers/mig"})
        ends = datetime.datetime.fromisoformat(machine["resourceStatus"]["scheduling"]["terminationTimestamp"])
        began = datetime.datetime.fromisoformat(machine["creationTimestamp"])
        self.assertAlmostEqual((ends - began).total_seconds(), 86400, 1)
        one = self.managed()[0]
        self.assertEqual((one["currentAction"], one["instanceStatus"], one["instance"]),
                         ("NONE", "RUNNING", LINK + "zones/%s/instances/n-1" % ZONE))
        self.assertIn("terminationTimestamp", one["scheduling"])

    def test_wait_as_long_as_something_lacks_and_say_what(self):
        self.turn(capacity=[{"type": "a3-ultragpu-8g", "available": 1}], retry_ms=20)
        self.insert_group(distributionPolicy={"targetShape": "ANY_SINGLE_ZONE", "zones": [{"zone": "zones/" + ZONE}]})
        self.ask(["n-1", "n-2"])
        wait_until(lambda: "lastAttempt" in self.resize_request()["status"])
        request = self.resize_request()
        self.assertEqual(request["state"], "ACCEPTED")
        self.assertEqual(request["status"]["lastAttempt"]["error"]["errors"][0]["code"], "ZONE_RESOURCE_POOL_EXHAUSTED")
        self.assertEqual(self.machines(), [])  # all or none
        self.turn(capacity=[])
        request = self.until_state("SUCCEEDED")
        self.assertEqual(request["status"], {})
        self.assertEqual(len({machine["zone"] for machine in self.machines()}), 1)

    def test_fail_and_roll_back(self):
        self.turn(accepted_ms=None, terminate_ms=200)
        self.insert_group()
        self.ask(["n-1", "n-2"])
        self.until_state("ACCEPTED")
        self.sim.control("POST", "/gce/resize_requests/mig", action="attempt_error", code="QUOTA_EXCEEDED", message="q")
        attempt = self.resize_request()["status"]["lastAttempt"]["error"]["errors"]
        self.assertEqual(attempt, [{"code": "QUOTA_EXCEEDED", "message": "q"}])
        self.sim.control("POST", "/gce/resize_requests/mig", action="fail", code="INTERNAL_ERROR", message="m", created=1)
        request = self.resize_request()
        self.assertEqual((request["state"], request["status"]),
                         ("FAILED", {"error": {"errors": [{"code": "INTERNAL_ERROR", "message": "m"}]}}))
        self.assertEqual(self.states(), {"n-1": "STOPPING"})
        wait_until(lambda: not self.states())
        self.assertEqual(self.call("GET", self.mig())["targetSize"], 0)
        self.assertEqual(self.managed(), [])

    def test_without_the_service_agent_s_role_nothing_is_made(self):
        self.turn(service_agent_permission=False)
        self.insert_group()
        self.ask(["n-1"])
        request = self.until_state("FAILED")
        self.assertEqual(request["status"]["error"]["errors"][0]["code"], "PERMISSIONS_ERROR")

    def test_can_be_cancelled_while_they_are_queued_and_deleted_afterwards(self):
        self.turn(accepted_ms=None)
        self.insert_group()
        self.ask(["n-1"])
        self.until_state("ACCEPTED")
        self.refused(400, "invalid", "DELETE", self.mig("/resizeRequests/r"))
        self.assertEqual(self.codes(self.call("POST", self.mig("/resizeRequests/r/cancel"))), [])
        self.until_state("CANCELLED")
        self.assertEqual(self.managed(), [])
        self.refused(400, "invalid", "POST", self.mig("/resizeRequests/r/cancel"))
        self.assertEqual(len(self.call("GET", self.mig("/resizeRequests"))["items"]), 1)
        self.done(self.call("DELETE", self.mig("/resizeRequests/r")))
        self.refused(404, "notFound", "GET", self.mig("/resizeRequests/r"))

    def test_a_number_of_machines_gets_names(self):
        self.insert_group(baseInstanceName="base")
        self.assertEqual(self.codes(self.call("POST", self.mig("/resizeRequests"), {"name": "r", "resizeBy": 3})), [])
        self.until_state("SUCCEEDED")
        self.assertEqual(len(self.machines()), 3)
        self.assertTrue(all(machine["name"].startswith("base-") for machine in self.machines()))

    def test_are_refused_where_google_refuses(self):
        def refuse(status, reason, mig="mig", **change):
            body = {"name": "r", "instances": [{"name": "n-1"}], "requestedRunDuration": {"seconds": "600"}}
            body.update(change)
            body = {key: value for key, value in body.items() if value is not None}
            self.refused(status, reason, "POST", self.mig("/resizeRequests", mig), body)
        refuse(404, "notFound")
        self.insert_group()
        for seconds in ("0", "30", "599", "604801"):
            refuse(400, "invalid", requestedRunDuration={"seconds": seconds})
        refuse(400, "invalid", resizeBy=1)
        refuse(400, "invalid", instances=None)
        refuse(400, "invalid", instances=[])
        refuse(400, "invalid", instances=[{"name": "n-1"}, {"name": "n-1"}])
        refuse(400, "invalid", instances=[{"name": "n-%d" % i} for i in range(1001)])
        refuse(400, "invalid", name="R")
        self.insert_group("spread", distributionPolicy={"targetShape": "ANY"})
        refuse(400, "invalid", "spread")
        self.insert_group("repaired", instanceLifecyclePolicy={})
        refuse(400, "invalid", "repaired")
        self.insert_group("updated", updatePolicy={"type": "PROACTIVE", "instanceRedistributionType": "NONE"})
        refuse(400, "invalid", "updated")
        self.insert_group("plain", versions=[{"instanceTemplate": "global/instanceTemplates/template-name"}])
        refuse(400, "invalid", "plain", requestedRunDuration=None)
        self.ask(["n-1"], requestedRunDuration={"seconds": "600"})
        self.ask(["n-2"], name="longest", requested_run_duration={"seconds": 604800}, requestedRunDuration=None)
        refuse(409, "alreadyExists", instances=[{"name": "n-3"}])


class Groups(ComputeTest):
    def test_are_refused_where_google_refuses(self):
        def refuse(status, reason, **change):
            self.refused(status, reason, "POST", "regions/%s/instanceGroupManagers" % REGION, self.group(**change))
        refuse(400, "invalid", name="Mig")
        refuse(400, "required", targetSize=None)
        refuse(400, "required", versions=None)
        refuse(404, "notFound", versions=[{"instanceTemplate": "global/instanceTemplates/none"}])
        refuse(400, "invalid", distributionPolicy={"targetShape": "ROUND"})
        refuse(400, "invalid", distributionPolicy={"zones": [{"zone": "zones/europe-west4-a"}]})
        refuse(400, "invalid", updatePolicy={"instanceRedistributionType": "PROACTIVE"})
        refuse(400, "invalid", base_name="x")
        self.assertEqual(self.migs(), [])
        self.insert_group()
        refuse(409, "alreadyExists")

    def test_lose_what_is_deleted_by_its_url(self):
        self.turn(terminate_ms=200)
        self.insert_group()
        self.ask(["n-1", "n-10", "n-2"])
        self.until_state("SUCCEEDED")
        path = self.mig("/deleteInstances")
        url = "zones/%s/instances/" % ZONE
        self.refused(400, "invalid", "POST", path, {"instances": ["n-1"]})
        self.refused(400, "invalid", "POST", path, {"instances": [url + "n-1", url + "n-3"]})
        self.refused(400, "invalid", "POST", path, {"instances": ["zones/us-central1-b/instances/n-1"]})
        self.refused(400, "invalid", "POST", path, {"instances": [url + "n-%d" % i for i in range(1001)]})
        self.assertEqual(self.call("GET", self.mig())["targetSize"], 3)
        self.done(self.call("POST", path, {"instances": [url + "n-1", url + "n-3"],
                                           "skipInstancesOnValidationError": True}))
        self.assertEqual(self.states()["n-1"], "STOPPING")
        self.assertEqual([m["currentAction"] for m in self.managed() if m["name"] == "n-1"], ["DELETING"])
        group = self.call("GET", self.mig())
        self.assertEqual((group["targetSize"], group["status"]["isStable"]), (2, False))
        wait_until(lambda: sorted(self.states()) == ["n-10", "n-2"])
        self.assertEqual(sorted(m["name"] for m in self.managed()), ["n-10", "n-2"])

    def test_end_with_their_machines(self):
        self.turn(terminate_ms=200)
        self.insert_group()
        self.ask(["n-1", "n-2"])
        self.until_state("SUCCEEDED")
        operation = self.call("DELETE", self.mig())
        wait_until(lambda: set(self.states().values()) == {"STOPPING"})
        self.call("GET", self.mig())
        self.assertEqual(self.codes(operation), [])
        self.assertEqual((self.machines(), self.migs()), ([], []))
        self.refused(404, "notFound", "DELETE", self.mig())

    def test_wait_for_an_active_request_before_they_end(self):
        self.turn(accepted_ms=None)
        self.insert_group()
        self.ask(["n-1"])
        self.until_state("ACCEPTED")
        operation = self.call("DELETE", self.mig())
        self.refused(400, "resourceNotReady", "POST", self.mig("/resizeRequests"),
                     {"name": "other", "instances": [{"name": "n-2"}]})
        self.turn(wait_ms=100)
        path = operation["selfLink"].split("cloudsim-project/")[1]
        self.assertEqual(self.call("POST", path + "/wait")["status"], "RUNNING")
        self.done(self.call("POST", self.mig("/resizeRequests/r/cancel")))
        self.assertEqual(self.codes(operation), [])
        self.assertEqual(self.migs(), [])
        self.insert_group("other")
        self.turn(refuse_delete_of_active_mig=True)
        self.ask(["n-1"], "other")
        self.refused(400, "resourceNotReady", "DELETE", self.mig("", "other"))

    def test_give_up_what_expires(self):
        self.turn(run_duration_scale=0.0005)
        self.insert_group()
        self.ask(["n-1"], requestedRunDuration={"seconds": "600"})
        self.until_state("SUCCEEDED")
        wait_until(lambda: not self.machines())
        self.assertEqual(self.call("GET", self.mig())["targetSize"], 0)
        self.assertEqual(self.managed(), [])
        self.assertEqual(len(self.migs()), 1)  # nobody collects it

    def test_come_in_pages(self):
        for name in ("a-1", "a-10", "b-1"):
            self.insert_group(name, listManagedInstancesResults="PAGINATED")
        path = "regions/%s/instanceGroupManagers" % REGION
        first = self.call("GET", path, maxResults="1", filter="name eq a-.*")
        second = self.call("GET", path, maxResults="1", filter="name eq a-.*", pageToken=first["nextPageToken"])
        self.assertEqual([page["items"][0]["name"] for page in (first, second)], ["a-1", "a-10"])
        self.assertNotIn("nextPageToken", second)
        self.assertEqual([g["name"] for g in self.call("GET", path, filter='name = "a-1"')["items"]], ["a-1"])
        self.ask(["n-%d" % i for i in range(4)], "a-1")
        first = self.call("POST", self.mig("/listManagedInstances", "a-1"), maxResults="3")
        self.assertEqual(len(first["managedInstances"]), 3)
        self.assertIn("nextPageToken", first)
        self.insert_group("whole")
        self.ask(["m-%d" % i for i in range(600)], "whole")
        self.assertEqual(len(self.managed("whole")), 600)


if __name__ == "__main__":
    unittest.main()
