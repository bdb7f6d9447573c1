# SPDX-License-Identifier: Apache-2.0
"""An image whose machines start, cost money and never register."""

import unittest

import processes
from cloudsim import Cloudsim
from cluster import ec2_group, partition
from scenario import OFF, Scenario

LIMIT = 10  # BootstrapFailureLimit's default
NODES = "aws-c5-[0-9]"
CLOSED = frozenset({"DOWN", "CLOUD", "POWERED_DOWN"})


class Bootstrap(Scenario):
    def launched(self, cluster):
        return len(self.all_instances(cluster))

    def wait_for_line(self, cluster, text, count):
        processes.wait_until(lambda: cluster.log().count(text) >= count, lambda: f"not {count} times: {text}", 60)

    def test_an_image_that_never_registers_costs_ten_machines_then_one_a_cool_down_until_it_is_mended(self):
        groups = partition("aws", ec2_group("c5", LIMIT))
        with self.cluster([groups], cloud=Cloudsim(unbootable=True), config={"CoolDown": 6},
                          slurm={"ResumeTimeout": 8, "SuspendTimeout": 2}) as cluster:
            cluster.start_change_state(0.5)
            jobs = [cluster.sbatch("true") for _ in range(LIMIT + 5)]
            self.wait_for_line(cluster, "C4 ", 1)
            self.assertEqual(self.launched(cluster), LIMIT)
            lines = [line for line in cluster.log().splitlines() if "CRITICAL" in line]
            self.assertEqual(len(lines), 1, lines)
            self.assertRegex(lines[0], "aws-c5: 10 machines in a row never registered with Slurm: the node group takes "
                                       "no jobs for 6 s")
            # Before the cool-down is over nothing is started; then one machine, however many jobs wait.
            processes.wait_until(lambda: self.launched(cluster) > LIMIT, "no probe")
            cluster.wait_for_nodes(NODES, lambda node: not node.up(), "without any that is up")
            closed = [node for node in cluster.nodes(NODES).values() if node.state - {"NOT_RESPONDING"} == CLOSED]
            self.assertEqual(len(closed), LIMIT - 1)
            for node in closed:
                self.assertRegex(node.reason, "^burst:BootstrapFailing 10 machines in a row never registered with Slurm")
            self.wait_for_line(cluster, "C4 ", 2)
            self.assertEqual(self.launched(cluster), LIMIT + 1)
            self.assertIn("takes no jobs for 12 s", cluster.log())

            cluster.cloud.set(unbootable=0)
            for job in jobs:
                cluster.wait_for_job(job)
            self.assertEqual(cluster.log().count("CRITICAL"), 2)
            used = ",".join(sorted(machine["tags"]["Name"] for machine in self.instances(cluster)))
            self.assert_machines(cluster, used)
            cluster.wait_for_nodes(NODES, lambda node: not node.state & {"DOWN", "DRAIN"}, "open again")
            self.assertEqual(set(cluster.stop_change_state()), {0})
            print(f"\nstarted in vain: {LIMIT} machines before the pause, 1 probe; then {len(self.instances(cluster))} "
                  f"for {len(jobs)} jobs", flush=True)
            cluster.set_node_state(used, "POWER_DOWN")
            cluster.wait_for_nodes(NODES, lambda node: node.state - {"NOT_RESPONDING"} == OFF, "off")
            self.wait_for_instances(cluster, 0)


if __name__ == "__main__":
    unittest.main()
