# SPDX-License-Identifier: Apache-2.0
"""What happens to pods: scheduling, images, crashes, evictions, lost nodes, operators, and machines behind them."""
import os
import stat
import tempfile
import unittest

from kube import KubeTest, PODS, SETS, STATES, quota
from simulator import Simulator, wait_until


def condition(found, kind):
    return next((one for one in found["status"].get("conditions", []) if one["type"] == kind), None)


def waiting(found):
    return found["status"].get("containerStatuses", [{}])[0].get("state", {}).get("waiting", {})


class Life(KubeTest):
    def reaches(self, name, reason):
        return wait_until(lambda: (lambda found: waiting(found).get("reason") == reason and found)(self.pod(name)))

    def test_a_pod_runs_on_a_node_of_its_own_with_an_address(self):
        self.create("a"), self.create("b")
        one, two = self.running("a"), self.running("b")
        self.assertNotEqual(one["spec"]["nodeName"], two["spec"]["nodeName"])
        addresses = {one["status"]["podIP"], two["status"]["podIP"], one["status"]["hostIP"], two["status"]["hostIP"]}
        self.assertEqual(len(addresses), 4)
        self.assertTrue(all(address.startswith("127.20.") for address in addresses))
        self.assertEqual(condition(one, "Ready")["status"], "True")
        node = self.call("GET", "/api/v1/nodes/" + one["spec"]["nodeName"]).json
        self.assertEqual(condition(node, "Ready")["status"], "True")
        self.call("DELETE", PODS + "/a", {"gracePeriodSeconds": 0})
        self.assertEqual(self.call("GET", "/api/v1/nodes/" + one["spec"]["nodeName"]).status, 404)

    def test_the_autoscaler_brings_a_node(self):
        self.set_knobs(scale_up_ms=600000)
        self.create("a")
        found = wait_until(lambda: condition(self.pod("a"), "PodScheduled"))
        self.assertEqual((found["status"], found["reason"]), ("False", "Unschedulable"))
        self.assertLessEqual({"FailedScheduling", "TriggeredScaleUp"}, set(self.events("a")))
        self.assertEqual(self.call("GET", "/api/v1/nodes").json["items"], [])
        self.act("a", "schedule")
        self.assertEqual(condition(self.running("a"), "PodScheduled")["status"], "True")

    def test_what_fits_nowhere_stays_pending(self):
        self.set_knobs(pods=[{"name": "gpu-*", "outcome": "unschedulable"}])
        self.create("cpu-0")
        self.running("cpu-0")
        self.create("gpu-0", resources={"limits": {"nvidia.com/gpu": 8}})
        found = wait_until(lambda: condition(self.pod("gpu-0"), "PodScheduled"))
        self.assertEqual(found["message"], "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes "
                                           "are available: 1 No preemption victims found for incoming pod.")
        self.assertEqual(self.events("gpu-0")["NotTriggerScaleUp"],
                         "pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu")
        self.assertEqual(self.pod("gpu-0")["status"]["phase"], "Pending")
        self.call("DELETE", PODS + "/gpu-0")
        self.assertIsNone(self.pod("gpu-0"))  # no node, no grace

    def test_images_that_cannot_be_pulled_back_off(self):
        self.set_knobs(pods=[{"outcome": "err_image_pull", "labels": {"g": "x"}}])
        _, events = self.watch(labelSelector="g=x")
        self.create("a", labels={"g": "x"}, image="no/such:1")
        seen = []
        while "ImagePullBackOff" not in seen:
            seen.append(waiting(next(events)["object"]).get("reason"))
        self.assertEqual([reason for reason in seen if reason], ["ContainerCreating", "ErrImagePull", "ImagePullBackOff"])
        self.assertEqual(waiting(self.pod("a"))["message"], 'Back-off pulling image "no/such:1"')
        self.assertIn('Failed to pull image "no/such:1": rpc error: code = NotFound', self.events("a")["Failed"])

    def test_other_container_errors(self):
        for outcome, reason in (("invalid_image_name", "InvalidImageName"), ("config_error", "CreateContainerConfigError"),
                                ("create_container_error", "CreateContainerError")):
            self.set_knobs(pods=[{"outcome": outcome, "message": "because of " + outcome}])
            name = outcome.replace("_", "-")
            self.create(name)
            self.assertEqual(waiting(self.reaches(name, reason))["message"], "because of " + outcome)

    def test_a_crash_loop_counts_restarts_and_tells_the_last_message(self):
        self.set_knobs(pods=[{"outcome": "crash_loop", "message": "munge: no key", "count": 1}])
        self.create("a"), self.create("b")
        self.reaches("a", "CrashLoopBackOff")
        found = wait_until(lambda: (lambda one: one["status"]["containerStatuses"][0]["restartCount"] >= 3 and one)(
            self.pod("a")))
        ended = found["status"]["containerStatuses"][0]["lastState"]["terminated"]
        self.assertEqual((ended["message"], ended["exitCode"]), ("munge: no key", 1))
        self.assertEqual(condition(found, "Ready")["status"], "False")
        self.running("b")
        self.assertEqual(condition(self.pod("b"), "Ready")["status"], "True")

    def test_a_pod_that_the_kubelet_refuses_has_failed(self):
        self.set_knobs(pods=[{"outcome": "out_of_cpu"}])
        self.create("a")
        found = wait_until(lambda: (lambda one: one["status"]["phase"] == "Failed" and one)(self.pod("a")))
        self.assertEqual(found["status"]["reason"], "OutOfcpu")

    def test_an_evicted_pod_stays_failed(self):
        self.create("a")
        self.running("a")
        found = self.act("a", "evict")
        self.assertEqual((found["status"]["phase"], found["status"]["reason"]), ("Failed", "Evicted"))
        self.assertIn("low on resource: memory", found["status"]["message"])
        self.assertEqual(condition(found, "DisruptionTarget")["reason"], "TerminationByKubelet")
        self.assertIn("Evicted", self.events("a"))

    def test_an_eviction_by_the_api_deletes(self):
        self.set_knobs(terminate_ms=600000)
        self.create("a")
        self.running("a")
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": "slurm"}}
        self.assertEqual(self.call("POST", PODS + "/a/eviction", body).status, 201)
        found = self.pod("a")
        self.assertIn("deletionTimestamp", found["metadata"])
        self.assertEqual(condition(found, "DisruptionTarget")["reason"], "EvictionByEvictionAPI")

    def test_a_lost_nodes_pod_ends_only_by_garbage_collection_or_force(self):
        self.set_knobs(pod_gc_ms=-1)
        self.create("a"), self.create("b")
        node = self.running("a")["spec"]["nodeName"]
        self.running("b")
        self.assertEqual(self.act("a", "node_lost")["status"]["reason"], "NodeLost")
        self.assertEqual(condition(self.call("GET", "/api/v1/nodes/" + node).json, "Ready")["status"], "Unknown")
        self.call("DELETE", PODS + "/a")
        self.assertIn("deletionTimestamp", self.pod("a")["metadata"])
        self.call("DELETE", PODS + "/a", {"gracePeriodSeconds": 0})
        self.assertIsNone(self.pod("a"))
        self.set_knobs(pod_gc_ms=0)
        self.act("b", "node_lost")
        wait_until(lambda: self.pod("b") is None)
        gone = self.sim.control("GET", "/kubernetes/pods")["gone"]
        self.assertEqual({one["metadata"]["name"] for one in gone}, {"a", "b"})

    def test_preemption_fails_and_foreign_states(self):
        for name in "abc":
            self.create(name)
            self.running(name)
        self.act("a", "preempt")
        wait_until(lambda: self.pod("a") is None)
        self.assertEqual(self.act("b", "fail", reason="UnexpectedAdmissionError")["status"]["reason"],
                         "UnexpectedAdmissionError")
        self.sim.control("POST", "/kubernetes/pods/slurm/c", status={"phase": "Unknown"})
        self.assertEqual(self.pod("c")["status"]["phase"], "Unknown")

    def test_without_a_kubelet_nothing_happens_by_itself(self):
        self.set_knobs(kubelet=False)
        made = self.create("a")
        self.assertEqual(self.pod("a"), made)
        self.call("DELETE", PODS + "/a")
        self.assertIsNone(self.pod("a"))


