# SPDX-License-Identifier: Apache-2.0
"""Real Slurm, our programs, the simulated EC2: jobs get their nodes, and nothing is left of them."""

import os
import unittest

from cloudsim import Cloudsim
from cluster import Cluster


class Ec2(unittest.TestCase):
    def test_a_batch_job_runs_on_four_instances_which_then_end(self):
        with Cluster(cloud=Cloudsim(boot_ms=200), slurm={"SuspendTime": 2}) as cluster:
            self.assertEqual(cluster.cloud.instances(), [])
            job = cluster.sbatch("srun hostname", nodes=4)
            cluster.wait_for_job(job)
            instances = {node: cluster.cloud.instance_of(node) for node in cluster.expand("aws-c5-[0-3]")}
            for node, instance in instances.items():
                self.assertEqual(cluster.node(node).address, instance["address"])
                self.assertEqual(instance["tags"]["slurm-burst:cluster"], "e2e")
            if os.geteuid() == 0:  # each task ran on the machine whose address Slurm has; else they share a host name
                self.assertEqual(sorted(cluster.job_output(job).split()),
                                 sorted("ip-" + i["address"].replace(".", "-") for i in instances.values()))
            cluster.wait_until_off("aws-c5-[0-3]")
            cluster.cloud.wait_until_empty()
            self.assertEqual(cluster.cloud.calls("CreateFleet"), 1)

    def test_nodes_that_got_no_instance_are_released_at_once(self):
        with Cluster(cloud=Cloudsim(), slurm={"ResumeTimeout": 120}) as cluster:
            cluster.cloud.capacity(0, type="c5.large")
            job = cluster.sbatch("srun hostname", nodes=2)
            cluster.wait_for_state("aws-c5-[0-1]", "POWERING_DOWN")
            self.assertIn("burst:InsufficientInstanceCapacity", cluster.node("aws-c5-0").reason)
            cluster.wait_for_job(job, "PENDING")
            self.assertEqual(cluster.cloud.instances(), [])

    def test_a_node_is_usable_again_as_soon_as_its_instance_is_gone(self):
        with Cluster(cloud=Cloudsim(terminate_ms=300), slurm={"SuspendTime": 2, "SuspendTimeout": 120}) as cluster:
            cluster.start_change_state()
            cluster.srun("true", nodes=2)
            cluster.wait_until_off("aws-c5-[0-1]", timeout=30)
            self.assertEqual(set(cluster.stop_change_state()), {0})


if __name__ == "__main__":
    unittest.main()
