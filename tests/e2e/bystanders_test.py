# SPDX-License-Identifier: Apache-2.0
"""What change_state ends, and what it leaves alone: orphans, strangers, an admin's nodes, another change_state."""

import subprocess
import unittest

import processes
from cluster import ec2_group, partition
from scenario import OFF, Scenario, our_tags


def add_instance(cluster, tags, age_seconds=0):
    return cluster.cloud.control("instances", {"tags": tags, "age_seconds": age_seconds})


class Bystanders(Scenario):
    def state_of(self, cluster, instance):
        return next(i["state"] for i in self.all_instances(cluster) if i["id"] == instance["id"])

    def test_an_orphan_is_ended_when_it_is_older_than_its_grace_and_nothing_else_is(self):
        with self.cluster(config={"OrphanGrace": 600, "LaunchGrace": 600}, foreign="aws-c5-1") as cluster:
            cluster.srun("true")
            kept = self.assert_machines(cluster, "aws-c5-0")["aws-c5-0"]
            orphans = [add_instance(cluster, our_tags("aws-c5-1")),  # its node is powered down
                       add_instance(cluster, our_tags("aws-c5-77"))]  # Slurm does not know its node
            nameless = our_tags("aws-c5-2", launch="sb-dead")
            del nameless["Name"]
            orphans.append(add_instance(cluster, nameless))  # of a launch that has ended
            before = cluster.nodes()
            for _ in range(3):
                cluster.change_state()
            self.assertEqual(len(self.instances(cluster)), 4)
            for orphan in orphans:
                cluster.cloud.change(orphan, age_seconds=3600)
            # A nameless one is ended in the second of two passes, in different seconds.
            def all_ended():
                cluster.change_state()
                return {self.state_of(cluster, orphan) for orphan in orphans} == {"terminated"}

            processes.wait_until(all_ended, "the orphans live")
            for row in ("M1 (no node)", "M3 aws-c5-1", "M5 aws-c5-77"):
                self.assertIn(f"{row}: end machine", cluster.log())
            cluster.change_state()
            self.assertEqual(cluster.nodes(), before)
            self.assertEqual(self.assert_machines(cluster, "aws-c5-0"), {"aws-c5-0": kept})
            self.assertLessEqual(cluster.cloud.calls("TerminateInstances"), 2)
            self.power_down(cluster, "aws-c5-0")

    def test_nodes_that_an_admin_drained_or_downed_are_left_alone(self):
        # With ReturnToService=2 slurmctld itself returns a node that was set DOWN, as soon as it answers a ping.
        with self.cluster([partition("aws", ec2_group("c5", 5))], foreign="aws-c5-4",
                          slurm={"ReturnToService": 1}) as cluster:
            cluster.srun("true", nodes=2, options=["--nodelist=aws-c5-[0-1]"])
            cluster.wait_for_state("aws-c5-[0-1]", "IDLE", lacks=["COMPLETING"])
            cluster.set_node_state("aws-c5-0", "DRAIN", "its disk is slow")
            cluster.set_node_state("aws-c5-1", "DOWN", "its fan is loud")
            cluster.set_node_state("aws-c5-2", "DRAIN", "kept for the course")
            cluster.set_node_state("aws-c5-3", "DOWN", "kept for the exam")
            before = cluster.nodes()
            self.assertEqual({name: node.state - {"CLOUD"} for name, node in before.items()},
                             {"aws-c5-0": {"IDLE", "DRAIN"}, "aws-c5-1": {"DOWN"},
                              "aws-c5-2": {"IDLE", "DRAIN", "POWERED_DOWN"}, "aws-c5-3": {"DOWN", "POWERED_DOWN"},
                              "aws-c5-4": {"IDLE", "POWERED_DOWN"}})
            machines = self.assert_machines(cluster, "aws-c5-[0-1]")
            for _ in range(8):
                cluster.change_state()
            self.assertEqual(cluster.nodes(), before)
            self.assertEqual(self.assert_machines(cluster, "aws-c5-[0-1]"), machines)
            self.assertEqual(cluster.cloud.calls("TerminateInstances"), 0)
            # The group's other node works meanwhile.
            cluster.srun("true")
            self.assert_machines(cluster, "aws-c5-[0-1,4]")
            cluster.change_state()
            for name in ("aws-c5-0", "aws-c5-1", "aws-c5-2", "aws-c5-3"):
                self.assertEqual(cluster.node(name), before[name])

    def test_two_change_state_at_once_exclude_each_other(self):
        with self.cluster(config={"OrphanGrace": 600}, foreign="aws-c5-1") as cluster:
            orphan = add_instance(cluster, our_tags("aws-c5-1"), age_seconds=3600)
            # The first one hangs in its reading of the cloud until the second one has ended.
            cluster.cloud.fault("DescribeInstances", "slow", ms=4000)
            first = subprocess.Popen([cluster.folder / "bin/change_state"], env=cluster.environment,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                processes.wait_until(lambda: cluster.cloud.calls("DescribeInstances") == 1, "the first one does not ask")
                cluster.change_state()
                self.assertIsNone(first.poll())
                self.assertIn("another change_state runs: nothing to do", cluster.log())
                self.assertEqual(cluster.cloud.calls("DescribeInstances"), 1)
                self.assertEqual(self.state_of(cluster, orphan), "running")
            finally:
                self.assertEqual(first.wait(60), 0)
            self.assertEqual(self.instances(cluster), [])
            self.assertLessEqual(cluster.cloud.calls("TerminateInstances"), 2)
            # The lock went with the first one.
            cluster.change_state()
            self.assertEqual(cluster.cloud.calls("DescribeInstances"), 2)
            self.assertEqual({node.state for node in cluster.nodes().values()}, {OFF})


if __name__ == "__main__":
    unittest.main()
