# SPDX-License-Identifier: Apache-2.0
"""Flex Start: what the best known peers get wrong, each by its own test."""
import concurrent.futures
import signal
import subprocess
import unittest

from blackbox import messages, names
from gce_blackbox import BOOTING, GROUP, OFF, REQUEST, GceBlackboxTest, flex_group

NODES = names("gce-h200-[0-3]")


class FlexStart(GceBlackboxTest):
    def setUp(self):
        super().setUp()
        self.gce(flex_group())

    def mig_of(self, job):
        return next(mig for mig in self.cloud.migs() if f"job={job} " in mig["description"])

    def states(self):
        """{state: how many} of all requests."""
        found = [request["state"] for mig in self.cloud.migs() for request in mig["requests"]]
        return {state: found.count(state) for state in found}

    # -- launching

    def test_two_jobs_are_two_groups_and_resume_waits_for_neither(self):
        result = self.resume_jobs({7: "gce-h200-[0-1]", 8: "gce-h200-[2-3]"})
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertLess(result.seconds, 10)
        self.assertEqual(self.states(), {"ACCEPTED": 2})
        self.assertEqual(sorted(self.mig_of(7)["requests"][0]["instances"]), NODES[:2])
        self.assertEqual(sorted(self.mig_of(8)["requests"][0]["instances"]), NODES[2:])
        self.assertEqual((self.addresses(), self.refusals(), self.names_alive()), ({}, {}, []))

    def test_a_second_resume_of_queued_nodes_asks_for_nothing(self):
        self.resume_jobs({7: "gce-h200-[0-3]"})
        self.resumed("gce-h200-[0-3]")
        self.assertEqual(len(self.cloud.migs()), 1)
        self.assertEqual(len(self.calls_of(f"{REQUEST}.insert")), 1)

    def test_1001_nodes_are_two_groups(self):
        hostlist = "gce-h200-[0-1000]"
        self.gce(flex_group(nodes=1001))
        self.resume_jobs({7: hostlist})
        sizes = sorted(len(mig["requests"][0]["instances"]) for mig in self.cloud.migs())
        self.assertEqual(sizes, [1, 1000])

    def test_every_bound_of_the_duration(self):
        for text, seconds in (("30s", 600), ("599s", 600), ("600s", 600), ("172800s", 172800), ("604800s", 604800),
                              (None, 604800)):
            with self.subTest(text):
                self.cloud.control("reset", {})
                self.gce(flex_group(FlexStartMaxDuration=text) if text else
                         {key: value for key, value in flex_group().items() if key != "FlexStartMaxDuration"})
                self.assertEqual(self.resume_jobs({7: "gce-h200-0"}).status, 0)
                request = self.cloud.migs()[0]["requests"][0]
                self.assertEqual(int(request["run_seconds"]), seconds)
        for text in ("604801s", "29s"):
            with self.subTest(text):
                self.cloud.control("reset", {})
                self.gce(flex_group(FlexStartMaxDuration=text))
                result = self.resume("gce-h200-0")
                self.assertEqual(result.status, 2)
                self.assertIn("/FlexStartMaxDuration", result.err)
                self.nothing_started()

    def test_a_refused_request_leaves_no_group_and_touches_no_other_job(self):
        # A code to be asked again for stays for good here: in the end it is a refusal as well.
        for code, status in (("badRequest", 400), ("forbidden", 403), ("rateLimitExceeded", 429), ("backendError", 500)):
            with self.subTest(status):
                self.cloud.control("reset", {})
                self.show_nodes(NODES)
                self.configure(Deadline=20)
                self.assertEqual(self.resume_jobs({8: "gce-h200-[2-3]"}).status, 0)
                self.cloud.fault(f"{REQUEST}.insert", "error", code=code, status=status, count=-1,
                                 message="said by the test")
                self.assertEqual(self.resume_jobs({7: "gce-h200-[0-1]"}).status, 1)
                self.cloud.clear_faults()
                self.assertEqual([mig["name"] for mig in self.cloud.migs()], [self.mig_of(8)["name"]])
                self.assertEqual(self.states(), {"ACCEPTED": 1})
                reasons = {node: update.options["Reason"] for update in self.updates("State") for node in update.nodes}
                self.assertIn(code, reasons["gce-h200-0"])
                self.assertNotIn("gce-h200-2", reasons)

    def test_a_launch_killed_between_group_and_request_leaves_nothing_after_change_state(self):
        self.cloud.set(latency_ms={f"{REQUEST}.insert": 30_000})
        self.configure(LaunchGrace=0)
        self.cloud.fault(f"{REQUEST}.insert", "drop_before", count=-1)
        process = self.start("resume", "gce-h200-[0-1]", stderr=subprocess.DEVNULL)
        self.wait_until(lambda: self.calls_of(f"{REQUEST}.insert"), "no request")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.cloud.clear_faults()
        self.cloud.set(latency_ms=0)
        self.assertEqual((len(self.cloud.migs()), self.states()), (1, {}))
        self.show({node: OFF for node in NODES})

        def collected():
            self.change_state()
            return not self.cloud.migs()
        self.wait_until(collected, "the empty group stays")
        # Or a resume comes first: it uses what is there, or its own, and one request is made.
        self.assertEqual(self.resume_jobs({7: "gce-h200-[0-1]"}).status, 0)
        self.assertEqual(self.states(), {"ACCEPTED": 1})

    # -- ending

    def test_suspend_of_one_jobs_nodes_cancels_its_request_and_no_other(self):
        self.resume_jobs({7: "gce-h200-[0-1]", 8: "gce-h200-[2-3]"})
        kept = self.mig_of(8)["name"]
        self.suspended("gce-h200-[0-1]")
        self.assertEqual([mig["name"] for mig in self.cloud.migs()], [kept])
        self.assertEqual(self.states(), {"ACCEPTED": 1})
        cancels = [call["parameters"]["instanceGroupManager"] for call in self.calls_of(f"{REQUEST}.cancel")]
        self.assertNotIn(kept, cancels)
        self.assertEqual(len(cancels), 1)

    def test_a_node_is_not_taken_for_one_whose_name_begins_alike(self):
        self.gce(flex_group(nodes=20))
        self.resume_jobs({7: "gce-h200-1", 8: "gce-h200-10", 9: "gce-h200-11"})
        self.suspended("gce-h200-1")
        left = sorted(mig["requests"][0]["instances"][0] for mig in self.cloud.migs())
        self.assertEqual(left, ["gce-h200-10", "gce-h200-11"])

    def test_some_machines_of_a_group_end_by_one_call_and_all_of_them_with_their_group(self):
        self.resume_jobs({7: "gce-h200-[0-3]"})
        self.cloud.decide(self.mig_of(7), "succeed")
        self.wait_until(lambda: self.names_alive() == NODES, "no machines")
        self.suspended("gce-h200-[0-1]")
        self.wait_until(lambda: self.names_alive() == NODES[2:], "the wrong machines live")
        self.assertEqual(len(self.calls_of(f"{GROUP}.deleteInstances")), 1)
        self.suspended("gce-h200-[2-3]")
        self.wait_until(lambda: not self.cloud.migs() and not self.names_alive(), "something is left")
        self.assertEqual(len(self.calls_of(f"{GROUP}.delete")), 1)
        self.assertEqual(self.calls_of("Instances.delete"), [])

    # -- change_state

    def test_the_last_attempts_error_becomes_the_waiting_jobs_comment(self):
        self.resume_jobs({7: "gce-h200-[0-1]"})
        self.show({node: BOOTING if node in NODES[:2] else OFF for node in NODES})
        self.show_jobs({7: "gce-h200-[0-1]"})
        self.cloud.decide(self.mig_of(7), "attempt_error", code="QUOTA_EXCEEDED", message="Quota 'GPUS' exceeded.")
        self.change_state()
        comments = [run for run in self.scontrol_runs("update") if any(word.startswith("Comment=") for word in run)]
        self.assertEqual(len(comments), 1, comments)
        self.assertIn("QUOTA_EXCEEDED", " ".join(comments[0]))
        self.assertTrue(any(word in ("JobId=7", "job=7") for word in comments[0]), comments[0])

    def test_a_failed_request_is_told_with_its_code_and_its_group_goes(self):
        self.resume_jobs({7: "gce-h200-[0-1]", 8: "gce-h200-[2-3]"})
        self.show({node: BOOTING for node in NODES})
        kept = self.mig_of(8)["name"]
        self.cloud.decide(self.mig_of(7), "fail", code="ZONE_RESOURCE_POOL_EXHAUSTED", message="no H200 at all")
        self.change_state()
        self.assertEqual(sorted(self.refusals()), NODES[:2])
        for reason in self.refusals().values():
            self.assertRegex(reason, "^burst:ZONE_RESOURCE_POOL_EXHAUSTED .*no H200 at all")
        self.assertEqual([mig["name"] for mig in self.cloud.migs()], [kept])
        self.assertEqual(self.states(), {"ACCEPTED": 1})

    def test_machines_that_appear_get_their_addresses(self):
        self.resume_jobs({7: "gce-h200-[0-1]"})
        self.show({node: BOOTING if node in NODES[:2] else OFF for node in NODES})
        self.change_state()
        self.assertEqual(self.addresses(), {})
        self.cloud.decide(self.mig_of(7), "succeed")
        self.wait_until(lambda: self.names_alive() == NODES[:2], "no machines")
        self.change_state()
        self.assertEqual(self.addresses(), {m["name"]: (m["address"], m["name"]) for m in self.cloud.machines()})

    # -- side by side

    def test_resume_suspend_and_change_state_side_by_side_leave_one_request_a_node_at_most(self):
        self.configure(LaunchGrace=60)
        for _ in range(5):
            with concurrent.futures.ThreadPoolExecutor() as pool:
                runs = [pool.submit(self.resume_jobs, {i: "gce-h200-[0-1]"}, f"resume-file-{i}") for i in (7, 8)]
                runs += [pool.submit(self.suspend, "gce-h200-[2-3]"), pool.submit(self.run_program, "change_state")]
                self.assertEqual([run.result().status for run in runs], [0] * 4)
            queued = [node for mig in self.cloud.migs() for request in mig["requests"] for node in request["instances"]]
            self.assertEqual(sorted(queued), NODES[:2])
            self.suspended("gce-h200-[0-1]")
            self.assertEqual(self.cloud.migs(), [])
        self.assertEqual(messages(self.log(), "ERROR", "CRITICAL"), [])


if __name__ == "__main__":
    unittest.main()
