# SPDX-License-Identifier: Apache-2.0
"""Real Slurm, our programs, the simulated EC2: jobs get their nodes, and nothing is left of them."""

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
            # Each task ran on the machine whose address Slurm has.
            self.assertEqual(sorted(cluster.job_output(job).split()),
                             sorted("ip-" + i["address"].replace(".", "-") for i in instances.values()))
            cluster.wait_until_off("aws-c5-[0-3]")
            cluster.cloud.wait_until_empty()
            self.assertEqual(cluster.cloud.calls("CreateFleet"), 1)


if __name__ == "__main__":
    unittest.main()
