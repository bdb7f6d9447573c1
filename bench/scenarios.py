# SPDX-License-Identifier: Apache-2.0
"""The works that are measured: what is set up, run and counted, and what each must reach."""

import json
import statistics
import subprocess

import gce_scenarios
import kubernetes_scenarios
from candidates import SCONTROL, PythonPlugin, SlurmBurst, first_nodes, partitions
from controller import Controller
from report import Row, Run

LATENCY = 0.1
_CHAIN = {"resume": 4 * LATENCY}  # list, CreateFleet, DescribeInstances, CreateTags, one after another
_TAG_BURST, _TAG_RATE = 100, 10   # CreateTags' token bucket, as EC2 publishes it
_POWER_SIZES = (1, 10, 100, 1000)
_QUIET_SIZES = (100, 1000, 2000, 10000)
_TEXT_SIZES = (100, 1000, 10000)


class Bench:
    """What all works need: the simulated EC2, the candidates, and how to run and count a program."""

    def __init__(self, folder, tools, programs, python_plugin, clouds, options):
        self.folder, self.clouds, self.options, self.programs = folder, clouds, options, programs
        self._tools = tools
        self.candidates = [SlurmBurst(folder / "slurm-burst", programs, clouds.endpoint)]
        if python_plugin:
            self.candidates.append(PythonPlugin(folder / "python", python_plugin, clouds.endpoint))
        self._controllers = 0
        self._counter = folder / "counter"
        self._counter.mkdir()
        (self._counter / "real").symlink_to(SCONTROL)
        for command in ("scontrol", "squeue", "sinfo"):
            (self._counter / command).symlink_to(tools / "scontrol_counter")

    def sizes(self, sizes):
        return [size for size in sizes if not self.options.nodes or size <= self.options.nodes]

    def controller(self, content):
        self._controllers += 1
        return Controller(self.folder / f"controller-{self._controllers}", content)

    def run(self, command, environment, traced=False):
        """Runs a program as slurmctld does: nothing but `environment`, stdin and stdout closed to it."""
        result = self.folder / "result"
        with open(self.folder / "stderr", "wb") as errors:
            subprocess.run([str(self._tools / "measure"), *(["-t"] if traced else []), str(result), *command],
                           env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=errors, check=True)
        return Run(**json.loads(result.read_text()))

    def run_counted(self, candidate, content, command, environment):
        """An extra run that says how much memory is the program's own. Returns it and the runs of Slurm's commands, as
        (begin, end, status, command line)."""
        runs = self._counter / "runs"
        runs.unlink(missing_ok=True)
        self.clouds.forget_calls()
        candidate.configure(content, scontrol=self._counter)
        try:
            counted = self.run(command, environment, traced=True)
        finally:
            candidate.configure(content)
        lines = runs.read_text().splitlines() if runs.exists() else []
        return counted, [(float(a), float(b), int(c), d) for a, b, c, d in (line.split(" ", 3) for line in lines)]

    def complaint(self):
        """The last line that a program wrote to stderr."""
        lines = (self.folder / "stderr").read_text(errors="replace").splitlines()
        return lines[-1][:200] if lines else ""


# --- resume and suspend ---

def power(bench):
    content = partitions(1000, 1000)
    rows = []
    with bench.controller(content) as controller:
        for candidate in bench.candidates:
            candidate.configure(content)
            for nodes in bench.sizes(_POWER_SIZES):
                if isinstance(candidate, PythonPlugin) and nodes >= 1000 and not bench.options.all:
                    continue
                rows += _Power(bench, controller, candidate, content, nodes).measure()
    _compare_power(rows)
    return rows


class _Power:
    """Resume of so many nodes and their suspend, by one candidate."""

    def __init__(self, bench, controller, candidate, content, nodes):
        self._bench, self._controller, self._candidate = bench, controller, candidate
        self._content, self._nodes = content, nodes
        self._environment = {**controller.environment, **candidate.environment()}
        self._resume = Row(candidate.name, "resume", nodes, [])
        self._suspend = Row(candidate.name, "suspend", nodes, [])
        self._addressed = None

    def measure(self):
        for _ in range(self._timed_runs()):
            self._once(lambda row, command: row.runs.append(self._bench.run(command, self._environment)))
        self._once(self._count)
        for row in (self._resume, self._suspend):
            row.runs = row.runs or [row.counted]
        if isinstance(self._candidate, SlurmBurst):
            self._check()
        return [self._resume, self._suspend]

    def _timed_runs(self):
        """A thousand nodes take more than a minute, the plugin's hundred half of one."""
        if self._nodes >= 1000:
            return 0  # timed and counted in one run
        if self._nodes >= 100 and isinstance(self._candidate, PythonPlugin):
            return min(2, self._bench.options.repeat)
        return self._bench.options.repeat

    def _once(self, run):
        clouds = self._bench.clouds
        clouds.reset(latency_ms=LATENCY * 1000)
        run(self._resume, self._candidate.command("resume", first_nodes(self._nodes)))
        self._expect(self._resume, [instance["tags"].get("Name") for instance in clouds.alive()], self._nodes)
        self._expect_addresses()
        run(self._suspend, self._candidate.command("suspend", first_nodes(self._nodes)))
        self._expect(self._suspend, [instance["id"] for instance in clouds.alive()], 0)

    def _expect(self, row, found, count):
        if len(set(found)) != count or None in found:
            row.problem = f"{len(set(found) - {None})} instances in place of {count}; {self._bench.complaint()}"

    def _expect_addresses(self):
        expected = {instance["tags"].get("Name"): instance["address"] for instance in self._bench.clouds.alive()}
        known = self._controller.addresses()
        wrong = [name for name, address in expected.items() if known.get(name) != address]
        if wrong:
            self._resume.problem = f"Slurm has other addresses for {len(wrong)} nodes; {self._bench.complaint()}"

    def _count(self, row, command):
        row.counted, commands = self._bench.run_counted(self._candidate, self._content, command, self._environment)
        row.calls, row.slurm_runs = self._bench.clouds.calls(), len(commands)
        if row is self._resume:
            updates = [end for _, end, status, line in commands if " update" in line and status == 0]
            tagged = self._bench.clouds.last_call("CreateTags")
            # `time` is when the call came; its reply leaves a latency later.
            self._addressed = bool(updates) and tagged is not None and max(updates) < tagged + LATENCY

    def _check(self):
        row, chain = self._resume, _CHAIN["resume"]
        row.check("1 run of scontrol", row.slurm_runs == 1)
        row.check("Slurm has all addresses before tagging ends", self._addressed)
        if self._nodes == 100:
            row.check(f"wall <= 1.3 x {chain * 1000:.0f} ms: {row.wall() / chain:.2f} x", row.wall() <= 1.3 * chain)
            row.check(f"CPU <= 60 ms: {row.cpu() * 1000:.1f}", row.cpu() <= 0.060)
            row.check(f"peak memory <= 24 MiB: {row.peak_mib():.1f}", row.peak_mib() <= 24)
        if self._nodes == 1000:
            bound = (self._nodes - _TAG_BURST) / _TAG_RATE + chain
            row.check(f"wall <= 1.1 x {bound:.1f} s, bound by CreateTags' rate: {row.wall() / bound:.3f} x",
                      row.wall() <= 1.1 * bound)


