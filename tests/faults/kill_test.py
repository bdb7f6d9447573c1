# SPDX-License-Identifier: Apache-2.0
"""Each program is killed after its k-th outside effect, for every k; then change_state mends it, a run a minute.

Afterwards no machine is left that nobody knows, no node has two, and every node can be used. BURST_KILL_SAMPLE=N: so
many kill points, evenly spread, of a case that has more (default: 30); 0: all of every case."""
import concurrent.futures
import os
import unittest

from clouds import CLOUDS
from world import World

SAMPLE = int(os.environ.get("BURST_KILL_SAMPLE", "30"))
SIZES = (1, 3, 40)
# LaunchGrace, OrphanGrace and MissingGrace are 120 s: two minutes. The first run begins to count, one decides, two
# more see the machine gone and release the node: docs/reconcile.md, rows N4, N12 and N16.
MOST_RUNS = 5
NODES_AT_ONCE = 1000


class Case:
    """How a world is made ready for one program, and how that is run for one group."""

    def __init__(self, world, size):
        self.world, self.size = world, size

    def prepare(self):
        """Each group is as the program finds it."""

    def start(self, group, kill_at):
        raise NotImplementedError

    def power_up(self, resume=True):
        nodes = [node for members in self.world.groups.values() for node in members]
        self.world.slurm.power_up(nodes)
        if resume:
            self.world.must("resume", nodes, job=1)

    def all_up(self):
        """Machines run, and their nodes have registered."""
        self.power_up()
        for _ in range(4):
            self.world.minute()
            if not self.world.faults():
                return
        raise AssertionError(f"{self.world.faults()}\n{self.world.log()}")

    def job(self, group):
        return 2 + list(self.world.groups).index(group)

    def hostlist(self, group):
        return ",".join(self.world.groups[group])


class Resume(Case):
    name = "resume"

    def prepare(self):
        self.power_up(resume=False)

    def start(self, group, kill_at):
        return self.world.start("resume", self.hostlist(group), kill_at=kill_at, report=group, job=self.job(group))


class Suspend(Case):
    name = "suspend"

    def prepare(self):
        self.all_up()
        self.world.slurm.force_down(self.world.slurm.nodes)
        self.world.slurm.take_suspended()

    def start(self, group, kill_at):
        return self.world.start("suspend", self.hostlist(group), kill_at=kill_at, report=group)


class ChangeState(Case):
    """A fifth of the nodes each: is off, and its machine is left; has lost its machine; has another address; boots
    without a machine; is DOWN and off. Of one or three nodes the first of these."""
    name = "change_state"

    def prepare(self):
        world, slurm = self.world, self.world.slurm
        self.all_up()
        parts = [[node for members in world.groups.values() for node in members[i::5]] for i in range(5)]
        left, lost, moved, empty, down = parts
        world_machines = {one.node: one for machines in world.kind.machines(world.cloud).values() for one in machines}
        for node in lost:
            world.kind.lose(world.cloud, world_machines[node])
        if empty:
            world.must("suspend", empty + down)
        slurm.set(empty, "ALLOCATED", "POWERING_UP", "NOT_RESPONDING")
        world.clock.move(1)
        world.must("change_state")  # begins to count
        slurm.set(left, "IDLE", "POWERED_DOWN")
        slurm.set(down, "DOWN", "POWERED_DOWN")
        for node in moved:
            slurm.nodes[node].address = "192.0.2.1"
        world.clock.move(130)

    def start(self, group, kill_at):
        return self.world.start("change_state", config=group, kill_at=kill_at, report=group)


class ChangeStateAfterResume(ChangeState):
    """What a resume left that was killed when its machines had just been asked for."""
    name = "change_state after a kill"

    def prepare(self):
        world = self.world
        self.power_up(resume=False)
        for group in world.groups:
            world.finish(world.start("resume", self.hostlist(group), kill_at=world.half_of_resume, report=group,
                                     job=self.job(group)))
        world.clock.move(30)


