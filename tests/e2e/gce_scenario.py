# SPDX-License-Identifier: Apache-2.0
"""What the scenarios on Compute Engine have in common: exact machines and groups at the end, and strangers untouched."""

import contextlib
import re
import unittest

import processes
from cluster import Cluster
from gce import ComputeEngine
from scenario import OFF

_DELETING = ("Instances.delete", "Regioninstancegroupmanagers.delete", "Regioninstancegroupmanagers.deleteInstances",
             "Regioninstancegroupmanagerresizerequests.cancel", "Regioninstancegroupmanagerresizerequests.delete")


def our_labels(node, cluster="e2e"):
    """The labels with which a VM counts as this node's."""
    partition, group, _ = node.split("-")
    return {"burst-cluster": cluster, "burst-partition": partition, "burst-group": group}


class GceScenario(unittest.TestCase):
    maxDiff = None

    @contextlib.contextmanager
    def cluster(self, partitions, *, cloud=None, foreign="gce-n2-0", **more):
        """A cluster beside which live: a VM without labels in another zone and one of another cluster, both called as
        the node `foreign`, and another cluster's queued group for a node of that name. At the end they have to be as
        they were, and nobody may have tried to change that."""
        with Cluster(partitions, cloud=cloud or ComputeEngine(), **more) as cluster:
            cloud = cluster.cloud
            for zone, labels in (("us-central1-f", {}), ("europe-west4-a", our_labels(foreign, "another"))):
                cloud.control("gce/instances", {"name": foreign, "zone": zone, "labels": labels, "age_seconds": 7200})
            cloud.add_queued_mig("theirs", f"slurm-burst cluster=another group={foreign.rpartition('-')[0]} "
                                 f"job=1 nodes={foreign}", [foreign])
            processes.wait_until(lambda: {m["status"] for m in self._strangers(cloud)[0]} == {"RUNNING"},
                                 "the strangers do not run")
            before = self._strangers(cloud)
            self.assertEqual([len(part) for part in before], [2, 1])
            yield cluster
            cluster.stop_change_state()
            self.assertEqual(self._strangers(cloud), before)
            for action in _DELETING:
                for request in cloud.requests(action):
                    self.assertNotIn(request["parameters"].get("zone"), ("us-central1-f", "europe-west4-a"), request)
                    self.assertNotEqual(request["parameters"].get("instanceGroupManager"), "theirs", request)

    @staticmethod
    def _is_ours(machine):
        return machine["labels"].get("burst-cluster") == "e2e"

    def _strangers(self, cloud):
        return ([machine for machine in cloud.machines() if not self._is_ours(machine)],
                [mig for mig in cloud.migs() if mig["name"] == "theirs"])

    def machines(self, cluster, *states):
        return [machine for machine in cluster.cloud.machines(*states) if self._is_ours(machine)]

    def migs(self, cluster):
        return [mig for mig in cluster.cloud.migs() if mig["name"] != "theirs"]

    def assert_machines(self, cluster, hostlist):
        """Each node has one running VM of its own name, labelled and at the address that Slurm has; there are no others.
        Returns {node: machine}."""
        nodes = cluster.nodes(hostlist)
        machines = self.machines(cluster)
        self.assertEqual(sorted(machine["name"] for machine in machines), sorted(nodes))
        found = {machine["name"]: machine for machine in machines}
        for name, node in nodes.items():
            self.assertEqual(found[name]["status"], "RUNNING")
            labels = found[name]["labels"]
            self.assertEqual({**labels, **our_labels(name)}, labels)
            self.assertEqual(node.address, found[name]["address"])
        return found

    def assert_off(self, cluster, hostlist):
        """Waits until the nodes are powered down to the end and neither VM nor group of ours is left."""
        cluster.wait_for_nodes(hostlist, lambda node: node.state - {"NOT_RESPONDING"} == OFF, "exactly powered down")
        self.wait_until_nothing_is_left(cluster)

    def wait_until_nothing_is_left(self, cluster):
        processes.wait_until(lambda: not self.machines(cluster) and not self.migs(cluster),
                             lambda: f"left: {self.machines(cluster)} {self.migs(cluster)}")

    def power_down(self, cluster, hostlist):
        cluster.set_node_state(hostlist, "POWER_DOWN")
        self.assert_off(cluster, hostlist)

    def wait_for_migs(self, cluster, count):
        processes.wait_until(lambda: len(self.migs(cluster)) == count,
                             lambda: f"not {count} groups: {self.migs(cluster)}")
        return self.migs(cluster)

    def wait_until_accepted(self, cluster, count=1):
        """Waits until so many groups of ours have an accepted request. Returns the groups."""
        def accepted():
            return [mig for mig in self.migs(cluster) if [r["state"] for r in mig["requests"]] == ["ACCEPTED"]]
        processes.wait_until(lambda: len(accepted()) == count, lambda: f"not {count} accepted: {self.migs(cluster)}")
        return accepted()

    def assert_log_lines(self, cluster, pattern, count):
        self.assertEqual(len(re.findall(pattern, cluster.log(), re.M)), count, pattern)
