# SPDX-License-Identifier: Apache-2.0
"""Real Slurm on the simulated Kubernetes: pods for exactly the nodes that a job was given."""

import unittest

import processes
from kubernetes import Kubernetes, kubernetes_group, kubernetes_partition, soperator_group
from kubernetes_scenario import KubernetesScenario, our_labels
from scenario import OFF

IMAGE_ERRORS = ("burst:ErrImagePull ", "burst:ImagePullBackOff ")
_GROUPS = ("cpu", "gpu", "big", "spot", "arm", "tpu")


class Pods(KubernetesScenario):
    def test_a_job_runs_on_three_pods_of_two_groups_which_then_end(self):
        nodes, script = "kube-cpu-1,kube-gpu-[0,2]", "srun hostname; while [ ! -e %s ]; do sleep 0.1; done"
        groups = kubernetes_partition(kubernetes_group("cpu"), kubernetes_group("gpu", 3))
        with self.cluster([groups], cloud=Kubernetes(boot_ms=200), slurm={"SuspendTime": 3}) as cluster:
            go = cluster.folder / "go"
            job = cluster.sbatch(script % go, 3, f"--nodelist={nodes}")
            cluster.wait_for_job(job, "RUNNING")
            cluster.wait_until_up(nodes)
            pods = self.assert_pods(cluster, nodes)
            # Each node's pod has a launch, and of one program run it is one a group at most.
            self.assertLessEqual(len({pod["metadata"]["labels"]["slurm-burst/launch"] for pod in pods.values()}), 2)
            go.touch()
            cluster.wait_for_job(job)
            self.assertEqual(sorted(cluster.job_output(job).split()), sorted(pods))
            self.assert_off(cluster, nodes)
            self.assertEqual(cluster.cloud.calls("pods.create"), 3 + 3)  # three are the strangers
            self.assertEqual(len(cluster.cloud.requests("pods.delete")), 3)
            self.assertEqual({node.reason for node in cluster.nodes(nodes).values()}, {""})

    def test_six_node_groups_at_once(self):
        nodes = ",".join(f"kube-{name}-0" for name in _GROUPS)
        groups = [kubernetes_group(name, 4 if name == "cpu" else 1) for name in _GROUPS]
        with self.cluster([kubernetes_partition(*groups)]) as cluster:
            job = cluster.sbatch("srun hostname; sleep 2", 6, f"--nodelist={nodes}")
            cluster.wait_for_job(job, "RUNNING")
            pods = self.assert_pods(cluster, nodes)
            # Labels that tell any two groups apart, and no name to be looked up in a DNS.
            for name, pod in pods.items():
                self.assertEqual(pod["metadata"]["labels"]["slurm-burst/group"], name.split("-")[1])
                self.assertNotIn("dnsConfig", pod["spec"])
                self.assertNotIn("subdomain", pod["spec"])
            cluster.wait_for_job(job)
            self.assertEqual(sorted(cluster.job_output(job).split()), sorted(pods))
            self.power_down(cluster, nodes)

    def test_a_node_that_is_wanted_again_while_its_old_pod_ends_waits_for_it(self):
        with self.cluster([kubernetes_partition(kubernetes_group(nodes=1))], foreign="kube-cpu-1",
                          cloud=Kubernetes(kubernetes={"terminate_ms": 7000}), slurm={"SuspendTimeout": 2}) as cluster:
            cluster.srun("true")
            first = self.assert_pods(cluster, "kube-cpu-0")["kube-cpu-0"]
            cluster.start_change_state()
            cluster.set_node_state("kube-cpu-0", "POWER_DOWN")
            processes.wait_until(lambda: "deletionTimestamp" in self.pods(cluster)["kube-cpu-0"]["metadata"],
                                 "the pod is not deleted")
            self.assertIn("kube-cpu-0", cluster.srun("printenv", "SLURMD_NODENAME"))
            second = self.assert_pods(cluster, "kube-cpu-0")["kube-cpu-0"]
            self.assertNotEqual(second["metadata"]["uid"], first["metadata"]["uid"])
            created = [call["status"] for call in cluster.cloud.requests("pods.create")
                       if call["parameters"].get("name", "kube-cpu-0") == "kube-cpu-0" and call["status"] == 201]
            self.assertEqual(len(created), 2, created)
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "kube-cpu-0")

    def test_while_the_autoscaler_brings_machines_the_job_waits_and_says_why(self):
        nodes = "kube-cpu-[0-1]"
        with self.cluster([kubernetes_partition(kubernetes_group(AddressWait=1))],
                          cloud=Kubernetes(kubernetes={"scale_up_ms": 6000}), slurm={"SuspendTime": 3}) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname", 2)
            comment = self.wait_for_comment(cluster, job, "nodes")
            self.assertRegex(comment, "no nodes available to schedule pods|nodes are available")
            self.assertEqual({node.state & {"ALLOCATED", "POWERING_UP"} for node in cluster.nodes(nodes).values()},
                             {frozenset({"ALLOCATED", "POWERING_UP"})})
            cluster.wait_for_job(job)
            self.assertEqual(sorted(cluster.job_output(job).split()), ["kube-cpu-0", "kube-cpu-1"])
            self.assertEqual(cluster.job(job)["Restarts"], "0")
            self.assertEqual(cluster.cloud.calls("pods.create"), 2 + 3)
            self.assert_off(cluster, nodes)
            self.assertEqual(set(cluster.stop_change_state()), {0})

    def test_strangers_survive_and_one_that_has_a_nodes_name_is_named_as_the_reason(self):
        with self.cluster([kubernetes_partition()]) as cluster:
            cloud = cluster.cloud
            orphan = cloud.create_pod("kube-cpu-2", our_labels("kube-cpu-2"), hostname="kube-cpu-9")
            job = cluster.sbatch("srun hostname", 1, "--nodelist=kube-cpu-3")
            cluster.wait_for_nodes("kube-cpu-3", lambda node: node.reason.startswith("burst:NameConflict "), "refused")
            cluster.wait_for_job(job, "PENDING")
            cluster.run("scancel", job)
            cluster.start_change_state()
            # What is ours and nobody's ends; the scenario's end shows that the strangers live.
            processes.wait_until(lambda: orphan["metadata"]["uid"] not in
                                 [pod["metadata"]["uid"] for pod in cloud.pods()], "the orphan lives")
            cluster.wait_for_nodes("kube-cpu-3", lambda node: node.state - {"NOT_RESPONDING"} == OFF, "off again")
            cluster.srun("true", options=["--nodelist=kube-cpu-0"])
            self.assert_pods(cluster, "kube-cpu-0")
            cluster.stop_change_state()
            self.power_down(cluster, "kube-cpu-0")


