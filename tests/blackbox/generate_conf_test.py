# SPDX-License-Identifier: Apache-2.0
"""generate_conf as an admin runs it."""
import os
import unittest

from blackbox import BlackboxTest, group, messages

FILES = ("slurm.conf.aws", "gres.conf.aws")


class GenerateConf(BlackboxTest):
    def setUp(self):
        super().setUp()
        self.configure(group(SlurmSpecifications={"CPUs": 2, "Gres": "gpu:a100:2"}))
        self.out = self.folder / "out"
        self.out.mkdir()

    def run_conf(self, *arguments, **how):
        return self.run_program("generate_conf", *arguments, **how)

    def test_writes_both_files_into_the_folder(self):
        result = self.run_conf("-o", str(self.out))
        self.assertEqual((result.status, result.out, result.err), (0, "", ""))
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), sorted(FILES))
        slurm, gres = ((self.out / name).read_text() for name in FILES)
        self.assertIn("ResumeProgram=/opt/burst/resume\n", slurm)
        self.assertRegex(slurm, r"(?m)^NodeName=aws-c5-\[0-3\] State=CLOUD CPUs=2 Gres=gpu:a100:2$")
        self.assertRegex(slurm, r"(?m)^PartitionName=aws Nodes=aws-c5-\[0-3\] MaxTime=INFINITE State=UP$")
        self.assertRegex(gres, r"(?m)^NodeName=aws-c5-\[0-3\] Name=gpu Type=a100 File=/dev/nvidia\[0-1\]$")
        for name in FILES:
            self.assertIn(f"{self.out}/{name}", self.log())
        self.assertEqual(self.scontrol_runs(), [])

    def test_standard_output_gets_the_same_and_no_file_is_written(self):
        self.run_conf("--output", str(self.out))
        before = {path for path in self.folder.rglob("*")}
        result = self.run_conf("--stdout")
        self.assertEqual((result.status, result.err), (0, ""))
        slurm, gres = ((self.out / name).read_text() for name in FILES)
        self.assertEqual(result.out, slurm + "# gres.conf\n" + gres)
        self.assertEqual({path for path in self.folder.rglob("*")}, before)

    def test_the_same_configuration_gives_the_same_text(self):
        self.assertEqual(self.run_conf("--stdout").out, self.run_conf("--stdout").out)

    def test_mode_and_owner_of_what_is_replaced_are_kept(self):
        for name in FILES:
            (self.out / name).write_text("old\n" * 1000)
            (self.out / name).chmod(0o604)
            if os.geteuid() == 0:
                os.chown(self.out / name, 1234, 4321)
        self.assertEqual(self.run_conf("-o", str(self.out)).status, 0)
        for name in FILES:
            info = (self.out / name).stat()
            self.assertEqual(info.st_mode & 0o7777, 0o604)
            self.assertNotIn("old", (self.out / name).read_text())
            if os.geteuid() == 0:
                self.assertEqual((info.st_uid, info.st_gid), (1234, 4321))

    def test_a_folder_that_is_not_there_or_takes_no_file(self):
        for folder, why in ((self.out / "no", "No such file or directory"), (self.slurm_conf, "Not a directory"),
                            ("/proc", "No such file or directory")):
            result = self.run_conf("-o", str(folder))
            self.one_complaint(result, f'CRITICAL - writing "{folder}/slurm.conf.aws": {why}', 1)

    def test_a_folder_without_permission_leaves_what_was_there(self):
        (self.out / FILES[0]).write_text("old\n")
        self.out.chmod(0o555)
        self.log_file.touch()
        self.log_file.chmod(0o666)
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] if os.geteuid() == 0 else []
        result = self.run_conf("-o", str(self.out), prefix=prefix)
        self.one_complaint(result, 'CRITICAL - writing ".*/out/slurm.conf.aws": Permission denied', 1)
        self.assertEqual((self.out / FILES[0]).read_text(), "old\n")
        self.assertEqual([path.name for path in self.out.iterdir()], [FILES[0]])

    def test_a_full_disk_under_standard_output_is_no_success(self):
        with open("/dev/full", "w") as full:
            result = self.run_conf("--stdout", stdout=full)
        self.assertEqual(result.status, 1, result.err)
        self.assertRegex(result.err, "standard output")

    def test_check_is_quiet_about_a_good_configuration_and_writes_nothing(self):
        self.config["SlurmConf"].update(
            SuspendTimeout=120, SuspendTime=900, ReturnToService=2, ResumeTimeout=300,
            ResumeProgram=str(self.folder / "bin/resume"), SuspendProgram=str(self.folder / "bin/suspend"),
            ResumeFailProgram=str(self.folder / "bin/suspend"))
        self.configure()
        self.log_file.touch()
        before = {path for path in self.folder.rglob("*") if path.parent.name != "calls"}
        result = self.run_conf("--check")
        self.assertNotIn("error:", result.out)
        self.assertEqual(result.status, 0, result.out)
        self.assertEqual({path for path in self.folder.rglob("*") if path.parent.name != "calls"} - before, set())
        self.assertEqual(self.scontrol_runs(), [["-V"]])

    def test_check_refuses_with_status_1(self):
        self.config["SlurmConf"]["ResumeRate"] = 60001
        self.configure()
        result = self.run_conf("--check")
        self.assertEqual(result.status, 1)
        self.assertRegex(result.out, r"(?m)^error: R4 .*ResumeRate")
        self.assertRegex(result.out, r"(?m)^error: R1 .*/opt/burst/resume")

    def test_check_judges_for_the_release_that_is_named(self):
        old, new = (self.run_conf("--check", "--slurm-version", release).out for release in ("22.05", "24.05.3"))
        self.assertRegex(old, "(?m)^warning: W4 .*TreeWidth")
        self.assertNotRegex(new, "(?m)^warning: W4 .*TreeWidth")
        self.assertEqual(self.scontrol_runs(), [])

    def test_a_release_that_is_none(self):
        result = self.run_conf("--check", "--slurm-version", "newest")
        self.one_complaint(result, "CRITICAL - --slurm-version: expected a version such as 23.11, found newest", 1)

    def test_a_gres_that_is_none_is_told_and_the_rest_is_written(self):
        self.configure(group(SlurmSpecifications={"CPUs": 2, "Gres": "gpu:a100:2:3:4"}))
        result = self.run_conf("-o", str(self.out))
        self.assertEqual(result.status, 0)
        self.assertEqual(len(messages(result.err, "WARNING")), 1)
        self.assertRegex(result.err, "aws-c5: Gres \"gpu:a100:2:3:4\"")
        self.assertTrue((self.out / FILES[1]).exists())


if __name__ == "__main__":
    unittest.main()
