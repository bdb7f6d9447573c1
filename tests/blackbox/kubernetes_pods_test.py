# SPDX-License-Identifier: Apache-2.0
"""Mode pod: what the API server is asked, and what becomes of every kind of reply."""
import signal
import subprocess
import time
import unittest

from blackbox import names
from kubernetes_blackbox import BOOTING, OFF, UP, KubernetesBlackboxTest, kubernetes_group

NODES = names("kube-cpu-[0-3]")


class Resume(KubernetesBlackboxTest):
    def test_one_post_a_pod_one_list_a_group_and_the_addresses(self):
        self.resumed("kube-cpu-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(self.creations(), [201] * 4)
        self.assertEqual(self.actions() - {"pods.create", "pods.list", "pods.watch"}, set())
        self.assertLessEqual(len(self.calls_of("pods.list")), 8)
        self.assertEqual(self.addresses(), {name: (pod["status"]["podIP"], name) for name, pod in self.pods().items()})
        self.assertEqual(self.refusals(), {})

    def test_what_a_pod_carries(self):
        self.kube(kubernetes_group(Labels={"team": "vision"}, Annotations={"note": "for {cluster}"}, GracePeriodSeconds=45))
        self.resume_jobs({17: "kube-cpu-2"})
        pod = self.pods()["kube-cpu-2"]
        labels, spec = pod["metadata"]["labels"], pod["spec"]
        launch = labels.pop("slurm-burst/launch")
        self.assertRegex(launch, "^[-a-zA-Z0-9]+$")
        self.assertEqual(labels, {"app": "slurmd", "team": "vision", "app.kubernetes.io/managed-by": "slurm-burst",
                                  "slurm-burst/cluster": "blackbox", "slurm-burst/partition": "kube",
                                  "slurm-burst/group": "cpu", "slurm-burst/node": "kube-cpu-2"})
        self.assertEqual(pod["metadata"]["annotations"]["slurm-burst/job"], "17")
        self.assertEqual((spec["hostname"], spec["terminationGracePeriodSeconds"]), ("kube-cpu-2", 45))
        self.assertFalse(spec["automountServiceAccountToken"])
        container = spec["containers"][0]
        self.assertEqual(container["args"], ["slurmd", "-D", "-b", "-N", "kube-cpu-2"])
        self.assertIn({"name": "NODE_NAME", "value": "kube-cpu-2"}, container["env"])

    def test_a_pod_that_is_there_is_adopted_and_not_touched(self):
        self.resumed("kube-cpu-[0-1]")
        before = self.uids()
        self.resumed("kube-cpu-[0-3]")
        self.assertEqual({name: uid for name, uid in self.uids().items() if name in before}, before)
        self.assertEqual(self.creations().count(201), 4)
        self.assertEqual(sorted(self.addresses()), NODES)
        self.assertEqual(self.calls_of("pods.delete"), [])

    def test_a_post_whose_reply_is_lost_makes_no_second_pod_and_no_refusal(self):
        for kind in ("drop_after", "cut", "drop_before"):
            with self.subTest(kind):
                self.cloud.control("reset", {})
                self.cloud.fault("pods.create", kind, count=2)
                self.resumed("kube-cpu-[0-3]")
                self.assertEqual(self.names_alive(), NODES)
                self.assertEqual(self.creations().count(201), 4)

    def test_a_pod_of_somebody_else_with_the_nodes_name_is_left_and_named(self):
        self.cloud.create_pod("kube-cpu-1", {"app": "database"})
        before = self.uids()
        self.assertEqual(self.resume("kube-cpu-[0-1]").status, 1)
        self.assertEqual(self.names_alive(), ["kube-cpu-0", "kube-cpu-1"])
        self.assertEqual(self.uids()["kube-cpu-1"], before["kube-cpu-1"])
        self.assertEqual(list(self.refusals()), ["kube-cpu-1"])
        self.assertRegex(self.refusals()["kube-cpu-1"], "^burst:NameConflict ")
        self.assertEqual(list(self.addresses()), ["kube-cpu-0"])
        self.suspend("kube-cpu-1")
        self.assertEqual(self.uids()["kube-cpu-1"], before["kube-cpu-1"])

    def test_a_failed_pod_of_ours_is_replaced(self):
        self.resumed("kube-cpu-0")
        before = self.uids()
        self.cloud.act("kube-cpu-0", "evict")
        self.resumed("kube-cpu-0")
        self.assertNotEqual(self.uids(), before)
        self.assertEqual(self.names_alive(), ["kube-cpu-0"])
        self.assertEqual([call["parameters"]["preconditions.uid"] for call in self.calls_of("pods.delete")],
                         [before["kube-cpu-0"]])

    def test_a_pod_that_still_ends_gives_its_name_to_the_next(self):
        self.resumed("kube-cpu-0")
        before = self.uids()
        self.knobs(terminate_ms=2500)
        self.suspended("kube-cpu-0")
        self.resumed("kube-cpu-0")
        self.show({**dict.fromkeys(NODES, OFF), "kube-cpu-0": BOOTING})
        self.wait_until(lambda: "kube-cpu-0" not in self.pods() or self.uids() != before, "the old pod stays")

        def replaced():
            self.change_state()
            return self.names_alive() == ["kube-cpu-0"] and self.uids() != before
        self.wait_until(replaced, "no new pod")
        self.assertEqual(self.refusals(), {})

    def test_the_last_word_of_the_scheduler_is_the_waiting_jobs_comment(self):
        self.knobs(scale_up_ms=3_600_000)
        self.kube(kubernetes_group(AddressWait=1))
        result = self.resume_jobs({7: "kube-cpu-[0-1]"})
        self.assertEqual((result.status, result.err, self.refusals()), (0, "", {}))
        self.assertLess(result.seconds, 8)
        self.show({node: BOOTING if node in NODES[:2] else OFF for node in NODES})
        self.show_jobs({7: "kube-cpu-[0-1]"})
        self.change_state()
        self.assertEqual(len(self.comments()), 1, self.comments())
        self.assertIn("no nodes available to schedule pods", " ".join(self.comments()[0]))
        self.change_state()
        self.assertEqual((self.names_alive(), self.refusals()), (NODES[:2], {}))
        for name in NODES[:2]:
            self.cloud.act(name, "schedule")
        self.wait_until(lambda: all(pod["status"].get("podIP") for pod in self.pods().values()), "no addresses")
        self.change_state()
        self.assertEqual(self.addresses(), {name: (pod["status"]["podIP"], name) for name, pod in self.pods().items()})

    def test_a_resume_killed_between_two_posts_is_finished_by_the_next_one(self):
        self.kube(kubernetes_group(nodes=40, PodsInFlight=4))
        self.cloud.set(latency_ms={"pods.create": 200})
        process = self.start("resume", "kube-cpu-[0-39]", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(lambda: len(self.pods()) >= 4, "no pods")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.cloud.set(latency_ms=0)
        self.assertLess(len(self.pods()), 40)
        before = self.uids()
        self.resumed("kube-cpu-[0-39]")
        self.assertEqual(len(self.names_alive()), 40)
        self.assertEqual({name: uid for name, uid in self.uids().items() if name in before}, before)


class Refused(KubernetesBlackboxTest):
    def refused(self, code, text, created=0):
        """A resume of all four nodes that comes to this for those that get no pod."""
        result = self.resume("kube-cpu-[0-3]")
        self.assertEqual(result.status, 1, result.err)
        self.assertEqual(len(self.names_alive()), created)
        self.assertEqual(sorted(self.refusals()), [node for node in NODES if node not in self.names_alive()])
        for reason in self.refusals().values():
            self.assertRegex(reason, f"^burst:{code} .*{text}")
        self.assertEqual(sorted(self.addresses()), self.names_alive())

    def test_a_quota_stops_the_rest_of_the_group(self):
        self.kube(kubernetes_group(nodes=4, PodsInFlight=1))
        self.cloud.quota(pods=2)
        self.refused("QuotaExceeded", "exceeded quota: quota, requested: pods=1, used: pods=2, limited: pods=2", created=2)
        self.assertEqual(self.creations(), [201, 201, 403])

    def test_a_quota_of_memory_counts_what_the_template_requests(self):
        self.cloud.quota(**{"requests.memory": "768Mi"})
        self.refused("QuotaExceeded", "requests.memory", created=3)

    def test_pod_security(self):
        self.knobs(namespaces=[{"name": "strict", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}],
                   users=[{"name": "system:serviceaccount:slurm:slurm-burst", "token": self.cloud.token,
                           "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"], "namespaces": ["*"]}]}])
        self.kube(kubernetes_group(Namespace="strict"))
        self.refused("PodSecurity", "violates PodSecurity")

    def test_a_webhook_that_denies(self):
        self.knobs(webhooks=[{"name": "policy.example", "message": "no pods on Sundays"}])
        self.refused("AdmissionDenied", "no pods on Sundays")

    def test_a_namespace_that_there_is_not_and_rights_that_we_have_not(self):
        self.kube(kubernetes_group(Namespace="elsewhere"))
        result = self.resume("kube-cpu-0")
        self.assertEqual(result.status, 1)
        self.assertRegex(self.reasons()["kube-cpu-0"] + result.err, "Forbidden|NamespaceNotFound")
        self.nothing_started()

    def test_a_template_that_the_server_refuses_is_told_with_the_field(self):
        self.write("pod.yaml", "spec:\n  containers:\n  - {name: slurmd, image: 'a:1', ports: [{containerPort: 99999}]}\n")
        self.refused("InvalidTemplate", "containers.0..ports.0..containerPort")

    def test_a_token_that_is_good_no_more(self):
        self.cloud.control("kubernetes/tokens/expire", {"token": self.cloud.token})
        result = self.resume("kube-cpu-0")
        self.assertEqual(result.status, 1)
        self.assertIn("Unauthorized", result.err)
        self.nothing_started()

    def test_retry_after_is_obeyed(self):
        self.cloud.fault("pods.create", "throttle", count=1, ms=2000)
        began = time.time()
        self.resumed("kube-cpu-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(sorted(self.creations()), [201] * 4 + [429])
        times = [call["time"] for call in self.calls_of("pods.create")]
        self.assertGreaterEqual(max(times) - min(times), 2.0)
        self.assertLess(time.time() - began, 8)

    def test_an_api_server_that_fails_is_asked_again(self):
        self.cloud.fault("pods.create", "error", code="InternalError", status=500, count=2)
        self.cloud.fault("pods.list", "error", code="ServiceUnavailable", status=503, count=1)
        self.resumed("kube-cpu-[0-3]")
        self.assertEqual(self.names_alive(), NODES)

    def test_an_authority_that_is_not_the_servers_is_not_trusted(self):
        other = self.cloud.kubeconfig(user="burst", server_name="somebody.example")
        self.kube(kubernetes_group(Kubeconfig=self.give("kubeconfig", other)))
        result = self.resume("kube-cpu-0")
        self.assertEqual(result.status, 1)
        self.assertRegex(result.err, "(?i)certificate|SSL|TLS")
        self.nothing_started()


class Suspend(KubernetesBlackboxTest):
    def test_the_named_pods_end_and_no_other(self):
        self.resumed("kube-cpu-[0-3]")
        uids = self.uids()
        self.suspended("kube-cpu-[1-2]")
        self.assertEqual(self.names_alive(), ["kube-cpu-0", "kube-cpu-3"])
        calls = self.calls_of("pods.delete")
        self.assertEqual({call["parameters"]["name"]: call["parameters"]["preconditions.uid"] for call in calls},
                         {name: uids[name] for name in NODES[1:3]})
        self.assertEqual({call["parameters"]["gracePeriodSeconds"] for call in calls}, {"30"})

    def test_a_node_without_a_pod_is_done(self):
        self.suspended("kube-cpu-[0-3]")
        self.assertEqual(self.calls_of("pods.delete"), [])

    def test_a_pod_that_waits_for_a_machine_ends_too(self):
        self.knobs(scale_up_ms=3_600_000)
        self.kube(kubernetes_group(AddressWait=0))
        self.resume("kube-cpu-[0-1]")
        self.assertEqual(len(self.pods()), 2)
        self.suspended("kube-cpu-[0-1]")
        self.assertEqual(self.pods(), {})

    def test_a_lost_reply_is_asked_again(self):
        for kind in ("drop_after", "drop_before", "cut"):
            with self.subTest(kind):
                self.cloud.control("reset", {})
                self.resumed("kube-cpu-[0-1]")
                self.cloud.fault("pods.delete", kind, count=1)
                self.suspended("kube-cpu-[0-1]")
                self.assertEqual(self.pods(), {})

    def test_a_suspend_that_failed_is_repeated_by_change_state(self):
        self.resumed("kube-cpu-[0-1]")
        self.cloud.fault("pods.delete", "error", code="Forbidden", status=403, message="no", count=-1)
        self.assertEqual(self.suspend("kube-cpu-[0-1]").status, 1)
        self.cloud.clear_faults()
        self.show(dict.fromkeys(NODES, OFF))
        self.configure(OrphanGrace=0)

        def ended():
            self.change_state()
            return not self.pods()
        self.wait_until(ended, "the pods live")


class ChangeState(KubernetesBlackboxTest):
    def trouble(self, outcome, reason, seconds=0, **rule):
        """A node whose pod comes to this, after change_state. Returns the node's reason."""
        self.knobs(pods=[{"name": "kube-cpu-0", "outcome": outcome, **rule}])
        self.kube(kubernetes_group(AddressWait=0))
        self.resume("kube-cpu-[0-1]")
        self.in_trouble("kube-cpu-0", reason)
        if seconds:
            self.age("kube-cpu-0", seconds)
        self.show({node: BOOTING if node in NODES[:2] else OFF for node in NODES})
        self.change_state()
        self.assertEqual(list(self.refusals()), ["kube-cpu-0"])
        self.assertIn("kube-cpu-1", self.names_alive())
        return self.refusals()["kube-cpu-0"]

    def test_an_image_that_cannot_be_pulled(self):
        self.assertRegex(self.trouble("err_image_pull", "ImagePullBackOff", 60),
                         "^burst:ImagePullBackOff .*slurmd:22.05")

    def test_an_image_name_that_is_none_and_a_container_that_cannot_be_made(self):
        for outcome, reason in (("invalid_image_name", "InvalidImageName"), ("config_error", "CreateContainerConfigError"),
                                ("create_container_error", "CreateContainerError")):
            with self.subTest(reason):
                self.setUp()
                self.assertRegex(self.trouble(outcome, reason, message=f"because of {outcome}"),
                                 f"^burst:{reason} .*because of {outcome}")

    def test_a_container_that_crashes_gives_its_last_words(self):
        self.knobs(pods=[{"name": "kube-cpu-0", "outcome": "crash_loop", "message": "munge: no key"}])
        self.kube(kubernetes_group(AddressWait=0))
        self.resume("kube-cpu-0")
        self.wait_until(lambda: self.cloud.pod("kube-cpu-0")["status"]["containerStatuses"][0]["restartCount"] >= 4,
                        "it does not crash")
        self.in_trouble("kube-cpu-0", "CrashLoopBackOff")
        self.show({node: BOOTING if node == NODES[0] else OFF for node in NODES})
        self.change_state()
        self.assertRegex(self.refusals()["kube-cpu-0"], "^burst:CrashLoopBackOff .*munge: no key")

    def test_a_pod_that_fits_nowhere_is_given_up_after_UnschedulableTimeout_and_its_group_pauses(self):
        self.knobs(pods=[{"outcome": "unschedulable"}])
        self.kube(kubernetes_group(AddressWait=0, UnschedulableTimeout=2))
        self.resume("kube-cpu-0")
        self.show({node: BOOTING if node == NODES[0] else OFF for node in NODES})
        self.change_state()
        self.assertEqual((self.refusals(), self.names_alive()), ({}, ["kube-cpu-0"]))

        def given_up():
            self.change_state()
            return self.refusals()
        self.wait_until(given_up, "the pod waits for ever")
        self.assertRegex(self.refusals()["kube-cpu-0"], "^burst:Unschedulable .*")
        closed = [update for update in self.updates("State") if update.options["State"] == "DOWN"]
        self.assertEqual([sorted(update.nodes) for update in closed], [NODES[1:]])

    def test_an_evicted_pod_under_a_running_node(self):
        self.resumed("kube-cpu-[0-1]")
        self.cloud.act("kube-cpu-0", "evict")
        self.configure(MissingGrace=0)
        self.show({node: UP if node in NODES[:2] else OFF for node in NODES})

        def told():
            self.change_state()
            return self.refusals()
        self.wait_until(told, "nobody was told")
        self.assertEqual(list(self.refusals()), ["kube-cpu-0"])
        self.assertRegex(self.refusals()["kube-cpu-0"], "^burst:Evicted .*low on resource: memory")
        self.assertIn("kube-cpu-1", self.names_alive())

    def test_lists_come_in_pages_and_begin_anew_when_the_server_has_forgotten(self):
        self.kube(kubernetes_group(nodes=30))
        self.resumed("kube-cpu-[0-29]")
        self.knobs(page=7)
        self.show(dict.fromkeys(names("kube-cpu-[0-29]"), UP))
        self.cloud.fault("pods.list", "error", code="Expired", status=410, skip=2, count=1,
                         message="The provided continue parameter is too old")
        self.configure(MissingGrace=0)
        for _ in range(3):
            self.change_state()
        self.assertEqual(self.refusals(), {})

    def test_a_list_that_fails_decides_nothing(self):
        self.resumed("kube-cpu-[0-1]")
        self.show({node: UP if node in NODES[:2] else OFF for node in NODES})
        self.configure(MissingGrace=0, Deadline=5)
        self.cloud.fault("pods.list", "error", code="InternalError", status=500, count=-1)
        for _ in range(2):
            self.assertEqual(self.run_program("change_state").status, 1)
        self.assertEqual((self.refusals(), self.names_alive()), ({}, NODES[:2]))


if __name__ == "__main__":
    unittest.main()
