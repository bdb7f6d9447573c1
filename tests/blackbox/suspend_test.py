# SPDX-License-Identifier: Apache-2.0
"""suspend on EC2: ends the machines of a hostlist, all of them, and none but them."""
import unittest

from blackbox import CLUSTER_TAG, GROUP_TAG, LAUNCH_TAG, PARTITION_TAG, BlackboxTest, group, messages, names

END = "TerminateInstances"
NODES = names("aws-c5-[0-3]")


class Suspend(BlackboxTest):
    def foreign(self, **tags):
        """An instance that somebody else has started."""
        return self.cloud.control("instances", {"region": "us-east-1", "tags": tags})["id"]

    def ids_alive(self):
        return {instance["id"] for instance in self.alive()}

    def calls(self, action):
        return [call["parameters"] for call in self.cloud.control("calls/log") if call["action"] == action]

    def ours(self, count):
        """As resume would have started them, without the time that it takes."""
        tags = {CLUSTER_TAG: "blackbox", PARTITION_TAG: "aws", GROUP_TAG: "c5", LAUNCH_TAG: "sb-0123456789abcdef"}
        return [self.foreign(Name=f"aws-c5-{i}", **tags) for i in range(count)]

    def test_ends_what_the_hostlist_names_and_nothing_else(self):
        self.configure(group("c5"), group("c55"))
        self.resumed("aws-c5-[0-3],aws-c55-[0-1]")
        self.suspended("aws-c5-[0-1]")
        self.assertEqual(self.names_alive(), names("aws-c5-[2-3],aws-c55-[0-1]"))
        self.assertEqual(self.updates("State"), [])  # Slurm knows that the nodes go

    def test_a_node_without_a_machine_is_no_fault(self):
        self.suspended("aws-c5-[0-3]")
        self.resumed("aws-c5-0")
        self.suspended("aws-c5-[0-3]")
        self.suspended("aws-c5-[0-3]")
        self.assertEqual(self.alive(), [])

    def test_machines_of_others_survive(self):
        survivors = {self.foreign(**{"Name": "aws-c5-0", CLUSTER_TAG: "other"}), self.foreign(Name="aws-c5-0"),
                     self.foreign(Name="aws-c5-00"), self.foreign(Name="aws-c5-*"), self.foreign()}
        self.resumed("aws-c5-[0-1]")
        self.suspended("aws-c5-[0-1]")
        self.assertEqual(self.ids_alive(), survivors)

    def test_a_wildcard_is_no_name(self):
        """EC2 takes * and ? in filters."""
        self.resumed("aws-c5-[0-1]")
        for hostlist in ("aws-c5-*", "aws-c5-?", "*", "aws-*-0"):
            self.assertEqual(self.suspend(hostlist).status, 1)
        self.assertEqual(self.names_alive(), NODES[:2])

    def test_adopt_untagged_takes_those_without_a_cluster_and_only_them(self):
        self.configure(AdoptUntagged=True)
        untagged = self.foreign(Name="aws-c5-0")
        survivors = {self.foreign(**{"Name": "aws-c5-0", CLUSTER_TAG: "other"}), self.foreign(Name="aws-c5-1")}
        self.suspended("aws-c5-0")
        self.assertNotIn(untagged, self.ids_alive())
        self.assertEqual(self.ids_alive(), survivors)

    def test_all_instances_that_bear_the_name_end(self):
        self.resumed("aws-c5-0")
        self.ours(1)
        self.suspended("aws-c5-0")
        self.assertEqual(self.alive(), [])

    def test_a_machine_that_is_not_named_yet_ends_too(self):
        self.cloud.fault("CreateTags", "error", code="UnauthorizedOperation", status=403, count=-1)
        self.resume("aws-c5-[0-1]")
        self.assertEqual(self.names_alive(), ["", ""])
        self.suspended("aws-c5-[0-1]")
        self.assertEqual(self.alive(), [])

    def test_of_more_than_a_batch_one_that_can_not_be_ended_holds_up_no_other(self):
        count = 620
        self.configure(group(nodes=count),
                       RequestLimits={action: {"Burst": 1e6, "PerSecond": 1e6} for action in
                                      (END, "DescribeInstances")})
        ids = self.ours(count)
        self.cloud.change({"id": ids[7]}, termination_protection=True)
        result = self.suspend(f"aws-c5-[0-{count - 1}]")
        self.assertEqual(result.status, 1)
        self.assertEqual(self.ids_alive(), {ids[7]})
        errors = messages(result.err, "ERROR")
        self.assertEqual(len(errors), 1, result.err)
        self.assertRegex(errors[0], f"Failed to terminate instance aws-c5-7 {ids[7]}.*OperationNotPermitted")

    def test_one_that_vanishes_in_between_is_done_and_holds_up_no_other(self):
        self.resumed("aws-c5-[0-3]")
        self.cloud.fault(END, "error", code="InvalidInstanceID.NotFound", message="'i-1' does not exist")
        result = self.suspend("aws-c5-[0-3]")
        self.assertEqual((result.status, messages(result.err, "ERROR")), (0, []))
        self.assertEqual(self.alive(), [])
        self.assertEqual(sorted(len([key for key in call if key.startswith("InstanceId")]) for call in self.calls(END)),
                         [1, 1, 1, 1, 4])

    def test_an_id_that_ec2_does_not_know_is_told_and_left_to_change_state(self):
        """EC2 shows what has ended for an hour: an unknown id is one that is not visible yet."""
        self.resumed("aws-c5-[0-1]")
        gone = self.cloud.instance_of("aws-c5-0")["id"]
        self.cloud.fault(END, "error", code="InvalidInstanceID.NotFound", message=f"'{gone}' does not exist", count=-1,
                         match={"InstanceId.1": gone})
        result = self.suspend("aws-c5-[0-1]")
        self.assertEqual(self.names_alive(), ["aws-c5-0"])
        self.assertEqual(result.status, 1)
        errors = messages(result.err, "ERROR")
        self.assertEqual(len(errors), 1)
        self.assertIn(f"Failed to terminate instance aws-c5-0 {gone} - InvalidInstanceID.NotFound", errors[0])

    def test_throttling_errors_and_lost_replies_pass(self):
        self.resumed("aws-c5-[0-3]")
        for kind in ("throttle", "drop_after", "drop_before", "cut"):
            self.cloud.fault(END, kind)
            self.cloud.fault("DescribeInstances", kind)
        self.suspended("aws-c5-[0-3]")
        self.assertEqual(self.alive(), [])

    def test_what_could_not_be_ended_is_ended_by_change_state(self):
        self.resumed("aws-c5-0")
        self.cloud.fault(END, "error", code="UnauthorizedOperation", status=403)
        result = self.suspend("aws-c5-0")
        self.one_complaint(result, "Failed to terminate instance aws-c5-0 i-[0-9a-f]+.*UnauthorizedOperation", 1)
        self.assertEqual(self.names_alive(), ["aws-c5-0"])
        self.cloud.change(self.cloud.instance_of("aws-c5-0"), age_seconds=1000)
        self.show_nodes(NODES)
        self.assertEqual(self.run_program("change_state").status, 0)
        self.assertEqual(self.alive(), [])

    def test_change_state_ends_no_machine_of_others(self):
        survivors = {self.foreign(**{"Name": "aws-c5-0", CLUSTER_TAG: "other", PARTITION_TAG: "aws", GROUP_TAG: "c5"}),
                     self.foreign(Name="aws-c5-0"), self.foreign()}
        for instance in survivors:
            self.cloud.change({"id": instance}, age_seconds=100000)
        orphan, = self.ours(1)
        self.cloud.change({"id": orphan}, age_seconds=1000)
        self.show_nodes(NODES)
        self.assertEqual(self.run_program("change_state").status, 0)
        self.assertEqual(self.ids_alive(), survivors)


if __name__ == "__main__":
    unittest.main()
