# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud of a throw-away cluster, whose machines become its nodes."""

import json
import os
import pathlib
import urllib.error
import urllib.request

import processes

_HERE = pathlib.Path(__file__).resolve().parent
_KEY = {"AWS_ACCESS_KEY_ID": "AKIACLOUDSIM00000001", "AWS_SECRET_ACCESS_KEY": "cloudsim-secret-key"}


class Cloudsim:
    """Cluster(cloud=Cloudsim(boot_ms=500, ec2={"quota": {"vcpus": 8}})): the keywords are cloudsim's knobs, which its
    README lists; Cloudsim(boots=False) has machines that run nothing. The rest is for use while the cluster runs."""

    def __init__(self, *, program=None, boots=True, **knobs):
        folder = pathlib.Path(os.environ.get("BURST_BINARY_DIR", _HERE.parents[1] / "build/dev/bin"))
        self._program, self._boots, self._knobs = program or folder / "cloudsim", boots, knobs
        self._daemon = None

    def start(self, cluster):
        folder = cluster.folder / "log"
        machines = folder / "machines"
        machines.mkdir(mode=0o755)
        port_file, config = cluster.folder / "run/cloudsim.port", cluster.folder / "run/cloudsim.json"
        config.write_text(json.dumps(self._knobs))
        boot = ["--boot-command", _HERE / "boot-slurmd", "--boot-env", f"CLUSTER_DIR={cluster.folder}"]
        # Through the cluster's environment it also bears the mark by which the cluster finds its processes.
        self._daemon = processes.Daemon(
            "cloudsim", [self._program, "--port-file", port_file, "--config", config, "--log-dir", machines,
                         *(boot if self._boots else [])], folder / "cloudsim.log", env=cluster.environment)

        def listening():
            self._daemon.require_running()
            return port_file.exists()
        processes.wait_until(listening, "cloudsim does not listen")
        self.endpoint = f"http://127.0.0.1:{port_file.read_text().strip()}"
        # slurmctld starts its programs with an empty environment: they get this through config.json.
        self.environment = {"AWS_ENDPOINT_URL": self.endpoint, "AWS_EC2_METADATA_DISABLED": "true", **_KEY}

    def stop(self):
        if self._daemon:
            self._daemon.stop()

    def control(self, path, body=None, method=None):
        """Calls the control API: control("faults", {...}). GET without a body, POST with one, unless `method` says."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.endpoint}/_control/{path}", data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"cloudsim: {path}: {error.read().decode()}") from None

    def instances(self, *states):
        """All instances that are not terminated, or those in these states; tags are a dict."""
        return [instance for instance in self.control("instances")
                if (instance["state"] in states if states else instance["state"] != "terminated")]

    def instance_of(self, node):
        """The one instance that bears the node's name; fails when there are none or several."""
        found = [instance for instance in self.instances() if instance["tags"].get("Name") == node]
        if len(found) != 1:
            raise AssertionError(f"{node} has {len(found)} instances: {found}")
        return found[0]

    def change(self, instance, **change):
        """change(instance, action="interrupt"): also terminate, hang, thaw; tags={...}; age_seconds=3600."""
        return self.control(f"instances/{instance['id']}", change)

    def set(self, **knobs):
        self.control("knobs", knobs)

    def fault(self, action, kind, **rule):
        """fault("CreateFleet", "drop_after", count=1): the next such call, unless the rule says more."""
        self.control("faults", {"action": action, "kind": kind, **rule})

    def capacity(self, available, **rule):
        """capacity(0, type="c5.large"): also where (subnet or zone), lifecycle."""
        self.control("capacity", {"available": available, **rule})

    def calls(self, action):
        """How many calls of this action came so far."""
        return self.control("calls").get("actions", {}).get(action, {}).get("attempts", 0)

    def wait_until_empty(self, timeout=30):
        """Waits until no instance is left that costs money."""
        processes.wait_until(lambda: not self.instances("pending", "running"),
                             lambda: f"instances left: {self.instances()}", timeout)
