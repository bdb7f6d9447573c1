# SPDX-License-Identifier: Apache-2.0
"""Pods that a Kubernetes cluster's policies refuse: quotas, Pod Security, webhooks, service accounts."""
import unittest

from kube import KubeTest, PODS, pod, quota


class Admission(KubeTest):
    def test_quotas_are_enforced_and_shown(self):
        self.sim.control("POST", "/kubernetes/objects", **quota("compute", **{"pods": "2", "requests.nvidia.com/gpu": "3"}))
        gpus = {"resources": {"limits": {"nvidia.com/gpu": 2}}}
        self.create("a", **gpus)
        reply = self.call("POST", PODS, pod("b", **gpus))
        self.assertEqual((reply.status, reply.json["reason"]), (403, "Forbidden"))
        self.assertEqual(reply.message, 'pods "b" is forbidden: exceeded quota: compute, requested: '
                                        "requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=2, limited: "
                                        "requests.nvidia.com/gpu=3")
        self.create("c")
        path = "/api/v1/namespaces/slurm/resourcequotas/compute"
        self.assertEqual(self.call("GET", path).json["status"]["used"], {"pods": "2", "requests.nvidia.com/gpu": "2"})
        self.call("DELETE", PODS + "/a", {"gracePeriodSeconds": 0})
        self.assertEqual(self.call("GET", path).json["status"]["used"], {"pods": "1", "requests.nvidia.com/gpu": "0"})

    def test_a_quota_of_memory_asks_for_requests(self):
        self.sim.control("POST", "/kubernetes/objects", **quota("mem", **{"requests.memory": "3Gi"}))
        reply = self.call("POST", PODS, pod("a"))
        self.assertEqual(reply.message, 'pods "a" is forbidden: failed quota: mem: must specify requests.memory for: '
                                        "slurmd")
        self.create("b", resources={"requests": {"memory": "2Gi"}})
        reply = self.call("POST", PODS, pod("c", resources={"requests": {"memory": "1025Mi"}}))
        self.assertEqual(reply.message, 'pods "c" is forbidden: exceeded quota: mem, requested: requests.memory=1025Mi, '
                                        "used: requests.memory=2Gi, limited: requests.memory=3Gi")

    def test_pod_security_is_a_label_of_the_namespace(self):
        self.set_knobs(namespaces=[{"name": "tight", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}])
        reply = self.call("POST", "/api/v1/namespaces/tight/pods", pod("a"))
        self.assertEqual(reply.status, 403)
        self.assertEqual(reply.message,
                         'pods "a" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != '
                         'false (container "slurmd" must set securityContext.allowPrivilegeEscalation=false), '
                         'unrestricted capabilities (container "slurmd" must set securityContext.capabilities.drop='
                         '["ALL"]), runAsNonRoot != true (pod or container "slurmd" must set '
                         'securityContext.runAsNonRoot=true), seccompProfile (pod or container "slurmd" must set '
                         'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")')
        good = pod("a", securityContext={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
                                         "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}})
        self.assertEqual(self.call("POST", "/api/v1/namespaces/tight/pods", good).status, 201)

    def test_pod_security_sees_hosts_and_volumes(self):
        self.set_knobs(namespaces=[{"name": level, "labels": {"pod-security.kubernetes.io/enforce": level}}
                                   for level in ("baseline", "restricted")])
        bad = pod("a", ports=[{"containerPort": 6818, "hostPort": 6818}], securityContext={"privileged": True},
                  spec={"hostNetwork": True, "volumes": [{"name": "v", "hostPath": {"path": "/v"}}]})
        reply = self.call("POST", "/api/v1/namespaces/baseline/pods", bad)
        self.assertEqual((reply.status, reply.message.split(": ", 2)[2]),
                         (403, 'host namespaces (hostNetwork=true), hostPath volumes (volume "v"), hostPort (container '
                               '"slurmd" uses hostPort 6818), privileged (container "slurmd" must not set '
                               "securityContext.privileged=true)"))
        self.assertIn('restricted volume types (volume "v" uses restricted volume type "hostPath"), ',
                      self.call("POST", "/api/v1/namespaces/restricted/pods", bad).message)

    def test_webhooks_refuse_and_fail(self):
        self.set_knobs(webhooks=[{"name": "policy.example.com", "labels": {"bad": "yes"}, "message": "no bad pods"}])
        reply = self.call("POST", PODS, pod("a", labels={"bad": "yes"}))
        self.assertEqual((reply.status, reply.message),
                         (403, 'admission webhook "policy.example.com" denied the request: no bad pods'))
        self.create("good")
        self.set_knobs(webhooks=[{"name": "policy.example.com", "unreachable": True}])
        reply = self.call("POST", PODS, pod("b"))
        self.assertEqual((reply.status, reply.json["reason"]), (500, "InternalError"))
        self.assertIn('Internal error occurred: failed calling webhook "policy.example.com"', reply.message)

    def test_a_service_account_must_exist(self):
        reply = self.call("POST", PODS, pod("a", spec={"serviceAccountName": "who"}))
        self.assertEqual((reply.status, reply.message),
                         (403, 'pods "a" is forbidden: error looking up service account slurm/who: serviceaccount "who" '
                               "not found"))


if __name__ == "__main__":
    unittest.main()
