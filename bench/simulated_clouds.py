# SPDX-License-Identifier: Apache-2.0
"""cloudsim as the bench uses it: 100 ms a call, the published request limits, and what was asked of it."""

import json
import urllib.request

from processes import Daemon, wait_until

REGION = "us-east-1"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKIACLOUDSIM00000001", "AWS_SECRET_ACCESS_KEY": "cloudsim-secret-key"}


def _opener():
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


class SimulatedClouds:
    """with SimulatedClouds(executable, folder) as clouds: ..."""

    def __init__(self, executable, folder):
        self._executable, self._folder = executable, folder
        self._daemon = None
        self.endpoint = None

    def __enter__(self):
        port_file = self._folder / "cloudsim.port"
        self._daemon = Daemon("cloudsim", [str(self._executable), "--port-file", str(port_file)],
                              self._folder / "cloudsim.out")

        def listens():
            self._daemon.require_running()
            return port_file.exists()
        try:
            wait_until(listens, "cloudsim does not listen")
        except BaseException:
            self._daemon.kill()
            raise
        self.endpoint = f"http://127.0.0.1:{port_file.read_text().strip()}"
        return self

    def __exit__(self, *_):
        self._daemon.stop()

    def _control(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.endpoint}/_control/{path}", data=data, method=method)
        with _opener().open(request, timeout=30) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def reset(self, latency_ms):
        """No instances, no calls, full token buckets."""
        self._control("POST", "reset", {})
        self._control("POST", "knobs", {"latency_ms": latency_ms})

    def forget_calls(self):
        self._control("DELETE", "calls")

    def calls(self):
        """{action: (attempts, refused)}."""
        actions = self._control("GET", "calls")["actions"]
        return {name: (counts["attempts"], sum(counts["errors"].values())) for name, counts in sorted(actions.items())}

    def peak_concurrency(self, action):
        """How many calls of this action were under way at once."""
        return self._control("GET", "calls")["actions"].get(action, {}).get("peak_concurrency", 0)

    def last_call(self, action):
        """When the last call of this action came, in seconds since the epoch; nothing when there was none."""
        return max((call["time"] for call in self.log_of(action)), default=None)

    def alive(self):
        """Instances that are pending or running."""
        return [instance for instance in self._control("GET", "instances")
                if instance["state"] in ("pending", "running")]

    # --- Compute Engine ---

    def set(self, **knobs):
        self._control("POST", "knobs", knobs)

    def machines(self):
        """All VMs that exist."""
        return [{**machine, "status": machine["state"]} for machine in self._control("GET", "gce/instances")]

    def migs(self):
        """All managed instance groups with their resize requests."""
        return [{**mig, "requests": mig["resize_requests"]} for mig in self._control("GET", "gce/migs")]

    def decide(self, mig, action):
        """What becomes of a group's queued request: "succeed"."""
        self._control("POST", f"gce/resize_requests/{mig}", {"action": action})

    # --- Kubernetes ---

    def kubeconfig(self):
        """A kubeconfig file's text, of a service account that may no more than config/kubernetes lets it."""
        with _opener().open(f"{self.endpoint}/_control/kubernetes/kubeconfig?user=burst", timeout=30) as reply:
            return reply.read().decode()

    def pods(self):
        """The names of all pods that do not end."""
        return [pod["metadata"]["name"] for pod in self._control("GET", "kubernetes/pods")["pods"]
                if "deletionTimestamp" not in pod["metadata"]]

    def fault(self, action, kind, **rule):
        self._control("POST", "faults", {"action": action, "kind": kind, **rule})

    def log_of(self, action):
        """The calls of this action, in order: [{"time", "status", ...}]."""
        return [call for call in self._control("GET", "calls/log") if call["action"] == action]
