#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cmake --install`: SlurmUser can read and run everything, nobody but its owner can write it, whatever root's umask is."""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["BURST_BUILD_DIR"]
PROGRAMS = {"resume", "suspend", "change_state", "generate_conf"}


class Install(unittest.TestCase):
    def install(self, umask):
        temporary = tempfile.TemporaryDirectory(prefix="burst-install-")
        self.addCleanup(temporary.cleanup)
        prefix = pathlib.Path(temporary.name) / "usr"
        prefix.mkdir(mode=0o755)
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", str(prefix)], capture_output=True, text=True,
                              preexec_fn=lambda: os.umask(umask))
        self.assertEqual(done.returncode, 0, done.stderr)
        return prefix

    def test_modes_are_right_for_every_umask(self):
        for umask in (0o077, 0o022, 0o000):
            with self.subTest(umask=oct(umask)):
                prefix = self.install(umask)
                found = {path.relative_to(prefix): path.lstat().st_mode for path in prefix.rglob("*")}
                programs = {path.name for path in found if path.parts[:2] == ("libexec", "slurm-burst") and len(path.parts) > 2}
                self.assertEqual(programs, PROGRAMS)
                for path, mode in found.items():
                    self.assertFalse(stat.S_ISLNK(mode), path)
                    runs = stat.S_ISDIR(mode) or path.name in PROGRAMS | {"get_nodename"}
                    self.assertEqual(oct(stat.S_IMODE(mode)), oct(0o755 if runs else 0o644), path)
                if os.geteuid() == 0:
                    self.assertEqual({path.stat().st_uid for path in prefix.rglob("*")}, {0})

    def test_what_is_installed_holds_no_secret_and_no_configuration_in_use(self):
        prefix = self.install(0o022)
        self.assertFalse((prefix / "etc").exists())
        names = {path.name for path in prefix.rglob("*")}
        self.assertLessEqual({"config.json", "partitions.schema.json", "SECURITY.md", "get_nodename"}, names)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
