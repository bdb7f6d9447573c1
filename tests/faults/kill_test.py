# SPDX-License-Identifier: Apache-2.0
"""Each program is killed after its k-th outside effect, for every k; then change_state mends it, a run a minute.

Afterwards no machine is left that nobody knows, no node has two, and every node can be used. BURST_KILL_SAMPLE=N: so
many kill points, evenly spread, of a case that has more; 0: every one of all cases. Without it all those of one node
are tried (over TLS, where most effects are a handshake's, ten of them), and five of more nodes."""
import concurrent.futures
import os
import time
import unittest

from clouds import CLOUDS
from world import World

SAMPLE = os.environ.get("BURST_KILL_SAMPLE")
SIZES = (1, 3, 40)
# LaunchGrace, OrphanGrace and MissingGrace are 120 s. The first run begins to count, the third decides, two more see
# the machine gone and release the node: docs/reconcile.md, rows N4, N12 and N16.
MOST_RUNS = 5
NODES_AT_ONCE, GROUPS_AT_ONCE = 600, 60


class Trial:
    """One node group, and the program that works on it and dies after effect `kill_at`."""

    def __init__(self, program, size, kill_at=0):
        self.program, self.size, self.kill_at, self.group = program, size, kill_at, None

    @property
    def case(self):
        return self.program, self.size

    def __str__(self):
        return f"{self.program} of {self.size} nodes killed after effect {self.kill_at}"

    def nodes(self, world):
        return world.groups[self.group]

    def start(self, world, program=None, kill_at=None):
        program, kill_at = program or self.program.split()[0], self.kill_at if kill_at is None else kill_at
        how = {"kill_at": kill_at, "report": self.group}
        if program == "change_state":
            return world.start(program, config=self.group, **how)
        job = int(self.group[1:]) + 10 if program == "resume" else None
        return world.start(program, ",".join(self.nodes(world)), job=job, **how)


RESUME, SUSPEND, MEND, AFTER_KILL = "resume", "suspend", "change_state", "change_state after a killed resume"
PROGRAMS = (RESUME, SUSPEND, MEND, AFTER_KILL)


class Row:
    """What one case has come to."""

    def __init__(self, effects):
        self.effects, self.points, self.orphans, self.doubles, self.stuck, self.runs = effects, 0, 0, 0, 0, 0


