# SPDX-License-Identifier: Apache-2.0
"""As blackbox.py, with node groups on the simulated Kubernetes."""

import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import blackbox  # noqa: E402
from blackbox import BINARIES, BOOTING, OFF  # noqa: E402,F401
from kubernetes import (NAMESPACE, SOPERATOR, TEMPLATE, Kubernetes, kubernetes_group,  # noqa: E402,F401
                        soperator_group)

UP = "IDLE+CLOUD"


class KubernetesBlackboxTest(blackbox.BlackboxTest):
    """Pods run as soon as they are made, without a slurmd."""

    @classmethod
    def make_cloud(cls):
        return Kubernetes(program=BINARIES / "cloudsim", boots=False, throttling=False)

    def setUp(self):
        super().setUp()
        self.secrets.append(self.cloud.token)
        self.write("pod.yaml", TEMPLATE)
        self.kube(kubernetes_group())

    def kube(self, *groups, **keys):
        """One partition `kube` with these groups; Slurm shows all their nodes powered down."""
        self.partitions = [{"PartitionName": "kube", "NodeGroups": list(groups)}]
        self.configure(**keys)
        self.show_nodes([f"kube-{group['NodeGroupName']}-{i}" for group in groups for i in range(group["MaxNodes"])])

    def knobs(self, **knobs):
        self.cloud.set(kubernetes=knobs)

    def pods(self):
        """{name: pod} of all pods of the namespace."""
        return {pod["metadata"]["name"]: pod for pod in self.cloud.pods()}

    def names_alive(self):
        return sorted(name for name, pod in self.pods().items() if "deletionTimestamp" not in pod["metadata"])

    def uids(self):
        return {name: pod["metadata"]["uid"] for name, pod in self.pods().items()}

    def nothing_started(self):
        self.assertEqual(self.pods(), {})

    def calls_of(self, action, **parameters):
        """The calls of this action, with these parameters, in order."""
        return [call for call in self.cloud.requests(action)
                if all(call["parameters"].get(key) == value for key, value in parameters.items())]

    def creations(self):
        return [call["status"] for call in self.calls_of("pods.create")]

    def age(self, name, seconds):
        """The pod's machine is there since so long."""
        pod = self.cloud.pod(name)
        then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
        conditions = [{**one, "lastTransitionTime": then.strftime("%Y-%m-%dT%H:%M:%SZ")}
                      for one in pod["status"]["conditions"]]
        self.cloud.control(f"kubernetes/pods/{NAMESPACE}/{name}", {"status": {"conditions": conditions}})

    def in_trouble(self, name, reason):
        """Waits until the pod's container waits for this reason."""
        def waits():
            states = self.cloud.pod(name)["status"].get("containerStatuses", [{}])
            return states[0].get("state", {}).get("waiting", {}).get("reason") == reason
        self.wait_until(waits, lambda: f"no {reason}: {self.cloud.pod(name)['status']}")

    def comments(self):
        """The `scontrol update` of jobs that set a comment."""
        return [run for run in self.scontrol_runs("update") if any(word.startswith("Comment=") for word in run)]

    def reasons(self):
        """{node: reason} of every node that was told one."""
        return {node: update.options["Reason"] for update in self.updates("Reason") for node in update.nodes}
