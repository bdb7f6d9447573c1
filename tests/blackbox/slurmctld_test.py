# SPDX-License-Identifier: Apache-2.0
"""The programs as slurmctld starts them: closed or orphaned stdio, blocked signals, no environment, its arguments."""
import json
import os
import pathlib
import signal
import unittest

from blackbox import LAUNCH_TAG, BlackboxTest, group, messages, names, processes

NODES = ["aws-c5-0", "aws-c5-1"]


def close_all():
    os.closerange(0, 1024)


class Stdio(BlackboxTest):
    def test_all_work_is_done_with_every_descriptor_closed(self):
        self.show_nodes(names("aws-c5-[0-3]"), "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP")
        for program, *arguments in (["resume", "aws-c5-[0-1]"], ["change_state"], ["suspend", "aws-c5-[0-1]"]):
            with self.subTest(program):
                result = self.run_program(program, *arguments, stdin=None, stdout=None, stderr=None, prepare=close_all)
                self.assertEqual(result.status, 0, self.log())
                if program == "resume":
                    self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(self.alive(), [])
        self.assertEqual(messages(self.log(), "WARNING", "ERROR", "CRITICAL"), [])

    def test_no_file_of_ours_becomes_standard_output_when_descriptors_are_closed(self):
        """The first open() gives descriptor 0: what is printed later must not land in a lock or a log."""
        self.run_program("resume", "--dry-run", "aws-c5-[0-1]", stdin=None, stdout=None, stderr=None,
                         prepare=close_all)
        for path in self.folder.rglob("*"):
            if path.is_file() and path.parent.name != "bin":
                self.assertNotIn("would start", path.read_text(), path)

    def test_a_pipe_whose_reader_has_gone_stops_nothing(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        result = self.resume("nosuch-group-0,aws-c5-[0-1],aws-c5-007", stdout=writer, stderr=writer)
        self.assertEqual(result.status, 1)
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(self.suspend("aws-c5-[0-1]", stdout=writer, stderr=writer).status, 0)
        self.assertEqual(self.alive(), [])

    def test_children_get_their_own_stdio_when_ours_is_closed(self):
        (self.folder / "slurm/fail").touch()
        result = self.resume("aws-c5-0", stdin=None, stdout=None, stderr=None, prepare=close_all)
        self.assertEqual(result.status, 1)
        self.assertRegex("\n".join(messages(self.log(), "ERROR")), "Unable to contact slurm controller")


class Signals(BlackboxTest):
    def hanging(self, fault):
        self.cloud.fault(*fault, ms=60000)
        process = self.start("resume", "aws-c5-[0-1]")
        processes.wait_until(lambda: self.cloud.calls(fault[0]) > 0 or process.poll() is not None, "no call came")
        return process

    def test_sigterm_ends_it_at_once_while_a_call_is_slow(self):
        with self.hanging(("CreateFleet", "slow")) as process:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=5)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_other_signals_that_slurmctld_blocks_are_open_again(self):
        with self.hanging(("DescribeInstances", "slow")) as process:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            masks = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Sig"))
            self.assertEqual(int(masks["SigBlk"], 16), 0)
            self.assertTrue(int(masks["SigIgn"], 16) >> (signal.SIGPIPE - 1) & 1)
            process.kill()

    def test_children_have_no_signal_blocked_or_ignored(self):
        script = self.folder / "slurm/scontrol"
        script.write_text(f"#!/bin/sh\ngrep Sig /proc/self/status > {self.folder}/signals\n")
        self.resume("aws-c5-0")
        masks = dict(line.split(":\t") for line in (self.folder / "signals").read_text().splitlines())
        standard = 0x7fffffff  # glibc keeps 32 and 33 to itself
        self.assertEqual(int(masks["SigBlk"], 16) & standard, 0)
        self.assertEqual(int(masks["SigIgn"], 16) & standard, 0)

    def test_the_node_of_a_killed_resume_gets_one_machine_from_the_next(self):
        with self.hanging(("CreateFleet", "slow")) as process:
            process.send_signal(signal.SIGTERM)
        self.cloud.control("faults", method="DELETE")
        self.show_nodes(names("aws-c5-[0-3]"), "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP")
        self.resume("aws-c5-[0-1]")
        self.assertEqual([name for name in self.names_alive() if name], NODES)
        # What the dead launch has got is not named; it is ended when LaunchGrace has passed.
        for instance in self.alive():
            if not instance["tags"].get("Name"):
                self.cloud.change(instance, age_seconds=1000)

        def only_the_nodes_live():  # it takes two passes, in different seconds
            self.assertEqual(self.run_program("change_state").status, 0)
            return self.names_alive() == NODES

        processes.wait_until(only_the_nodes_live, lambda: f"alive: {self.names_alive()}")


