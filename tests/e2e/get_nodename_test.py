# SPDX-License-Identifier: Apache-2.0
"""config/get_nodename: how an instance learns which node it is."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import types
import unittest

from cloudsim import Cloudsim
from fake_imds import FakeImds
from processes import wait_until

_SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "config/get_nodename"
_NAME = "tags/instance/Name"
_HOST = os.uname().nodename.split(".")[0]
_NOWHERE = "http://127.0.0.1:1"


def get_nodename(endpoint, patience="20", path=None, host=None, shell="dash"):
    """The completed run. `path`: a folder of commands that hide the system's."""
    environment = {"PATH": f"{path}:/usr/bin:/bin" if path else "/usr/bin:/bin",
                   "AWS_EC2_METADATA_SERVICE_ENDPOINT": endpoint, "http_proxy": _NOWHERE}
    command = [shutil.which(shell), _SCRIPT, *([patience] if patience is not None else [])]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


class Commands:
    """A folder with commands of a test's own, to be found before the system's."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.path = self._folder.name
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def add(self, name, script):
        file = pathlib.Path(self.path) / name
        file.write_text("#!/bin/sh\n" + script)
        file.chmod(0o755)
        return self


class GetNodename(unittest.TestCase):
    def test_it_prints_the_Name_tag_at_once(self):
        for shell in ("dash", "bash"):
            with self.subTest(shell=shell), FakeImds({_NAME: "aws-c5-12"}) as imds:
                run = get_nodename(imds.endpoint, shell=shell)
                self.assertEqual((run.stdout, run.stderr, run.returncode), ("aws-c5-12\n", "", 0))
                self.assertEqual(imds.requests[0], ("PUT", "/latest/api/token"))

    def test_a_slash_at_the_end_of_the_endpoint_does_no_harm(self):
        with FakeImds({_NAME: "aws-c5-12"}) as imds:
            self.assertEqual(get_nodename(imds.endpoint + "/").stdout, "aws-c5-12\n")

    def test_it_waits_for_a_tag_that_comes_after_the_launch(self):
        with FakeImds() as imds:
            imds.after[_NAME] = lambda: imds.items.update({_NAME: "aws-c5-3"})
            self.assertEqual(get_nodename(imds.endpoint).stdout, "aws-c5-3\n")

    def test_a_Name_that_is_no_node_name_is_not_taken(self):
        for name in ("slurm-compute", "web server", "", "aws-c5-3x", "aws-c5-", "-c5-1", "aws--1", "a-b-c-4",
                     "aws-c5-1\naws-c5-2"):
            with self.subTest(name=name), FakeImds({_NAME: name}) as imds:
                run = get_nodename(imds.endpoint, "0")
                self.assertEqual(run.stdout, _HOST + "\n")
                self.assertTrue(imds.asked_for(_NAME))

    def test_a_Name_of_the_launch_template_that_looks_like_a_node_is_not_taken(self):
        with FakeImds({_NAME: "web-server-1", "tags/instance/slurm-burst:partition": "aws",
                       "tags/instance/slurm-burst:node-group": "c5"}) as imds:
            imds.after[_NAME] = lambda: imds.items.update({_NAME: "aws-c5-3"})
            self.assertEqual(get_nodename(imds.endpoint).stdout, "aws-c5-3\n")

    def test_without_tags_in_the_metadata_it_asks_ec2(self):
        with FakeImds({"instance-id": "i-0123", "placement/region": "eu-west-3"}) as imds, Commands() as commands:
            commands.add("aws", f'echo "$@" >{commands.path}/arguments; echo aws-c5-7')
            self.assertEqual(get_nodename(imds.endpoint, path=commands.path).stdout, "aws-c5-7\n")
            arguments = (pathlib.Path(commands.path) / "arguments").read_text()
            self.assertIn("ec2 describe-tags --region eu-west-3", arguments)
            self.assertIn("Name=resource-id,Values=i-0123 Name=key,Values=Name", arguments)

    def test_it_does_not_take_the_None_that_the_aws_command_prints_for_no_tag(self):
        with FakeImds({"instance-id": "i-0123", "placement/region": "eu-west-3"}) as imds, Commands() as commands:
            commands.add("aws", f'touch {commands.path}/asked; echo None')
            run = get_nodename(imds.endpoint, "4", path=commands.path)
            self.assertEqual((run.stdout, run.returncode), (_HOST + "\n", 0))
            self.assertIn("InstanceMetadataTags", run.stderr)
            self.assertTrue((pathlib.Path(commands.path) / "asked").exists())

    def test_it_does_not_ask_ec2_when_the_metadata_has_the_name(self):
        with FakeImds({_NAME: "aws-c5-1"}) as imds, Commands() as commands:
            commands.add("aws", f"touch {commands.path}/asked")
            self.assertEqual(get_nodename(imds.endpoint, path=commands.path).stdout, "aws-c5-1\n")
            self.assertFalse((pathlib.Path(commands.path) / "asked").exists())

    def test_without_a_metadata_service_it_is_the_host_name_in_the_end(self):
        run = get_nodename(_NOWHERE, "0")
        self.assertEqual((run.stdout, run.stderr, run.returncode), (_HOST + "\n", "", 0))

    def test_a_machine_of_another_provider_that_is_named_after_its_node_does_not_wait(self):
        with FakeImds(token_status=404) as imds, Commands() as commands:
            commands.add("uname", "echo gcp-a3-2.c.project.internal").add("sleep", "exit 99")
            self.assertEqual(get_nodename(imds.endpoint, path=commands.path).stdout, "gcp-a3-2\n")

    def test_a_host_name_is_not_trusted_while_the_network_may_not_be_up(self):
        with Commands() as commands:
            commands.add("uname", "echo aws-c5-2").add("sleep", f"echo >>{commands.path}/slept")
            self.assertEqual(get_nodename(_NOWHERE, path=commands.path).stdout, "aws-c5-2\n")
            self.assertGreaterEqual(len((pathlib.Path(commands.path) / "slept").read_text()), 4)

    def test_a_wrong_argument_is_refused(self):
        for wrong in ("", "ten", "-1"):
            with self.subTest(wrong=wrong):
                run = get_nodename(_NOWHERE, wrong)
                self.assertEqual((run.stdout, run.returncode), ("", 2))

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_finds_nothing(self):
        scripts = [_SCRIPT, pathlib.Path(__file__).resolve().parent / "boot-slurmd"]
        run = subprocess.run(["shellcheck", *scripts], capture_output=True, text=True)
        self.assertEqual(run.stdout, "")


class AgainstCloudsim(unittest.TestCase):
    def test_it_finds_the_Name_that_is_set_after_the_launch(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "run").mkdir()
            (pathlib.Path(folder) / "log").mkdir()
            cloud = Cloudsim(boots=False)
            cloud.start(types.SimpleNamespace(folder=pathlib.Path(folder), environment={}))
            try:
                tags = {"Name": "slurm-node-1", "slurm-burst:partition": "aws", "slurm-burst:node-group": "c5"}
                instance = cloud.control("instances", {"tags": tags})
                waiting = subprocess.Popen([_SCRIPT, "30"], stdout=subprocess.PIPE, text=True, env={
                    "PATH": "/usr/bin:/bin",
                    "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"{cloud.endpoint}/imds/{instance['id']}"})
                wait_until(lambda: cloud.calls("Metadata") >= 5, "it does not ask again")
                self.assertIsNone(waiting.poll())
                cloud.change(instance, tags={**tags, "Name": "aws-c5-1"})
                self.assertEqual(waiting.communicate(timeout=30)[0], "aws-c5-1\n")
            finally:
                cloud.stop()


if __name__ == "__main__":
    unittest.main()
