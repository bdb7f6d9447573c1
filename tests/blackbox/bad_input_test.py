# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong around the programs: one clear line, the documented exit status, and the rest of the work done."""
import json
import os
import shutil
import subprocess
import unittest

from blackbox import BlackboxTest, group, messages, names

NODES = names("aws-c5-[0-3]")
PROGRAMS = (["resume", "aws-c5-0"], ["suspend", "aws-c5-0"], ["change_state"], ["generate_conf", "--stdout"])


class Configuration(BlackboxTest):
    def refused(self, pattern, status=2):
        """Every program says it in one line, and does nothing."""
        for program, *arguments in PROGRAMS:
            with self.subTest(program):
                result = self.run_program(program, *arguments)
                lines = result.err.splitlines()
                self.assertEqual((len(lines), result.status), (1, status), result.err)
                self.assertRegex(lines[0], pattern)
                self.assertEqual(result.out, "")
        self.nothing_started()
        self.assertEqual(self.scontrol_runs(), [])

    def logged(self, text):
        for path in (self.log_file, self.folder / "bin/aws_plugin.log"):
            if path.exists():
                self.assertIn(text, path.read_text())
                return
        self.fail("there is no log")

    def test_no_config_json_names_where_it_was_looked_for(self):
        (self.folder / "bin/config.json").unlink()
        self.refused(r"finding the configuration: no such file: .*/bin/config\.json")

    def test_a_named_config_that_is_not_there_is_not_replaced_by_another(self):
        result = self.run_program("resume", "--config", "/no/such/config.json", "aws-c5-0")
        self.assertRegex(result.err, r"\A\S*resume: .*\"/no/such/config\.json\" \(--config\)\n\Z")
        self.assertEqual(result.status, 2)

    def test_no_partitions_json(self):
        path = self.folder / "bin/partitions.json"
        path.unlink()
        self.refused(f'CRITICAL - reading "{path}": no such file')
        self.logged("no such file")

    def test_text_that_is_no_json_is_told_with_line_and_column(self):
        for name in ("config.json", "partitions.json"):
            with self.subTest(name):
                path = self.write(name, '{\n  "LogLevel": "DEBUG",\n  oops\n}\n')
                self.refused(f'CRITICAL - reading "{path}": line 3, column 3: not JSON')
                self.logged("line 3, column 3")
                self.configure()

    def test_an_empty_file(self):
        path = self.write("partitions.json", "")
        self.refused(f'CRITICAL - reading "{path}": line 1, column 1: not JSON')

    def test_wrong_types(self):
        for keys, pattern in (
                ({"MaxNodes": "ten"}, r'/Partitions/0/NodeGroups/0/MaxNodes: expected an integer.*, found "ten"'),
                ({"SubnetIds": "subnet-1"}, r'/SubnetIds: expected an array of strings, found "subnet-1"'),
                ({"Tags": {"a": "b"}}, r"/Tags: expected an array, found an object"),
                ({"SlurmSpecifications": []}, r"/SlurmSpecifications: expected an object, found an array"),
                ({"PurchasingOption": "reserved"}, r'/PurchasingOption: expected "spot" or "on-demand"'),
                ({"Provider": "azure"}, r'/Provider: expected one of .*"aws".*found "azure"'),
                ({"LaunchTemplateSpecification": 7}, r"/LaunchTemplateSpecification: expected an object, found 7")):
            with self.subTest(keys):
                self.configure(group(**keys))
                self.refused("partitions.json\".*" + pattern)
        self.configure(group(), LogLevel=3)
        self.refused(r'config.json": /LogLevel: expected one of .*, found 3')

    def test_every_problem_of_both_files_is_told_at_once(self):
        self.configure(group(MaxNodes=0, Region=5), LogLevel="loud")
        result = self.resume("aws-c5-0")
        self.assertEqual((len(result.err.splitlines()), result.status), (3, 2), result.err)

    def test_duplicate_names(self):
        self.configure(group("c5"), group("c5"))
        self.refused('/Partitions/0/NodeGroups/1: expected each NodeGroupName once in a partition, found "c5" twice')
        self.partitions *= 2
        self.partitions[0] = {"PartitionName": "aws", "NodeGroups": [group("m5")]}
        self.partitions[1] = {"PartitionName": "aws", "NodeGroups": [group("c5")]}
        self.configure()
        self.refused('/Partitions/1: expected each PartitionName once, found "aws" twice')
        text = json.dumps({"Partitions": [{"PartitionName": "aws", "NodeGroups": [group()]}]})
        self.write("partitions.json", text.replace('"MaxNodes": 4', '"MaxNodes": 4, "MaxNodes": 5'))
        self.refused('expected each key once, found "MaxNodes" twice')

    def test_an_unknown_key_is_a_warning_with_what_was_meant_and_the_work_goes_on(self):
        self.configure(group(SubnetIDs=[]), OrphanGrase=7)
        for program, *arguments in PROGRAMS:
            with self.subTest(program):
                result = self.run_program(program, *arguments)
                self.assertEqual(result.status, 0)
                lines = messages(result.err)
                self.assertEqual(lines, messages(result.err, "WARNING"))
                self.assertEqual(len(lines), 2, result.err)
                self.assertRegex(lines[0], r'/OrphanGrase: unknown key, did you mean "OrphanGrace"\?')
                self.assertRegex(lines[1], r'/SubnetIDs: unknown key, did you mean "SubnetIds"\?')

    def test_no_slurm_conf_says_what_to_set(self):
        for program, *arguments in PROGRAMS[:3]:
            result = self.run_program(program, *arguments, env={"SLURM_CONF": "/no/such/slurm.conf"})
            self.one_complaint(result, "no StateDir: no slurm.conf was found.*set SLURM_CONF, or StateDir in", 1)
        self.nothing_started()


