# SPDX-License-Identifier: Apache-2.0
"""Real Slurm, our programs, the simulated EC2: jobs get their nodes, and nothing is left of them."""

import pathlib
import unittest

import processes
from cloudsim import Cloudsim
from cluster import ec2_group, partition
from scenario import OFF, Scenario


def machine_hosts(instances):
    return sorted("ip-" + instance["address"].replace(".", "-") for instance in instances)


class Ec2(Scenario):
    def test_a_batch_job_runs_on_four_instances_which_then_end(self):
        with self.cluster(cloud=Cloudsim(boot_ms=200), slurm={"SuspendTime": 3}) as cluster:
            nodes = "aws-c5-[0-3]"
            self.assertEqual(self.instances(cluster), [])
            go = cluster.folder / "go"
            job = cluster.sbatch(f"srun hostname; while [ ! -e {go} ]; do sleep 0.1; done", 4)
            cluster.wait_for_job(job, "RUNNING")
            self.assertEqual({node.state for node in cluster.wait_until_up(nodes).values()},
                             {frozenset({"ALLOCATED", "CLOUD"})})
            machines = self.assert_machines(cluster, nodes)
            self.assertEqual(len({machine["tags"]["slurm-burst:launch"] for machine in machines.values()}), 1)
            go.touch()
            cluster.wait_for_job(job)
            # Each task ran on the machine whose address Slurm has.
            self.assertEqual(sorted(cluster.job_output(job).split()), machine_hosts(machines.values()))
            self.assert_off(cluster, nodes)
            self.assertEqual({(i["id"], i["state"]) for i in self.all_instances(cluster)},
                             {(machine["id"], "terminated") for machine in machines.values()})
            self.assertEqual({node.reason for node in cluster.nodes(nodes).values()}, {""})
            self.assertEqual(cluster.cloud.calls("CreateFleet"), 1)

    def test_an_array_of_fifty_jobs_runs_on_twenty_nodes(self):
        nodes = "aws-c5-[0-19]"
        with self.cluster([partition("aws", ec2_group("c5", 20))]) as cluster:
            job = cluster.sbatch("hostname", 1, "--array=0-49")

            def outputs():
                return [path.read_text() for path in pathlib.Path(cluster.folder).glob("job-*.out")]
            processes.wait_until(lambda: len([text for text in outputs() if text]) == 50,
                                 lambda: f"{len(outputs())} outputs", 120)
            cluster.wait_for_nodes(nodes, lambda node: node.state == {"IDLE", "CLOUD"}, "idle and up")
            self.assertEqual(cluster.scontrol("-o", "show", "job", job).count("JobState=COMPLETED"), 50)
            machines = self.assert_machines(cluster, nodes)
            # Every job ran once, on one of the machines, and each of these was used.
            hosts = [line for text in outputs() for line in text.splitlines()]
            self.assertEqual(len(hosts), 50)
            self.assertEqual(sorted(set(hosts)), machine_hosts(machines.values()))
            self.power_down(cluster, nodes)
            self.assertEqual(len(self.all_instances(cluster)), 20)

    def test_nodes_of_a_job_that_is_cancelled_while_they_boot_come_up_and_are_suspended(self):
        nodes = "aws-c5-[0-1]"
        with self.cluster(cloud=Cloudsim(boot_ms=3000), slurm={"SuspendTime": 3}) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname", 2)
            self.wait_for_instances(cluster, 2, "pending")
            cluster.wait_for_state(nodes, "POWERING_UP")
            cluster.run("scancel", job)
            cluster.wait_for_job(job, "CANCELLED")
            machines = cluster.wait_until_up(nodes)
            self.assertEqual({node.state for node in machines.values()}, {frozenset({"IDLE", "CLOUD"})})
            self.assert_machines(cluster, nodes)
            self.assert_off(cluster, nodes)
            self.assertFalse((cluster.folder / f"job-{job}.out").exists())
            self.assertEqual({node.state for node in cluster.nodes().values()}, {OFF})
            self.assertEqual(len(self.all_instances(cluster)), 2)
            self.assertEqual(set(cluster.stop_change_state()), {0})


if __name__ == "__main__":
    unittest.main()
