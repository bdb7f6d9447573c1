# SPDX-License-Identifier: Apache-2.0
"""The programs on a real API server, with no more rights than config/kubernetes gives them: run by
`tests/run --kubernetes KUBECONFIG`, where KUBECONFIG is an administrator's. Nobody schedules the pods: their states are
written through the status subresource."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

_TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_TESTS / "blackbox"), str(_TESTS / "e2e")]
import blackbox  # noqa: E402
from api_server import STATES, TEMPLATE, ApiServer  # noqa: E402
from blackbox import BOOTING, OFF, names  # noqa: E402

_CRD_GROUP = "slurm.nebius.ai"
UP = "IDLE+CLOUD"


def custom_resource(plural, kind):
    """As soperator installs it, without the fields that we do not look at."""
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{_CRD_GROUP}"},
            "spec": {"group": _CRD_GROUP, "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": {
                         "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


class RealServer(blackbox.BlackboxTest):
    @classmethod
    def make_cloud(cls):
        return ApiServer(os.environ["BURST_KUBECONFIG"])

    def setUp(self):
        super().setUp()
        self.secrets.append(self.cloud.token)
        self.write("pod.yaml", json.dumps(TEMPLATE))
        self.kube()

    def kube(self, nodes=4, **more):
        group = {"NodeGroupName": "cpu", "MaxNodes": nodes, "Provider": "kubernetes",
                 "PodTemplate": "pod.yaml", "SlurmSpecifications": {"CPUs": 1}, **more}
        if more.get("Mode"):
            del group["PodTemplate"]
        self.partitions = [{"PartitionName": "kube", "NodeGroups": [group]}]
        self.configure()
        self.show_nodes([f"kube-cpu-{i}" for i in range(nodes)])

    def uids(self):
        return {name: pod["metadata"]["uid"] for name, pod in self.cloud.pods().items()}

    def assert_refused(self, node, pattern):
        self.assertEqual(self.resume(node).status, 1)
        self.assertEqual(list(self.refusals()), [node])
        self.assertRegex(self.refusals()[node], pattern)

    # -- mode pod

    def test_pods_are_made_adopted_and_ended(self):
        with self.cloud.kubelet():
            self.resumed("kube-cpu-[0-2]")
            before = self.uids()
            self.resumed("kube-cpu-[0-3]")
        pods = self.cloud.pods()
        self.assertEqual(sorted(pods), names("kube-cpu-[0-3]"))
        self.assertEqual({name: pods[name]["metadata"]["uid"] for name in before}, before)
        self.assertEqual(self.addresses(), {name: (pod["status"]["podIP"], name) for name, pod in pods.items()})
        self.suspended("kube-cpu-[1-3]")
        self.assertEqual(self.uids(), {"kube-cpu-0": before["kube-cpu-0"]})

    def test_more_pods_than_a_page_of_the_list_has(self):
        self.kube(nodes=620, AddressWait=0)
        self.resumed("kube-cpu-[0-619]")
        self.assertEqual(len(self.uids()), 620)
        self.show_nodes(names("kube-cpu-[0-619]"), BOOTING)
        self.change_state()
        self.assertEqual((len(self.uids()), self.refusals()), (620, {}))
        self.suspended("kube-cpu-[0-619]")
        self.assertEqual(self.uids(), {})

    def test_a_pod_that_still_ends_gives_its_name_to_the_next(self):
        with self.cloud.kubelet():
            self.resumed("kube-cpu-0")
            before = self.uids()
            self.cloud.bind("kube-cpu-0")
            self.suspended("kube-cpu-0")
            self.assertIn("deletionTimestamp", self.cloud.pods()["kube-cpu-0"]["metadata"])
            process = self.start("resume", "kube-cpu-0", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_until(lambda: "waiting for" in self.log(), lambda: f"resume does not wait: {self.log()}")
            self.assertEqual(self.uids(), before)
            self.cloud.kill("kube-cpu-0")
            self.assertEqual(process.wait(60), 0, self.log())
        self.assertEqual(list(self.uids()), ["kube-cpu-0"])
        self.assertNotEqual(self.uids(), before)
        self.assertEqual(self.refusals(), {})

    def test_a_failed_pod_is_replaced(self):
        with self.cloud.kubelet():
            self.resumed("kube-cpu-0")
            before = self.uids()
            self.cloud.set_status("kube-cpu-0", phase="Failed", reason="Evicted", message="low on memory")
            self.resumed("kube-cpu-0")
        self.assertNotEqual(self.uids(), before)

    def test_an_evicted_pod_is_ended_and_its_node_given_back(self):
        with self.cloud.kubelet():
            self.resumed("kube-cpu-0")
        self.cloud.set_status("kube-cpu-0", phase="Failed", reason="Evicted", message="low on memory")
        self.show({**dict.fromkeys(names("kube-cpu-[0-3]"), OFF), "kube-cpu-0": UP})
        self.change_state()
        self.assertRegex(self.refusals()["kube-cpu-0"], "^burst:Evicted ")
        self.assertEqual(self.uids(), {})

    def test_somebody_elses_pod_is_left_alone(self):
        status, reply = self.cloud.api("POST", self.cloud.pod_path(),
                                       {**TEMPLATE, "metadata": {"name": "kube-cpu-1", "labels": {"app": "database"}}})
        self.assertEqual(status, 201, reply)
        before = self.uids()
        self.assert_refused("kube-cpu-1", "^burst:NameConflict ")
        self.suspend("kube-cpu-1")
        self.assertEqual(self.uids(), before)

    def test_the_schedulers_words_reach_the_job(self):
        self.kube(AddressWait=0)
        self.resume_jobs({7: "kube-cpu-0"})
        self.cloud.set_status("kube-cpu-0", conditions=[{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}])
        self.show({**dict.fromkeys(names("kube-cpu-[0-3]"), OFF), "kube-cpu-0": BOOTING})
        self.show_jobs({7: "kube-cpu-0"})
        self.change_state()
        told = [" ".join(run) for run in self.scontrol_runs("update") if "Insufficient nvidia.com/gpu" in " ".join(run)]
        self.assertEqual(len(told), 1, self.scontrol_runs())

    def test_a_quota_stops_what_is_beyond_it(self):
        self.cloud.apply({"apiVersion": "v1", "kind": "ResourceQuota",
                          "metadata": {"name": "few", "namespace": self.cloud.namespace},
                          "spec": {"hard": {"pods": "2"}}})
        # The quota controller's part, which a server alone lacks.
        path = f"/api/v1/namespaces/{self.cloud.namespace}/resourcequotas/few/status"
        status, reply = self.cloud.api("PATCH", path, {"status": {"hard": {"pods": "2"}, "used": {"pods": "0"}}},
                                       "application/merge-patch+json")
        self.assertEqual(status, 200, reply)
        with self.cloud.kubelet():
            self.assertEqual(self.resume("kube-cpu-[0-3]").status, 1)
        self.assertEqual(len(self.uids()), 2)
        reasons = {reason.split(" ")[0] for update in self.updates("Reason") for reason in [update.options["Reason"]]}
        self.assertEqual(reasons, {"burst:QuotaExceeded"})
        self.assertEqual(len(self.addresses()), 2)

    def test_an_invalid_template_is_named_with_its_field(self):
        self.write("pod.yaml", json.dumps({**TEMPLATE, "spec": {**TEMPLATE["spec"], "tolerations": [{"operator": "Like"}]}}))
        self.assert_refused("kube-cpu-0", r"^burst:InvalidTemplate .*spec\.tolerations\[0\]\.operator")
        self.assertEqual(self.uids(), {})

    def test_no_rights(self):
        self.cloud.apply({"apiVersion": "v1", "kind": "ServiceAccount",
                          "metadata": {"name": "nobody", "namespace": self.cloud.namespace}})
        stranger = pathlib.Path(self.give("stranger", ""))
        self.cloud.write_kubeconfig(stranger, self.cloud.service_account_token("nobody"))
        self.variables(KUBECONFIG=str(stranger))
        result = self.resume("kube-cpu-0")
        self.assertEqual(result.status, 1)
        self.assertRegex(result.err, "Forbidden.*cannot list resource")
        self.assertEqual(self.uids(), {})

    def test_a_token_that_is_none(self):
        stranger = pathlib.Path(self.give("stranger", ""))
        self.cloud.write_kubeconfig(stranger, "no-such-token")
        self.variables(KUBECONFIG=str(stranger))
        result = self.resume("kube-cpu-0")
        self.assertEqual(result.status, 1)
        self.assertIn("Unauthorized", result.err)

    def test_what_the_server_says_to_a_wrong_uid(self):
        """The delete with a precondition is what keeps a newer pod of the same name alive."""
        with self.cloud.kubelet():
            self.resumed("kube-cpu-0")
        status, reply = self.cloud.api("DELETE", self.cloud.pod_path("kube-cpu-0"),
                                       {"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}})
        self.assertEqual((status, reply["reason"]), (409, "Conflict"))
        self.assertEqual(list(self.uids()), ["kube-cpu-0"])

    def test_metadata_alone_is_what_a_post_and_a_delete_are_answered_with(self):
        form = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        pod = {"metadata": {"name": "alone"}, "spec": {"containers": [{"name": "slurmd", "image": "slurmd"}]}}
        for method, path, body in (("POST", self.cloud.pod_path(), pod),
                                   ("DELETE", self.cloud.pod_path("alone"), {"gracePeriodSeconds": 0})):
            status, reply = self.cloud.api(method, path, body, accept=form)
            self.assertLess(status, 300, reply)
            self.assertEqual((reply["kind"], set(reply)), ("PartialObjectMetadata", {"kind", "apiVersion", "metadata"}))

    # -- mode nodesetpowerstate

    def soperator(self, **spec):
        for plural, kind in (("nodesets", "NodeSet"), ("nodesetpowerstates", "NodeSetPowerState")):
            self.cloud.apply(custom_resource(plural, kind))
            self.cloud.await_condition("crd", f"{plural}.{_CRD_GROUP}", "established")
        self.cloud.apply({"apiVersion": f"{_CRD_GROUP}/v1alpha1", "kind": "NodeSet",
                          "metadata": {"name": "kube-cpu", "namespace": self.cloud.namespace},
                          "spec": {"replicas": 4, "ephemeralNodes": True, **spec}})
        self.kube(Mode="nodesetpowerstate", AddressWait=0)

    def active(self):
        status, state = self.cloud.api("GET", f"{STATES.format(self.cloud.namespace)}/kube-cpu")
        self.assertEqual(status, 200, state)
        return sorted(state["spec"]["activeNodes"])

    def test_an_absent_power_state_is_made_with_the_wanted_ordinals(self):
        self.soperator()
        self.resumed("kube-cpu-[1,3]")
        self.assertEqual(self.active(), [1, 3])
        self.suspended("kube-cpu-1")
        self.assertEqual(self.active(), [3])

    def test_writers_side_by_side_lose_nothing(self):
        self.soperator()
        self.resumed("kube-cpu-0")
        changes = [["kubectl", "--kubeconfig", os.environ["BURST_KUBECONFIG"], "-n", self.cloud.namespace, "annotate",
                    "--overwrite", "nodesetpowerstates.slurm.nebius.ai/kube-cpu", f"round={i}"] for i in range(12)]
        others = subprocess.Popen(["sh", "-c", "; ".join(" ".join(change) for change in changes)],
                                  stdout=subprocess.DEVNULL)
        for node in (1, 2, 3):
            self.resumed(f"kube-cpu-{node}")
        self.assertEqual(others.wait(60), 0)
        self.assertEqual(self.active(), [0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
