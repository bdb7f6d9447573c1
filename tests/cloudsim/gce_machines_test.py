# SPDX-License-Identifier: Apache-2.0
"""Machines of the simulated Compute Engine that run a program."""
import os
import stat
import tempfile
import unittest

from gce_simulator import ZONE, ComputeTest
from machines_test import alive, processes_of
from simulator import Simulator, wait_until

PROGRAM = """#!/bin/sh
env | sort
ask() { echo "$1=$(curl -sf -H 'Metadata-Flavor: Google' "http://$GCE_METADATA_HOST/computeMetadata/v1/$1")"; }
ask instance/name; ask instance/zone; ask instance/attributes/job; ask project/project-id
echo ready
setsid sleep $MARK </dev/null >/dev/null 2>&1 &
exec sleep $MARK
"""


class Machines(ComputeTest):
    @classmethod
    def setUpClass(cls):
        cls.mark = "89%d" % os.getpid()  # a duration that no other process on this computer sleeps for
        cls.scratch = tempfile.TemporaryDirectory(prefix="cloudsim-machines-")
        program = os.path.join(cls.scratch.name, "boot")
        with open(program, "w") as file:
            file.write(PROGRAM)
        os.chmod(program, stat.S_IRWXU)
        cls.sim = Simulator("--boot-command", program, "--boot-env", "MARK=" + cls.mark,
                            "--log-dir", cls.scratch.name, "--kill-after-ms", "200")

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        assert alive(cls.mark) == []
        cls.scratch.cleanup()

    def tearDown(self):
        self.sim.control("POST", "/reset")
        wait_until(lambda: not alive(self.mark))

    def log(self, machine):
        try:
            with open(os.path.join(self.scratch.name, machine + ".log")) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def boot(self, names, **more):
        self.done(self.bulk(names, **more))
        for name in names:
            wait_until(lambda: "ready\n" in self.log(name))

    def test_a_machine_knows_itself(self):
        self.boot(["n-1"], instanceProperties={"metadata": {"items": [{"key": "job", "value": "42"}]}})
        lines = self.log("n-1").splitlines()
        host = self.sim.url.split("//")[1] + "/gce-metadata/n-1"
        for line in ("CLOUDSIM_INSTANCE_ID=n-1", "CLOUDSIM_REGION=us-central1", "CLOUDSIM_ZONE=" + ZONE,
                     "CLOUDSIM_ADDRESS=" + self.machine("n-1")["networkInterfaces"][0]["networkIP"],
                     "GCE_METADATA_HOST=" + host, "instance/name=n-1", "instance/attributes/job=42",
                     "instance/zone=projects/123456789012/zones/" + ZONE, "project/project-id=cloudsim-project"):
            self.assertIn(line, lines)

    def test_everything_in_it_ends_with_it_and_nothing_else(self):
        self.boot(["n-1", "n-10"])
        wait_until(lambda: len(processes_of("n-1")) == 2)
        self.done(self.call("DELETE", "zones/%s/instances/n-1" % ZONE))
        wait_until(lambda: self.sim.control("GET", "/machines")["running"] == 1)
        self.assertEqual(processes_of("n-1"), [])
        self.assertEqual(len(processes_of("n-10")), 2)
        self.sim.control("POST", "/gce/instances/n-10", action="preempt")
        wait_until(lambda: not alive(self.mark))

    def test_a_group_s_machines_run_and_hang_and_end_with_it(self):
        self.insert_group()
        self.ask(["f-1", "f-2"])
        wait_until(lambda: "ready\n" in self.log("f-1") and "ready\n" in self.log("f-2"))
        self.sim.control("POST", "/gce/instances/f-1", action="hang")
        wait_until(lambda: "T" in {state for _, state in alive(self.mark)})
        self.done(self.call("DELETE", self.mig()))
        wait_until(lambda: not alive(self.mark))

    def test_the_same_name_again_is_another_machine(self):
        self.boot(["n-1"])
        self.done(self.call("DELETE", "zones/%s/instances/n-1" % ZONE))
        self.bulk(["n-1"])
        wait_until(lambda: self.sim.control("GET", "/machines")["running"] == 1 and len(processes_of("n-1")) == 2)


if __name__ == "__main__":
    unittest.main()