class Experiment:
    """All trials of one kind of node group."""

    def __init__(self, world):
        self.world, self.halves, self.rows, self.failures = world, {}, {}, []

    def run(self):
        self.count()
        trials = []
        for (program, size), row in self.rows.items():
            # A few more than were counted: a reply may come in more pieces.
            points = list(range(1, row.effects + 4))
            most = int(SAMPLE) if SAMPLE else self.world.kind.points_of_one if size == 1 else 5
            if 0 < most < len(points):
                points = [points[i * len(points) // most] for i in range(most)]
            trials += [Trial(program, size, point) for point in points]
        while trials:
            batch, nodes = [], 0
            while trials and nodes + trials[0].size <= NODES_AT_ONCE and len(batch) < GROUPS_AT_ONCE:
                nodes += trials[0].size
                batch.append(trials.pop(0))
            self.batch(batch)

    def begin(self, trials):
        self.world.begin([trial.size for trial in trials])
        for trial, group in zip(trials, self.world.groups):
            trial.group = group

    def count(self):
        """How many effects each case has."""
        trials = [Trial(program, size) for program in PROGRAMS for size in SIZES]
        self.begin(trials)
        for trial in trials:  # resume comes first: the others need its count
            self.prepare([trial])
            self.must_end(trial.start(self.world))
            effects = self.world.effects(trial.group)[0]
            self.rows[trial.case] = Row(effects)
            if trial.program == RESUME:
                self.halves[trial.size] = effects * 6 // 10

    def must_end(self, process):
        status, err = self.world.finish(process)
        if status not in (0, 1):
            raise AssertionError(f"{process.args}: {status} {err}")

    # -- before the kill

    def prepare(self, trials):
        """Each group is as its program finds it."""
        world, slurm = self.world, self.world.slurm

        def nodes_of(*programs):
            return [node for trial in trials if trial.program in programs for node in trial.nodes(world)]
        up = nodes_of(SUSPEND, MEND)
        if up:
            self.all_up(up)
        if mend := nodes_of(MEND):
            self.disturb(mend)
        booting = nodes_of(RESUME, AFTER_KILL)
        if booting:
            slurm.power_up(booting)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda trial: world.finish(trial.start(world, RESUME, self.halves[trial.size])),
                          [trial for trial in trials if trial.program == AFTER_KILL]))
        if down := nodes_of(SUSPEND):
            slurm.force_down(down)
            slurm.take_suspended()

    def all_up(self, nodes):
        world = self.world
        world.slurm.power_up(nodes)
        world.must("resume", nodes, job=1)
        world.out_of_queue()
        for _ in range(4):
            world.minute()
            if all(world.slurm.nodes[node].up() for node in nodes):
                return
        raise AssertionError(f"{world.faults()}\n{world.log()}")

    def disturb(self, nodes):
        """A fifth of the nodes each: is off, and its machine is left; has lost its machine; has another address; boots
        without a machine; is DOWN and off. Of one or three nodes the first of these."""
        world, slurm = self.world, self.world.slurm
        left, lost, moved, empty, down = ([node for node in nodes if int(node.split("-")[2]) % 5 == i]
                                          for i in range(5))
        there = {one.node: one for machines in world.kind.machines(world.cloud).values() for one in machines}
        for node in lost:
            world.kind.lose(world.cloud, there[node])
        if empty:
            world.must("suspend", empty + down)
        slurm.set(empty, "ALLOCATED", "POWERING_UP", "NOT_RESPONDING")
        world.finish(world.start("change_state"))  # begins to count
        slurm.set(left, "IDLE", "POWERED_DOWN")
        slurm.set(down, "DOWN", "POWERED_DOWN")
        for node in moved:
            slurm.nodes[node].address = "192.0.2.1"
        world.move_clocks(130)

    # -- the kill, and after it

    def batch(self, trials):
        world = self.world
        self.begin(trials)
        self.prepare(trials)
        alone = [trial for trial in trials if trial.program in (MEND, AFTER_KILL)]  # only one change_state runs
        jobs = [[trial] for trial in trials if trial not in alone] + [alone]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda job: [self.kill(trial) for trial in job], reversed(jobs)))
        self.judge(trials)
        if world.slurm.timeouts:
            self.failures.append(f"ResumeTimeout reached: {world.slurm.timeouts}")
        self.failures += self.use_again()

    def kill(self, trial):
        status, _ = self.world.finish(trial.start(self.world))
        self.rows[trial.case].points += status == -9

    def judge(self, trials):
        """Minutes pass, with a run of change_state each."""
        world, by_group = self.world, {trial.group: trial for trial in trials}

        def describe(trial):
            return f"{world.kind.name}: {trial} ({world.effects(trial.group)[1]})"
        for run in range(1, MOST_RUNS + 2):
            faults = world.faults()
            for group, found in faults.items():
                trial = by_group[group]
                row = self.rows[trial.case]
                row.runs = max(row.runs, run)
                row.doubles += len(found["doubles"])
                if found["doubles"]:
                    self.failures.append(f"{describe(trial)}: two machines for {found['doubles']}")
            if run > 1:
                world.out_of_queue()
            if run <= MOST_RUNS:
                world.minute()
        for group, found in faults.items():
            row = self.rows[by_group[group].case]
            row.orphans += len(found["orphans"])
            row.stuck += len(found["stuck"])
            self.failures.append(f"{describe(by_group[group])}: after {MOST_RUNS} runs {found}\n{world.log(group)}")

    def use_again(self):
        """Every node can be used by the next job, and be powered down after it; then change_state has nothing to do."""
        world, slurm = self.world, self.world.slurm
        nodes = sorted(slurm.nodes)
        self.power_down(nodes)
        slurm.power_up(nodes)
        world.must("resume", nodes, job=1)
        world.out_of_queue()
        world.pass_time(90)
        wrong = [f"when used again: {world.faults()}\n{world.log()}"] if world.faults() else []
        self.power_down(nodes)
        before = len(slurm.updates)
        world.minute()
        if world.faults() or not all(node.off() for node in slurm.nodes.values()) or len(slurm.updates) != before:
            wrong.append(f"when powered down: {world.faults()} {slurm.updates[before:]}\n{world.log()}")
        return wrong

    def power_down(self, nodes):
        self.world.slurm.force_down(nodes)
        self.world.suspend_due()
        self.world.pass_time(180)


class Kill(unittest.TestCase):
    maxDiff = None

    def test_after_a_kill_anywhere_nothing_is_lost_and_nothing_doubled(self):
        form = "{:18} {:35} {:>5} {:>7} {:>6} {:>7} {:>7} {:>5} {:>4}".format
        print("\n" + form("node group", "killed", "nodes", "effects", "points", "orphans", "doubles", "stuck", "runs"))
        failures, points, begin = [], 0, time.monotonic()
        for kind in CLOUDS:
            with World(kind) as world:
                experiment = Experiment(world)
                experiment.run()
            failures += experiment.failures
            for (program, size), row in experiment.rows.items():
                points += row.points
                print(form(kind.name, program, size, row.effects, row.points, row.orphans, row.doubles, row.stuck,
                           row.runs), flush=True)
        print(f"{points} kill points in {time.monotonic() - begin:.0f} s; runs: of change_state, a minute each, "
              f"until all was well, at most")
        self.assertEqual(failures, [], "\n".join(failures))


if __name__ == "__main__":
    unittest.main()