class Operators(KubeTest):
    def names(self):
        return sorted(item["metadata"]["name"] for item in self.call("GET", PODS).json["items"])

    def node_set(self, **spec):
        body = {"apiVersion": "slurm.nebius.ai/v1alpha1", "kind": "NodeSet",
                "metadata": {"name": "worker", "namespace": "slurm"}, "spec": spec}
        self.sim.control("POST", "/kubernetes/objects", **body)

    def activate(self, *ordinals):
        state = self.call("GET", STATES + "/worker")
        if state.status == 404:
            body = {"metadata": {"name": "worker"}, "spec": {"nodeSetRef": "worker", "activeNodes": ordinals}}
            self.assertEqual(self.call("POST", STATES, body).status, 201)
        else:
            body = state.json
            body["spec"]["activeNodes"] = ordinals
            self.assertEqual(self.call("PUT", STATES + "/worker", body).status, 200)

    def test_soperator_runs_the_active_ordinals(self):
        self.node_set(replicas=8, ephemeralNodes=True, initialNumberEphemeralNodes=2)
        wait_until(lambda: self.names() == ["worker-0", "worker-1"])
        self.activate(0, 5)
        wait_until(lambda: self.names() == ["worker-0", "worker-5"])
        self.assertEqual(wait_until(lambda: self.call("GET", STATES + "/worker").json.get("status", {}).get("activeCount")),
                         2)
        self.activate()
        wait_until(lambda: self.names() == [])
        self.activate(3)
        self.running("worker-3")
        self.call("DELETE", PODS + "/worker-3", {"gracePeriodSeconds": 0})
        wait_until(lambda: self.pod("worker-3"))

    def test_a_quota_stops_the_operator_quietly(self):
        self.sim.control("POST", "/kubernetes/objects", **quota("few", pods="1"))
        self.node_set(replicas=4, ephemeralNodes=True, initialNumberEphemeralNodes=0)
        self.activate(0, 1)
        wait_until(lambda: "FailedCreate" in self.events("worker"))
        self.assertEqual(self.names(), ["worker-0"])
        self.assertEqual(self.call("GET", STATES + "/worker").json["status"]["activeCount"], 2)

    def test_slinkys_scale_takes_the_lowest_ordinals(self):
        body = {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet",
                "metadata": {"name": "slinky", "namespace": "slurm"}, "spec": {"replicas": 1}}
        self.sim.control("POST", "/kubernetes/objects", **body)
        scale = "/apis/slinky.slurm.net/v1beta1/namespaces/slurm/nodesets/slinky/scale"
        done = self.call("PATCH", scale, {"spec": {"replicas": 3}}, kind="application/merge-patch+json")
        self.assertEqual((done.status, done.json["kind"], done.json["spec"]["replicas"]), (200, "Scale", 3))
        wait_until(lambda: self.names() == ["slinky-0", "slinky-1", "slinky-2"])
        self.call("DELETE", SETS.replace("slurm.nebius.ai/v1alpha1", "slinky.slurm.net/v1beta1") + "/slinky")
        wait_until(lambda: self.names() == [])


