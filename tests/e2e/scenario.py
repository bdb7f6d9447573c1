# SPDX-License-Identifier: Apache-2.0
"""What the scenarios have in common: each ends with the exact states of Slurm, the exact instances, and strangers untouched."""

import contextlib
import os
import signal
import unittest

import processes
from cloudsim import Cloudsim
from cluster import Cluster

OFF = frozenset({"IDLE", "CLOUD", "POWERED_DOWN"})
IDLE = frozenset({"IDLE", "CLOUD"})
_TAGS = {"cluster", "partition", "node-group", "launch"}


def our_tags(node, cluster="e2e", launch="sb-0"):
    """The tags with which an instance counts as this node's."""
    partition, group, _ = node.split("-")
    return {"slurm-burst:cluster": cluster, "slurm-burst:partition": partition, "slurm-burst:node-group": group,
            "slurm-burst:launch": launch, "Name": node}


class Scenario(unittest.TestCase):
    maxDiff = None

    @contextlib.contextmanager
    def cluster(self, partitions=None, *, cloud=None, foreign="aws-c5-0", **more):
        """A cluster beside which other instances run that bear the node name `foreign`: one without any tag of ours, and
        one of another cluster. At the end they have to be as they were, and nobody may have tried to change that."""
        with Cluster(partitions, cloud=cloud or Cloudsim(), **more) as cluster:
            self._strangers = [cluster.cloud.control("instances", {"tags": tags, "age_seconds": 7200})["id"]
                               for tags in ({"Name": foreign}, our_tags(foreign, cluster="another"))]
            processes.wait_until(lambda: {s["state"] for s in self._strangers_of(cluster)} == {"running"},
                                 "the strangers do not run")
            before = self._strangers_of(cluster)
            yield cluster
            cluster.stop_change_state()
            self.assertEqual(self._strangers_of(cluster), before)
            for action in ("TerminateInstances", "CreateTags"):
                for request in cluster.cloud.requests(action):
                    self.assertEqual(set(self._strangers) & set(request["parameters"].values()), set(), request)

    def _strangers_of(self, cluster):
        return [instance for instance in cluster.cloud.control("instances") if instance["id"] in self._strangers]

    def instances(self, cluster, *states):
        """Those that are not strangers; by default all that are not terminated."""
        return [instance for instance in cluster.cloud.instances(*states) if instance["id"] not in self._strangers]

    def all_instances(self, cluster):
        """Also those that have ended."""
        return [instance for instance in cluster.cloud.control("instances") if instance["id"] not in self._strangers]

    def assert_tags(self, instance, node):
        launch = instance["tags"].get("slurm-burst:launch", "")
        self.assertRegex(launch, "^sb-[0-9a-f]+$")
        self.assertEqual(instance["tags"], our_tags(node, launch=launch))

    def assert_machines(self, cluster, hostlist):
        """Each node has one running instance, fully tagged and at the address that Slurm has; there are no others.
        Returns {node: instance}."""
        nodes = cluster.nodes(hostlist)
        instances = self.instances(cluster)
        self.assertEqual(sorted(instance["tags"].get("Name", "") for instance in instances), sorted(nodes))
        found = {instance["tags"]["Name"]: instance for instance in instances}
        for name, node in nodes.items():
            self.assertEqual(found[name]["state"], "running")
            self.assert_tags(found[name], name)
            self.assertEqual((node.address, node.hostname), (found[name]["address"], node.hostname))
        return found

    def assert_one_machine_each(self, cluster):
        """No node has two instances that cost money."""
        names = [i["tags"].get("Name") for i in self.instances(cluster, "pending", "running") if "Name" in i["tags"]]
        self.assertEqual(sorted(names), sorted(set(names)))

    def assert_off(self, cluster, hostlist):
        """Waits until the nodes are powered down to the end, with nothing else said about them, and no instance is left."""
        cluster.wait_for_nodes(hostlist, lambda node: node.state == OFF, "exactly powered down")
        processes.wait_until(lambda: not self.instances(cluster),
                             lambda: f"instances left: {self.instances(cluster)}")

    def power_down(self, cluster, hostlist):
        """The end of a scenario: the nodes that are up go the usual way, without the wait for SuspendTime."""
        cluster.set_node_state(hostlist, "POWER_DOWN")
        self.assert_off(cluster, hostlist)

    def wait_for_instances(self, cluster, count, *states):
        processes.wait_until(lambda: len(self.instances(cluster, *states)) == count,
                             lambda: f"not {count} instances: {self.instances(cluster)}")
        return self.instances(cluster, *states)

    def pass_until(self, cluster, condition, what, timeout=60):
        """Runs change_state, looks, and again; each run has to succeed."""
        def reached():
            cluster.change_state()
            return condition()
        return processes.wait_until(reached, what, timeout, interval=0.3)

    def kill_program(self, cluster, name):
        """SIGKILL to the program that slurmctld runs now."""
        def pids():
            return [pid for pid, command in processes.descendants(cluster.folder).items()
                    if os.path.basename(command.split(" ")[0]) == name]
        found = processes.wait_until(pids, f"{name} does not run")
        self.assertEqual(len(found), 1)
        os.kill(found[0], signal.SIGKILL)
        processes.wait_until(lambda: not pids(), f"{name} does not die")
