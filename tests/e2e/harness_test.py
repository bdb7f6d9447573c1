# SPDX-License-Identifier: Apache-2.0
"""The harness itself, with a resume program of ten lines in place of ours and no cloud at all."""

import os
import pathlib
import signal
import tempfile
import unittest

import processes
from cluster import Cluster, ec2_group, partition

_RESUME = """\
#!/bin/sh
# Hands the request over to the test, which starts the machines: what this program starts would die with slurmctld's.
export PATH=/usr/bin:/bin SLURM_CONF={folder}/slurm.conf
[ -e {folder}/run/no-machines ] && exit 0
for node in $(scontrol show hostnames "$1"); do
  address=127.10.0.$((${{node##*-}} + 1))
  scontrol update nodename=$node nodeaddr=$address nodehostname=ip-127-10-0-$((${{node##*-}} + 1))
  CLUSTER_DIR={folder} NODE_NAME=$node CLOUDSIM_ADDRESS=$address \\
    setsid {boot} </dev/null >{folder}/log/boot-$node.out 2>&1 &
  echo $! >{folder}/run/machine-$node
done
"""

_SUSPEND = """\
#!/bin/sh
export PATH=/usr/bin:/bin SLURM_CONF={folder}/slurm.conf
for node in $(scontrol show hostnames "$1"); do
  [ -e {folder}/run/machine-$node ] && kill -9 $(cat {folder}/run/machine-$node)
  rm -f {folder}/run/machine-$node
done
exit 0
"""


class DirectMachines:
    """In place of a cloud: two shell scripts that start and end slurmd themselves."""

    environment = {}

    def __init__(self):
        self.programs = tempfile.TemporaryDirectory(prefix="slurm-burst-stubs-")

    def start(self, cluster):
        self.folder = cluster.folder
        boot = pathlib.Path(__file__).resolve().parent / "boot-slurmd"
        for name, text in (("resume", _RESUME), ("suspend", _SUSPEND)):
            (pathlib.Path(self.programs.name) / name).write_text(text.format(folder=cluster.folder, boot=boot))

    def stop(self):
        for pid_file in (self.folder / "run").glob("machine-*"):
            os.kill(int(pid_file.read_text()), signal.SIGKILL)
        # A machine's slurmd is the init of a PID namespace: it dies after what we killed, not with it.
        processes.wait_until(lambda: not self._slurmds(), lambda: f"slurmd still runs: {self._slurmds()}", 10)
        self.programs.cleanup()

    def _slurmds(self):
        return [line for line in processes.descendants(self.folder).values() if line.startswith("slurmd ")]


def stub_cluster(**slurm):
    cloud = DirectMachines()
    return Cluster([partition("aws", ec2_group("c5", 4))], cloud=cloud, programs=cloud.programs.name, slurm=slurm)


class Harness(unittest.TestCase):
    def test_a_batch_job_runs_on_four_cloud_nodes_which_are_then_suspended(self):
        with stub_cluster(SuspendTime=2, SuspendTimeout=3) as cluster:
            self.assertEqual({node.off() for node in cluster.nodes().values()}, {True})
            job = cluster.sbatch("srun sh -c 'echo $SLURMD_NODENAME'", nodes=4)
            cluster.wait_for_job(job, timeout=20)
            self.assertEqual(sorted(cluster.job_output(job).split()), sorted(cluster.expand("aws-c5-[0-3]")))
            self.assertEqual(cluster.node("aws-c5-2").address, "127.10.0.3")
            cluster.wait_until_off("aws-c5-[0-3]")
            self.assertEqual(list((cluster.folder / "run").glob("machine-*")), [])

    def test_srun_starts_as_soon_as_its_nodes_are_up(self):
        with stub_cluster() as cluster:
            self.assertEqual(len(cluster.srun("hostname", nodes=2).split()), 2)
            cluster.wait_for_state("aws-c5-[0-1]", "IDLE", lacks=["COMPLETING"])
            self.assertEqual(cluster.sinfo_state("aws-c5-0"), "idle")

    def test_a_job_whose_nodes_are_forced_down_is_requeued_and_runs_within_seconds(self):
        with stub_cluster() as cluster:
            no_machines = cluster.folder / "run/no-machines"
            no_machines.touch()
            job = cluster.sbatch(nodes=2)
            cluster.wait_for_state("aws-c5-[0-1]", "POWERING_UP")
            cluster.set_node_state("aws-c5-[0-1]", "POWER_DOWN_FORCE", "test")
            cluster.wait_for_job(job, "PENDING")
            no_machines.unlink()
            cluster.wait_for_job(job, timeout=30)

    def test_a_node_that_does_not_come_is_down_after_ResumeTimeout(self):
        with stub_cluster(ResumeTimeout=3) as cluster:
            (cluster.folder / "run/no-machines").touch()
            cluster.sbatch()
            cluster.wait_for_state("aws-c5-0", "DOWN", "POWERED_DOWN", lacks=["POWERING_UP"])
            self.assertIn("ResumeTimeout reached", cluster.node("aws-c5-0").reason)

    def test_nodes_stay_up_over_a_restart_of_slurmctld(self):
        with stub_cluster() as cluster:
            cluster.srun("true", nodes=2)
            cluster.restart_slurmctld()
            cluster.wait_until_up("aws-c5-[0-1]")
            self.assertEqual(len(cluster.srun("hostname", nodes=2).split()), 2)

    def test_a_process_that_outlives_the_cluster_is_ended_and_reported(self):
        with self.assertRaisesRegex(AssertionError, "processes were left:\n.*sleep 1000"):
            with stub_cluster() as cluster:
                cluster.run("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &")
                folder = cluster.folder
        self.assertEqual(processes.descendants(folder), {})
        self.assertFalse(folder.exists())


if __name__ == "__main__":
    unittest.main()
