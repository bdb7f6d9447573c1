# SPDX-License-Identifier: Apache-2.0
"""A real API server of which an administrator's kubeconfig is given: a namespace of its own, and the part of kubelet."""

import base64
import contextlib
import http.client
import json
import pathlib
import secrets
import ssl
import subprocess
import threading
import urllib.parse

_ROLES = pathlib.Path(__file__).resolve().parents[2] / "config/kubernetes"
STATES = "/apis/slurm.nebius.ai/v1alpha1/namespaces/{}/nodesetpowerstates"
# No scheduler takes these pods: whoever tests says what becomes of them.
TEMPLATE = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"app": "slurmd"}},
    "spec": {"schedulerName": "nobody", "containers": [{
        "name": "slurmd", "image": "registry.example/slurmd:22.05", "args": ["slurmd", "-D", "-b", "-N", "{node_name}"],
        "resources": {"requests": {"cpu": "1", "memory": "256Mi"}}}]}}


class ApiServer:
    """As blackbox.BlackboxTest wants a cloud."""

    def __init__(self, kubeconfig):
        self._admin = ["kubectl", "--kubeconfig", str(kubeconfig)]
        self.namespace = f"burst-test-{secrets.token_hex(4)}"

    def start(self, home):
        view = json.loads(self._run("config", "view", "--raw", "--minify", "--flatten", "-o", "json"))
        cluster, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
        self._cluster, self._token = cluster, user.get("token")
        self._server = urllib.parse.urlsplit(cluster["server"])
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        if "client-certificate-data" in user:
            pair = home.folder / "run/admin.pem"
            pair.touch(mode=0o600)
            pair.write_bytes(base64.b64decode(user["client-certificate-data"]) +
                             base64.b64decode(user["client-key-data"]))
            self._tls.load_cert_chain(pair)
        self._run("create", "namespace", self.namespace)
        for role in ("role.yaml", "role-nodesetpowerstate.yaml"):
            self._run("apply", "-n", self.namespace, "-f", str(_ROLES / role))
        self.token = self.service_account_token("slurm-burst")
        self.kubeconfig = home.folder / "run/kubeconfig"
        self.write_kubeconfig(self.kubeconfig, self.token)
        self.environment = {"KUBECONFIG": str(self.kubeconfig)}

    def stop(self):
        self.clear()
        self._run("delete", "namespace", self.namespace, "--wait=false")

    def control(self, path, _body):
        assert path == "reset", path
        self.clear()

    def clear(self):
        """No pod, no quota and no power state is left."""
        for name in self.pods():
            self.api("DELETE", self.pod_path(name), {"gracePeriodSeconds": 0})
        self._run("delete", "resourcequotas", "-n", self.namespace, "--all")
        status, states = self.api("GET", STATES.format(self.namespace))
        for state in states["items"] if status == 200 else []:
            self.api("DELETE", f"{STATES.format(self.namespace)}/{state['metadata']['name']}")

    def _run(self, *arguments):
        done = subprocess.run([*self._admin, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def apply(self, *objects):
        subprocess.run([*self._admin, "apply", "-f", "-"], check=True, text=True, capture_output=True,
                       input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return objects

    def await_condition(self, kind, name, condition):
        self._run("wait", f"--for=condition={condition}", f"{kind}/{name}", "--timeout=30s")

    def service_account_token(self, name):
        status, reply = self.api("POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{name}/token",
                                 {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        assert status == 201, reply
        return reply["status"]["token"]

    def write_kubeconfig(self, path, token):
        path.touch(mode=0o600)
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": self._cluster}],
            "users": [{"name": "burst", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "burst",
                                                      "namespace": self.namespace}}]}))

    def api(self, method, path, body=None, kind="application/json", accept="application/json"):
        """A call by the administrator: (status, answer)."""
        connection = http.client.HTTPSConnection(self._server.hostname, self._server.port or 443, context=self._tls,
                                                 timeout=30)
        headers = {"Content-Type": kind, "Accept": accept, **({"Authorization": f"Bearer {self._token}"} if self._token else {})}
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            reply = connection.getresponse()
            text = reply.read()
            # A path that no API has is answered in plain text.
            return reply.status, json.loads(text) if text[:1] == b"{" else text.decode()

    def pod_path(self, name=None):
        return f"/api/v1/namespaces/{self.namespace}/pods" + (f"/{name}" if name else "")

    def pods(self):
        """{name: pod}"""
        status, reply = self.api("GET", self.pod_path())
        assert status == 200, reply
        return {pod["metadata"]["name"]: pod for pod in reply["items"]}

    def set_status(self, name, **status):
        code, reply = self.api("PATCH", self.pod_path(name) + "/status", {"status": status},
                               "application/merge-patch+json")
        assert code in (200, 404), reply

    def bind(self, name, machine="machine-1"):
        """From then on only its kubelet, that is kill(), makes an end of a deleted pod."""
        code, reply = self.api("POST", self.pod_path(name) + "/binding",
                               {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                                "target": {"apiVersion": "v1", "kind": "Node", "name": machine}})
        assert code == 201, reply

    def kill(self, name):
        self.api("DELETE", self.pod_path(name), {"gracePeriodSeconds": 0})

    def run(self, name, address):
        self.set_status(name, phase="Running", podIP=address, podIPs=[{"ip": address}],
                        conditions=[{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}],
                        containerStatuses=[{"name": "slurmd", "ready": True, "restartCount": 0, "image": "x",
                                            "imageID": "x", "state": {"running": {}}}])

    @contextlib.contextmanager
    def kubelet(self):
        """Lets each pod run as soon as it is made: 10.1.0.1, 10.1.0.2, ..."""
        over, addresses = threading.Event(), iter(range(1, 60_000))
        failures = []

        def work():
            try:
                while not over.wait(0.05):
                    for name, pod in self.pods().items():
                        if "podIP" not in pod["status"] and "deletionTimestamp" not in pod["metadata"]:
                            number = next(addresses)
                            self.run(name, f"10.1.{number // 250}.{number % 250 + 1}")
            except (AssertionError, OSError) as error:
                failures.append(error)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        assert not failures, failures
