# SPDX-License-Identifier: Apache-2.0
"""The real kubectl, whichever is installed, drives the Kubernetes API."""
import json
import os
import stat
import subprocess
import threading
import unittest

from kube import BURST, KUBECTL, KubeTest, PODS, pod, quota
from simulator import wait_until


@unittest.skipUnless(KUBECTL, "no kubectl here")
class Kubectl(KubeTest):
    def make(self, name="gpu-1", **more):
        return self.kubectl("create", "-f", "-", stdin=json.dumps(pod(name, **more)))

    def test_create_get_describe_delete(self):
        self.assertEqual(self.make(), "pod/gpu-1 created\n")
        self.assertIn("condition met", self.kubectl("wait", "--for=condition=Ready", "pod/gpu-1", "--timeout=20s"))
        found = self.pod("gpu-1")
        table = self.kubectl("get", "pods", "-o", "wide").splitlines()
        self.assertEqual(table[0].split()[:7], ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"])
        row = table[1].split()
        self.assertEqual(row[:4] + row[5:7], ["gpu-1", "1/1", "Running", "0", found["status"]["podIP"],
                                              found["spec"]["nodeName"]])
        shown = self.kubectl("describe", "pod", "gpu-1")
        self.assertRegex(shown, r"Status: +Running")
        self.assertIn("Successfully assigned slurm/gpu-1 to " + found["spec"]["nodeName"], shown)
        self.assertEqual(json.loads(self.kubectl("get", "pod", "gpu-1", "-o", "json"))["metadata"]["uid"],
                         found["metadata"]["uid"])
        self.assertIn('pod "gpu-1" deleted', self.kubectl("delete", "pod", "gpu-1"))
        self.assertIn("No resources found in slurm namespace.", self.kubectl("get", "pods"))

    def test_apply_creates_changes_and_leaves_alone(self):
        body = json.dumps(pod("gpu-1", labels={"a": "b"}))
        self.assertEqual(self.kubectl("apply", "-f", "-", stdin=body), "pod/gpu-1 created\n")
        self.assertEqual(self.kubectl("apply", "-f", "-", stdin=body), "pod/gpu-1 unchanged\n")
        self.assertEqual(self.kubectl("apply", "-f", "-", stdin=body.replace('"b"', '"c"')), "pod/gpu-1 configured\n")
        self.assertEqual(self.pod("gpu-1")["metadata"]["labels"], {"a": "c"})

    def test_label_annotate_and_select(self):
        self.make("gpu-1"), self.make("gpu-2")
        self.kubectl("label", "pod", "gpu-1", "group=gpu")
        self.kubectl("annotate", "pod", "gpu-1", "note=x y")
        found = self.pod("gpu-1")["metadata"]
        self.assertEqual((found["labels"], found["annotations"]["note"]), ({"group": "gpu"}, "x y"))
        self.assertEqual(self.kubectl("get", "pods", "-l", "group in (gpu)", "-o", "name"), "pod/gpu-1\n")
        self.kubectl("label", "pod", "gpu-1", "group-")
        self.assertNotIn("labels", {key for key, value in self.pod("gpu-1")["metadata"].items() if value})

    def test_run_and_delete_many(self):
        for name in ("a", "b"):
            self.assertEqual(self.kubectl("run", name, "--image=slurmd:1", "-l", "x=y"), "pod/%s created\n" % name)
        self.assertEqual(self.kubectl("delete", "pods", "-l", "x=y", "--wait=false").count("deleted"), 2)
        wait_until(lambda: self.call("GET", PODS).json["items"] == [])

    def test_delete_waits_until_the_pod_is_gone(self):
        self.set_knobs(terminate_ms=500)
        self.make()
        self.running("gpu-1")
        self.kubectl("delete", "pod", "gpu-1")
        self.assertIsNone(self.pod("gpu-1"))
        self.make("other")
        self.running("other")
        self.set_knobs(terminate_ms=600000)
        self.kubectl("delete", "pod", "other", "--wait=false")
        self.assertIn("Terminating", self.kubectl("get", "pods"))
        self.kubectl("delete", "pod", "other", "--grace-period=0", "--force")
        self.assertIsNone(self.pod("other"))

    def test_a_watch_follows(self):
        lines = []
        environment = {"PATH": os.environ["PATH"], "HOME": self.sim.folder.name, "KUBECONFIG": self.kubeconfig()}
        process = subprocess.Popen([KUBECTL, "get", "pods", "-w", "--no-headers"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, universal_newlines=True, env=environment)
        reader = threading.Thread(target=lambda: lines.extend(process.stdout))
        reader.start()
        try:
            wait_until(lambda: self.sim.control("GET", "/kubernetes/connections")["watches"] == 1)
            self.create("gpu-1")
            self.running("gpu-1")
            wait_until(lambda: any("Running" in line for line in lines))
        finally:
            process.terminate()
            process.wait(20)
            reader.join(20)
            process.stdout.close()
        self.assertIn("Pending", lines[0])

    def test_quotas_namespaces_nodes_and_events(self):
        self.kubectl("create", "quota", "few", "--hard=pods=1,requests.nvidia.com/gpu=4")
        self.make()
        self.running("gpu-1")
        self.assertIn("pods: 1/1", self.kubectl("get", "quota"))
        self.assertRegex(self.kubectl("describe", "quota", "few"), r"pods +1 +1")
        self.assertEqual(self.make_bad("gpu-2"), 'pods "gpu-2" is forbidden: exceeded quota: few, requested: pods=1, used: '
                                                 "pods=1, limited: pods=1")
        self.assertRegex(self.kubectl("get", "nodes"), "cloudsim-node-[0-9]+ +Ready")
        self.assertRegex(self.kubectl("get", "events"), "Scheduled +[Pp]od/gpu-1")
        self.kubectl("create", "namespace", "other")
        self.assertIn("other", self.kubectl("get", "namespaces", "-o", "name"))
        self.kubectl("delete", "namespace", "other")

    def make_bad(self, name, **more):
        """The message of an error, without kubectl's prefix."""
        text = self.kubectl("create", "-f", "-", stdin=json.dumps(pod(name, **more)), good=False).strip()
        start = text.index('"STDIN": ') + 9 if '"STDIN": ' in text else text.index(": ") + 2
        return text[start:]

    def test_errors_are_understood(self):
        self.make()
        self.assertEqual(self.make_bad("gpu-1"), 'pods "gpu-1" already exists')
        self.assertEqual(self.kubectl("get", "pod", "no", good=False),
                         'Error from server (NotFound): pods "no" not found\n')
        self.assertEqual(self.kubectl("-n", "no", "run", "a", "--image=b", good=False),
                         'Error from server (NotFound): namespaces "no" not found\n')
        self.assertIn('error: the server doesn\'t have a resource type "foo"', self.kubectl("get", "foo", good=False))
        self.assertIn("a lowercase RFC 1123 subdomain must consist of", self.kubectl("run", "A_b", "--image=b", good=False))
        self.assertIn("Unauthorized", self.kubectl("get", "pods", config=self.kubeconfig(user="token", token="bad"),
                                                   good=False))
        self.assertIn('Error from server (Forbidden): pods is forbidden: User "cloudsim-reader" cannot create resource',
                      self.kubectl("run", "a", "--image=b", config=self.kubeconfig(user="reader"), good=False))

    def test_typos_are_refused_by_those_that_leave_validation_to_the_server(self):
        version = json.loads(self.kubectl("version", "--client", "-o", "json"))["clientVersion"]
        text = self.kubectl("create", "-f", "-", stdin=json.dumps(pod("a", imagee="x")),
                            good=int(version["minor"].rstrip("+")) < 25)
        if int(version["minor"].rstrip("+")) >= 25:
            self.assertIn('unknown field "spec.containers[0].imagee"', text)

    def test_auth_can_i(self):
        burst = self.kubeconfig(user="burst")
        self.assertEqual(self.kubectl("auth", "can-i", "create", "pods", config=burst), "yes\n")
        self.assertIn("no", self.kubectl("auth", "can-i", "patch", "pods", config=burst, good=False))

    def test_every_kind_of_kubeconfig_works(self):
        plugin = self.sim.path("plugin")
        with open(plugin, "w") as file:
            file.write('#!/bin/sh\necho "{\\"apiVersion\\": \\"client.authentication.k8s.io/$V\\", \\"kind\\": '
                       '\\"ExecCredential\\", \\"status\\": {\\"token\\": \\"%s\\"}}"\n' % BURST)
        os.chmod(plugin, stat.S_IRWXU)
        with open(plugin) as file:
            script = file.read()
        for version in ("v1beta1", "v1"):
            with open(plugin, "w") as file:
                file.write(script.replace("$V", version))
            if version == "v1" and not self.knows_exec_v1():
                continue
            config = self.kubeconfig(user="exec", command=plugin, version=version)
            self.assertIn("No resources found", self.kubectl("get", "pods", config=config))
        for query in ({"user": "admin"}, {"user": "token"}, {"user": "reader"}, {"user": "burst"},
                      {"user": "token", "server": self.server.geturl().replace("127.0.0.1", "localhost")},
                      {"user": "token", "server_name": "kubernetes.default.svc"}):
            with self.subTest(query):
                self.assertIn("No resources found", self.kubectl("get", "pods", config=self.kubeconfig(**query)))

    def knows_exec_v1(self):
        return int(json.loads(self.kubectl("version", "--client", "-o", "json"))["clientVersion"]["minor"].rstrip("+")) >= 22

    def test_custom_resources_and_their_scale(self):
        for group, name in (("slinky.slurm.net/v1beta1", "nodesets.slinky.slurm.net"),
                            ("slurm.nebius.ai/v1alpha1", "nodesetpowerstates")):
            kind = "NodeSet" if "slinky" in group else "NodeSetPowerState"
            spec = {"replicas": 1} if kind == "NodeSet" else {"nodeSetRef": "w", "activeNodes": [0, 3]}
            body = {"apiVersion": group, "kind": kind, "metadata": {"name": "w"}, "spec": spec}
            self.kubectl("apply", "--validate=false", "-f", "-", stdin=json.dumps(body))
            self.assertIn("w", self.kubectl("get", name))
        self.kubectl("scale", "--replicas=2", "nodesets.slinky.slurm.net/w")
        wait_until(lambda: self.pod("w-1"))
        self.kubectl("patch", "nodesetpowerstate", "w", "--type=merge", "-p", '{"spec": {"activeNodes": [5]}}')
        shown = json.loads(self.kubectl("get", "nodesetpowerstate", "w", "-o", "json"))
        self.assertEqual(shown["spec"]["activeNodes"], [5])
        resources = self.kubectl("api-resources", "-o", "name").split()
        self.assertLessEqual({"pods", "nodesets.slinky.slurm.net", "nodesets.slurm.nebius.ai",
                              "nodesetpowerstates.slurm.nebius.ai"}, set(resources))

    def test_states_of_pods_are_shown(self):
        self.set_knobs(pods=[{"outcome": "err_image_pull"}])
        self.make()
        wait_until(lambda: "ImagePullBackOff" in self.kubectl("get", "pods"))
        self.assertIn("Back-off pulling image", self.kubectl("describe", "pod", "gpu-1"))

    def test_replace_and_raw(self):
        self.sim.control("POST", "/kubernetes/objects", **quota("q", pods="1"))
        self.kubectl("replace", "-f", "-", stdin=json.dumps(quota("q", pods="7")))
        raw = json.loads(self.kubectl("get", "--raw", "/api/v1/namespaces/slurm/resourcequotas/q"))
        self.assertEqual(raw["spec"]["hard"], {"pods": "7"})


if __name__ == "__main__":
    unittest.main()
