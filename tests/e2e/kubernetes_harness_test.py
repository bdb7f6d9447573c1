# SPDX-License-Identifier: Apache-2.0
"""The harness on Kubernetes, with programs that do nothing in place of ours: the test itself makes the pods."""

import pathlib
import tempfile
import unittest

from cluster import Cluster
from kubernetes import Kubernetes, kubernetes_partition
from processes import wait_until

_NODES = ("kube-cpu-0", "kube-cpu-1")


class KubernetesHarness(unittest.TestCase):
    def stub_cluster(self, **slurm):
        folder = tempfile.TemporaryDirectory(prefix="slurm-burst-stubs-")
        self.addCleanup(folder.cleanup)
        for name in ("resume", "suspend"):
            (pathlib.Path(folder.name) / name).write_text("#!/bin/sh\nexit 0\n")
        return Cluster([kubernetes_partition()], cloud=Kubernetes(), programs=folder.name, slurm=slurm)

    def boot(self, cluster):
        for node in _NODES:
            cluster.cloud.create_pod(node, hostname=node)
        addresses = [cluster.cloud.wait_until_ready(node)["status"]["podIP"] for node in _NODES]
        cluster.scontrol("update", f"nodename={','.join(_NODES)}", f"nodeaddr={','.join(addresses)}",
                         f"nodehostname={','.join(_NODES)}")
        return addresses

    def test_pods_become_the_nodes_that_their_host_names_say(self):
        with self.stub_cluster() as cluster:
            job = cluster.sbatch("srun hostname", 2)
            cluster.wait_for_state("kube-cpu-[0-1]", "POWERING_UP")
            addresses = self.boot(cluster)
            cluster.wait_for_job(job)
            self.assertEqual([cluster.node(node).address for node in _NODES], addresses)
            self.assertEqual(len(cluster.job_output(job).split()), 2)
            cluster.cloud.delete_pod("kube-cpu-0")
            wait_until(lambda: cluster.cloud.control("machines")["running"] == 1, "the deleted pod's slurmd lives")
            self.assertTrue(cluster.node("kube-cpu-1").up())

    def test_our_programs_may_no_more_than_the_service_account(self):
        with self.stub_cluster() as cluster:
            cloud = cluster.cloud
            self.assertIn(cloud.token, pathlib.Path(cloud.environment["KUBECONFIG"]).read_text())
            may = {what: cloud.api("GET", f"/api/v1/{what}", token=cloud.token)[0]
                   for what in ("namespaces/slurm/pods", "namespaces/slurm/secrets", "namespaces/default/pods", "nodes")}
            self.assertEqual(may, {"namespaces/slurm/pods": 200, "namespaces/slurm/secrets": 403,
                                   "namespaces/default/pods": 403, "nodes": 403})


if __name__ == "__main__":
    unittest.main()
