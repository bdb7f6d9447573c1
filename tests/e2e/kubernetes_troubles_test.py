# SPDX-License-Identifier: Apache-2.0
"""Pods that end under their jobs, or never run: what Slurm is told, and where the job goes."""

import unittest

import processes
from kubernetes import Kubernetes, kubernetes_group, kubernetes_partition
from kubernetes_scenario import KubernetesScenario
from scenario import OFF

# Runs for ever the first time, as a job that is not done yet.
_LONG_THE_FIRST_TIME = """\
trap '' TERM
echo run-${SLURM_RESTART_COUNT:-0}
touch %s/started
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || while :; do sleep 0.2; done
"""


def weighed(name, weight, nodes=4, **more):
    """A group that the scheduler prefers to those of a higher weight."""
    return kubernetes_group(name, nodes, SlurmSpecifications={"CPUs": 1, "Weight": weight}, **more)


class Troubles(KubernetesScenario):
    def lose(self, action, **more):
        """A job's pod is lost in this way: the job runs again, on a new pod. Returns our log."""
        with self.cluster([kubernetes_partition()]) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch(_LONG_THE_FIRST_TIME % cluster.folder, 1, "--nodelist=kube-cpu-0", "--open-mode=append")
            processes.wait_until((cluster.folder / "started").exists, "the job does not start")
            lost = self.assert_pods(cluster, "kube-cpu-0")["kube-cpu-0"]
            cluster.cloud.act("kube-cpu-0", action, **more)
            cluster.wait_for_job(job, "PENDING")
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            self.assertEqual(cluster.job_output(job).split(), ["run-0", "run-1"])
            pod = self.assert_pods(cluster, "kube-cpu-0")["kube-cpu-0"]
            self.assertNotEqual(pod["metadata"]["uid"], lost["metadata"]["uid"])
            self.assertEqual({node.state for node in cluster.nodes("kube-cpu-[1-3]").values()}, {OFF})
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "kube-cpu-0")
            return cluster.log()

    def test_a_job_whose_pod_is_evicted_is_requeued_and_completes(self):
        self.assertIn("burst:Evicted", self.lose("evict"))

    def test_a_job_whose_pod_somebody_deletes_is_requeued_and_completes(self):
        self.lose("gone")

    def test_a_job_whose_kubernetes_node_is_lost_is_requeued_and_completes(self):
        self.lose("node_lost")

    def test_an_image_that_cannot_be_pulled_is_the_nodes_reason_and_its_job_is_tried_again(self):
        rule = {"name": "kube-cpu-0", "outcome": "err_image_pull", "count": 1, "message": "no such image: slurmd:22.05"}
        with self.cluster([kubernetes_partition()], cloud=Kubernetes(kubernetes={"pods": [rule]})) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname", 1, "--nodelist=kube-cpu-0")
            node = cluster.wait_for_nodes("kube-cpu-0", lambda node: node.reason.startswith("burst:"), "refused")
            self.assertRegex(node["kube-cpu-0"].reason, "^burst:(ErrImagePull|ImagePullBackOff) .*slurmd:22.05")
            cluster.wait_for_nodes("kube-cpu-0", lambda node: node.state - {"NOT_RESPONDING"} == OFF, "off again")
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            self.assertEqual(cluster.job(job)["Restarts"], "1")
            self.assert_pods(cluster, "kube-cpu-0")
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "kube-cpu-0")

    def test_a_container_that_crashes_again_and_again_gives_its_last_words_as_the_reason(self):
        rule = {"name": "kube-cpu-0", "outcome": "crash_loop", "count": 1, "message": "munge: no key"}
        with self.cluster([kubernetes_partition()], cloud=Kubernetes(kubernetes={"pods": [rule]}, unbootable=1)) as cluster:
            cluster.start_change_state()
            cluster.sbatch("srun hostname", 1, "--nodelist=kube-cpu-0")
            node = cluster.wait_for_nodes("kube-cpu-0", lambda node: node.reason.startswith("burst:"), "refused")
            self.assertRegex(node["kube-cpu-0"].reason, "^burst:CrashLoopBackOff .*munge: no key")

    def test_a_group_that_fits_nowhere_is_left_for_another_after_UnschedulableTimeout(self):
        groups = kubernetes_partition(weighed("acc", 1, 2, UnschedulableTimeout=3, AddressWait=1), weighed("cpu", 9))
        cloud = Kubernetes(kubernetes={"pods": [{"name": "kube-acc-*", "outcome": "unschedulable"}]})
        with self.cluster([groups], cloud=cloud, config={"CoolDown": 60}, slurm={"SuspendTimeout": 2}) as cluster:
            cluster.start_change_state()
            job = cluster.sbatch("srun hostname")
            cluster.wait_for_job(job, "CONFIGURING")
            nodes = cluster.wait_for_nodes("kube-acc-[0-1]", lambda node: node.reason.startswith("burst:"), "closed")
            self.assertRegex(nodes["kube-acc-0"].reason, "^burst:(Unschedulable|InsufficientCapacity) .*nodes")
            self.wait_until_nothing_is_left(cluster)
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            self.assert_pods(cluster, "kube-cpu-0")
            self.assertEqual(cloud.calls("pods.create"), 2 + 3)
            cluster.stop_change_state()
            self.power_down(cluster, "kube-cpu-0")

    def test_a_quota_for_two_of_four_nodes_refuses_the_other_two_until_there_is_room(self):
        with self.cluster([kubernetes_partition(kubernetes_group(nodes=5))], foreign="kube-cpu-4",
                          config={"CoolDown": 3}, slurm={"SuspendTimeout": 2}) as cluster:
            cluster.cloud.quota(pods=2 + 2)  # two strangers are in the namespace
            jobs = {i: cluster.sbatch("srun hostname; while [ ! -e go ]; do sleep 0.1; done", 1,
                                      f"--nodelist=kube-cpu-{i}", f"--chdir={cluster.folder}") for i in range(4)}
            refused = [i for i in range(4) if cluster.wait_for_nodes(
                f"kube-cpu-{i}", lambda node: node.reason.startswith("burst:QuotaExceeded ") or node.up(), "decided") and
                not cluster.node(f"kube-cpu-{i}").up()]
            self.assertEqual(len(refused), 2, cluster.nodes())
            self.assertRegex(cluster.node(f"kube-cpu-{refused[0]}").reason, "^burst:QuotaExceeded .*exceeded quota")
            running = [i for i in range(4) if i not in refused]
            self.assert_pods(cluster, ",".join(f"kube-cpu-{i}" for i in running))
            for i in running:
                cluster.wait_for_job(jobs[i], "RUNNING")
            for i in refused:
                cluster.wait_for_job(jobs[i], "PENDING")
            cluster.cloud.quota(pods=100)
            (cluster.folder / "go").touch()
            cluster.start_change_state()
            cluster.wait_for_nodes("kube-cpu-[0-3]", lambda node: node.up() or node.state == OFF, "open again")
            for i in refused:
                cluster.start_requeued_now(jobs[i])
            for job in jobs.values():
                cluster.wait_for_job(job)
            self.assert_pods(cluster, "kube-cpu-[0-3]")
            cluster.stop_change_state()
            self.power_down(cluster, "kube-cpu-[0-3]")


if __name__ == "__main__":
    unittest.main()