class Machines(KubeTest):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="cloudsim-kube-")
        program = os.path.join(cls.scratch.name, "boot")
        with open(program, "w") as file:
            file.write("#!/bin/sh\ntrap 'echo ended; exit' TERM\nenv | sort\necho ready\nsleep 600 & wait\n")
        os.chmod(program, stat.S_IRWXU)
        cls.sim = Simulator("--boot-command", program, "--log-dir", cls.scratch.name, "--kill-after-ms", "200")

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.scratch.cleanup()

    def machines(self):
        return self.sim.control("GET", "/machines")["running"]

    def log(self, uid):
        try:
            with open(os.path.join(self.scratch.name, uid + ".log")) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def test_a_running_pod_is_a_machine_that_ends_with_it(self):
        self.set_knobs(terminate_ms=100)
        self.create("gpu-1", spec={"hostname": "gpu-1"})
        found = self.running("gpu-1")
        uid = found["metadata"]["uid"]
        wait_until(lambda: "ready\n" in self.log(uid))
        lines = self.log(uid).splitlines()
        for line in ("NODE_NAME=gpu-1", "CLOUDSIM_ADDRESS=" + found["status"]["podIP"], "CLOUDSIM_INSTANCE_ID=" + uid):
            self.assertIn(line, lines)
        self.call("DELETE", PODS + "/gpu-1")
        wait_until(lambda: self.machines() == 0 and self.pod("gpu-1") is None)
        self.assertIn("ended", self.log(uid))

    def test_evictions_and_lost_nodes_end_machines(self):
        for name, action in (("a", "evict"), ("b", "node_lost"), ("c", "crash")):
            self.create(name)
            uid = self.running(name)["metadata"]["uid"]
            wait_until(lambda: "ready\n" in self.log(uid))
            self.act(name, action)
            wait_until(lambda: self.machines() == 0)

    def test_the_next_machines_may_not_boot(self):
        self.sim.control("POST", "/knobs", unbootable=1)
        self.create("a")
        self.running("a")
        self.create("b")
        uid = self.running("b")["metadata"]["uid"]
        wait_until(lambda: "ready\n" in self.log(uid))
        self.assertEqual(self.machines(), 1)


if __name__ == "__main__":
    unittest.main()
