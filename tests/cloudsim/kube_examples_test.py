# SPDX-License-Identifier: Apache-2.0
"""The examples of config/kubernetes: an API server takes the pods, and the rights are no more than what is called."""
import json
import pathlib
import unittest

import yaml

from kube import KUBECTL, KubeTest, PODS

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "config" / "kubernetes"


def documents(name):
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def as_pod(name, template):
    """The pod of a node, as far as the API server cares."""
    inner = template.get("template", template)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict(inner.get("metadata", {}), name=name),
            "spec": inner["spec"]}


class Examples(KubeTest):
    def test_each_pod_template_is_one_that_the_api_server_takes(self):
        names = sorted(path.name for path in EXAMPLES.glob("pod-template-*.yaml"))
        self.assertGreaterEqual(len(names), 2)
        for number, name in enumerate(names):
            pod = as_pod("node-%d" % number, documents(name)[0])
            reply = self.call("POST", PODS, pod, fieldValidation="Strict")
            self.assertEqual(reply.status, 201, name + ": " + reply.text)

    def test_a_slip_of_the_pen_would_be_found(self):
        pod = as_pod("node-0", documents("pod-template-gpu.yaml")[0])
        pod["spec"]["tolerationz"] = pod["spec"].pop("tolerations")
        reply = self.call("POST", PODS, pod, fieldValidation="Strict")
        self.assertEqual(reply.status, 400, reply.text)
        self.assertIn('unknown field "spec.tolerationz"', reply.message)

    @unittest.skipUnless(KUBECTL, "no kubectl here")
    def test_kubectl_takes_the_pods_too(self):
        pod = as_pod("node-0", documents("pod-template-cpu.yaml")[0])
        self.assertEqual(self.kubectl("create", "-f", "-", stdin=json.dumps(pod)), "pod/node-0 created\n")

    def test_rights_are_bound_to_the_service_account_and_no_more_than_what_is_called(self):
        wanted = {"role.yaml": {("", "pods"): ["create", "delete", "get", "list"]},
                  "role-nodesetpowerstate.yaml": {("slurm.nebius.ai", "nodesets"): ["get"],
                                                  ("slurm.nebius.ai", "nodesetpowerstates"): ["create", "get", "update"],
                                                  ("", "pods"): ["list"], ("", "events"): ["list"]}}
        for name, rights in wanted.items():
            found = {item["kind"]: item for item in documents(name)}
            self.assertNotIn("ClusterRole", found)
            role, binding = found["Role"], found["RoleBinding"]
            self.assertEqual(binding["roleRef"], {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
                                                  "name": role["metadata"]["name"]})
            self.assertEqual(binding["subjects"], [{"kind": "ServiceAccount", "name": "slurm-burst"}])
            self.assertEqual({(rule["apiGroups"][0], rule["resources"][0]): sorted(rule["verbs"])
                              for rule in role["rules"]}, rights)
            for rule in role["rules"]:
                self.assertEqual((len(rule["apiGroups"]), len(rule["resources"])), (1, 1))


if __name__ == "__main__":
    unittest.main()
