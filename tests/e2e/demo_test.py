# SPDX-License-Identifier: Apache-2.0
"""tools/demo: what a newcomer sees first."""

import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
import unittest

import processes
from processes import wait_until

_SOURCE = pathlib.Path(__file__).resolve().parents[2]
_DEMO = [sys.executable, str(_SOURCE / "tools/demo.py")]


class Demo(unittest.TestCase):
    def test_it_ends_well_with_one_line_a_change_where_there_is_no_terminal(self):
        shown = subprocess.run(_DEMO, capture_output=True, text=True, timeout=120)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertNotIn("\033", shown.stdout)
        output = "ip-127-10-0-4" if os.geteuid() == 0 else "\n  aws-c5-3\n"
        for seen in ("4 alloc#", "4 alloc ", "4 idle%", "4 idle~ ", output, "machines: none", "CreateFleet 1,"):
            self.assertIn(seen, shown.stdout)

    def test_the_pods_of_the_kubernetes_one_wait_for_the_autoscaler(self):
        shown = subprocess.run([*_DEMO, "--provider", "kubernetes", "--nodes", "2"], capture_output=True, text=True,
                               timeout=120)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        for seen in ("2 alloc#", "2 Pending", "2 Running", "2 idle~ ", "machines: none", "pods.create 2"):
            self.assertIn(seen, shown.stdout)

    def test_it_fits_a_terminal_of_80_columns(self):
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        demo = subprocess.Popen(_DEMO, stdout=slave, env={**os.environ, "TERM": "xterm"})
        self.addCleanup(demo.terminate)
        os.close(slave)
        output = b""
        try:
            while part := os.read(master, 65536):
                output += part
        except OSError:  # the other side is closed
            pass
        os.close(master)
        self.assertEqual(demo.wait(120), 0)
        lines = re.sub(r"\033\[[0-9;]*[A-Za-z]", "", output.decode()).splitlines()
        self.assertEqual([line for line in lines if len(line) > 80], [])
        self.assertGreater(output.count(b"\033[6A"), 10)  # drawn over and over in place

    def test_nothing_is_left_after_ctrl_c(self):
        processes.adopt_orphans()
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as output:
            demo = subprocess.Popen(_DEMO, stdout=output, stderr=subprocess.STDOUT,
                                    env={**os.environ, "TMPDIR": folder})
            self.addCleanup(demo.terminate)

            def machines_start():
                output.seek(0)
                return "4 pending" in output.read()
            wait_until(machines_start, "no instance is shown", 60)
            demo.send_signal(signal.SIGINT)
            self.assertEqual(demo.wait(60), 130)
            output.seek(0)
            self.assertTrue(output.read().endswith("cleaned up\n"))
            self.assertEqual(os.listdir(folder), [])
            self.assertEqual(processes.descendants(), {})


if __name__ == "__main__":
    unittest.main()
