# SPDX-License-Identifier: Apache-2.0
"""Launches that are interrupted: by an admin, by slurmctld's end, by the death of resume itself."""

import unittest

import processes
from cloudsim import Cloudsim
from cluster import Cluster
from scenario import OFF, Scenario

NODES = "aws-c5-[0-1]"


class Interrupted(Scenario):
    def start_slow_launch(self, cluster, ms=3000, script="srun hostname"):
        """A job of two nodes whose machines exist while resume still waits for CreateFleet's reply. Returns its id."""
        cluster.cloud.fault("CreateFleet", "slow", ms=ms)
        job = cluster.sbatch(script, 2, f"--nodelist={NODES}")
        self.wait_for_instances(cluster, 2)
        cluster.wait_for_state(NODES, "POWERING_UP")
        self.assertEqual({i["tags"].get("Name") for i in self.instances(cluster)}, {None})
        return job

    def finish(self, cluster, job):
        """However it came: in the end the job has run, with one machine a node, and everything can be powered down."""
        def completed():
            self.assert_one_machine_each(cluster)
            if cluster.job_state(job) == "PENDING":
                cluster.start_requeued_now(job)
            return cluster.job_state(job) == "COMPLETED"
        processes.wait_until(completed, lambda: f"{cluster.job(job)} {cluster.nodes()}", 100, interval=0.2)
        self.assert_machines(cluster, NODES)
        self.assertEqual({node.state for node in cluster.nodes("aws-c5-[2-3]").values()}, {OFF})
        self.assertEqual(len(set(cluster.srun("hostname", nodes=2, options=[f"--nodelist={NODES}"]).split())), 2)
        self.power_down(cluster, NODES)

    def test_power_down_force_during_a_resume_leaves_no_instance_and_usable_nodes(self):
        with self.cluster() as cluster:
            job = self.start_slow_launch(cluster)
            doomed = {instance["id"] for instance in self.instances(cluster)}
            cluster.scontrol("hold", job)
            cluster.set_node_state(NODES, "POWER_DOWN_FORCE")
            cluster.wait_for_state(NODES, "POWERING_DOWN", lacks=["POWERING_UP"])
            cluster.wait_for_job(job, "PENDING")
            self.assert_off(cluster, NODES)
            self.assertEqual({i["id"]: i["state"] for i in self.all_instances(cluster)},
                             {instance: "terminated" for instance in doomed})
            cluster.scontrol("release", job)
            self.finish(cluster, job)
            self.assertEqual(len(self.all_instances(cluster)), 4)

    def interrupt_slurmctld(self, restart):
        with self.cluster(cloud=Cloudsim(boot_ms=1000), slurm={"ResumeTimeout": 15}) as cluster:
            # No srun: Slurm 22.05 forgets the addresses of a job that is CONFIGURING while slurmctld restarts.
            job = self.start_slow_launch(cluster, script="hostname")
            restart(cluster)
            cluster.start_change_state()
            self.finish(cluster, job)
            self.assertEqual(set(cluster.stop_change_state()), {0})

    def test_a_restart_of_slurmctld_during_a_resume_doubles_and_loses_nothing(self):
        self.interrupt_slurmctld(Cluster.restart_slurmctld)

    def test_a_killed_slurmctld_during_a_resume_doubles_and_loses_nothing(self):
        def kill(cluster):
            cluster.kill_slurmctld()
            cluster.start_slurmctld()
        self.interrupt_slurmctld(kill)

    def test_what_a_resume_killed_in_CreateFleet_has_launched_is_ended_and_the_job_runs(self):
        with self.cluster() as cluster:
            job = self.start_slow_launch(cluster, ms=30000)
            nameless = {instance["id"] for instance in self.instances(cluster)}
            self.kill_program(cluster, "resume")
            cluster.cloud.clear_faults()
            self.pass_until(cluster, lambda: not self.instances(cluster), lambda: f"left: {self.instances(cluster)}")
            for instance in nameless:
                self.assertIn(f"M1 (no node): end machine {instance}", cluster.log())
            cluster.start_change_state()
            self.finish(cluster, job)
            self.assertIn("N4 aws-c5-0: set to POWER_DOWN_FORCE, reason \"burst:NoMachine", cluster.log())
            self.assertEqual(len(self.all_instances(cluster)), 4)
            self.assertEqual(set(cluster.stop_change_state()), {0})

    def test_machines_that_a_killed_resume_left_unnamed_are_named_by_change_state(self):
        with self.cluster() as cluster:
            # One of the two can't be named as long as the fault lasts.
            cluster.cloud.fault("CreateTags", "throttle", count=-1, match={"Tag.1.Value": "aws-c5-1"})
            job = cluster.sbatch("srun hostname", 2, f"--nodelist={NODES}")
            processes.wait_until(lambda: {i["tags"].get("Name") for i in self.instances(cluster)} == {"aws-c5-0", None},
                                 lambda: f"{self.instances(cluster)}")
            self.kill_program(cluster, "resume")
            cluster.cloud.clear_faults()
            machines = {instance["id"] for instance in self.instances(cluster)}
            cluster.change_state()
            self.finish(cluster, job)
            self.assertEqual({instance["id"] for instance in self.all_instances(cluster)}, machines)
            self.assertEqual(list((cluster.folder / "state/slurm-burst/launches/aws-c5").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