class Hostlist(BlackboxTest):
    def test_a_missing_one(self):
        for program in ("resume", "suspend"):
            self.one_complaint(self.run_program(program), "CRITICAL - Missing hostlist argument", 1)
        self.nothing_started()

    def test_an_invalid_one(self):
        for hostlist in ("aws-c5-[0-", "aws-c5-[3-1]", "aws-c5-[0-99999999999]", "aws-c5-[a-b]", "aws-c5-0]"):
            for program in ("resume", "suspend"):
                with self.subTest(program=program, hostlist=hostlist):
                    result = self.run_program(program, hostlist)
                    self.one_complaint(result, "CRITICAL - .*hostlist", 1)
        self.nothing_started()

    def test_an_unknown_node_is_told_and_the_others_go_on(self):
        for unknown, pattern in (("aws-m5-0", "partition=aws nodegroup=m5: not in partitions.json"),
                                 ("elsewhere", "elsewhere: its name is not PARTITION-NODEGROUP-ID"),
                                 ("aws-c5-4", "aws-c5-4: beyond MaxNodes=4"),
                                 ("aws-c5-001", "aws-c5-001: Slurm calls it aws-c5-1")):
            with self.subTest(unknown):
                result = self.resume(f"aws-c5-0,{unknown},aws-c5-1")
                self.one_complaint(result, "ERROR - Skipping .*" + pattern, 1)
                self.assertEqual(self.names_alive(), NODES[:2])
                result = self.suspend(f"aws-c5-0,{unknown},aws-c5-1")
                self.one_complaint(result, "ERROR - Skipping .*" + pattern, 1)
                self.assertEqual(self.alive(), [])

    def test_an_unknown_option_is_a_wrong_command_line(self):
        for program, *arguments in PROGRAMS:
            result = self.run_program(program, "--no-such-option", *arguments)
            self.assertEqual(result.status, 1)
            self.assertIn("--no-such-option", result.err)
        self.nothing_started()


