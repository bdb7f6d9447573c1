# SPDX-License-Identifier: Apache-2.0
"""Every kind of node group on its simulated cloud: how it is configured, and which machines it has."""
import collections
import datetime
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))
from blackbox import BINARIES, GROUP_TAG, group as ec2_group  # noqa: E402
from cloudsim import Cloudsim  # noqa: E402
from gce import ComputeEngine, flex_group, gce_group  # noqa: E402
from kubernetes import TEMPLATE, Kubernetes, kubernetes_group, soperator_group  # noqa: E402

# One of a group's machines that live, or may come: created in seconds since the epoch, None while it is queued.
Machine = collections.namedtuple("Machine", "id node created address")

CLOUDSIM = {"program": BINARIES / "cloudsim", "boots": False, "throttling": False}


class Aws:
    name, partition = "aws", "aws"
    templates = {}
    points_of_one = 0  # kill points of one node that are tried by default; 0: all

    def make(self):
        return Cloudsim(**CLOUDSIM)

    def group(self, name, nodes):
        return ec2_group(name, nodes)

    def prepare(self, cloud, groups):
        """Before the programs: what somebody else makes for these groups."""

    def machines(self, cloud):
        """{group: [Machine]}"""
        found = collections.defaultdict(list)
        for one in cloud.instances("pending", "running"):
            found[one["tags"][GROUP_TAG]].append(
                Machine(one["id"], one["tags"].get("Name"), one["launched"], one["address"]))
        return found

    def lose(self, cloud, machine):
        """The cloud takes it back."""
        cloud.control(f"instances/{machine.id}", {"action": "interrupt"})


def group_of(node):
    return node.split("-")[1]


class Gce(Aws):
    name, partition = "gce", "gce"

    def make(self):
        return ComputeEngine(**CLOUDSIM)

    def group(self, name, nodes):
        return gce_group(name, nodes)

    def machines(self, cloud):
        found = collections.defaultdict(list)
        for one in cloud.machines("PROVISIONING", "STAGING", "RUNNING"):
            found[group_of(one["name"])].append(Machine(one["id"], one["name"], one["launched"], one["address"]))
        return found

    def lose(self, cloud, machine):
        cloud.act(machine.node, "delete")


class Flex(Gce):
    """Machines wait in Google's queue for a moment."""
    name = "gce flex"

    def make(self):
        return ComputeEngine(**CLOUDSIM, gce={"accepted_ms": 100})

    def group(self, name, nodes):
        return flex_group(name, nodes)

    def machines(self, cloud):
        migs = cloud.migs()  # in front of the machines: what comes in between is seen twice, not never
        found = super().machines(cloud)
        for mig in migs:
            group = group_of(re.search(r" group=(\S+)", mig["description"])[1])
            there = {machine.node for machine in found[group]}
            queued = [node for request in mig["requests"] if request["state"] in ("CREATING", "ACCEPTED")
                      for node in request["instances"]]
            found[group] += [Machine(f"{mig['name']}/{node}", node, None, "") for node in queued if node not in there]
            if not queued and not mig["instances"] and not mig["deleting"]:
                found[group].append(Machine(mig["name"], None, None, ""))
        return found


class Pods(Aws):
    name, partition = "kubernetes", "kube"
    templates = {"pod.yaml": TEMPLATE}
    points_of_one = 10

    def make(self):
        return Kubernetes(**CLOUDSIM)

    def group(self, name, nodes):
        return kubernetes_group(name, nodes)

    def machines(self, cloud):
        found = collections.defaultdict(list)
        for pod in cloud.pods():
            about, status = pod["metadata"], pod["status"]
            if "deletionTimestamp" in about or status.get("phase") in ("Failed", "Succeeded"):
                continue
            created = datetime.datetime.strptime(about["creationTimestamp"], "%Y-%m-%dT%H:%M:%S%z").timestamp()
            found[group_of(about["name"])].append(Machine(about["uid"], about["name"],
                                                          created if status.get("podIP") else None,
                                                          status.get("podIP", "")))
        return found

    def lose(self, cloud, machine):
        cloud.delete_pod(machine.node)


class Soperator(Pods):
    """What is wanted (NodeSetPowerState) counts as a machine as well as a pod does: the operator makes one of it."""
    name = "nodesetpowerstate"
    templates = {}

    def group(self, name, nodes):
        return soperator_group(name, nodes)

    def prepare(self, cloud, groups):
        for group, nodes in groups.items():
            cloud.node_set(f"kube-{group}", replicas=len(nodes))

    def machines(self, cloud):
        states = cloud.control("kubernetes/objects/nodesetpowerstates")
        found = super().machines(cloud)
        for state in states:
            name = state["metadata"]["name"]
            there = {machine.node for machine in found[group_of(name)]}
            for number in state["spec"].get("activeNodes", []):
                if f"{name}-{number}" not in there:
                    found[group_of(name)].append(Machine(f"{name}-{number}", f"{name}-{number}", None, ""))
        return found

    def lose(self, cloud, machine):
        """A pod that goes is made again by the operator: only who takes it out of the state ends it."""


CLOUDS = [Aws(), Gce(), Flex(), Pods(), Soperator()]
