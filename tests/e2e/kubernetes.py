# SPDX-License-Identifier: Apache-2.0
"""The simulated Kubernetes of a throw-away cluster: pods that become nodes, and who else lives in their namespace."""

import http.client
import json
import ssl
import urllib.parse
import urllib.request

import processes
from cloudsim import Cloudsim
from cluster import partition

NAMESPACE = "slurm"
SOPERATOR = "/apis/slurm.nebius.ai/v1alpha1"

# What becomes a slurmd: cloudsim runs boot-slurmd for each pod, with spec.hostname as NODE_NAME.
TEMPLATE = """\
apiVersion: v1
kind: Pod
metadata:
  labels: {app: slurmd}
spec:
  containers:
  - name: slurmd
    image: registry.example/slurmd:22.05
    args: [slurmd, -D, -b, -N, "{node_name}"]
    ports:
    - {containerPort: 6818, hostPort: 6818}
    resources:
      requests: {cpu: "1", memory: 256Mi}
"""


def kubernetes_group(name="cpu", nodes=4, **more):
    """A node group for partitions.json. Which API server it is says KUBECONFIG, of config.json's Environment."""
    return {
        "NodeGroupName": name,
        "MaxNodes": nodes,
        "Provider": "kubernetes",
        "Namespace": NAMESPACE,
        "PodTemplate": "pod.yaml",
        "SlurmSpecifications": {"CPUs": 1},
        **more,
    }


def soperator_group(name="worker", nodes=4, **more):
    """One whose pods are made by soperator's operator."""
    group = kubernetes_group(name, nodes, Mode="nodesetpowerstate", **more)
    del group["PodTemplate"]
    return group


def kubernetes_partition(*groups, **options):
    return partition("kube", *(groups or [kubernetes_group()]), **options)


def is_ready(pod):
    return pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]


class Kubernetes(Cloudsim):
    """As Cloudsim, for node groups of provider kubernetes: Kubernetes(kubernetes={"scale_up_ms": 2000}). Our programs
    come with the rights of a service account that may do no more than config/kubernetes allows them."""

    def start(self, cluster):
        super().start(cluster)
        self._secrets = self.control("kubernetes/credentials")
        self._tls = ssl.create_default_context(cadata=self._secrets["certificate_authority"])
        self.token = self._secrets["tokens"]["burst"]
        file = cluster.folder / "run/kubeconfig"
        file.touch(mode=0o600)
        file.write_text(self.kubeconfig(user="burst"))
        if (cluster.folder / "bin").is_dir():
            (cluster.folder / "bin/pod.yaml").write_text(TEMPLATE)
        self.environment = {"KUBECONFIG": str(file)}

    def kubeconfig(self, **query):
        """A kubeconfig file's text; see the control API for `query`."""
        url = f"{self.endpoint}/_control/kubernetes/kubeconfig?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.read().decode()

    def api(self, method, path, body=None, token=None):
        """A call of the Kubernetes API itself, by an administrator unless `token` says by whom: (status, answer)."""
        server = urllib.parse.urlsplit(self._secrets["server"])
        connection = http.client.HTTPSConnection(server.hostname, server.port, context=self._tls, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json",
                                "Authorization": f"Bearer {token or self._secrets['tokens']['admin']}"})
            reply = connection.getresponse()
            return reply.status, json.load(reply)
        finally:
            connection.close()

    def pods(self, namespace=NAMESPACE):
        """All pods of a namespace (None: of all), as the API server shows them, by name."""
        found = [pod for pod in self.control("kubernetes/pods")["pods"]
                 if namespace in (None, pod["metadata"]["namespace"])]
        return sorted(found, key=lambda pod: pod["metadata"]["name"])

    def pod(self, name):
        """One pod; fails when there is none."""
        found = [pod for pod in self.pods() if pod["metadata"]["name"] == name]
        if not found:
            raise AssertionError(f"no pod {name}: {[pod['metadata']['name'] for pod in self.pods()]}")
        return found[0]

    def create_pod(self, name, labels=None, namespace=NAMESPACE, **spec):
        """As somebody else makes one; returns it."""
        status, pod = self.api("POST", f"/api/v1/namespaces/{namespace}/pods", {
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {"containers": [{"name": "main", "image": "registry.example/main:1"}], **spec}})
        if status != 201:
            raise AssertionError(f"pod {name}: {pod}")
        return pod

    def delete_pod(self, name, namespace=NAMESPACE):
        return self.api("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}")

    def act(self, name, action, **more):
        """act("kube-cpu-0", "evict"): also fail, succeed, crash, preempt, node_lost, delete, gone, schedule, hang."""
        return self.control(f"kubernetes/pods/{NAMESPACE}/{name}", {"action": action, **more})

    def quota(self, name="quota", **hard):
        """quota(pods=2); with the name of one that there is, that one is changed."""
        path = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas"
        self.api("DELETE", f"{path}/{name}")
        status, answer = self.api("POST", path, {"metadata": {"name": name},
                                                 "spec": {"hard": {key: str(value) for key, value in hard.items()}}})
        if status != 201:
            raise AssertionError(f"quota {hard}: {answer}")

    def node_set(self, name, **spec):
        """A NodeSet of soperator's: node_set("kube-worker", replicas=8); in place of one of that name."""
        self.api("DELETE", f"{SOPERATOR}/namespaces/{NAMESPACE}/nodesets/{name}")
        return self.control("kubernetes/objects", {
            "apiVersion": "slurm.nebius.ai/v1alpha1", "kind": "NodeSet",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"ephemeralNodes": True, "initialNumberEphemeralNodes": 0, **spec}})

    def power_state(self, name):
        """soperator's NodeSetPowerState, or None."""
        status, state = self.api("GET", f"{SOPERATOR}/namespaces/{NAMESPACE}/nodesetpowerstates/{name}")
        return state if status == 200 else None

    def active_nodes(self, name):
        """The ordinals that are wanted, in their order; None when there is no object."""
        state = self.power_state(name)
        return sorted(state["spec"].get("activeNodes", [])) if state else None

    def wait_until_ready(self, name, timeout=30):
        """Waits until the pod runs. Returns it."""
        def ready():
            return next((pod for pod in self.pods() if pod["metadata"]["name"] == name and is_ready(pod)), None)
        return processes.wait_until(ready, lambda: f"{name} does not run: {self.pods()}", timeout)

    def wait_until_empty(self, timeout=30):
        processes.wait_until(lambda: not self.pods(), lambda: f"pods left: {self.pods()}", timeout)
