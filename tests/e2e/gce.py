# SPDX-License-Identifier: Apache-2.0
"""The simulated Compute Engine of a throw-away cluster: VMs, managed instance groups and their resize requests."""

import json
import urllib.request

import processes
from cloudsim import Cloudsim
from cluster import partition

PROJECT, REGION, ZONE = "cloudsim-project", "us-central1", "us-central1-a"


def gce_group(name="n2", nodes=4, **more):
    """A node group for partitions.json whose template exists in the simulated Compute Engine."""
    return {
        "NodeGroupName": name,
        "MaxNodes": nodes,
        "Provider": "gce",
        "Project": PROJECT,
        "Region": REGION,
        "Zones": [ZONE],
        "InstanceTemplate": "template-name",
        "SlurmSpecifications": {"CPUs": 1},
        **more,
    }


def flex_group(name="h200", nodes=4, **more):
    """One whose machines wait in Google's queue."""
    return gce_group(name, nodes, **{"InstanceTemplate": "flex-template", "ProvisioningModel": "FLEX_START",
                                     "FlexStartMaxDuration": "86400s", **more})


def gce_partition(*groups, **options):
    return partition("gce", *(groups or [gce_group()]), **options)


class ComputeEngine(Cloudsim):
    """As Cloudsim, for node groups of provider gce. Requests stay in Google's queue for gce={"accepted_ms": N}; held
    ones until decide() says what becomes of them."""

    def start(self, cluster):
        super().start(cluster)
        self.environment = {"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE": f"{self.endpoint}/compute/v1/",
                            "GCE_METADATA_HOST": self.endpoint.removeprefix("http://")}

    def machines(self, *states):
        """All VMs that exist, or those in these states; each launch of a name has an `id` of its own."""
        return [{**machine, "status": machine["state"], "id": f"{machine['name']} {machine['launched']}"}
                for machine in self.control("gce/instances") if not states or machine["state"] in states]

    def machine(self, name):
        """The one VM of that name that is ours; fails when there is none."""
        found = [machine for machine in self.machines() if machine["name"] == name and "burst-cluster" in machine["labels"]]
        if len(found) != 1:
            raise AssertionError(f"{name} has {len(found)} machines: {found}")
        return found[0]

    def migs(self):
        """All managed instance groups: name, description, requests (name, state, instances, run_seconds)."""
        return [{**mig, "requests": mig["resize_requests"]} for mig in self.control("gce/migs")]

    def act(self, name, action, **more):
        """act("gce-n2-0", "preempt"): also delete, expire, stop, hang."""
        return self.control(f"gce/instances/{name}", {"action": action, **more})

    def decide(self, mig, action, **more):
        """decide(mig, "succeed"), or "fail" and "attempt_error" with code and message."""
        return self.control(f"gce/resize_requests/{mig['name']}", {"action": action, **more})

    def capacity(self, available, **rule):
        self.set(gce={"capacity": [{"type": "*", "available": available, **rule}]})

    def metadata_token(self):
        """An access token as the head node's metadata server gives it."""
        with urllib.request.urlopen(urllib.request.Request(
                f"{self.endpoint}/computeMetadata/v1/instance/service-accounts/default/token",
                headers={"Metadata-Flavor": "Google"}), timeout=10) as reply:
            return json.load(reply)["access_token"]

    def api(self, path, body=None):
        """A call of the Compute Engine API itself, as somebody else of the project may make it; gives its answer."""
        base = self.environment["CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"]
        token = self.metadata_token()
        request = urllib.request.Request(f"{base}projects/{PROJECT}/{path}",
                                         None if body is None else json.dumps(body).encode(),
                                         {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    def add_queued_mig(self, name, description, nodes):
        """Somebody's managed instance group with a request in Google's queue."""
        groups = f"regions/{REGION}/instanceGroupManagers"
        queue = self._knobs.get("gce", {}).get("accepted_ms", 0)
        self.set(gce={"accepted_ms": None})
        self.api(groups, {
            "name": name, "description": description, "targetSize": 0,
            "versions": [{"instanceTemplate": f"projects/{PROJECT}/global/instanceTemplates/flex-template"}],
            "distributionPolicy": {"zones": [{"zone": f"zones/{ZONE}"}], "targetShape": "ANY_SINGLE_ZONE"},
            "updatePolicy": {"type": "OPPORTUNISTIC", "instanceRedistributionType": "NONE"},
            "instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"}})
        self.api(f"{groups}/{name}/resizeRequests", {
            "name": "theirs", "instances": [{"name": node} for node in nodes],
            "requestedRunDuration": {"seconds": "3600"}})
        processes.wait_until(lambda: [[r["state"] for r in mig["requests"]] for mig in self.migs() if mig["name"] == name]
                             == [["ACCEPTED"]], lambda: f"not queued: {self.migs()}")
        self.set(gce={"accepted_ms": queue})

    def wait_until_empty(self, timeout=30):
        processes.wait_until(lambda: not self.machines(), lambda: f"machines left: {self.machines()}", timeout)