def _compare_power(rows):
    by_name = {(row.candidate, row.work, row.nodes): row for row in rows}
    ours = by_name.get((SlurmBurst.name, "resume", 100))
    theirs = by_name.get((PythonPlugin.name, "resume", 100))
    if ours and theirs:
        ratio = theirs.wall() / ours.wall()
        ours.check(f">= 50 x faster than the Python plugin: {ratio:.0f} x", ratio >= 50)


# --- start-up ---

def start_up(bench):
    content = partitions(1, 1)
    rows = []
    with bench.controller(content) as controller:
        works = [("start-up: resume of an unknown node", ["resume", "nowhere-x-0"]),
                 ("start-up: suspend of an unknown node", ["suspend", "nowhere-x-0"]),
                 ("start-up: change_state", ["change_state"]), ("start-up: generate_conf", ["generate_conf"])]
        for work, words in works:
            rows += _alternate(bench, controller, content, work, words, nodes=1)
    for row in rows:
        if row.candidate == SlurmBurst.name and row.work.endswith("suspend of an unknown node"):
            row.check(f"<= 10 ms: {row.wall() * 1000:.1f}", row.wall() <= 0.010)
    return rows


def _alternate(bench, controller, content, work, words, nodes, beside=None):
    """The same work by each candidate in turn, so that a noisy minute hits all of them. `beside`: (work, command) of
    something else to be timed in between. Returns the rows."""
    rows = {candidate: Row(candidate.name, work, nodes, []) for candidate in bench.candidates}
    other = Row("Slurm", beside[0], nodes, []) if beside else None
    environments = {candidate: {**controller.environment, **candidate.environment()} for candidate in rows}
    for candidate, row in rows.items():
        candidate.configure(content)
        bench.clouds.reset(latency_ms=0)
        row.counted, commands = bench.run_counted(candidate, content, candidate.command(*words),
                                                  environments[candidate])
        row.calls, row.slurm_runs = bench.clouds.calls(), len(commands)
        expected = 1 if "unknown" in work and isinstance(candidate, SlurmBurst) else 0
        if row.counted.status != expected:
            row.problem = f"exit status {row.counted.status}: {bench.complaint()}"
    for i in range(bench.options.repeat * 10):
        for candidate, row in rows.items():
            if i < bench.options.repeat or isinstance(candidate, SlurmBurst):
                bench.clouds.reset(latency_ms=0)  # a minute lies between two runs in truth: the token buckets are full
                row.runs.append(bench.run(candidate.command(*words), environments[candidate]))
        if other:
            other.runs.append(bench.run(beside[1], controller.environment))
    return [*rows.values(), *([other] if other else [])]


# --- change_state and generate_conf ---

def change_state(bench):
    """On a quiet cluster: all nodes powered down. The simulated EC2 answers at once, or its latency would be all."""
    rows = []
    for nodes in bench.sizes(_QUIET_SIZES):
        content = partitions(nodes, 1000)
        with bench.controller(content) as controller:
            show = ("scontrol -o show nodes", [str(SCONTROL / "scontrol"), "-o", "show", "nodes"])
            found = _alternate(bench, controller, content, "change_state", ["change_state"], nodes, beside=show)
        ours, slurm = found[0], found[-1]
        ours.check("1 run of scontrol", ours.slurm_runs == 1)
        if nodes == 2000:
            # One pair at a time: what disturbs the machine disturbs both of a pair.
            ratio = statistics.median(a.wall / b.wall for a, b in zip(ours.runs, slurm.runs))
            ours.check(f"<= 2 x scontrol -o show nodes: {ratio:.2f} x", ratio <= 2)
        rows += found
    return rows


def generate_conf(bench):
    """Groups of ten nodes: 10,000 nodes are a thousand lines."""
    rows = []
    with bench.controller(partitions(1, 1)) as controller:
        for nodes in bench.sizes(_TEXT_SIZES):
            rows += _alternate(bench, controller, partitions(nodes, 10), "generate_conf", ["generate_conf"], nodes)
    return rows


SECTIONS = {"power": power, "gce": gce_scenarios.power, "kubernetes": kubernetes_scenarios.power, "start-up": start_up,
            "change_state": change_state, "generate_conf": generate_conf}
