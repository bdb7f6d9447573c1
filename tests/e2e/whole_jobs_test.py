# SPDX-License-Identifier: Apache-2.0
"""A job that is worth nothing with half of its nodes, over two node groups of which one has no machines."""

import re
import unittest

import processes
from cluster import ec2_group, partition
from scenario import OFF, Scenario


class WholeJobs(Scenario):
    def groups(self):
        return [partition("aws", *(ec2_group(name, 2, LaunchStrategy="all-or-nothing",
                                             LaunchTemplateOverrides=[{"InstanceType": f"{name}.large"}])
                                   for name in ("c5", "m5")))]

    def come_in_vain(self, cluster, submit):
        """Without machines for m5 nothing of the job is left."""
        cluster.cloud.capacity(0, type="m5.large")
        job = submit()
        processes.wait_until(lambda: "Giving back aws-c5-0: burst:JobNotWhole" in cluster.log(), "not given back")
        cluster.scontrol("hold", job)  # Slurm's next try is not to come before the test's
        processes.wait_until(lambda: [i["state"] for i in self.all_instances(cluster)] == ["terminated"],
                             lambda: f"not ended: {self.all_instances(cluster)}")
        cluster.wait_for_nodes("aws-c5-[0-1]", lambda node: node.state == OFF, "off")
        self.assertEqual(cluster.node("aws-c5-0").reason, "burst:JobNotWhole another node of its job got no machine")
        self.assertEqual(cluster.job_state(job), "PENDING")
        return job

    def run_after_all(self, cluster, job):
        cluster.cloud.capacity(10, type="m5.large")
        self.pass_until(cluster, lambda: {node.state for node in cluster.nodes("aws-m5-[0-1]").values()} == {OFF},
                        lambda: f"not open: {cluster.nodes('aws-m5-[0-1]')}")
        cluster.scontrol("release", job)
        cluster.start_requeued_now(job)
        cluster.wait_for_job(job)
        self.assert_machines(cluster, "aws-c5-0,aws-m5-0")
        self.assertEqual(len(self.all_instances(cluster)), 3)
        self.power_down(cluster, "aws-c5-0,aws-m5-0")

    def test_a_job_over_two_groups_gives_back_what_came_when_one_has_nothing(self):
        with self.cluster(self.groups(), slurm={"SuspendTimeout": 2}) as cluster:
            job = self.come_in_vain(cluster, lambda: cluster.sbatch("true", 2, "--nodelist=aws-c5-0,aws-m5-0"))
            self.run_after_all(cluster, job)

    def test_components_of_a_heterogeneous_job_come_together_or_not_at_all(self):
        with self.cluster(self.groups(), slurm={"SuspendTimeout": 2}) as cluster:
            def submit():
                script = cluster.folder / "het.sh"
                script.write_text("#!/bin/sh\ntrue\n")
                return int(cluster.run("sbatch", "--parsable", f"--output={cluster.folder}/job-%j.out", "--requeue",
                                       "--nodes=1", "--nodelist=aws-c5-0", ":", "--nodes=1", "--nodelist=aws-m5-0",
                                       script).stdout.split(";")[0])
            cluster.run("scancel", self.come_in_vain(cluster, submit))
            self.assertEqual(self.instances(cluster), [])

    def test_tasks_of_an_array_are_jobs_of_their_own(self):
        """Three machines are there for two tasks of two nodes: one task gets all of its nodes; the other none, and runs
        on those of the first."""
        with self.cluster([partition("aws", ec2_group("c5", 4, LaunchStrategy="all-or-nothing"))],
                          slurm={"SuspendTimeout": 2}) as cluster:
            cluster.cloud.capacity(3)
            array = cluster.sbatch("true", 2, "--array=0-1")

            def tasks():
                return re.findall(r"JobState=(\S+).* NodeList=(\S+)", cluster.scontrol("-o", "show", "job", array))
            processes.wait_until(lambda: [state for state, _ in tasks()] == ["COMPLETED", "COMPLETED"],
                                 lambda: f"{tasks()}", 60)
            nodes = tasks()[0][1]
            self.assertEqual(tasks()[1][1], nodes)
            self.assert_machines(cluster, nodes)
            self.assertEqual(len(self.all_instances(cluster)), 2, "none was started for the other task")
            refused = [node.reason for node in cluster.nodes("aws-c5-[0-3]").values() if node.reason]
            self.assertEqual(len(refused), 2)
            for reason in refused:
                self.assertRegex(reason, "^burst:InsufficientInstanceCapacity")
            self.power_down(cluster, nodes)


if __name__ == "__main__":
    unittest.main()
