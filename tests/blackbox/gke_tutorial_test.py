# SPDX-License-Identifier: Apache-2.0
"""Mode pod: what Google's published ways of running Slurm in Kubernetes get wrong, each by its own test."""
import re
import unittest

from blackbox import messages, names
from kubernetes_blackbox import TEMPLATE, KubernetesBlackboxTest, kubernetes_group, soperator_group

GROUPS = [f"g{i}" for i in range(8)]


class Tutorial(KubernetesBlackboxTest):
    def conf(self, *arguments):
        """generate_conf's (slurm.conf, result)."""
        result = self.run_program("generate_conf", "--stdout", *arguments)
        return result.out, result

    # -- its StatefulSets

    def test_eight_node_groups_start_at_once(self):
        self.kube(*(kubernetes_group(name, 2) for name in GROUPS))
        wanted = [f"kube-{name}-{i}" for name in GROUPS for i in range(2)]
        self.resumed(",".join(f"kube-{name}-[0-1]" for name in GROUPS))
        self.assertEqual(self.names_alive(), wanted)
        self.assertEqual(sorted(self.addresses()), wanted)

    def test_nodes_are_known_by_address_and_no_name_is_looked_up(self):
        self.resumed("kube-cpu-[0-3]")
        for name, pod in self.pods().items():
            self.assertEqual(self.addresses()[name], (pod["status"]["podIP"], name))
            self.assertEqual(set(pod["spec"]) & {"dnsConfig", "subdomain", "hostNetwork"}, set())
            self.assertEqual(pod["spec"].get("dnsPolicy", "ClusterFirst"), "ClusterFirst")
        text, _ = self.conf()
        self.assertNotIn("cloud_dns", text)

    def test_labels_tell_any_two_groups_apart_and_each_group_lists_its_own(self):
        self.kube(*(kubernetes_group(name, 2) for name in GROUPS))
        self.resumed(",".join(f"kube-{name}-0" for name in GROUPS))
        labels = [pod["metadata"]["labels"] for pod in self.pods().values()]
        groups = [(one["slurm-burst/cluster"], one["slurm-burst/partition"], one["slurm-burst/group"]) for one in labels]
        self.assertEqual(len(set(groups)), len(GROUPS))
        for call in self.calls_of("pods.list"):
            self.assertIn("slurm-burst/cluster", call["parameters"].get("labelSelector", ""), call)
        self.suspended("kube-g3-[0-1]")
        self.assertEqual(self.names_alive(), [f"kube-{name}-0" for name in GROUPS if name != "g3"])

    def test_cpus_memory_and_gres_are_what_the_template_requests(self):
        self.write("pod.yaml", TEMPLATE.replace("requests: {cpu: \"1\", memory: 256Mi}",
                                                "requests: {cpu: \"3\", memory: 10Gi, nvidia.com/gpu: 2}\n"
                                                "      limits: {nvidia.com/gpu: 2}"))
        self.kube(kubernetes_group(SlurmSpecifications={}))
        text, result = self.conf()
        self.assertEqual(result.status, 0, result.err)
        line = re.search(r"(?m)^NodeName=kube-cpu-\[0-3\] .*", text).group()
        self.assertIn("CPUs=3", line)
        self.assertIn("Gres=gpu:2", line)
        memory = int(re.search(r"RealMemory=(\d+)", line).group(1))
        self.assertLessEqual(memory, 10240)
        self.assertGreater(memory, 8000)

    def test_more_than_the_template_requests_is_warned_of(self):
        self.kube(kubernetes_group(SlurmSpecifications={"CPUs": 4, "RealMemory": 15000}))
        _, result = self.conf()
        self.assertIn("WARNING", result.err)
        self.assertRegex(result.err, "RealMemory|CPUs")

    def test_slurmctld_parameters_are_said_once(self):
        self.kube(*(kubernetes_group(name, 2) for name in GROUPS))
        text, _ = self.conf()
        self.assertLessEqual(len(re.findall("(?m)^SlurmctldParameters=", text)), 1)

    # -- its resume.sh

    def test_a_hostlist_in_brackets_is_as_many_pods_as_it_names(self):
        self.resumed("kube-cpu-[0-1,3]")
        self.assertEqual(self.names_alive(), names("kube-cpu-[0-1,3]"))

    def test_a_second_resume_adds_to_the_first(self):
        self.resumed("kube-cpu-[0-2]")
        uids = self.uids()
        self.resumed("kube-cpu-3")
        self.assertEqual(self.names_alive(), names("kube-cpu-[0-3]"))
        self.assertLessEqual(uids.items(), self.uids().items())

    def test_a_suspend_of_the_first_node_leaves_the_last(self):
        self.resumed("kube-cpu-[0-3]")
        self.suspended("kube-cpu-0")
        self.assertEqual(self.names_alive(), names("kube-cpu-[1-3]"))

    def test_errors_are_told_and_the_exit_status_is_not_0(self):
        self.cloud.fault("pods.create", "error", code="Forbidden", status=403, count=-1, message="pods is forbidden")
        result = self.resume("kube-cpu-[0-1]")
        self.assertEqual(result.status, 1)
        self.assertIn("pods is forbidden", result.err)
        self.assertEqual(sorted(self.refusals()), names("kube-cpu-[0-1]"))

    def test_its_nodes_are_cloud_nodes_with_programs_to_start_and_end_them(self):
        text, result = self.conf()
        self.assertEqual((result.status, messages(result.err, "ERROR")), (0, []))
        self.assertRegex(text, r"(?m)^NodeName=kube-cpu-\[0-3\] State=CLOUD ")
        self.assertIn("ResumeProgram=/opt/burst/resume\n", text)

    # -- counts in place of names

    def test_a_count_is_refused_with_the_reason(self):
        for mode in ("statefulset", "scale", "nodeset"):
            with self.subTest(mode):
                self.kube(kubernetes_group(Mode=mode))
                for program, words in (("resume", ["kube-cpu-0"]), ("generate_conf", ["--stdout"])):
                    result = self.run_program(program, *words)
                    self.assertEqual(result.status, 2)
                    self.assertRegex(result.err, "/Mode: .*not which nodes")
                self.nothing_started()

    def test_a_template_that_is_a_set_of_pods_is_refused(self):
        self.write("pod.yaml", TEMPLATE.replace("apiVersion: v1", "apiVersion: apps/v1").replace("kind: Pod",
                                                                                             "kind: StatefulSet"))
        result = self.resume("kube-cpu-0")
        self.assertNotEqual(result.status, 0)
        self.assertIn("pod.yaml", result.err)
        self.nothing_started()

    # -- names

    def test_names_that_are_no_dns_labels_are_refused_before_any_pod(self):
        for name in ("GPU", "g" * 60):
            with self.subTest(name):
                self.kube(kubernetes_group(name))
                _, result = self.conf()
                self.assertEqual(result.status, 2, result.err)
                self.assertRegex(result.err, "DNS label")

    def test_a_template_that_lacks_what_slurmd_needs_is_warned_of(self):
        self.write("pod.yaml", TEMPLATE.replace('args: [slurmd, -D, -b, -N, "{node_name}"]', "args: [slurmd, -D]")
                   .replace("hostPort: 6818", "protocol: TCP"))
        _, result = self.conf()
        warnings = " ".join(messages(result.err, "WARNING"))
        for lacking in ("-b", "-N", "hostPort"):
            self.assertIn(lacking, warnings)

    def test_both_modes_stand_side_by_side(self):
        self.kube(kubernetes_group(), soperator_group())
        self.cloud.node_set("kube-worker", replicas=4)
        self.resumed("kube-cpu-1,kube-worker-2")
        self.assertEqual(self.names_alive(), ["kube-cpu-1", "kube-worker-2"])
        self.assertEqual(self.cloud.active_nodes("kube-worker"), [2])
        self.suspended("kube-cpu-1,kube-worker-2")
        self.wait_until(lambda: not self.pods(), "pods are left")


if __name__ == "__main__":
    unittest.main()