class Arguments(BlackboxTest):
    def test_the_hostlist_is_the_last_argument(self):
        self.run_program("resume", "extra", "more words", "aws-c5-[0-1]")
        self.assertEqual(self.names_alive(), NODES)
        self.run_program("suspend", "extra", "aws-c5-[0-1]")
        self.assertEqual(self.alive(), [])

    def test_options_may_stand_before_it(self):
        """Slurm 26.05 lets ResumeProgram have arguments."""
        elsewhere = self.folder / "given"
        elsewhere.mkdir()
        for name in ("config.json", "partitions.json"):
            (self.folder / "bin" / name).rename(elsewhere / name)
        result = self.run_program("resume", "--config", str(elsewhere / "config.json"), "aws-c5-0")
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(self.names_alive(), NODES[:1])

    def test_features_behind_it_are_none_of_the_nodes(self):
        """As Slurm calls it to reboot nodes with other features: SLURM_JOB_ID is set, SLURM_RESUME_FILE is not."""
        env = {"SLURM_CONF": str(self.slurm_conf), "SLURM_JOB_ID": "17"}
        self.run_program("resume", "aws-c5-[0-1]", "a100,fast", env=env)
        self.assertEqual(self.names_alive(), NODES)

    def test_without_an_environment_config_and_slurm_conf_are_found_all_the_same(self):
        """ClusterName and StateDir stand in the configuration: not even SLURM_CONF is needed."""
        self.configure(ClusterName="alone", StateDir=str(self.folder / "state"))
        self.assertEqual(self.run_program("resume", "aws-c5-0", env={}).status, 0)
        self.assertEqual(self.names_alive(), NODES[:1])


class ResumeFile(BlackboxTest):
    JOBS = {
        "21.08 and 22.05": {"jobs": [{"job_id": 1, "nodes": "aws-c5-[0-1]"}], "all_nodes": "aws-c5-[0-1]"},
        "23.02 to 25.11": {"jobs": [
            {"extra": None, "job_id": 1, "features": "c1,c2", "nodes_alloc": "aws-c5-[0-3]",
             "nodes_resume": "aws-c5-[0-1]", "oversubscribe": "OK", "partition": "aws", "reservation": None}],
            "all_nodes_resume": "aws-c5-[0-1]"},
        "26.05": {"jobs": [
            {"exclusive": "NO", "extra": None, "job_id": 1, "priority": 7, "features": None,
             "nodes_resume": "aws-c5-[0-1]", "oversubscribe": "NO", "partition": "aws", "reservation": None},
            {"exclusive": "NODE", "job_id": 2, "priority": 1, "nodes_resume": "other-group-[0-9]"}],
            "all_nodes_resume": "aws-c5-[0-1]"},
    }

    def with_file(self, text, hostlist="aws-c5-[0-1]", path=None):
        path = path or self.folder / "resume-file"
        if text is not None:
            path.write_text(text)
        return self.resume(hostlist, env={"SLURM_CONF": str(self.slurm_conf), "SLURM_RESUME_FILE": str(path)})

    def test_the_jobs_of_every_generation_are_understood(self):
        for release, jobs in self.JOBS.items():
            with self.subTest(release):
                self.cloud.control("reset", {})
                self.configure(group(LaunchStrategy="all-or-nothing"))
                result = self.with_file(json.dumps(jobs), "aws-c5-[0-2]")
                self.assertEqual((result.status, result.err), (0, ""))
                launches = {}
                for instance in self.alive():
                    launches.setdefault(instance["tags"][LAUNCH_TAG], []).append(instance["tags"]["Name"])
                # The job's nodes together, the one that belongs to no job on its own.
                self.assertEqual(sorted(sorted(launch) for launch in launches.values()), [NODES, ["aws-c5-2"]])

    def test_it_is_read_before_it_vanishes(self):
        """It stands in /proc/PID/fd of slurmctld, which may end at any time."""
        descriptor = os.memfd_create("resume", 0)
        os.write(descriptor, json.dumps(self.JOBS["26.05"]).encode())
        result = self.with_file(None, path=f"/proc/{os.getpid()}/fd/{descriptor}")
        os.close(descriptor)
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(self.names_alive(), NODES)

    def test_a_vanished_one_is_done_without(self):
        result = self.with_file(None, path="/proc/1/fd/4321")
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(self.names_alive(), NODES)

    def test_garbage_is_a_warning_and_the_argument_counts(self):
        for text in ("garbage\x00\xff", "[]", '{"jobs": 3}', '{"jobs": [{"job_id": "x"}]}',
                     '{"jobs":[{"job_id":1,"nodes":"a["}]}'):
            with self.subTest(text):
                self.cloud.control("reset", {})
                result = self.with_file(text)
                self.assertEqual(result.status, 0)
                self.one_complaint(result, "reading SLURM_RESUME_FILE: .*going on with the hostlist alone", 0)
                self.assertEqual(self.names_alive(), NODES)


if __name__ == "__main__":
    unittest.main()
