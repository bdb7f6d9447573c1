# SPDX-License-Identifier: Apache-2.0
"""Speaks to cloudsim's Compute Engine by plain HTTP: for what Google's own typed client would not send."""
import json
import urllib.parse

from simulator import CloudsimTest, http, wait_until

PROJECT = "cloudsim-project"
ZONE = "us-central1-a"
REGION = "us-central1"
LINK = "https://www.googleapis.com/compute/v1/projects/%s/" % PROJECT


class ComputeTest(CloudsimTest):
    """One cloudsim for the class, as new for each test, and a token that it has given out."""

    def setUp(self):
        self.sim.control("POST", "/reset")
        status, text = http("GET", self.sim.url + "/computeMetadata/v1/instance/service-accounts/default/token",
                            headers={"Metadata-Flavor": "Google"})
        self.assertEqual(status, 200, text)
        self.token = json.loads(text)["access_token"]

    def request(self, method, path, body=None, **parameters):
        """(status, JSON) of a call; `path` below the project."""
        url = "%s/compute/v1/projects/%s/%s" % (self.sim.url, PROJECT, path)
        if parameters:
            url += "?" + urllib.parse.urlencode(parameters)
        data = json.dumps(body).encode() if body is not None else None
        status, text = http(method, url, data, {"Authorization": "Bearer " + self.token,
                                                "Content-Type": "application/json"})
        return status, json.loads(text)

    def call(self, method, path, body=None, **parameters):
        status, answer = self.request(method, path, body, **parameters)
        self.assertEqual(status, 200, answer)
        return answer

    def refused(self, status, reason, method, path, body=None, **parameters):
        """Asserts the refusal; gives its message."""
        got, answer = self.request(method, path, body, **parameters)
        self.assertEqual((got, answer.get("error", {}).get("errors", [{}])[0].get("reason")), (status, reason), answer)
        return answer["error"]["message"]

    def done(self, operation):
        """The operation when it is DONE."""
        path = operation["selfLink"].split("/projects/%s/" % PROJECT)[1]
        while operation["status"] != "DONE":
            operation = self.call("POST", path + "/wait")
        return operation

    def codes(self, operation):
        return [error["code"] for error in self.done(operation).get("error", {}).get("errors", [])]

    def bulk(self, names, where="zones/" + ZONE, **more):
        body = {"count": str(len(names)), "sourceInstanceTemplate": "global/instanceTemplates/template-name",
                "perInstanceProperties": {name: {} for name in names}}
        body.update(more)
        return self.call("POST", where + "/instances/bulkInsert", body)

    def names(self, zone=ZONE, **parameters):
        return [item["name"] for item in self.call("GET", "zones/%s/instances" % zone, **parameters).get("items", [])]

    def machine(self, name, zone=ZONE):
        return self.call("GET", "zones/%s/instances/%s" % (zone, name))

    def machines(self):
        return self.sim.control("GET", "/gce/instances")

    def migs(self):
        return self.sim.control("GET", "/gce/migs")

    def states(self):
        return {machine["name"]: machine["state"] for machine in self.machines()}

    def turn(self, **values):
        shared = {key: values.pop(key) for key in ("boot_ms", "terminate_ms", "latency_ms", "buckets", "throttling")
                  if key in values}
        self.sim.control("POST", "/knobs", gce=values, **shared)

    def group(self, name="mig", **more):
        body = {"name": name, "targetSize": 0,
                "versions": [{"instanceTemplate": "global/instanceTemplates/flex-template"}],
                "distributionPolicy": {"targetShape": "ANY_SINGLE_ZONE"},
                "updatePolicy": {"instanceRedistributionType": "NONE"},
                "instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"}}
        body.update(more)
        return body

    def insert_group(self, name="mig", **more):
        operation = self.call("POST", "regions/%s/instanceGroupManagers" % REGION, self.group(name, **more))
        self.assertEqual(self.codes(operation), [])

    def mig(self, path="", name="mig"):
        return "regions/%s/instanceGroupManagers/%s%s" % (REGION, name, path)

    def ask(self, names, mig="mig", **more):
        """A resize request; it is ACCEPTED, or further, when this returns."""
        body = {"name": "r", "instances": [{"name": name} for name in names],
                "requestedRunDuration": {"seconds": "86400"}}
        body.update(more)
        self.assertEqual(self.codes(self.call("POST", self.mig("/resizeRequests", mig), body)), [])

    def resize_request(self, mig="mig", name="r"):
        return self.call("GET", self.mig("/resizeRequests/" + name, mig))

    def until_state(self, state, mig="mig"):
        wait_until(lambda: self.resize_request(mig)["state"] == state)
        return self.resize_request(mig)

    def managed(self, mig="mig"):
        return self.call("POST", self.mig("/listManagedInstances", mig)).get("managedInstances", [])
