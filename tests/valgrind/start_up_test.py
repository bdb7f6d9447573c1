# SPDX-License-Identifier: Apache-2.0
"""The programs' start under valgrind: no read of what is not theirs or has no value, no memory lost."""
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))
from blackbox import BlackboxTest, group, messages  # noqa: E402

PROGRAMS = ("resume", "suspend", "change_state", "generate_conf")
FOUND = 99  # the status of a program of which valgrind has something to tell
VALGRIND = (shutil.which("valgrind") or "valgrind", "--quiet", f"--error-exitcode={FOUND}", "--leak-check=full",
            "--errors-for-leak-kinds=definite,possible", "--show-leak-kinds=definite,possible")


class StartUp(BlackboxTest):
    def clean(self, program, *arguments, status=0):
        """Runs it under valgrind, which has nothing to tell; the program ends with this status."""
        report = self.folder / "valgrind.txt"
        with self.start(program, *arguments, prefix=(*VALGRIND, f"--log-file={report}")) as process:
            out, err = process.communicate(timeout=100)
        # Lines of "--": system calls that are younger than this valgrind, such as pidfd_open, and fail in it.
        self.assertEqual([line for line in report.read_text().splitlines() if not line.startswith("--")], [])
        self.assertEqual(process.returncode, status, err)
        return out, err

    def test_valgrind_tells_what_it_finds(self):
        """Otherwise the silence of the others would say nothing."""
        source, program, report = (self.folder / name for name in ("lost.c", "lost", "valgrind.txt"))
        source.write_text("#include <stdlib.h>\nint main(void) { return malloc(7) == 0; }\n")
        subprocess.run(["cc", "-O0", "-o", program, source], check=True)
        result = subprocess.run([*VALGRIND, f"--log-file={report}", program], check=False)
        self.assertEqual(result.returncode, FOUND)
        self.assertIn("7 bytes in 1 blocks are definitely lost", report.read_text())

    def test_version_and_help(self):
        """One of both for each: they share the command line's code."""
        for program, option in zip(PROGRAMS, ("--version", "--help", "--version", "--help")):
            with self.subTest(program):
                out, err = self.clean(program, option)
                self.assertNotEqual(out, "")
                self.assertEqual(err, "")

    def test_no_configuration(self):
        (self.folder / "bin/config.json").unlink()
        for program, *arguments in (["resume", "aws-c5-0"], ["suspend", "aws-c5-0"], ["change_state"], ["generate_conf"]):
            with self.subTest(program):
                self.assertIn("no such file", self.clean(program, *arguments, status=2)[1])

    def test_a_node_that_nobody_knows(self):
        for program in ("resume", "suspend"):
            with self.subTest(program):
                _, err = self.clean(program, "nosuch-group-0", status=1)
                self.assertEqual(messages(err), ["Skipping partition=nosuch nodegroup=group: not in partitions.json "
                                                 "(node nosuch-group-0)"])
        self.nothing_started()

    def test_a_cluster_without_machines(self):
        """Two node groups: with a thread and a connection each."""
        self.configure(group(), group("g5"))
        self.assertEqual(self.clean("change_state"), ("", ""))
        self.assertIn("NodeName=aws-g5-[0-3]", self.clean("generate_conf", "--stdout")[0])
        self.nothing_started()


if __name__ == "__main__":
    unittest.main()