class Cloud(BlackboxTest):
    def complaints(self, pattern, programs=PROGRAMS[:3]):
        for program, *arguments in programs:
            with self.subTest(program):
                result = self.run_program(program, *arguments)
                self.one_complaint(result, "ERROR - .*" + pattern, 1)

    def test_no_credentials_names_all_places(self):
        self.variables(AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None, HOME=str(self.folder))
        self.complaints(r"NoCredentials.*no AWS credentials found: environment: AWS_ACCESS_KEY_ID .*"
                        r"\.aws/credentials' and .*\.aws/config.*container: .*instance metadata: ")
        self.nothing_started()
        self.assertRegex(self.refusals()["aws-c5-0"], "^burst:NoCredentials ")

    def test_a_wrong_secret(self):
        self.variables(AWS_SECRET_ACCESS_KEY="not-the-right-secret")
        self.secrets.append("not-the-right-secret")
        self.complaints("SignatureDoesNotMatch")
        self.nothing_started()

    def test_an_unknown_key(self):
        self.variables(AWS_ACCESS_KEY_ID="AKIANOSUCHKEY")
        self.complaints("AuthFailure")
        self.nothing_started()

    def test_an_endpoint_that_nobody_serves_ends_before_the_deadline(self):
        self.variables(AWS_ENDPOINT_URL="http://127.0.0.1:1")
        self.configure(Deadline=3)
        for program, *arguments in PROGRAMS[:3]:
            result = self.run_program(program, *arguments)
            self.assertLess(result.seconds, 15)
            self.one_complaint(result, "DescribeInstances in us-east-1: .*connecting to 127.0.0.1:1: Connection"
                               " refused", 1)
        self.assertEqual(sorted(self.refusals()), ["aws-c5-0"])

    def test_a_region_that_does_not_exist_can_not_be_resolved(self):
        """Without a network no name is: nothing leaves this machine."""
        prefix = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-n", "--"]
        if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
            self.skipTest("network namespaces are not allowed here")
        self.configure(group(Region="eu-nowhere-9"), Deadline=4)
        self.variables(AWS_ENDPOINT_URL=None)
        result = self.run_program("suspend", "aws-c5-0", prefix=prefix)
        self.assertLess(result.seconds, 20)
        self.one_complaint(result, "DescribeInstances in eu-nowhere-9: .*ec2.eu-nowhere-9.amazonaws.com", 1)

    def test_a_call_without_permission_names_the_action(self):
        for action, (program, *arguments) in (("CreateFleet", PROGRAMS[0]), ("DescribeInstances", PROGRAMS[1]),
                                              ("DescribeInstances", PROGRAMS[2])):
            with self.subTest(program):
                self.cloud.fault(action, "error", code="UnauthorizedOperation", status=403,
                                 message="You are not authorized to perform this operation.")
                result = self.run_program(program, *arguments)
                self.one_complaint(result, f"{action} in us-east-1: .*You are not authorized", 1)
                self.assertIn("UnauthorizedOperation", result.err)
        self.assertEqual(self.cloud.instances(), [])

    def test_one_group_in_trouble_leaves_the_others_alone(self):
        profile = self.folder / "no-credentials"
        self.configure(group("c5"), group("m5", ProfileName="nosuch"))
        self.variables(AWS_SHARED_CREDENTIALS_FILE=str(profile), AWS_CONFIG_FILE=str(profile))
        result = self.resume("aws-m5-0,aws-c5-0")
        self.one_complaint(result, 'ERROR - .*aws-m5-0.*no profile .nosuch. in', 1)
        self.assertEqual(self.names_alive(), ["aws-c5-0"])
        self.assertEqual(list(self.refusals()), ["aws-m5-0"])
        result = self.suspend("aws-m5-0,aws-c5-0")
        self.one_complaint(result, 'ERROR - aws-m5: NoCredentials: no profile .nosuch. in', 1)
        self.assertEqual(self.alive(), [])


