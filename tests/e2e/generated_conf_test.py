# SPDX-License-Identifier: Apache-2.0
"""slurmctld and slurmd run with what generate_conf wrote: several groups, GPUs, static nodes."""

import os
import unittest

from cluster import ec2_group, partition
from scenario import IDLE, OFF, Scenario


class GeneratedConf(Scenario):
    @unittest.skipUnless(os.getuid() == 0, "a machine's graphics cards need root")
    def test_a_job_gets_the_gpus_that_the_generated_gres_conf_declares(self):
        cards = {"CPUs": 2, "Weight": 7, "Gres": "gpu:a100:2", "Feature": "big"}
        groups = partition("aws", ec2_group("c5", 2), ec2_group("gpu", 2, SlurmSpecifications=cards), MaxTime="2:00:00")
        with self.cluster([groups, partition("other", ec2_group("m5", 1), Default="NO")],
                          slurm={"GresTypes": "gpu"}) as cluster:
            self.assertEqual((cluster.folder / "gres.conf.aws").read_text(),
                             "NodeName=aws-gpu-[0-1] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n")
            self.assertEqual(sorted(cluster.nodes()),
                             ["aws-c5-0", "aws-c5-1", "aws-gpu-0", "aws-gpu-1", "other-m5-0"])
            self.assertEqual({node.state for node in cluster.nodes().values()}, {OFF})
            shown = cluster.scontrol("-o", "show", "node", "aws-gpu-1")
            for field in ("CPUTot=2", "Gres=gpu:a100:2", "Weight=7", "AvailableFeatures=big"):
                self.assertIn(field + " ", shown)
            self.assertIn("MaxTime=02:00:00", cluster.scontrol("-o", "show", "partition", "aws"))

            out = cluster.srun("sh", "-c", "echo $CUDA_VISIBLE_DEVICES; ls /dev/nvidia0 /dev/nvidia1",
                               options=["--gres=gpu:a100:2"], timeout=90)
            self.assertEqual(out.split(), ["0,1", "/dev/nvidia0", "/dev/nvidia1"])
            cluster.wait_for_nodes("aws-gpu-0", lambda node: node.state == IDLE, "idle")
            self.assert_machines(cluster, "aws-gpu-0")
            self.assertEqual(cluster.node("aws-gpu-0").reason, "")
            self.power_down(cluster, "aws-gpu-0")

    def test_static_nodes_are_started_by_change_state_and_stay(self):
        groups = partition("aws", ec2_group("c5", 4, MinNodes=2))
        with self.cluster([groups], slurm={"SuspendTime": 3}, foreign="aws-c5-3") as cluster:
            self.assertIn("SuspendExcNodes=aws-c5-[0-1]\n", (cluster.folder / "slurm.conf.aws").read_text())
            self.assertEqual({node.state for node in cluster.nodes().values()}, {OFF})
            self.assertEqual(self.instances(cluster), [])
            cluster.change_state()
            cluster.wait_for_nodes("aws-c5-[0-1]", lambda node: node.state == IDLE, "up and idle")
            static = self.assert_machines(cluster, "aws-c5-[0-1]")
            cluster.start_change_state()
            # A node that is not static comes after them, goes, and they are still there.
            cluster.srun("true", options=["--nodelist=aws-c5-2"], timeout=90)
            cluster.wait_for_nodes("aws-c5-2", lambda node: node.state == OFF, "suspended")
            self.assertEqual({node.state for node in cluster.nodes("aws-c5-[0-1]").values()}, {IDLE})
            self.wait_for_instances(cluster, 2)
            self.assertEqual(self.assert_machines(cluster, "aws-c5-[0-1]"), static)
            # One whose machine is lost is started again.
            cluster.cloud.change(static["aws-c5-0"], action="terminate")
            cluster.wait_for_nodes("aws-c5-0", lambda node: node.state != IDLE, "lost")
            cluster.wait_for_nodes("aws-c5-[0-1]", lambda node: node.state == IDLE, "up again")
            machines = self.assert_machines(cluster, "aws-c5-[0-1]")
            self.assertEqual(machines["aws-c5-1"], static["aws-c5-1"])
            self.assertEqual(len(self.all_instances(cluster)), 4)
            self.assertEqual(set(cluster.stop_change_state()), {0})


if __name__ == "__main__":
    unittest.main()
