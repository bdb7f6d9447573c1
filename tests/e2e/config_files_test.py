# SPDX-License-Identifier: Apache-2.0
"""The examples that an admin copies: systemd units, crontab, logrotate, IAM policies, the list of packages."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

_SOURCE = pathlib.Path(__file__).resolve().parents[2]
_CONFIG = _SOURCE / "config"
_MINIMUM = {"ec2:CreateFleet", "ec2:RunInstances", "ec2:TerminateInstances", "ec2:CreateTags", "ec2:DescribeInstances",
            "iam:PassRole", "iam:CreateServiceLinkedRole"}
_CLUSTER = {"CreateFleet": "aws:RequestTag", "RunInstances": "aws:RequestTag", "CreateTags": "aws:ResourceTag",
            "TerminateInstances": "aws:ResourceTag"}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def as_list(value):
    return value if isinstance(value, list) else [value]


def statements(name):
    return json.loads((_CONFIG / "iam" / name).read_text())["Statement"]


class IamPolicies(unittest.TestCase):
    def test_every_policy_has_only_allow_statements_with_distinct_sids(self):
        for path in (_CONFIG / "iam").glob("*.json"):
            with self.subTest(path.name):
                policy = json.loads(path.read_text())
                self.assertEqual(set(policy), {"Version", "Statement"})
                self.assertEqual(policy["Version"], "2012-10-17")
                sids = [statement["Sid"] for statement in policy["Statement"]]
                self.assertEqual(len(set(sids)), len(sids))
                for statement in policy["Statement"]:
                    self.assertLessEqual(set(statement), {"Sid", "Effect", "Action", "Resource", "Condition"})
                    self.assertEqual(statement["Effect"], "Allow")
                    self.assertRegex(statement["Sid"], "^[A-Za-z0-9]+$")

    def test_head_node_policies_allow_the_minimum_and_no_more(self):
        for name in ("head-node.json", "head-node-scoped.json"):
            with self.subTest(name):
                allowed = {action for statement in statements(name) for action in as_list(statement["Action"])}
                self.assertEqual(allowed, _MINIMUM)

    def test_the_scoped_policy_touches_instances_of_this_cluster_only(self):
        for statement in statements("head-node-scoped.json"):
            reaches_instances = any(r in ("*", "arn:aws:ec2:*:*:instance/*", "arn:aws:ec2:*:*:*/*")
                                    for r in as_list(statement["Resource"]))
            equals = statement.get("Condition", {}).get("StringEquals", {})
            for action in as_list(statement["Action"]):
                key = _CLUSTER.get(action.removeprefix("ec2:"))
                if not reaches_instances or not key or "ec2:CreateAction" in equals:
                    continue  # what a launch tags is bound by the launch's own condition
                with self.subTest(sid=statement["Sid"], action=action):
                    self.assertEqual(equals.get(key + "/slurm-burst:cluster"), "CLUSTER_NAME")

    def test_the_tag_in_the_policies_is_the_one_that_the_provider_sets(self):
        header = (_SOURCE / "src/providers/ec2/ec2_fleet.h").read_text()
        self.assertIn('kClusterTag = "slurm-burst:cluster"', header)


class SystemFiles(unittest.TestCase):
    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_accepts_the_units(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder)
            for unit in ("slurm-burst-change-state.service", "slurm-burst-change-state.timer"):
                text = (_CONFIG / unit).read_text()
                (target / unit).write_text(re.sub("^ExecStart=.*", "ExecStart=/bin/true", text, flags=re.M))
            (target / "slurmd.service").write_text("[Service]\nExecStart=/bin/false -D\n[Install]\n"
                                                   "WantedBy=multi-user.target\n")
            shutil.copytree(_CONFIG / "slurmd.service.d", target / "slurmd.service.d")
            checked = run("systemd-analyze", "verify", "--man=no", *sorted(str(path) for path in target.glob("*.*")
                                                                          if path.is_file()))
            complaints = [line for line in checked.stderr.splitlines() if folder in line or "slurm" in line]
            self.assertEqual(complaints, [])
            self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_the_drop_in_starts_slurmd_under_the_name_that_get_nodename_prints(self):
        text = (_CONFIG / "slurmd.service.d/slurm-burst.conf").read_text()
        command = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", text, re.M).group(1).replace("$$", "$")
        with tempfile.TemporaryDirectory() as folder:
            for name, script in (("get_nodename", "echo aws-c5-7"), ("slurmd", 'echo "$@"')):
                file = pathlib.Path(folder) / name
                file.write_text(f"#!/bin/sh\n{script}\n")
                file.chmod(0o755)
            for program in ("/usr/local/bin/get_nodename", "/usr/sbin/slurmd"):
                self.assertIn(program, command)
                command = command.replace(program, f"{folder}/{pathlib.Path(program).name}")
            started = run("dash", "-c", command, env={"PATH": "/usr/bin:/bin", "SLURMD_OPTIONS": "-v"})
            self.assertEqual(started.stdout.split(), ["-D", "-s", "-b", "-N", "aws-c5-7", "-v"], started.stderr)

    @unittest.skipUnless(shutil.which("logrotate", path="/usr/sbin:/usr/bin"), "logrotate is not installed")
    def test_logrotate_accepts_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / "rules"
            rules.write_text((_CONFIG / "logrotate.d/slurm-burst").read_text().replace("slurm slurm", "root root"))
            rules.chmod(0o644)
            checked = run(shutil.which("logrotate", path="/usr/sbin:/usr/bin"), "--debug", "--state", folder + "/state",
                          str(rules))
            self.assertNotIn("error", checked.stderr.lower())

    def test_the_crontab_line_runs_change_state_each_minute(self):
        lines = [line for line in (_CONFIG / "crontab.example").read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"^\* \* \* \* \* /\S+/change_state >/dev/null 2>&1$")


class Packages(unittest.TestCase):
    def test_the_script_lists_each_package_once(self):
        listed = run(str(_SOURCE / "tools/install-packages"), "--list").stdout.split()
        self.assertEqual(len(set(listed)), len(listed))
        self.assertLessEqual({"cmake", "slurmctld", "slurmd", "munge", "python3"}, set(listed))

    def test_an_unknown_group_is_refused(self):
        refused = run(str(_SOURCE / "tools/install-packages"), "nonsense")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("usage:", refused.stderr)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_finds_nothing(self):
        self.assertEqual(run("shellcheck", str(_SOURCE / "tools/install-packages")).stdout, "")


if __name__ == "__main__":
    unittest.main()