class Soperator(KubernetesScenario):
    """Mode nodesetpowerstate: the pods are the operator's."""

    def test_a_job_on_two_nodes_in_the_middle_of_a_node_set(self):
        nodes = "kube-worker-[1,3]"
        with self.cluster([kubernetes_partition(soperator_group())], slurm={"SuspendTime": 3}) as cluster:
            cluster.cloud.node_set("kube-worker", replicas=4)
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname; sleep 1", 2, f"--nodelist={nodes}")
            cluster.wait_for_job(job, "RUNNING")
            self.assertEqual(cluster.cloud.active_nodes("kube-worker"), [1, 3])
            cluster.wait_for_job(job)
            self.assertEqual(sorted(cluster.job_output(job).split()), ["kube-worker-1", "kube-worker-3"])
            cluster.wait_for_nodes(nodes, lambda node: node.state - {"NOT_RESPONDING"} == OFF, "exactly powered down")
            processes.wait_until(lambda: cluster.cloud.active_nodes("kube-worker") == [], "ordinals are left")
            processes.wait_until(lambda: not [pod for pod in cluster.cloud.pods()
                                              if pod["metadata"]["name"].startswith("kube-worker-")], "pods are left")
            self.assertEqual(set(cluster.stop_change_state()), {0})

    def test_an_image_that_cannot_be_pulled_is_the_nodes_reason_here_too(self):
        cloud = Kubernetes(kubernetes={"pods": [{"name": "kube-worker-0", "outcome": "err_image_pull", "count": 1}]})
        with self.cluster([kubernetes_partition(soperator_group())], cloud=cloud) as cluster:
            cloud.node_set("kube-worker", replicas=4)
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname", 1, "--nodelist=kube-worker-0")
            cluster.wait_for_nodes("kube-worker-0", lambda node: node.reason.startswith(IMAGE_ERRORS), "refused")
            cluster.wait_for_job(job, "PENDING")
            processes.wait_until(lambda: cloud.active_nodes("kube-worker") == [], "the ordinal is left")


if __name__ == "__main__":
    unittest.main()
