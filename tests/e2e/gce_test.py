# SPDX-License-Identifier: Apache-2.0
"""Real Slurm on the simulated Compute Engine: standard and spot machines by bulkInsert."""

import unittest

import processes
from capacity_test import CLOSED
from gce import ZONE, ComputeEngine, gce_group, gce_partition
from gce_scenario import GceScenario
from scenario import OFF


class Gce(GceScenario):
    def test_a_batch_job_runs_on_four_machines_which_then_end(self):
        nodes = "gce-n2-[0-3]"
        with self.cluster([gce_partition()], cloud=ComputeEngine(boot_ms=200), slurm={"SuspendTime": 3}) as cluster:
            go = cluster.folder / "go"
            job = cluster.sbatch(f"srun hostname; while [ ! -e {go} ]; do sleep 0.1; done", 4)
            cluster.wait_for_job(job, "RUNNING")
            cluster.wait_until_up(nodes)
            machines = self.assert_machines(cluster, nodes)
            go.touch()
            cluster.wait_for_job(job)
            self.assertEqual(sorted(cluster.job_output(job).split()), sorted(machines))
            self.assert_off(cluster, nodes)
            self.assertEqual(cluster.cloud.calls("Instances.bulkInsert"), 1)
            self.assertEqual({node.reason for node in cluster.nodes(nodes).values()}, {""})

    def test_a_job_that_loses_its_spot_machine_is_requeued_and_completes(self):
        script = """\
trap '' TERM
echo run-${SLURM_RESTART_COUNT:-0}
touch %s/started
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || while :; do sleep 0.2; done
"""
        with self.cluster([gce_partition(gce_group(nodes=2, ProvisioningModel="SPOT"))], foreign="gce-n2-1") as cluster:
            cluster.start_change_state()
            job = cluster.sbatch(script % cluster.folder, 1, "--nodelist=gce-n2-0", "--open-mode=append")
            processes.wait_until((cluster.folder / "started").exists, "the job does not start")
            lost = self.assert_machines(cluster, "gce-n2-0")["gce-n2-0"]
            cluster.cloud.act("gce-n2-0", "preempt")
            cluster.wait_for_job(job, "PENDING")
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            self.assertEqual(cluster.job_output(job).split(), ["run-0", "run-1"])
            machine = self.assert_machines(cluster, "gce-n2-0")["gce-n2-0"]
            self.assertNotEqual(machine["id"], lost["id"])
            self.assertEqual(cluster.node("gce-n2-1").state, OFF)
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "gce-n2-0")

    def test_without_capacity_in_one_group_the_job_goes_to_the_next(self):
        groups = (gce_group("c2", 3, SlurmSpecifications={"CPUs": 1, "Weight": 1}),
                  gce_group("n2", 3, SlurmSpecifications={"CPUs": 1, "Weight": 2}, Zones=["us-central1-b"]))
        with self.cluster([gce_partition(*groups)], config={"CoolDown": 600}, slurm={"SuspendTimeout": 2},
                          foreign="gce-c2-0") as cluster:
            cluster.cloud.capacity(0, where=ZONE)
            job = cluster.sbatch("srun hostname", 2)
            cluster.wait_for_nodes("gce-c2-2", lambda node: "DOWN" in node.state, "closed by resume itself")
            cluster.wait_for_job(job, "PENDING")
            # The refused nodes follow when they have powered down.
            cluster.wait_for_nodes("gce-c2-[0-1]", lambda node: node.state == OFF, "powered down")
            cluster.change_state()
            for node in cluster.nodes("gce-c2-[0-2]").values():
                self.assertEqual(node.state, CLOSED, node)
                self.assertRegex(node.reason, "^burst:ZONE_RESOURCE_POOL_EXHAUSTED .+")
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            machines = self.assert_machines(cluster, "gce-n2-[0-1]")
            self.assertEqual({machine["zone"] for machine in machines.values()}, {"us-central1-b"})
            self.assertEqual(sorted(cluster.job_output(job).split()), sorted(machines))
            self.assertEqual(cluster.node("gce-n2-2").state, OFF)
            self.assertEqual(cluster.cloud.calls("Instances.bulkInsert"), 2)
            self.power_down(cluster, "gce-n2-[0-1]")

    def test_a_suspended_node_that_is_wanted_again_at_once_waits_for_its_old_machine(self):
        with self.cluster([gce_partition(gce_group(nodes=1))], cloud=ComputeEngine(terminate_ms=6000),
                          slurm={"SuspendTimeout": 2}) as cluster:
            cluster.srun("true")
            first = self.assert_machines(cluster, "gce-n2-0")["gce-n2-0"]
            cluster.set_node_state("gce-n2-0", "POWER_DOWN")
            processes.wait_until(lambda: self.machines(cluster, "STOPPING"), "the machine is not ended")
            self.assertIn("gce-n2-0", cluster.srun("printenv", "SLURMD_NODENAME"))
            self.assertNotEqual(self.assert_machines(cluster, "gce-n2-0")["gce-n2-0"]["id"], first["id"])
            self.power_down(cluster, "gce-n2-0")


if __name__ == "__main__":
    unittest.main()
