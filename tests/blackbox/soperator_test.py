# SPDX-License-Identifier: Apache-2.0
"""Mode nodesetpowerstate: what soperator's own power manager gets wrong, each by its own test."""
import concurrent.futures
import unittest

from kubernetes_blackbox import (BOOTING, NAMESPACE, OFF, SOPERATOR, UP, KubernetesBlackboxTest, kubernetes_group,
                                 soperator_group)

SET = "kube-worker"
NODES = [f"{SET}-{i}" for i in range(8)]
PATH = f"{SOPERATOR}/namespaces/{NAMESPACE}/nodesetpowerstates"


class Soperator(KubernetesBlackboxTest):
    def setUp(self):
        super().setUp()
        self.soperator()

    def soperator(self, *groups, replicas=8, **spec):
        """NodeSets for these groups (one `worker` when there are none), all powered down."""
        groups = groups or (soperator_group(nodes=8),)
        self.kube(*groups)
        for group in groups:
            if group["Provider"] == "kubernetes" and group.get("Mode") == "nodesetpowerstate":
                self.cloud.node_set(f"kube-{group['NodeGroupName']}", replicas=replicas, **spec)

    def activate(self, *ordinals):
        """An object as soperator has it, with these nodes."""
        status, answer = self.cloud.api("POST", PATH, {
            "metadata": {"name": SET}, "spec": {"nodeSetRef": SET, "activeNodes": list(ordinals)}})
        self.assertEqual(status, 201, answer)
        self.wait_until(lambda: self.names_alive() == [f"{SET}-{i}" for i in ordinals], "the operator is idle")

    def delete_state(self):
        self.assertEqual(self.cloud.api("DELETE", f"{PATH}/{SET}")[0], 200)

    def active(self):
        return self.cloud.active_nodes(SET)

    # -- a, b: an object that is not there

    def test_an_object_that_is_missing_is_made_with_the_nodes_that_are_wanted(self):
        self.assertIsNone(self.active())
        self.resumed(f"{SET}-[1,3]")
        self.assertEqual(self.active(), [1, 3])
        self.assertEqual(self.cloud.power_state(SET)["spec"]["nodeSetRef"], SET)
        self.assertEqual(self.names_alive(), [NODES[1], NODES[3]])
        self.assertEqual(sorted(self.addresses()), [NODES[1], NODES[3]])

    def test_an_object_that_was_deleted_is_made_again_with_the_nodes_that_run(self):
        self.activate(1, 3)
        self.knobs(operator_ms=3_600_000)
        self.delete_state()
        self.kube(soperator_group(nodes=8, AddressWait=0))
        self.resume(f"{SET}-5")
        self.assertEqual(self.active(), [1, 3, 5])

    def test_a_suspend_without_an_object_does_not_end_the_others(self):
        self.activate(1, 3)
        self.knobs(operator_ms=3_600_000)
        self.delete_state()
        self.suspend(f"{SET}-3")
        self.assertIn(self.active(), ([1], None))  # no object: nothing was ended by us

    # -- c: pods are looked at

    def test_resume_tells_addresses_of_pods_and_not_what_it_wrote_itself(self):
        self.knobs(operator_ms=1500)
        self.resumed(f"{SET}-0")
        pod = self.cloud.pod(NODES[0])
        self.assertEqual(self.addresses(), {NODES[0]: (pod["status"]["podIP"], NODES[0])})

    def test_an_image_that_cannot_be_pulled_is_the_nodes_reason(self):
        self.knobs(pods=[{"name": NODES[0], "outcome": "err_image_pull"}])
        self.kube(soperator_group(nodes=8, AddressWait=0))
        result = self.resume(f"{SET}-[0-1]")
        self.assertEqual((result.status, result.err), (0, ""))
        self.wait_until(lambda: NODES[0] in self.pods(), "no pod")
        self.in_trouble(NODES[0], "ImagePullBackOff")
        self.age(NODES[0], 60)
        self.show({node: BOOTING if node in NODES[:2] else OFF for node in NODES})
        self.change_state()
        self.assertEqual(list(self.refusals()), [NODES[0]])
        self.assertRegex(self.refusals()[NODES[0]], "^burst:ImagePullBackOff ")

    def test_a_quota_that_stops_the_operator_does_not_stay_unseen(self):
        self.cloud.quota(pods=1)
        self.kube(soperator_group(nodes=8, AddressWait=1))
        self.configure(LaunchGrace=1)
        self.resume(f"{SET}-[0-1]")
        self.wait_until(lambda: self.names_alive() == [NODES[0]], "the operator is idle")
        self.show({node: BOOTING if node in NODES[:2] else OFF for node in NODES})

        def told():
            self.change_state()
            return self.refusals()
        self.wait_until(told, "nobody is told")
        self.assertEqual(list(self.refusals()), [NODES[1]])

    # -- d, e: one bad set or name

    def test_a_set_that_is_missing_or_not_ephemeral_is_refused_at_once_and_the_others_go_on(self):
        self.soperator(soperator_group("worker", 8), soperator_group("static", 2, NodeSet="static"),
                       soperator_group("nowhere", 2, NodeSet="no-such-set"), kubernetes_group("cpu", 2))
        self.cloud.node_set("static", replicas=0, ephemeralNodes=False)
        result = self.resume(f"kube-static-0,kube-nowhere-0,unknown-x-1,{SET}-2,kube-cpu-1")
        self.assertEqual(result.status, 1)
        self.assertLess(result.seconds, 15)
        self.assertEqual(self.active(), [2])
        self.assertEqual(sorted(self.addresses()), ["kube-cpu-1", NODES[2]])
        self.assertEqual(sorted(self.refusals()), ["kube-nowhere-0", "kube-static-0"])
        self.assertRegex(self.refusals()["kube-static-0"], "^burst:NotEphemeral ")
        self.assertIn("unknown-x-1", result.err)

    # -- f: a suspend that failed

    def test_a_suspend_that_failed_is_repeated_by_change_state(self):
        self.resumed(f"{SET}-[0-1]")
        self.cloud.fault("nodesetpowerstates.update", "error", code="Forbidden", status=403, message="no", count=-1)
        self.assertEqual(self.suspend(f"{SET}-0").status, 1)
        self.cloud.clear_faults()
        self.configure(OrphanGrace=0, MissingGrace=600)
        self.show({**dict.fromkeys(NODES, OFF), NODES[1]: UP})

        def ended():
            self.change_state()
            return self.names_alive() == [NODES[1]]
        self.wait_until(ended, "the pod lives")
        self.assertEqual(self.active(), [1])

    # -- g: ordinals that there are not

    def test_a_node_beyond_the_sets_replicas_is_refused(self):
        self.soperator(soperator_group(nodes=8), replicas=4)
        self.assertEqual(self.resume(f"{SET}-[2,6]").status, 1)
        self.assertEqual(self.active(), [2])
        self.assertEqual(list(self.refusals()), [NODES[6]])
        self.assertRegex(self.refusals()[NODES[6]], "^burst:[A-Za-z]+ .*(replicas|4)")

    # -- i: the whole list is written each time

    def test_a_conflict_is_read_and_written_again(self):
        self.activate(7)
        self.cloud.fault("nodesetpowerstates.update", "error", code="Conflict", status=409, count=5,
                         message="the object has been modified")
        self.resumed(f"{SET}-[1,3]")
        self.assertEqual(self.active(), [1, 3, 7])

    def test_a_put_whose_reply_is_lost(self):
        self.activate(7)
        for kind in ("drop_after", "drop_before", "cut"):
            with self.subTest(kind):
                self.cloud.fault("nodesetpowerstates.update", kind, count=1)
                self.resumed(f"{SET}-[1,3]")
                self.assertEqual(self.active(), [1, 3, 7])
                self.suspended(f"{SET}-[1,3]")
                self.assertEqual(self.active(), [7])

    def test_several_programs_and_a_stranger_that_write_at_once_lose_nobodys_nodes(self):
        self.activate(7)
        self.cloud.set(latency_ms=50)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = [pool.submit(self.resume, f"{SET}-{i}") for i in range(5)]
            self.assertEqual([run.result().status for run in runs], [0] * 5)
        self.assertEqual(self.active(), [0, 1, 2, 3, 4, 7])
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = [pool.submit(self.suspend, f"{SET}-{i}") for i in (0, 2)] + [pool.submit(self.resume, f"{SET}-5")]
            self.assertEqual([run.result().status for run in runs], [0] * 3)
        self.assertEqual(self.active(), [1, 3, 4, 5, 7])

    def test_what_is_there_already_is_not_written_again(self):
        self.resumed(f"{SET}-[1,3]")
        writes = len(self.calls_of("nodesetpowerstates.update")) + len(self.calls_of("nodesetpowerstates.create"))
        self.assertEqual(writes, 1)
        uids = self.uids()
        self.resumed(f"{SET}-[1,3]")
        self.suspended(f"{SET}-6")
        self.assertEqual(len(self.calls_of("nodesetpowerstates.update")), 0)
        self.assertEqual(self.uids(), uids)

    # -- j: and nothing of soperator where it is not asked for

    def test_a_namespace_without_soperators_resources_is_told_as_such(self):
        self.cloud.fault("nodesets.get", "error", code="NotFound", status=404, count=-1,
                         message="the server could not find the requested resource")
        self.cloud.fault("nodesets.list", "error", code="NotFound", status=404, count=-1,
                         message="the server could not find the requested resource")
        self.cloud.fault("nodesetpowerstates.get", "error", code="NotFound", status=404, count=-1,
                         message="the server could not find the requested resource")
        result = self.resume(f"{SET}-0")
        self.assertEqual(result.status, 1)
        self.assertIn("ResourceNotFound", result.err + " ".join(self.reasons().values()))

    def test_mode_pod_asks_for_pods_alone(self):
        self.kube(kubernetes_group())
        self.cloud.control("calls", method="DELETE")
        self.resumed("kube-cpu-[0-1]")
        self.suspended("kube-cpu-[0-1]")
        self.assertEqual({action.split(".")[0] for action in self.actions()} - {"pods", "events"}, set())

    # -- soperator's issue 2859: a pod goes on starting after ResumeTimeout

    def test_a_pod_that_waits_for_a_machine_is_given_back_by_suspend(self):
        self.knobs(pods=[{"outcome": "unschedulable"}])
        self.kube(soperator_group(nodes=8, AddressWait=0))
        self.resume(f"{SET}-[0-1]")
        self.wait_until(lambda: len(self.pods()) == 2, "no pods")
        self.suspended(f"{SET}-[0-1]")
        self.assertEqual(self.active(), [])
        self.wait_until(lambda: not self.pods(), "the pods stay")

    def test_change_state_ends_no_pod_and_no_node_that_is_up(self):
        self.resumed(f"{SET}-[0-2]")
        uids = self.uids()
        self.configure(OrphanGrace=0, MissingGrace=0)
        self.show({**dict.fromkeys(NODES, OFF), **dict.fromkeys(NODES[:3], UP)})
        for _ in range(3):
            self.change_state()
        self.assertEqual((self.uids(), self.active(), self.refusals()), (uids, [0, 1, 2], {}))
        self.assertEqual(self.calls_of("pods.delete"), [])


if __name__ == "__main__":
    unittest.main()
