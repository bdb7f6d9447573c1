# SPDX-License-Identifier: Apache-2.0
"""Machines that go away under their jobs, or never register."""

import unittest

import processes
from cloudsim import Cloudsim
from cluster import ec2_group, partition
from scenario import OFF, Scenario

# Runs for ever the first time, as a job that is not done yet. That its machine is gone it can't tell anybody.
_LONG_THE_FIRST_TIME = """\
trap '' TERM
echo run-${SLURM_RESTART_COUNT:-0}
touch %s/started
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || while :; do sleep 0.2; done
"""


class Losses(Scenario):
    def test_a_job_that_loses_its_spot_instance_is_requeued_and_completes(self):
        group = ec2_group("c5", 2, PurchasingOption="spot", SpotOptions={"AllocationStrategy": "lowest-price"})
        del group["OnDemandOptions"]
        with self.cluster([partition("aws", group)]) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch(_LONG_THE_FIRST_TIME % cluster.folder, 1, "--nodelist=aws-c5-0", "--open-mode=append")
            processes.wait_until((cluster.folder / "started").exists, "the job does not start")
            lost = self.assert_machines(cluster, "aws-c5-0")["aws-c5-0"]
            self.assertEqual(lost["lifecycle"], "spot")
            cluster.cloud.change(lost, action="interrupt")
            cluster.wait_for_job(job, "PENDING")
            self.assertRegex(cluster.log(), "N1[12] aws-c5-0: set to POWER_DOWN_FORCE")
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            self.assertEqual(cluster.job_output(job).split(), ["run-0", "run-1"])
            self.assertEqual(cluster.job(job)["Restarts"], "1")
            machine = self.assert_machines(cluster, "aws-c5-0")["aws-c5-0"]
            self.assertNotEqual(machine["id"], lost["id"])
            self.assertEqual({i["id"]: (i["state"], i["state_reason"]) for i in self.all_instances(cluster)},
                             {lost["id"]: ("terminated", "Server.SpotInstanceTermination"),
                              machine["id"]: ("running", "")})
            self.assertEqual(cluster.node("aws-c5-1").state, OFF)
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "aws-c5-0")

    def test_an_instance_that_never_registers_is_ended_and_its_job_runs_on_another(self):
        with self.cluster(cloud=Cloudsim(unbootable=1), slurm={"ResumeTimeout": 10}) as cluster:
            job = cluster.sbatch("srun hostname", 1, "--nodelist=aws-c5-0")
            dead = self.wait_for_instances(cluster, 1)[0]
            cluster.wait_for_state("aws-c5-0", "DOWN", "POWERED_DOWN", lacks=["POWERING_UP"])
            self.assertEqual(cluster.node("aws-c5-0").reason, "ResumeTimeout reached")
            # ResumeFailProgram alone ends the instance; change_state makes the node usable again.
            self.wait_for_instances(cluster, 0)
            self.assertEqual([i["id"] for i in self.all_instances(cluster)], [dead["id"]])
            self.assertEqual(cluster.job_state(job), "PENDING")
            cluster.change_state()
            node = cluster.node("aws-c5-0")
            # Slurm before 23.02.4 leaves NOT_RESPONDING behind; it keeps no job away.
            self.assertEqual(node.state - {"NOT_RESPONDING"}, OFF)
            self.assertIn("N6 aws-c5-0: set to IDLE", cluster.log())
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            machine = self.assert_machines(cluster, "aws-c5-0")["aws-c5-0"]
            self.assertEqual({i["id"]: i["state"] for i in self.all_instances(cluster)},
                             {dead["id"]: "terminated", machine["id"]: "running"})
            self.assertEqual({node.state for node in cluster.nodes("aws-c5-[1-3]").values()}, {OFF})
            self.power_down(cluster, "aws-c5-0")

    def test_a_group_whose_machines_never_register_pauses_and_comes_back(self):
        nodes = "aws-c5-[0-3]"
        with self.cluster(cloud=Cloudsim(unbootable=True), slurm={"ResumeTimeout": 10, "SuspendTimeout": 2},
                          config={"BootstrapFailureLimit": 2, "CoolDown": 10}) as cluster:
            jobs = [cluster.sbatch("srun hostname") for _ in range(2)]
            self.wait_for_instances(cluster, 2, "running")
            reason = "burst:BootstrapFailing 2 machines in a row never registered with Slurm"

            def closed():
                return [node.reason for node in cluster.nodes(nodes).values()].count(reason)
            self.pass_until(cluster, closed, lambda: f"not closed: {cluster.nodes(nodes)}")
            # The two that failed say why, and wait with the others.
            states = {name: node.state - {"NOT_RESPONDING"} for name, node in cluster.nodes(nodes).items()}
            self.assertEqual(set(states.values()), {frozenset({"DOWN", "CLOUD", "POWERED_DOWN"})})
            self.assertEqual(closed(), 4)
            self.assertIn("CRITICAL", cluster.log())
            self.wait_for_instances(cluster, 0)
            self.assertEqual(len(self.all_instances(cluster)), 2)
            self.assertEqual({cluster.job_state(job) for job in jobs}, {"PENDING"})

            cluster.cloud.set(unbootable=0, boot_ms=2000)

            def open_again():
                now = cluster.nodes(nodes).values()
                if not any(node.up() for node in now):
                    # Until a machine has registered there is one probe and no more, however many jobs wait.
                    self.assertLessEqual(sum("DOWN" not in node.state for node in now), 1, now)
                return not any(node.state & {"DOWN", "DRAIN"} for node in now)
            self.pass_until(cluster, open_again, lambda: f"not open: {cluster.nodes(nodes)}")
            self.assertIn("N6 ", cluster.log())
            for job in jobs:
                cluster.wait_for_job(job)
            machines = self.instances(cluster)
            used = ",".join(sorted(machine["tags"]["Name"] for machine in machines))
            self.assert_machines(cluster, used)
            self.assertEqual(len(self.all_instances(cluster)), 2 + len(machines))
            cluster.set_node_state(used, "POWER_DOWN")
            cluster.wait_for_nodes(nodes, lambda node: node.state - {"NOT_RESPONDING"} == OFF, "off")
            self.wait_for_instances(cluster, 0)


if __name__ == "__main__":
    unittest.main()
