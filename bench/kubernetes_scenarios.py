# SPDX-License-Identifier: Apache-2.0
"""The works on Kubernetes: what is set up, run and counted, and what each must reach."""

import math

from candidates import SlurmBurst
from processes import wait_until
from report import Row

LATENCY = 0.02
_SIZES = (1, 100, 1000)
_IN_FLIGHT = 64      # PodsInFlight
_PAGE = 500          # pods of one page of a list
_RETRY_AFTER = 1     # seconds
_TEMPLATE = """\
metadata:
  labels: {app: slurmd}
spec:
  containers:
  - name: slurmd
    image: registry.example/slurmd:23.11
    args: [slurmd, -D, -b, -N, "{node_name}"]
    resources:
      requests: {cpu: "8", memory: 64Gi}
      limits: {nvidia.com/gpu: 8}
    volumeMounts:
    - {name: munge, mountPath: /etc/munge, readOnly: true}
  tolerations:
  - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
  volumes:
  - name: munge
    secret: {secretName: munge-key}
"""


class KubernetesCandidate(SlurmBurst):
    """slurm-burst with a kubeconfig of the simulated API server."""

    def prepare(self, clouds):
        (self.folder / "kubeconfig").write_text(clouds.kubeconfig())
        (self.folder / "pod.yaml").write_text(_TEMPLATE)

    def _more_configuration(self):
        return {"StateDir": str(self.folder / "state"), "Environment": {"KUBECONFIG": str(self.folder / "kubeconfig")}}


def kubernetes_partitions(**more):
    return [{"PartitionName": "kube", "NodeGroups": [
        {"NodeGroupName": "g0", "MaxNodes": _SIZES[-1], "Provider": "kubernetes", "Namespace": "slurm",
         "PodTemplate": "pod.yaml", "SlurmSpecifications": {"CPUs": "8"}, **more}]}]


def power(bench):
    """Resume and suspend of pods; a resume that waits until all of them have addresses; and one of which the API server
    puts one request off."""
    content = kubernetes_partitions(AddressWait=0)
    candidate = KubernetesCandidate(bench.folder / "slurm-burst-kubernetes", bench.programs, bench.clouds.endpoint)
    candidate.prepare(bench.clouds)
    candidate.configure(content)
    rows = []
    with bench.controller(content) as controller:
        for nodes in bench.sizes(_SIZES):
            rows += _Power(bench, controller, candidate, content, nodes).measure()
        most = bench.sizes(_SIZES)[-1]
        rows.append(_Addresses(bench, controller, candidate, kubernetes_partitions(), most).measure())
        rows.append(_Throttled(bench, controller, candidate, content, min(most, 100)).measure())
    return rows


def _pages(nodes):
    return max(1, math.ceil(nodes / _PAGE))


class _Work:
    """Programs for so many nodes of the simulated API server."""

    def __init__(self, bench, controller, candidate, content, nodes):
        self._bench, self._candidate, self._content, self._nodes = bench, candidate, content, nodes
        self._environment = {**controller.environment, **candidate.environment()}

    def _row(self, work):
        return Row(self._candidate.name, f"kubernetes: {work}", self._nodes, [])

    def _hostlist(self):
        return f"kube-g0-[0-{self._nodes - 1}]" if self._nodes > 1 else "kube-g0-0"

    def _time(self, row, program):
        row.runs.append(self._bench.run(self._candidate.command(program, self._hostlist()), self._environment))

    def _count(self, row, program):
        row.counted, commands = self._bench.run_counted(
            self._candidate, self._content, self._candidate.command(program, self._hostlist()), self._environment)
        row.calls, row.slurm_runs = self._bench.clouds.calls(), len(commands)

    def _expect(self, row, count):
        found = self._bench.clouds.pods()
        status = (row.runs or [row.counted])[-1].status
        if len(set(found)) != count or status != 0:
            row.problem = f"{len(set(found))} pods in place of {count}, status {status}; {self._bench.complaint()}"

    @staticmethod
    def _attempts(row, action):
        return row.calls.get(action, (0, 0))[0]


