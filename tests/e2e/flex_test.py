# SPDX-License-Identifier: Apache-2.0
"""Flex Start with the real Slurm: jobs wait in Google's queue, and nothing is left of those that end there."""

import re
import time
import unittest

import processes
from gce import ComputeEngine, flex_group, gce_group, gce_partition
from gce_scenario import GceScenario
from scenario import OFF

_HOLD = 3_600_000  # ms: the request stays accepted until the test decides


def flex_cloud(accepted_ms=_HOLD, **more):
    return ComputeEngine(gce={"accepted_ms": accepted_ms}, **more)


def reservations(cluster):
    """Slurm's reservations, each as {field: value}."""
    lines = cluster.scontrol("-o", "show", "reservations").splitlines()
    return [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in lines if line.startswith("ReservationName=")]


class Flex(GceScenario):
    def flex_cluster(self, *groups, cloud=None, **more):
        return self.cluster([gce_partition(*(groups or [flex_group()]))], cloud=cloud or flex_cloud(),
                            foreign="gce-h200-3", **more)

    def test_a_job_waits_twenty_seconds_in_googles_queue_and_then_runs(self):
        nodes = "gce-h200-[0-1]"
        with self.flex_cluster(cloud=flex_cloud(20_000), slurm={"SuspendTime": 3}) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname", 2)
            mig = self.wait_until_accepted(cluster)[0]
            accepted = time.monotonic()
            self.assertIn(f"job={job}", mig["description"])
            cluster.cloud.decide(mig, "attempt_error", code="ZONE_RESOURCE_POOL_EXHAUSTED",
                                 message="no machines of this type now")
            processes.wait_until(lambda: "ZONE_RESOURCE_POOL_EXHAUSTED" in cluster.job(job).get("Comment", ""),
                                 lambda: f"the job does not say why it waits: {cluster.job(job)}")
            self.assertEqual(self.machines(cluster), [])
            self.assertEqual({node.state & {"ALLOCATED", "POWERING_UP"} for node in cluster.nodes(nodes).values()},
                             {frozenset({"ALLOCATED", "POWERING_UP"})})
            self.assertLess(time.monotonic() - accepted, 20)
            cluster.wait_for_job(job)
            self.assertEqual(sorted(cluster.job_output(job).split()), ["gce-h200-0", "gce-h200-1"])
            self.assertEqual(cluster.job(job)["Restarts"], "0")
            self.assert_off(cluster, nodes)
            self.assertEqual({node.state for node in cluster.nodes("gce-h200-[2-3]").values()}, {OFF})
            self.assertEqual(cluster.cloud.calls("Regioninstancegroupmanagerresizerequests.insert"), 2)  # one is theirs
            self.assertEqual(set(cluster.stop_change_state()), {0})

    def test_of_a_job_that_is_cancelled_in_the_queue_nothing_is_left_and_another_jobs_request_stays(self):
        with self.flex_cluster() as cluster:
            cancelled = cluster.sbatch("srun hostname", 2)
            self.wait_until_accepted(cluster)
            kept = cluster.sbatch("srun hostname", 2)
            migs = self.wait_until_accepted(cluster, 2)
            self.assertEqual(len({mig["name"] for mig in migs}), 2)
            other = next(mig for mig in migs if f"job={kept} " in mig["description"] + " ")
            cluster.start_change_state()
            cluster.run("scancel", cancelled)
            cluster.wait_for_job(cancelled, "CANCELLED")
            left = self.wait_for_migs(cluster, 1)
            self.assertEqual([mig["name"] for mig in left], [other["name"]])
            self.assertEqual([request["state"] for request in left[0]["requests"]], ["ACCEPTED"])
            self.assertEqual(self.machines(cluster), [])
            cluster.wait_for_nodes("gce-h200-[0-1]", lambda node: node.state - {"NOT_RESPONDING"} == OFF, "off")
            self.assertIn("burst:JobEnded", cluster.log())
            cluster.cloud.decide(other, "succeed")
            cluster.wait_for_job(kept)
            self.assert_machines(cluster, "gce-h200-[2-3]")
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "gce-h200-[2-3]")

    def test_a_request_that_fails_is_told_and_its_job_runs_in_another_group(self):
        groups = (flex_group(SlurmSpecifications={"CPUs": 1, "Weight": 1}),
                  gce_group(SlurmSpecifications={"CPUs": 1, "Weight": 2}))
        with self.flex_cluster(*groups, config={"CoolDown": 600}, slurm={"SuspendTimeout": 2}) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname", 2)
            mig = self.wait_until_accepted(cluster)[0]
            cluster.cloud.decide(mig, "fail", code="ZONE_RESOURCE_POOL_EXHAUSTED", message="the zone has no H200")
            cluster.wait_for_job(job, "PENDING")
            cluster.wait_for_nodes("gce-h200-[0-3]", lambda node: {"DOWN", "POWERED_DOWN"} <= node.state, "closed")
            for node in cluster.nodes("gce-h200-[0-3]").values():
                self.assertRegex(node.reason, "^burst:ZONE_RESOURCE_POOL_EXHAUSTED .*the zone has no H200")
            self.wait_for_migs(cluster, 0)
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            self.assert_machines(cluster, "gce-n2-[0-1]")
            self.assertIn("N4 gce-h200-", cluster.log())
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "gce-n2-[0-1]")

    def test_a_static_node_whose_machine_expires_comes_back_and_a_dynamic_one_only_for_a_job(self):
        with self.flex_cluster(flex_group(MinNodes=1), cloud=flex_cloud(100), slurm={"SuspendTimeout": 2}) as cluster:
            cluster.start_change_state()
            cluster.srun("true", nodes=2, options=["--nodelist=gce-h200-[0-1]"])
            cluster.wait_for_nodes("gce-h200-[0-1]", lambda node: node.state == {"IDLE", "CLOUD"}, "idle and up")
            first = {machine["name"]: machine for machine in self.machines(cluster)}
            self.assertEqual(sorted(first), ["gce-h200-0", "gce-h200-1"])
            for name in first:
                cluster.cloud.act(name, "expire")

            def is_new():
                return [m for m in self.machines(cluster, "RUNNING")
                        if m["name"] == "gce-h200-0" and m["id"] != first["gce-h200-0"]["id"]]
            processes.wait_until(is_new, lambda: f"the static node has no new machine: {self.machines(cluster)}")
            cluster.wait_for_nodes("gce-h200-0", lambda node: node.state == {"IDLE", "CLOUD"}, "up again")
            cluster.wait_for_nodes("gce-h200-1", lambda node: node.state - {"NOT_RESPONDING"} == OFF, "off")
            # The simulator ends them before the time that it had announced: they are not "expired" for us, but gone.
            self.assertIn("burst:MachineGone", cluster.log())
            cluster.never(lambda: [m for m in self.machines(cluster) if m["name"] == "gce-h200-1"],
                            "a node without a job was started", 5)
            self.assertEqual(cluster.node("gce-h200-1").state - {"NOT_RESPONDING"}, OFF)
            cluster.srun("true", options=["--nodelist=gce-h200-1"])
            self.assert_machines(cluster, "gce-h200-[0-1]")
            self.assertEqual(set(cluster.stop_change_state()), {0})
            # What remains of the expired machines' groups has gone.
            self.assertEqual(len(self.migs(cluster)), 2)

    def test_labels_and_metadata_of_instance_properties_are_on_the_machines(self):
        group = flex_group(InstanceProperties={"labels": {"team": "vision"},
                                               "metadata": {"items": [{"key": "role", "value": "trainer"}]}})
        with self.flex_cluster(group, cloud=flex_cloud(100)) as cluster:
            cluster.start_change_state()
            cluster.srun("true")
            machine = self.assert_machines(cluster, "gce-h200-0")["gce-h200-0"]
            self.assertEqual((machine["labels"].get("team"), machine["metadata"].get("role")), ("vision", "trainer"))
            self.assertIn("created-by", machine["metadata"])
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "gce-h200-0")

    def test_no_job_starts_on_a_machine_that_ends_before_the_job_does(self):
        with self.flex_cluster(flex_group(ExpiryReservation=True), cloud=flex_cloud(100),
                               slurm={"SuspendTimeout": 2}) as cluster:
            cluster.start_change_state()
            cluster.srun("true")
            ends = self.assert_machines(cluster, "gce-h200-0")["gce-h200-0"]["ends"]
            self.assertAlmostEqual(ends - time.time(), 86400, delta=120)
            processes.wait_until(lambda: reservations(cluster), "no reservation for the machine's end")
            (reservation,) = reservations(cluster)
            self.assertRegex(reservation["ReservationName"], "^burst-expiry-gce-h200-")
            self.assertEqual(reservation["Nodes"], "gce-h200-0")
            self.assertLessEqual({"MAINT", "IGNORE_JOBS"}, set(reservation["Flags"].split(",")))
            start = time.mktime(time.strptime(reservation["StartTime"], "%Y-%m-%dT%H:%M:%S"))
            self.assertEqual(start, ends // 60 * 60)

            too_long = cluster.sbatch("true", 1, "--nodelist=gce-h200-0", "--time=2-0")
            processes.wait_until(lambda: re.match("ReqNodeNotAvail,.*reserved", cluster.job(too_long)["Reason"], re.I),
                                 lambda: f"not held: {cluster.job(too_long)}")
            short = cluster.sbatch("true", 1, "--nodelist=gce-h200-0", "--time=5")
            cluster.wait_for_job(short)
            self.assertEqual(cluster.job_state(too_long), "PENDING")
            cluster.run("scancel", too_long)

            cluster.cloud.act("gce-h200-0", "expire")
            processes.wait_until(lambda: not reservations(cluster), lambda: f"left: {reservations(cluster)}")
            self.assert_off(cluster, "gce-h200-0")
            self.assertEqual(set(cluster.stop_change_state()), {0})

    def test_of_a_machine_that_reaches_its_run_duration_slurm_hears_that_it_expired(self):
        cloud = ComputeEngine(gce={"accepted_ms": 100, "run_duration_scale": 0.05})  # 600 s are over after 30 s
        with self.flex_cluster(flex_group(FlexStartMaxDuration="600s"), cloud=cloud,
                               slurm={"SuspendTimeout": 20}) as cluster:
            cluster.start_change_state()
            cluster.srun("true")
            ends = self.assert_machines(cluster, "gce-h200-0")["gce-h200-0"]["ends"]
            # By hand from here on: with the end of the power-down the reason goes too.
            self.assertEqual(set(cluster.stop_change_state()), {0})
            cluster.change_state()
            self.assertLess(time.time(), ends, "too slow: change_state may not have seen the machine")
            processes.wait_until(lambda: not self.machines(cluster), "the machine does not end")
            cluster.change_state()
            self.assertRegex(cluster.node("gce-h200-0").reason, "^burst:MachineExpired .+")
            cluster.start_change_state()
            self.assert_off(cluster, "gce-h200-0")
            self.assertEqual(set(cluster.stop_change_state()), {0})


if __name__ == "__main__":
    unittest.main()
