# SPDX-License-Identifier: Apache-2.0
"""Every fault of a cloud, alone and in pairs: resume, change_state each minute, suspend, change_state again.

Each case has a cloud and a Slurm of its own, and all go on at once: most of the time they wait. Time is real while a
program runs. Prints what came of each: how long, how many calls, how many nodes ran. BURST_BAD_PAIRS=N: so many pairs
of each kind of node group, evenly spread, in place of all."""
import collections
import concurrent.futures
import itertools
import os
import time
import traceback
import unittest

from bad_clouds import FAULTS
from clouds import CLOUDS
from world import World

PAIRS = int(os.environ.get("BURST_BAD_PAIRS", "0"))
NODES = 4
DEADLINE = 90        # seconds, of resume and suspend: the faults that end by themselves end before
MOST_RUNS = 4
ATTEMPTS = 8
AT_ONCE = 80
# The published limits, calls at once and a second; see docs/providers/ and cloudsim's README. Kubernetes has none that
# is the same everywhere.
LIMITS = {"CreateTags": (100, 10), "RunInstances": (5, 2), "TerminateInstances": (100, 5), "CreateFleet": (50, 5),
          "DescribeInstances": (50, 10)}
GOOGLE_LIMIT = (1500, 25)


def over_limit(times, burst, per_second):
    """Whether a token bucket of that size would have refused a call of those times."""
    tokens, last = burst, None
    for now in sorted(times):
        tokens = min(burst, tokens + (0 if last is None else (now - last) * per_second))
        last = now
        if tokens < 1:
            return True
        tokens -= 1
    return False


class Case:
    """A node group of four nodes and what is wrong with its cloud."""

    def __init__(self, kind, faults):
        self.kind, self.faults = kind, faults
        self.name = " + ".join(map(str, faults)) or "nothing wrong"
        self.problems, self.codes, self.started, self.up = [], set(), 0, 0
        self.seconds, self.calls, self.most, self.runs = ({"resume": 0, "suspend": 0} for _ in range(4))
        self.busiest = {"resume": "", "suspend": ""}

    def run(self):
        try:
            self.play()
        except Exception:  # all cases are shown, also beside one that broke
            self.problems.append(traceback.format_exc())
        return self

    def play(self):
        skew = sum(fault.skew for fault in self.faults)
        with World(self.kind, skew, {"Deadline": DEADLINE}) as self.world:
            self.world.begin([NODES])
            self.nodes = self.world.groups["g0"]
            self.world.cloud.set(throttling=True, latency_ms=5)
            for fault in self.faults:
                self.world.cloud.set(**fault.knobs)
            self.world.slurm.power_up(self.nodes)
            self.work("resume", job=1)
            self.started = len(self.world.by_node())
            self.settle("resume")
            self.up = sum(self.world.slurm.nodes[node].up() for node in self.nodes)
            self.world.slurm.force_down(self.nodes)
            self.world.slurm.take_suspended()
            self.work("suspend")
            self.settle("suspend")
            if not all(self.world.slurm.nodes[node].off() for node in self.nodes):
                self.problems.append("nodes are not off at the end")

    def work(self, program, **how):
        """One program on the bad cloud: its time and its calls are judged."""
        cloud = self.world.cloud
        cloud.clear_faults()
        cloud.control("calls", method="DELETE")
        for fault in self.faults:
            for rule in fault.rules(self.kind):
                cloud.fault(**rule)
        begin = time.monotonic()
        process = self.world.start(program, ",".join(self.nodes), **how)
        status, err = self.world.finish(process, DEADLINE + 60)
        self.seconds[program] = time.monotonic() - begin
        if status not in (0, 1):
            self.problems.append(f"{program} ended with {status}: {err}")
        if self.seconds[program] > DEADLINE + 10:
            self.problems.append(f"{program} took {self.seconds[program]:.0f} s")
        self.codes |= {self.world.slurm.nodes[node].reason.partition(" ")[0] for node in self.nodes} - {""}
        times = collections.defaultdict(list)
        for call in cloud.control("calls/log"):
            times[call["action"]].append(call["time"])
        self.calls[program] = sum(map(len, times.values()))
        self.most[program] = max((len(some) for some in times.values()), default=0)
        self.busiest[program] = max(times, key=lambda action: len(times[action]), default="")
        for action, some in times.items():
            limit = LIMITS.get(action) or (GOOGLE_LIMIT if self.kind.partition == "gce" else None)
            if limit and over_limit(some, *limit):
                self.problems.append(f"{program}: more calls of {action} than the limits allow: {some}")

    def settle(self, program):
        """change_state, a run a minute, until nothing is left to do; the faults that have not struck yet strike it."""
        for run in range(MOST_RUNS + 1):
            found = self.world.faults()
            booting = any(not (node.off() or node.up()) for node in self.world.slurm.nodes.values())
            self.problems += [f"two machines for {one['doubles']} after {program}" for one in found.values()
                              if one["doubles"]]
            if not found and not booting:
                self.runs[program] = run
                return
            if run < MOST_RUNS:
                if self.kind.name in ("gce flex", "nodesetpowerstate"):
                    self.world.out_of_queue()
                self.world.minute()
        self.runs[program] = MOST_RUNS
        self.problems.append(f"{program}: after {MOST_RUNS} runs of change_state: {found}\n{self.world.log()}")

    def row(self):
        cells = [f"{self.started}/{self.up}"]
        for program in ("resume", "suspend"):
            cells += [f"{self.seconds[program]:.1f}", str(self.calls[program]),
                      f"{self.most[program]} {self.busiest[program]}", str(self.runs[program])]
        return f"| {self.name} | {self.kind.name} | " + " | ".join(cells) + f" | {' '.join(sorted(self.codes))} |"


def cases():
    for kind in CLOUDS:
        faults = [fault for fault in FAULTS if fault.applies_to(kind)]
        pairs = list(itertools.combinations(faults, 2))
        count = len(pairs) if PAIRS == 0 else min(PAIRS, len(pairs))
        chosen = [pairs[i * len(pairs) // count] for i in range(count)]
        yield from (Case(kind, some) for some in [(), *((fault,) for fault in faults), *chosen])


class BadClouds(unittest.TestCase):
    def count_calls(self, done):
        """No storm: a fault makes eight attempts of a call, being throttled one a second."""
        clean = {case.kind.name: case.calls for case in done if not case.faults}
        for case in done:
            for program, calls in case.calls.items():
                most = ATTEMPTS * clean[case.kind.name][program] + case.seconds[program]
                if calls > most:
                    case.problems.append(f"{program}: {calls} calls, {most:.0f} are enough")

    def test_whatever_a_cloud_does_nothing_is_lost_and_nothing_storms(self):
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            done = list(pool.map(Case.run, cases()))
        print("\n| fault | node group | machines / nodes up | resume s | calls | most of one | runs | suspend s | calls "
              "| most of one | runs | reasons |\n|---|---|---|---:|---:|---|---:|---:|---:|---|---:|---|")
        for case in sorted(done, key=lambda case: len(case.faults)):
            print(case.row())
        self.count_calls(done)
        print(f"{len(done)} cases in {time.monotonic() - begin:.0f} s: no orphan, no node with two machines, none stuck; "
              f"at most {max(max(case.calls.values()) for case in done)} calls and "
              f"{max(max(case.seconds.values()) for case in done):.0f} s a program, then at most "
              f"{max(max(case.runs.values()) for case in done)} runs of change_state", flush=True)
        self.assertEqual([f"{case.kind.name}, {case.name}: {problem}" for case in done for problem in case.problems], [])


if __name__ == "__main__":
    unittest.main()
