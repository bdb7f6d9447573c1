# SPDX-License-Identifier: Apache-2.0
"""What the scenarios on Kubernetes have in common: exact pods at the end, and strangers untouched."""

import contextlib
import unittest

import processes
from cluster import Cluster
from kubernetes import NAMESPACE, Kubernetes, is_ready
from scenario import OFF


def our_labels(node, cluster="e2e"):
    """The labels with which a pod counts as this node's."""
    partition, group, _ = node.split("-")
    return {"app.kubernetes.io/managed-by": "slurm-burst", "slurm-burst/cluster": cluster,
            "slurm-burst/partition": partition, "slurm-burst/group": group, "slurm-burst/node": node}


def _is_ours(pod):
    return (pod["metadata"]["namespace"] == NAMESPACE and
            pod["metadata"].get("labels", {}).get("slurm-burst/cluster") == "e2e")


class KubernetesScenario(unittest.TestCase):
    maxDiff = None

    @contextlib.contextmanager
    def cluster(self, partitions, *, cloud=None, foreign="kube-cpu-3", **more):
        """A cluster beside which live: pods called as the node `foreign`, one of nobody in the same namespace and one
        with our own labels in another namespace, and a pod of another cluster with the same groups and nodes. At the
        end they have to be as they were, and nobody may have tried to change that."""
        with Cluster(partitions, cloud=cloud or Kubernetes(), **more) as cluster:
            cloud = cluster.cloud
            cloud.set(unbootable=True)
            self._strangers = [cloud.create_pod(*pod)["metadata"]["uid"] for pod in (
                (foreign,), (foreign, our_labels(foreign), "default"), ("theirs", our_labels(foreign, "another")))]
            processes.wait_until(lambda: all(map(is_ready, self._strangers_of(cloud))), "the strangers do not run")
            cloud.set(unbootable=0)
            before = self._strangers_of(cloud)
            self.assertEqual(len(before), 3)
            yield cluster
            cluster.stop_change_state()
            self.assertEqual(self._strangers_of(cloud), before)
            for request in cloud.requests("pods.delete"):
                what = request["parameters"]
                self.assertEqual(what["namespace"], NAMESPACE, request)
                self.assertNotIn(what["name"], (foreign, "theirs"), request)
                # Never by name alone: what bears the name may be another pod by then.
                self.assertTrue(what.get("preconditions.uid"), request)
                self.assertNotIn(what["preconditions.uid"], self._strangers, request)
            self.assertEqual(cloud.calls("pods.deletecollection"), 0)

    def _strangers_of(self, cloud):
        return [pod for pod in cloud.pods(None) if pod["metadata"]["uid"] in self._strangers]

    def pods(self, cluster):
        """{name: pod} of all pods that are ours, those that end included."""
        return {pod["metadata"]["name"]: pod for pod in cluster.cloud.pods(None) if _is_ours(pod)}

    def assert_pods(self, cluster, hostlist):
        """Each node has a running pod of its own name, labelled and at the address that Slurm has; there are no others.
        Returns {node: pod}."""
        nodes, pods = cluster.nodes(hostlist), self.pods(cluster)
        self.assertEqual(sorted(pods), sorted(nodes))
        for name, node in nodes.items():
            pod = pods[name]
            self.assertTrue(is_ready(pod), pod)
            labels = pod["metadata"]["labels"]
            self.assertEqual({**labels, **our_labels(name)}, labels)
            self.assertRegex(labels["slurm-burst/launch"], "^[-a-zA-Z0-9]+$")
            self.assertEqual(pod["spec"]["hostname"], name)
            self.assertEqual((node.address, node.hostname), (pod["status"]["podIP"], name))
        return pods

    def assert_off(self, cluster, hostlist):
        """Waits until the nodes are powered down to the end and no pod of ours is left."""
        cluster.wait_for_nodes(hostlist, lambda node: node.state - {"NOT_RESPONDING"} == OFF, "exactly powered down")
        self.wait_until_nothing_is_left(cluster)

    def wait_until_nothing_is_left(self, cluster):
        processes.wait_until(lambda: not self.pods(cluster), lambda: f"left: {self.pods(cluster)}")

    def power_down(self, cluster, hostlist):
        cluster.set_node_state(hostlist, "POWER_DOWN")
        self.assert_off(cluster, hostlist)

    def wait_for_pods(self, cluster, count):
        processes.wait_until(lambda: len(self.pods(cluster)) == count,
                             lambda: f"not {count} pods: {sorted(self.pods(cluster))}")
        return self.pods(cluster)

    def wait_for_comment(self, cluster, job, words):
        """Waits until the waiting job's comment has these words. Returns it."""
        def comment():
            text = cluster.scontrol("show", "job", job)
            line = next((line for line in text.splitlines() if line.strip().startswith("Comment=")), "")
            return line.strip().removeprefix("Comment=") if words in line else None
        return processes.wait_until(comment, lambda: f"{words!r} not in the job's comment: {cluster.job(job)}")
