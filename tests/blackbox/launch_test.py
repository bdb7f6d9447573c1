# SPDX-License-Identifier: Apache-2.0
"""resume on EC2: what it asks for, what it tells Slurm, and what it makes of every kind of reply."""
import re
import unittest

from blackbox import CLUSTER_TAG, GROUP_TAG, LAUNCH_TAG, PARTITION_TAG, BlackboxTest, group, messages, names

FLEET = "CreateFleet"
NODES = names("aws-c5-[0-3]")
UNLIMITED = {action: {"Burst": 1e6, "PerSecond": 1e6} for action in ("CreateTags", "DescribeInstances", FLEET)}


class Launch(BlackboxTest):
    def calls(self, action):
        """The parameters of each call, in order."""
        return [call["parameters"] for call in self.cloud.control("calls/log") if call["action"] == action]

    def test_one_fleet_one_update_and_every_tag(self):
        self.configure(group(Tags=[{"Key": "Owner", "Value": "hpc"}, {"Key": "Where", "Value": "{ip_address}"},
                                   {"Key": "Who", "Value": "{node_name} at {hostname}"}]),
                       MachineTags={"project": "blackbox"})
        self.resumed("aws-c5-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        fleets = self.calls(FLEET)
        self.assertEqual(len(fleets), 1)
        request = fleets[0]
        self.assertEqual(request["TargetCapacitySpecification.TotalTargetCapacity"], "4")
        self.assertEqual(request["Type"], "instant")
        in_request = {request[key]: request[key.replace(".Key", ".Value")] for key in request
                      if re.fullmatch(r"TagSpecification\.1\.Tag\.\d+\.Key", key)}
        launch = in_request.pop(LAUNCH_TAG)
        self.assertRegex(launch, "^sb-[0-9a-f]{16}$")
        self.assertEqual(in_request, {CLUSTER_TAG: "blackbox", PARTITION_TAG: "aws", GROUP_TAG: "c5", "Owner": "hpc",
                                      "project": "blackbox"})
        for instance in self.alive():
            tags, address = instance["tags"], instance["address"]
            host = "ip-" + address.replace(".", "-")
            self.assertEqual(tags, {**in_request, LAUNCH_TAG: launch, "Name": tags["Name"], "Where": address,
                                    "Who": f"{tags['Name']} at {host}"})
            self.assertEqual(self.addresses()[tags["Name"]], (address, host))
        self.assertEqual(len(self.updates()), 1)

    def test_members_of_the_group_are_passed_through(self):
        """AllocationStrategy, MaxPrice, Priority ... of both kinds of options and of the overrides."""
        self.configure(group(PurchasingOption="spot",
                             SpotOptions={"AllocationStrategy": "capacity-optimized", "SingleInstanceType": True},
                             LaunchTemplateSpecification={"LaunchTemplateId": "lt-0123456789abcdef0", "Version": "1"},
                             LaunchTemplateOverrides=[{"InstanceType": "c5.large", "MaxPrice": "0.5"},
                                                      {"InstanceType": "c5a.large", "Priority": 2}]))
        self.resumed("aws-c5-0")
        request = self.calls(FLEET)[0]
        template = "LaunchTemplateConfigs.1."
        found = {key: request.get(key) for key in (
            "TargetCapacitySpecification.DefaultTargetCapacityType", "SpotOptions.AllocationStrategy",
            "SpotOptions.SingleInstanceType", "SpotOptions.InstanceInterruptionBehavior",
            template + "LaunchTemplateSpecification.LaunchTemplateId", template + "LaunchTemplateSpecification.Version",
            template + "Overrides.1.MaxPrice", template + "Overrides.3.Priority")}
        self.assertEqual(list(found.values()), ["spot", "capacity-optimized", "true", "terminate",
                                                "lt-0123456789abcdef0", "1", "0.5", "2"])
        pools = {(request[f"{template}Overrides.{i}.InstanceType"], request[f"{template}Overrides.{i}.SubnetId"])
                 for i in range(1, 5)}
        self.assertEqual(len(pools), 4)
        self.assertNotIn(template + "Overrides.5.InstanceType", request)
        self.assertEqual(self.alive()[0]["lifecycle"], "spot")

    def test_1200_nodes_are_two_fleets_and_updates_of_at_most_1000(self):
        self.configure(group(nodes=1200, LaunchTemplateOverrides=[{"InstanceType": "c5.large"}]),
                       RequestLimits=UNLIMITED)
        hostlist = "aws-c5-[0-1199]"
        self.show_nodes(names(hostlist))
        self.resumed(hostlist)
        sizes = [int(call["TargetCapacitySpecification.TotalTargetCapacity"]) for call in self.calls(FLEET)]
        self.assertEqual(sorted(sizes), [200, 1000])
        self.assertEqual(self.names_alive(), sorted(names(hostlist)))
        self.assertLessEqual(max(len(update.nodes) for update in self.updates()), 1000)
        expected = {instance["tags"]["Name"]: instance["address"] for instance in self.alive()}
        self.assertEqual({node: address for node, (address, _) in self.addresses().items()}, expected)
        # More than a page of them is found again: nothing is started twice, and all are ended.
        self.resumed(hostlist)
        self.assertEqual(len(self.cloud.instances()), 1200)
        self.assertEqual(len(self.calls(FLEET)), 2)
        self.suspended(hostlist)
        self.assertEqual(self.alive(), [])

    def test_several_groups_are_resumed_side_by_side(self):
        self.configure(group("c5"), group("m5", LaunchTemplateOverrides=[{"InstanceType": "m5.large"}]))
        self.cloud.set(latency_ms={FLEET: 300})
        self.resumed("aws-c5-[0-1],aws-m5-[2-3]")
        self.assertEqual(self.names_alive(), names("aws-c5-[0-1],aws-m5-[2-3]"))
        self.assertEqual(self.cloud.control("calls")["actions"][FLEET]["peak_concurrency"], 2)
        types = {instance["tags"]["Name"]: instance["type"] for instance in self.alive()}
        self.assertEqual((types["aws-c5-0"], types["aws-m5-2"]), ("c5.large", "m5.large"))


class Consistency(BlackboxTest):
    def test_instances_that_are_not_visible_yet_are_waited_for(self):
        self.cloud.set(ec2={"visible_ms": 1500, "address_ms": 2500})
        self.resumed("aws-c5-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(sorted(self.addresses()), NODES)

    def test_what_stays_without_an_address_keeps_its_node_and_change_state_tells_it(self):
        self.cloud.fault("DescribeInstances", "missing_field", field="privateIpAddress", count=-1)
        self.resumed("aws-c5-[0-1]")
        self.assertEqual(self.names_alive(), NODES[:2])
        self.assertEqual((self.addresses(), self.refusals()), ({}, {}))
        self.cloud.control("faults", method="DELETE")
        self.show_nodes(NODES[:2], "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP")
        self.assertEqual(self.run_program("change_state").status, 0)
        expected = {instance["tags"]["Name"]: instance["address"] for instance in self.alive()}
        self.assertEqual({node: address for node, (address, _) in self.addresses().items()}, expected)

    def test_a_reply_lost_after_its_effect_starts_no_second_machine(self):
        for kind in ("drop_after", "cut", "garbage"):
            with self.subTest(kind):
                self.cloud.control("reset", {})
                self.cloud.fault(FLEET, kind)
                self.resumed("aws-c5-[0-3]")
                self.assertEqual(self.names_alive(), NODES)
                self.assertEqual(len(self.cloud.instances()), 4)
                log = self.cloud.control("calls/log")
                tokens = [call["parameters"]["ClientToken"] for call in log if call["action"] == FLEET]
                self.assertEqual((len(tokens), len(set(tokens))), (2, 1))

    def test_throttling_and_server_errors_pass(self):
        for action in (FLEET, "DescribeInstances", "CreateTags"):
            self.cloud.fault(action, "throttle", count=2)
            self.cloud.fault(action, "error", code="InternalError", status=500)
            self.cloud.fault(action, "drop_before")
        self.resumed("aws-c5-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(len(self.cloud.instances()), 4)
        self.assertEqual(sorted(self.addresses()), NODES)
        self.assertEqual(self.refusals(), {})


class Partial(BlackboxTest):
    def test_nodes_without_capacity_are_given_back_and_the_others_run(self):
        self.cloud.capacity(3, type="c5.large")
        result = self.resume("aws-c5-[0-3]")
        self.assertEqual(result.status, 1)
        self.assertEqual(len(self.alive()), 3)
        running = self.names_alive()
        self.assertEqual(sorted(self.addresses()), running)
        refusals = self.refusals()
        self.assertEqual(sorted([*running, *refusals]), NODES)
        for reason in refusals.values():
            self.assertRegex(reason, "^burst:InsufficientInstanceCapacity .*c5.large")

    def test_over_quota_is_told_with_ec2s_own_code(self):
        self.cloud.set(ec2={"quota": {"vcpus": 4}})
        self.assertEqual(self.resume("aws-c5-[0-3]").status, 1)
        self.assertEqual(len(self.alive()), 2)
        self.assertEqual([reason.split()[0] for reason in self.refusals().values()], ["burst:VcpuLimitExceeded"] * 2)

    def test_all_or_nothing_keeps_nothing_of_a_short_launch(self):
        self.configure(group(LaunchStrategy="all-or-nothing"))
        self.cloud.capacity(3, type="c5.large")
        jobs = self.folder / "resume-file"
        jobs.write_text('{"jobs":[{"job_id":1,"nodes_resume":"aws-c5-[0-3]"}],"all_nodes_resume":"aws-c5-[0-3]"}')
        env = {"SLURM_CONF": str(self.slurm_conf), "SLURM_RESUME_FILE": str(jobs)}
        self.assertEqual(self.resume("aws-c5-[0-3]", env=env).status, 1)
        self.assertEqual(self.alive(), [])
        self.assertEqual(sorted(self.refusals()), NODES)
        self.assertEqual(self.addresses(), {})

    def test_more_than_asked_for_is_ended_again(self):
        self.cloud.set(ec2={"fleet_extra": 2})
        self.resumed("aws-c5-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(len(self.cloud.instances("terminated", "shutting-down")), 2)

    def test_fewer_than_asked_for_without_a_word_is_noticed(self):
        self.cloud.set(ec2={"fleet_extra": -1})
        self.assertEqual(self.resume("aws-c5-[0-3]").status, 1)
        self.assertEqual(len(self.alive()), 3)
        self.assertEqual([reason.split()[0] for reason in self.refusals().values()], ["burst:FleetShort"])
        self.assertEqual(sorted([*self.names_alive(), *self.refusals()]), NODES)

    def test_throttling_inside_the_reply_is_asked_again(self):
        self.cloud.fault(FLEET, "fleet_error", code="RequestLimitExceeded", message="Request limit exceeded.",
                         delivered=1)
        self.resumed("aws-c5-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(len(self.cloud.instances()), 4)
        tokens = {instance["client_token"] for instance in self.alive()}
        self.assertEqual(len(tokens), 2)

    def test_a_refused_request_gives_every_node_back_with_the_code(self):
        for code in ("InvalidLaunchTemplateName.NotFoundException", "UnauthorizedOperation"):
            with self.subTest(code):
                self.cloud.control("reset", {})
                self.cloud.fault(FLEET, "error", code=code, message="No 'such' \"thing\"\nat all", status=400)
                result = self.resume("aws-c5-[0-3]")
                message = self.one_complaint(result, code, 1)
                self.assertIn("aws-c5-[0-3]", message)
                self.assertEqual(self.cloud.instances(), [])
                self.assertEqual(sorted(self.refusals()), NODES)
                self.assertEqual({reason.split()[0] for reason in self.refusals().values()}, {f"burst:{code}"})
                self.assertEqual(self.cloud.calls(FLEET), 1)
                for update in self.updates("Reason"):
                    self.assertNotRegex(update.options["Reason"], r'["\n]')
                (self.folder / "slurm/calls").rename(self.folder / f"slurm/{code}")
                (self.folder / "slurm/calls").mkdir()

    def test_naming_that_fails_leaves_the_machine_to_change_state(self):
        self.cloud.fault("CreateTags", "error", code="UnauthorizedOperation", status=403, count=-1)
        self.assertEqual(self.resume("aws-c5-[0-1]").status, 1)
        self.assertEqual(sorted(self.addresses()), NODES[:2])
        self.assertEqual(self.refusals(), {})
        self.cloud.control("faults", method="DELETE")
        self.show_nodes(NODES, "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP")
        self.run_program("change_state")
        self.assertEqual(self.names_alive(), NODES[:2])


class Repeated(BlackboxTest):
    def test_a_second_resume_adopts(self):
        self.resumed("aws-c5-[0-1]")
        before = {instance["id"] for instance in self.alive()}
        self.resumed("aws-c5-[0-2]")
        after = {instance["id"] for instance in self.alive()}
        self.assertLess(before, after)
        self.assertEqual(self.names_alive(), NODES[:3])
        self.assertEqual(len(self.cloud.instances()), 3)
        told = [node for update in self.updates("NodeAddr") for node in update.nodes]
        self.assertEqual(sorted(told), sorted(NODES[:2] * 2 + NODES[2:3]))

    def test_two_at_once_start_one_machine_a_node(self):
        self.cloud.set(latency_ms={FLEET: 300, "CreateTags": 100}, ec2={"visible_ms": 200, "address_ms": 400})
        runs = [self.start("resume", hostlist) for hostlist in ("aws-c5-[0-2]", "aws-c5-[1-3]", "aws-c5-[0-3]")]
        for run in runs:
            with run:
                _, err = run.communicate(timeout=60)
                self.assertEqual((run.returncode, messages(err, "ERROR")), (0, []))
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(len(self.cloud.instances()), 4)

    def test_a_machine_from_before_this_power_up_is_replaced(self):
        """Its slurmd booted before the request: slurmctld would never take its registration."""
        self.resumed("aws-c5-0")
        old = self.cloud.instance_of("aws-c5-0")
        self.cloud.change(old, age_seconds=1000)
        self.assertEqual(self.resume("aws-c5-0").status, 0)
        self.assertEqual(self.names_alive(), ["aws-c5-0"])
        self.assertNotEqual(self.alive()[0]["id"], old["id"])

    def test_what_ended_a_moment_ago_is_no_machine(self):
        self.cloud.set(terminate_ms=60000)
        self.resumed("aws-c5-0")
        self.suspended("aws-c5-0")
        self.resumed("aws-c5-0")
        self.assertEqual(self.names_alive(), ["aws-c5-0"])
        self.assertEqual(len(self.cloud.instances("shutting-down")), 1)


class DryRun(BlackboxTest):
    def untouched(self, program, *arguments):
        """Runs it, and asserts that nothing but reading took place."""
        before = self.cloud.instances()
        self.cloud.control("calls", method="DELETE")
        files = sorted(str(path) for path in self.folder.rglob("*") if path.parent.name != "calls")
        updates = len(self.updates())
        result = self.run_program(program, "--dry-run", *arguments)
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertLessEqual(self.actions(), {"DescribeInstances"})
        self.assertEqual(self.cloud.instances(), before)
        self.assertEqual(len(self.updates()), updates)
        after = sorted(str(path) for path in self.folder.rglob("*") if path.parent.name != "calls")
        self.assertEqual([path for path in after if path not in files and path != str(self.log_file)], [])
        return result.out

    def test_of_all_three_changes_nothing_and_says_what_would_be_done(self):
        self.assertEqual(self.untouched("resume", "aws-c5-[0-2]"),
                         "aws-c5: would start 3 machines for aws-c5-[0-2]\n")
        self.assertEqual(self.untouched("suspend", "aws-c5-0"), "aws-c5-0: has no machine\n")
        self.resumed("aws-c5-0")
        instance = self.cloud.instance_of("aws-c5-0")["id"]
        out = self.untouched("resume", "aws-c5-[0-1]")
        self.assertIn(f"aws-c5-0: has machine {instance}, would adopt it\n", out)
        self.assertIn("aws-c5: would start 1 machine for aws-c5-1\n", out)
        self.assertEqual(self.untouched("suspend", "aws-c5-[0-1]"),
                         f"aws-c5-0: would end {instance}\naws-c5-1: has no machine\n")
        self.cloud.change({"id": instance}, age_seconds=1000)
        self.show_nodes(NODES)
        self.assertRegex(self.untouched("change_state"), f"M3 .*{instance}")
        self.assertEqual(self.names_alive(), ["aws-c5-0"])
        self.assertEqual(self.run_program("change_state").status, 0)
        self.assertEqual(self.alive(), [])


if __name__ == "__main__":
    unittest.main()
