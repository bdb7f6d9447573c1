# SPDX-License-Identifier: Apache-2.0
"""LaunchStrategy all-or-nothing: a job of several nodes gets all its machines or none, and others what it gave back."""
import json
import unittest

from blackbox import BlackboxTest, group, names
from gce_blackbox import GceBlackboxTest, gce_group
from kubernetes_blackbox import KubernetesBlackboxTest, kubernetes_group

# A big job for which there is not enough, a smaller one, and one of a single node: together the last two want 3.
BIG, SMALL, SINGLE = 11, 12, 13


def resume_file(slurm, jobs, by_hand=()):
    """SLURM_RESUME_FILE as this release writes it; jobs {id: hostlist}."""
    everything = ",".join([*jobs.values(), *by_hand])
    if slurm == "22.05":
        return {"jobs": [{"job_id": job, "nodes": nodes} for job, nodes in jobs.items()], "all_nodes": everything}
    entries = [{"extra": None, "job_id": job, "features": None, "nodes_alloc": nodes, "nodes_resume": nodes,
                "oversubscribe": "OK", "partition": "p", "reservation": None} for job, nodes in jobs.items()]
    if slurm == "23.11":  # without a bitmap of the allocation there is no such key
        for entry in entries:
            del entry["nodes_alloc"]
    if slurm == "26.05":
        for number, entry in enumerate(entries):
            entry.update(exclusive="NO", priority=4294901757 - number)
    return {"jobs": entries, "all_nodes_resume": everything}


class WholeJobs:
    """What every provider has to do, with room for three machines."""

    def call(self, jobs, by_hand=(), slurm="25.11"):
        path = self.folder / "resume-file"
        content = resume_file(slurm, jobs, by_hand)
        path.write_text(json.dumps(content))
        return self.resume(content.get("all_nodes_resume") or content["all_nodes"],
                           env={"SLURM_CONF": str(self.slurm_conf), "SLURM_RESUME_FILE": str(path)})

    def test_what_the_big_job_cannot_use_serves_the_small_ones_of_the_same_call(self):
        self.room(3)
        jobs = {BIG: self.nodes("[0-3]"), SMALL: self.nodes("[4-5]"), SINGLE: self.nodes("6")}
        self.assertEqual(self.call(jobs).status, 1)
        served = names(self.nodes("[4-6]"))
        self.wait_until(lambda: self.names_alive() == served, lambda: f"not {served}: {self.names_alive()}")
        self.assertEqual(sorted(self.addresses()), served)
        self.assertEqual(sorted(self.refusals()), names(jobs[BIG]))
        self.assertEqual({reason.split()[0] for reason in self.refusals().values()}, {f"burst:{self.code}"})

    def test_a_job_that_nobody_competes_with_gives_everything_back_and_is_asked_for_once(self):
        self.room(3)
        self.assertEqual(self.call({BIG: self.nodes("[0-3]")}).status, 1)
        self.wait_until(lambda: self.names_alive() == [], lambda: f"left: {self.names_alive()}")
        self.assertEqual(sorted(self.refusals()), names(self.nodes("[0-3]")))
        self.assertNotRegex(self.log(), "trying .* again")

    def test_single_nodes_and_power_ups_by_hand_are_kept_one_by_one(self):
        self.room(3)
        jobs = {20: self.nodes("0"), 21: self.nodes("1"), 22: self.nodes("2")}
        self.assertEqual(self.call(jobs, by_hand=[self.nodes("3")]).status, 1)
        self.assertEqual(len(self.names_alive()), 3)
        self.assertEqual(len(self.refusals()), 1)

    def test_a_shared_node_serves_the_job_that_can_be_whole(self):
        self.room(2)
        # Node 3 is of both.
        self.assertEqual(self.call({BIG: self.nodes("[0-3]"), SMALL: self.nodes("[3-4]")}).status, 1)
        served = names(self.nodes("[3-4]"))
        self.wait_until(lambda: self.names_alive() == served, lambda: f"not {served}: {self.names_alive()}")
        self.assertEqual(sorted(self.refusals()), names(self.nodes("[0-2]")))