def batches(points, size):
    at_once = max(1, min(40, NODES_AT_ONCE // size))
    return [points[i:i + at_once] for i in range(0, len(points), at_once)]


class Row:
    """What one case has come to."""

    def __init__(self):
        self.effects = self.points = self.orphans = self.doubles = self.stuck = self.runs = 0
        self.failures = []


class Kill(unittest.TestCase):
    maxDiff = None

    def test_after_a_kill_anywhere_nothing_is_lost_and_nothing_doubled(self):
        lines, failures = [], []
        for kind in CLOUDS:
            with World(kind) as world:
                for size in SIZES:
                    for case_type in (Resume, Suspend, ChangeState, ChangeStateAfterResume):
                        row = self.run_case(case_type(world, size))
                        failures += row.failures
                        lines.append(f"{kind.name:18} {case_type.name:26} {size:5} {row.effects:8} {row.points:7} "
                                     f"{row.orphans:8} {row.doubles:8} {row.stuck:6} {row.runs:9}")
        print("\n" + f"{'node group':18} {'killed':26} {'nodes':>5} {'effects':>8} {'points':>7} {'orphans':>8} "
              f"{'doubles':>8} {'stuck':>6} {'most runs':>9}")
        print("\n".join(lines))
        self.assertEqual(failures, [], "\n".join(failures))

    def run_case(self, case):
        row = Row()
        world = case.world
        world.begin(1, case.size)
        case.prepare()
        self.assertIn(world.finish(case.start("g0", 0))[0], (0, 1))
        row.effects = world.effects("g0")[0]
        if isinstance(case, Resume):
            world.half_of_resume = row.effects * 6 // 10
        points = list(range(1, row.effects + 1))
        if 0 < SAMPLE < len(points) and case.size > 3:
            points = [points[i * len(points) // SAMPLE] for i in range(SAMPLE)]
        for batch in batches(points, case.size):
            self.run_batch(case, batch, row)
        return row

    def run_batch(self, case, points, row):
        """Each group is one kill point."""
        world = case.world
        world.begin(len(points), case.size)
        case.prepare()
        groups = dict(zip(world.groups, points))
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            ends = dict(zip(groups, pool.map(lambda item: world.finish(case.start(*item)), groups.items())))
        row.points += sum(status == -9 for status, _ in ends.values())
        where = {group: f"{world.kind.name}, {case.size} nodes, {case.name} killed after effect {k} "
                        f"({world.effects(group)[1]})" for group, k in groups.items()}
        needed, doubled = self.mend(world)
        row.runs = max(row.runs, *needed.values())
        row.doubles += len(doubled)
        for group in doubled:
            row.failures.append(f"{where[group]}: two machines for {doubled[group]}")
        for group, found in world.faults().items():
            row.orphans += len(found["orphans"])
            row.stuck += len(found["stuck"])
            row.failures.append(f"{where[group]}: after {MOST_RUNS} runs {found}\n{world.log()}")
        if world.slurm.timeouts:
            row.failures.append(f"ResumeTimeout reached: {world.slurm.timeouts}")
        row.failures += [f"{case.name}: {why}" for why in self.use_again(world)]

    def mend(self, world):
        """({group: runs of change_state until all was well}, {group: doubles seen at any time})"""
        needed, doubled = dict.fromkeys(world.groups, 0), {}
        for run in range(1, MOST_RUNS + 2):
            faults = world.faults()
            for group, found in faults.items():
                needed[group] = run
                if found["doubles"]:
                    doubled[group] = found["doubles"]
            if run <= MOST_RUNS:
                world.minute()
        return needed, doubled

    def use_again(self, world):
        """Every node can be used by the next job, and then be powered down; the last run of change_state is idle."""
        nodes = sorted(world.slurm.nodes)
        world.must("suspend", nodes)
        world.slurm.set(nodes, "IDLE", "POWERED_DOWN")
        world.slurm.power_up(nodes)
        world.must("resume", nodes, job=1000)
        for _ in range(3):
            world.minute()
        wrong = [f"when used again: {world.faults()}\n{world.log()}"] if world.faults() else []
        world.slurm.force_down(nodes)
        world.suspend_due()
        for _ in range(3):
            world.minute()
        before = len(world.slurm.updates)
        world.minute()
        off = [node for node in nodes if not world.slurm.nodes[node].off()]
        if off or world.faults() or len(world.slurm.updates) != before:
            wrong.append(f"when powered down: {off} {world.faults()} {world.slurm.updates[before:]}\n{world.log()}")
        return wrong


if __name__ == "__main__":
    unittest.main()