class _Power(_Work):
    def measure(self):
        self._resume, self._suspend = self._row("resume"), self._row("suspend")
        self._peaks, self._spans = {}, {}
        for _ in range(self._bench.options.repeat):
            self._once(self._time)
        self._once(self._count)
        self._check(self._resume, "pods.create")
        self._check(self._suspend, "pods.delete")
        return [self._resume, self._suspend]

    def _once(self, run):
        clouds = self._bench.clouds
        clouds.reset(latency_ms=LATENCY * 1000)
        run(self._resume, "resume")
        self._note_peak("pods.create")
        self._expect(self._resume, self._nodes)
        run(self._suspend, "suspend")
        self._note_peak("pods.delete")
        self._expect(self._suspend, 0)
        wait_until(lambda: not clouds.pods(), "pods are left")

    def _note_peak(self, action):
        self._peaks[action] = max(self._peaks.get(action, 0), self._bench.clouds.peak_concurrency(action))
        times = [call["time"] for call in self._bench.clouds.log_of(action)]
        span = max(times) - min(times) + LATENCY if times else 0
        self._spans[action] = min(self._spans.get(action, span), span)

    def _check(self, row, action):
        one_each, lists = self._attempts(row, action), self._attempts(row, "pods.list")
        most_lists = _pages(self._nodes)
        others = sum(attempts for attempts, _ in row.calls.values()) - one_each - lists
        row.check(f"one {action} a pod: {one_each}", one_each == self._nodes)
        row.check(f"<= {most_lists} pages of lists, nothing else: {lists}, {others}",
                  lists <= most_lists and others == 0)
        peak = self._peaks[action]
        row.check(f"<= {_IN_FLIGHT} in flight: {peak}", peak <= _IN_FLIGHT)
        if self._nodes == 1000:
            bound = self._nodes * LATENCY / _IN_FLIGHT
            row.check(f"wall <= 1.5 x {bound * 1000:.0f} ms, lists and all: {row.wall() / bound:.2f} x",
                      row.wall() <= 1.5 * bound)
            span = self._spans[action] / bound
            row.check(f"from the first {action} to the last one's end <= 1.25 x: {span:.2f} x", span <= 1.25)
            row.check(f"peak memory <= 48 MiB: {row.peak_mib():.1f}", row.peak_mib() <= 48)


class _Addresses(_Work):
    """The pods run at once: what the wait for their addresses adds are lists."""

    def measure(self):
        row, clouds = self._row("resume with addresses"), self._bench.clouds
        self._candidate.configure(self._content)
        for run in (*([self._time] * self._bench.options.repeat), self._count):
            clouds.reset(latency_ms=LATENCY * 1000)
            run(row, "resume")
            self._expect(row, self._nodes)
        lists = self._attempts(row, "pods.list")
        row.check(f"<= {1 + 3 * _pages(self._nodes)} pages of lists: {lists}", lists <= 1 + 3 * _pages(self._nodes))
        if self._nodes == 1000:
            row.check(f"peak memory <= 48 MiB: {row.peak_mib():.1f}", row.peak_mib() <= 48)
        return row


class _Throttled(_Work):
    """One request of all is answered with 429 and Retry-After."""

    def measure(self):
        row, clouds = self._row("resume, one 429"), self._bench.clouds
        delays = []
        self._candidate.configure(self._content)
        for _ in range(self._bench.options.repeat):
            clouds.reset(latency_ms=LATENCY * 1000)
            clouds.fault("pods.create", "throttle", count=1, skip=self._nodes // 2, ms=_RETRY_AFTER * 1000)
            self._time(row, "resume")
            self._expect(row, self._nodes)
            calls = clouds.log_of("pods.create")
            refused = [call["time"] for call in calls if call["status"] == 429]
            if len(refused) != 1 or len(calls) != self._nodes + 1:
                row.problem = f"{len(refused)} refused of {len(calls)} requests"
                return row
            # All others are done by then, so the last one is the repeated one. `time` is when a call came.
            delays.append(max(call["time"] for call in calls) - refused[0])
        row.calls, row.slurm_runs = clouds.calls(), None
        # What was refused is heard of a latency after it came.
        shortest, longest = min(delays) - LATENCY, max(delays) - LATENCY
        row.check(f"asked again {_RETRY_AFTER} s later, no sooner and at most 0.1 s after it: {shortest:.3f} to "
                  f"{longest:.3f} s", _RETRY_AFTER <= shortest and longest <= _RETRY_AFTER + 0.1)
        return row
