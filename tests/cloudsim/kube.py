# SPDX-License-Identifier: Apache-2.0
"""Speaks to cloudsim's Kubernetes API: plainly over TLS, and through kubectl."""
import http.client
import json
import os
import shutil
import ssl
import subprocess
import urllib.parse

from simulator import CloudsimTest, http as plain, wait_until

ADMIN, READER, BURST = "cloudsim-admin-token", "cloudsim-reader-token", "cloudsim-burst-token"
PODS = "/api/v1/namespaces/slurm/pods"
STATES = "/apis/slurm.nebius.ai/v1alpha1/namespaces/slurm/nodesetpowerstates"
SETS = "/apis/slurm.nebius.ai/v1alpha1/namespaces/slurm/nodesets"
KUBECTL = os.environ.get("KUBECTL") or shutil.which("kubectl")


def pod(name, labels=None, image="slurmd:1", spec=None, **container):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": dict({"containers": [dict({"name": "slurmd", "image": image}, **container)]}, **(spec or {}))}


def quota(name, **hard):
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, "namespace": "slurm"},
            "spec": {"hard": hard}}


class Reply:
    def __init__(self, reply):
        self.status = reply.status
        self.headers = reply.headers
        self.text = reply.read().decode()

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def message(self):
        return self.json["message"]


class KubeTest(CloudsimTest):
    def setUp(self):
        self.sim.control("POST", "/reset")
        secrets = self.sim.control("GET", "/kubernetes/credentials")
        self.server = urllib.parse.urlsplit(secrets["server"])
        self.tls = ssl.create_default_context(cadata=secrets["certificate_authority"])
        self.secrets = secrets

    def connect(self):
        connection = http.client.HTTPSConnection(self.server.hostname, self.server.port, context=self.tls, timeout=20)
        self.addCleanup(connection.close)
        return connection

    def call(self, method, path, body=None, token=ADMIN, connection=None, kind="application/json", accept=None,
             **query):
        connection = connection or self.connect()
        headers = {"Content-Type": kind}
        if accept:
            headers["Accept"] = accept
        if token:
            headers["Authorization"] = "Bearer " + token
        if query:
            path += "?" + urllib.parse.urlencode(query)
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        return Reply(connection.getresponse())

    def create(self, name, status=201, **more):
        reply = self.call("POST", PODS, pod(name, **more))
        self.assertEqual(reply.status, status, reply.text)
        return reply.json

    def pod(self, name):
        reply = self.call("GET", PODS + "/" + name)
        return reply.json if reply.status == 200 else None

    def running(self, name):
        return wait_until(lambda: (lambda found: found["status"]["phase"] == "Running" and found)(self.pod(name)))

    def act(self, name, action, **more):
        return self.sim.control("POST", "/kubernetes/pods/slurm/" + name, action=action, **more)

    def set_knobs(self, **values):
        self.sim.control("POST", "/knobs", kubernetes=values)

    def events(self, name):
        items = self.call("GET", "/api/v1/namespaces/slurm/events", fieldSelector="involvedObject.name=" + name).json
        return {item["reason"]: item["message"] for item in items["items"]}

    def watch(self, path=PODS, **query):
        """(connection, generator of events); the generator ends when the stream does."""
        connection = self.connect()
        connection.request("GET", path + "?" + urllib.parse.urlencode(dict(query, watch=1)),
                           headers={"Authorization": "Bearer " + ADMIN})
        reply = connection.getresponse()
        self.assertEqual(reply.status, 200)
        return connection, (json.loads(line) for line in iter(reply.readline, b""))

    def kubeconfig(self, **query):
        status, text = plain("GET", self.sim.url + "/_control/kubernetes/kubeconfig?" + urllib.parse.urlencode(query))
        self.assertEqual(status, 200, text)
        path = self.sim.path("kubeconfig")
        with open(path, "w") as file:
            file.write(text)
        return path

    def kubectl(self, *words, config=None, stdin=None, good=True):
        """What kubectl prints, standard error included; asserts how it ends."""
        environment = {"PATH": os.environ["PATH"], "HOME": self.sim.folder.name,
                       "KUBECONFIG": config or self.kubeconfig()}
        done = subprocess.run([KUBECTL, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, env=environment, timeout=60)
        self.assertEqual(done.returncode == 0, good, done.stdout)
        return done.stdout