class Disk(BlackboxTest):
    def test_a_full_disk_under_the_log_is_told_once_and_the_work_is_done(self):
        self.configure(LogFileName="/dev/full")
        result = self.resume("aws-c5-[0-1]")
        self.assertEqual(result.err, 'writing the log file "/dev/full": No space left on device; messages are lost\n')
        self.assertEqual(result.status, 0)
        self.assertEqual(self.names_alive(), NODES[:2])

    def test_a_log_that_can_not_be_written_is_told_and_the_work_is_done(self):
        self.configure(LogFileName="/proc/nosuch/log")
        result = self.resume("aws-c5-[0-1]")
        self.assertRegex(result.err, r'\A.* - WARNING - opening the log file "/proc/nosuch/log": No such file or '
                                     r"directory; .*set LogFileName to a file that SlurmUser can write\n\Z")
        self.assertEqual(result.status, 0)
        self.assertEqual(self.names_alive(), NODES[:2])

    def as_nobody(self, program, *arguments):
        """As an ordinary user, where we are root."""
        prefix = []
        if os.geteuid() == 0:
            prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        return self.run_program(program, *arguments, prefix=prefix)

    def test_a_log_of_another_user(self):
        self.log_file.write_text("")
        self.log_file.chmod(0o400)
        self.configure(StateDir=str(self.folder / "state"))
        (self.folder / "state").mkdir()
        if os.geteuid() == 0:
            os.chown(self.folder / "state", 65534, 65534)
        (self.folder / "slurm/calls").chmod(0o777)
        result = self.as_nobody("resume", "aws-c5-0")
        self.assertRegex(result.err, r'\A.* - WARNING - opening the log file ".*/log\.txt": Permission denied; .*\n\Z')
        self.assertEqual(result.status, 0)
        self.assertEqual(self.names_alive(), NODES[:1])

    def read_only_state(self):
        self.log_file.touch()
        self.log_file.chmod(0o666)
        (self.folder / "slurm/calls").chmod(0o777)
        self.state.mkdir()
        self.state.chmod(0o555)

    def test_a_state_dir_that_can_not_be_written_starts_nothing(self):
        self.read_only_state()
        result = self.as_nobody("resume", "aws-c5-[0-1]")
        self.one_complaint(
            result, f"StateDir '{self.state}/locks': Permission denied; it must be writable for SlurmUser", 1)
        self.nothing_started()
        self.assertEqual(sorted(self.refusals()), NODES[:2])
        for reason in self.refusals().values():
            self.assertRegex(reason, f'^burst:StateDirError .*{self.state}')

    def test_a_state_dir_that_can_not_be_written_keeps_no_machine_alive(self):
        self.resumed("aws-c5-[0-1]")
        shutil.rmtree(self.state)
        self.read_only_state()
        result = self.as_nobody("suspend", "aws-c5-[0-1]")
        self.one_complaint(result, 'StateDir .*Permission denied.*going on without the lock', 0)
        self.assertEqual(self.alive(), [])
        result = self.as_nobody("change_state")
        self.one_complaint(result, "StateDir .*Permission denied", 1)

    def on_a_full_state_dir(self, pages, *command):
        """Runs it in a mount namespace of its own, where StateDir is a file system of that many pages, all of them
        taken by the time that the program starts but for those of files that are there already."""
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("needs root and mount namespaces")
        self.state.mkdir(exist_ok=True)
        script = (f'mount -t tmpfs -o mode=0755,size={pages * 4096} tmpfs "{self.state}" || exit 99; '
                  f'mkdir -p "{self.state}/locks" "{self.state}/launches/aws-c5" "{self.state}/groups"; '
                  f'dd if=/dev/zero of="{self.state}/filler" bs=4096 2>/dev/null; exec "$@"')
        program, *arguments = command
        return self.run_program(program, *arguments, prefix=["unshare", "-m", "sh", "-c", script, "sh"])

    def test_a_full_state_dir_ends_what_it_can_not_record(self):
        result = self.on_a_full_state_dir(8, "resume", "aws-c5-[0-1]")
        self.assertEqual(result.status, 1)
        self.assertRegex("\n".join(messages(result.err, "ERROR")), "StateDir .*: No space left on device")
        self.assertEqual(self.alive(), [])
        self.assertEqual(sorted(self.refusals()), NODES[:2])
        for reason in self.refusals().values():
            self.assertRegex(reason, "^burst:StateDirError .*No space left on device")

    def test_a_full_state_dir_stops_no_suspend(self):
        self.resumed("aws-c5-[0-1]")
        result = self.on_a_full_state_dir(8, "suspend", "aws-c5-[0-1]")
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(self.alive(), [])


class Slurm(BlackboxTest):
    def test_no_scontrol_is_told_and_the_machines_stay_for_change_state(self):
        (self.folder / "slurm/scontrol").unlink()
        result = self.resume("aws-c5-[0-1]")
        self.one_complaint(result, f'ERROR - .*running "{self.folder}/slurm/scontrol": No such file or directory', 1)
        self.assertEqual(self.names_alive(), NODES[:2])
        result = self.run_program("change_state")
        self.one_complaint(result, f'ERROR - .*running "{self.folder}/slurm/scontrol": No such file or directory', 1)
        self.assertEqual(self.names_alive(), NODES[:2])
        self.assertEqual(self.suspend("aws-c5-[0-1]").status, 0)
        self.assertEqual(self.alive(), [])

    def test_a_slurmctld_that_does_not_answer_decides_nothing(self):
        self.resumed("aws-c5-[0-1]")
        for instance in self.alive():
            self.cloud.change(instance, age_seconds=1000)
        (self.folder / "slurm/fail").touch()
        result = self.run_program("change_state")
        self.one_complaint(result, "ERROR - reading nodes from Slurm: .*Unable to contact slurm controller", 1)
        self.assertEqual(self.names_alive(), NODES[:2])

    def test_addresses_that_could_not_be_told_are_told_by_change_state(self):
        (self.folder / "slurm/fail").touch()
        result = self.resume("aws-c5-[0-1]")
        self.one_complaint(result, "ERROR - Failed to update node addresses of aws-c5: .*Unable to contact", 1)
        (self.folder / "slurm/fail").unlink()
        self.show_nodes(NODES[:2], "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP")
        self.assertEqual(self.run_program("change_state").status, 0)
        self.assertEqual(sorted(self.addresses()), NODES[:2])

    def test_a_scontrol_that_hangs_is_ended_with_all_that_it_started(self):
        (self.folder / "slurm/hang").touch()
        result = self.resume("aws-c5-0")
        self.assertLess(result.seconds, 55)
        self.one_complaint(result, "ERROR - .*no answer in 30 s", 1)
        self.assertEqual(self.names_alive(), NODES[:1])


if __name__ == "__main__":
    unittest.main()