class Ec2(WholeJobs, BlackboxTest):
    code = "InsufficientInstanceCapacity"

    def setUp(self):
        super().setUp()
        # Two pools, for which EC2 can promise no minimum.
        pools = [{"InstanceType": "c5.large"}, {"InstanceType": "c5.xlarge"}]
        self.configure(*(group(name, 7, LaunchStrategy="all-or-nothing", LaunchTemplateOverrides=pools)
                         for name in ("c5", "m5")))
        self.show_nodes(names("aws-c5-[0-6],aws-m5-[0-6]"))

    def nodes(self, ids):
        return f"aws-c5-{ids}"

    def room(self, count):
        self.cloud.capacity(count - 1, type="c5.large")
        self.cloud.capacity(1, type="c5.xlarge")

    def test_machines_change_hands_without_a_call(self):
        self.room(3)
        self.call({BIG: self.nodes("[0-3]"), SMALL: self.nodes("[4-5]"), SINGLE: self.nodes("6")})
        self.assertEqual(len(self.calls_of("CreateFleet")), 3)
        self.assertEqual(self.calls_of("TerminateInstances"), [])
        self.assertEqual(self.names_alive(), names(self.nodes("[4-6]")))
        self.assertEqual(list((self.state / "launches").rglob("sb-*")), [])

    def test_every_generation_of_the_file_is_understood(self):
        for slurm in ("22.05", "23.02", "23.11", "24.05", "25.11", "26.05"):
            with self.subTest(slurm):
                self.cloud.control("reset", {})
                (self.state / "groups/aws-c5.json").unlink(missing_ok=True)  # no cool-down of the release before
                self.room(3)
                self.call({BIG: self.nodes("[0-3]"), SMALL: self.nodes("[4-5]")}, slurm=slurm)
                self.assertEqual(self.names_alive(), names(self.nodes("[4-5]")))

    def test_of_jobs_that_could_have_it_the_one_of_higher_priority_gets_it(self):
        self.room(3)
        path = self.folder / "resume-file"
        content = resume_file("26.05", {BIG: self.nodes("[0-1]"), SMALL: self.nodes("[2-3]")})
        content["jobs"][0]["priority"] = 1
        path.write_text(json.dumps(content))
        # So that each gets a part, whoever comes first.
        self.cloud.fault("CreateFleet", "fleet_error", code="InsufficientInstanceCapacity", message="m", delivered=1, count=2)
        self.resume(self.nodes("[0-3]"), env={"SLURM_CONF": str(self.slurm_conf), "SLURM_RESUME_FILE": str(path)})
        self.assertEqual(self.names_alive(), names(self.nodes("[2-3]")))

    def test_a_job_over_two_groups_is_given_back_where_it_came(self):
        self.cloud.capacity(0, where="subnet-22222222")
        self.configure(group("c5", LaunchStrategy="all-or-nothing"),
                       group("m5", LaunchStrategy="all-or-nothing", SubnetIds=["subnet-22222222"]))
        self.call({BIG: "aws-c5-[0-1],aws-m5-[0-1]", SMALL: "aws-c5-2"})
        refusals = self.refusals()
        self.assertEqual(sorted(refusals), names("aws-c5-[0-1],aws-m5-[0-1]"))
        for node in ("aws-c5-0", "aws-c5-1"):
            self.assertEqual(refusals[node], "burst:JobNotWhole another node of its job got no machine")
        # Slurm ends such nodes by SuspendProgram.
        self.suspended("aws-c5-[0-1]")
        self.assertEqual(self.names_alive(), ["aws-c5-2"])

    def test_components_of_a_heterogeneous_job_belong_together(self):
        self.cloud.capacity(0, where="subnet-22222222")
        self.configure(group("c5", LaunchStrategy="all-or-nothing"),
                       group("m5", LaunchStrategy="all-or-nothing", SubnetIds=["subnet-22222222"]))
        (self.folder / "slurm/jobs").write_text("30 CONFIGURING aws-c5-0 1:00:00 30+0\n31 CONFIGURING aws-m5-0 1:00:00 30+1\n"
                                                "32 CONFIGURING aws-c5-1 1:00:00 32_1\n")
        self.call({30: "aws-c5-0", 31: "aws-m5-0", 32: "aws-c5-1"})
        self.assertEqual(sorted(self.refusals()), ["aws-c5-0", "aws-m5-0"])


class Gce(WholeJobs, GceBlackboxTest):
    code = "ZONE_RESOURCE_POOL_EXHAUSTED"

    def setUp(self):
        super().setUp()
        self.gce(gce_group("n2", 7, LaunchStrategy="all-or-nothing"))
        self.cloud.set(gce={"operation_ms": 200})

    def nodes(self, ids):
        return f"gce-n2-{ids}"

    def room(self, count):
        self.cloud.capacity(count)


class Kubernetes(WholeJobs, KubernetesBlackboxTest):
    code = "QuotaExceeded"

    def setUp(self):
        super().setUp()
        self.kube(kubernetes_group("cpu", 7, LaunchStrategy="all-or-nothing"))

    def nodes(self, ids):
        return f"kube-cpu-{ids}"

    def room(self, count):
        self.cloud.quota(pods=count)


if __name__ == "__main__":
    unittest.main()
