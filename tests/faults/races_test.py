# SPDX-License-Identifier: Apache-2.0
"""Programs that work on the same nodes at once, in every order that chance gives; then change_state, a run a minute.

Each node group is a round of its own, several go on at the same time. BURST_RACE_SEED: the seed that a failure has
printed; BURST_RACE_ROUNDS: rounds of each kind of node group (default: 16)."""
import concurrent.futures
import os
import random
import signal
import subprocess
import time
import unittest

from clouds import CLOUDS, Aws, Pods
from world import World, processes

SEED = int(os.environ.get("BURST_RACE_SEED", str(time.time_ns() % 1_000_000)))
ROUNDS = int(os.environ.get("BURST_RACE_ROUNDS", "16"))
AT_ONCE = 8
NODES = 6
MOST_RUNS = 6


class Round:
    """A group of six nodes, and what happens to it: who starts what, when, on which nodes. Two controllers, each with
    a configuration of its own, share StateDir."""

    def __init__(self, world, group, chance):
        self.world, self.group, self.chance, self.story = world, group, chance, []

    def some(self):
        first, last = sorted(self.chance.sample(range(NODES + 1), 2))
        return self.world.groups[self.group][first:last]

    def plan(self):
        """[(seconds, what, nodes, controller, kill after so many effects or nothing)]"""
        kinds = ["resume", "resume", "suspend", "force", "change_state"]
        plan = [(0.0, "resume", self.some(), "all", None)]
        for _ in range(self.chance.randint(2, 4)):
            kill_at = self.chance.randint(1, 40) if self.chance.random() < 0.2 else None
            plan.append((self.chance.uniform(0, 0.4), self.chance.choice(kinds), self.some(),
                         self.chance.choice(["all", self.group]), kill_at))
        return sorted(plan, key=lambda step: step[0])

    def run(self):
        begin, running = time.monotonic(), []
        for number, (when, what, nodes, controller, kill_at) in enumerate(self.plan()):
            time.sleep(max(0.0, begin + when - time.monotonic()))
            self.story.append(f"{when:.3f} {what} {','.join(nodes)} by {controller}"
                              f"{'' if kill_at is None else f', killed after {kill_at} effects'}")
            running += self.step(number, what, nodes, controller, kill_at)
        for process in running:
            self.world.finish(process)

    def step(self, number, what, nodes, controller, kill_at):
        """As slurmctld: what is resumed powers up, also when it does already (a restarted slurmctld asks again); what
        is forced down is suspended while its resume may still run."""
        slurm, start = self.world.slurm, self.world.start
        how = {"config": controller, "kill_at": kill_at, "report": f"{self.group}-{number}"}
        if what == "change_state":
            return [start("change_state", **how)]
        if what == "resume":
            slurm.power_up(nodes)
            booting = [node for node in nodes if "POWERING_UP" in slurm.nodes[node].flags]
            job = int(self.group[1:]) * 10 + number + 1
            return [start("resume", ",".join(booting), job=job, **how)] if booting else []
        if what == "force":
            slurm.force_down(nodes)
            return [start("suspend", ",".join(nodes), **how)]
        # SuspendProgram for nodes that are off or power down already: Slurm asks twice at times.
        off = [node for node in nodes if slurm.nodes[node].flags & {"POWERED_DOWN", "POWERING_DOWN"}]
        return [start("suspend", ",".join(off), **how)] if off else []

    def __str__(self):
        return "; ".join(self.story)


class Races(unittest.TestCase):
    def judge(self, world, rounds, label):
        """Minutes pass; gives the runs of change_state until all was well. No double at any time."""
        needed, failures = 0, []
        for run in range(1, MOST_RUNS + 2):
            world.out_of_queue()
            faults = world.faults()
            if faults:
                needed = run
            failures += [f"two machines for {found['doubles']} before run {run}: {rounds[group]}"
                         for group, found in faults.items() if found["doubles"]]
            if run <= MOST_RUNS:
                world.minute()
        failures += [f"after {MOST_RUNS} runs {found}: {rounds[group]}\n{world.log(group)}"
                     for group, found in faults.items()]
        if world.slurm.timeouts:
            failures.append(f"ResumeTimeout reached: {world.slurm.timeouts}")
        self.assertEqual(failures, [], f"{label}, BURST_RACE_SEED={SEED}\n" + "\n".join(failures))
        return needed

    def test_programs_that_overlap_lose_nothing_and_double_nothing(self):
        print(f"\nBURST_RACE_SEED={SEED}")
        for kind in CLOUDS:
            chance, begin, most = random.Random(f"{SEED} {kind.name}"), time.monotonic(), 0
            with World(kind) as world:
                for first in range(0, ROUNDS, AT_ONCE):
                    world.begin([NODES] * min(AT_ONCE, ROUNDS - first))
                    world.cloud.set(latency_ms=chance.choice([0, 15, 40]))
                    rounds = {group: Round(world, group, random.Random(chance.random())) for group in world.groups}
                    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                        list(pool.map(Round.run, rounds.values()))
                    world.cloud.set(latency_ms=0)
                    most = max(most, self.judge(world, rounds, kind.name))
            print(f"{kind.name:18} {ROUNDS:4} rounds, 0 orphans, 0 doubles, 0 stuck, all well after at most {most} runs"
                  f" of change_state, {time.monotonic() - begin:.1f} s", flush=True)


    def test_power_down_force_while_the_machine_is_being_made_leaves_none(self):
        """Machines are there, and resume does not know them yet; SuspendProgram runs beside it."""
        for kind in CLOUDS:
            with self.subTest(kind.name), World(kind) as world:
                world.begin([3])
                nodes = world.groups["g0"]
                world.cloud.set(latency_ms=300)
                world.slurm.power_up(nodes)
                resume = world.start("resume", ",".join(nodes), job=1)
                processes.wait_until(lambda: any(kind.machines(world.cloud).values()), "nothing is made", 20, 0.01)
                self.assertIsNone(resume.poll())
                world.slurm.force_down(nodes)
                world.slurm.take_suspended()
                suspend = world.start("suspend", ",".join(nodes))
                world.finish(resume)
                world.finish(suspend)
                world.cloud.set(latency_ms=0)
                runs = self.judge(world, {"g0": kind.name}, kind.name)
                self.assertTrue(all(world.slurm.nodes[node].off() for node in nodes))
                print(f"{kind.name}: {runs} runs", end="; ", flush=True)


class Locks(unittest.TestCase):
    """A lock is the kernel's, and ends with its process."""

    def test_files_that_dead_processes_left_hold_nobody_up(self):
        """Locks and journals as another host's processes, or a crash, leave them: files that nobody holds."""
        with World(Aws()) as world:
            world.begin([2])
            for folder, name in (("locks", "aws-g0.lock"), ("locks", "change_state.lock"),
                                 ("launches/aws-g0", "sb-0123456789abcdef"), ("groups", "aws-g0.json.tmp.4711")):
                place = world.run / "state" / folder
                place.mkdir(parents=True, exist_ok=True)
                (place / name).write_text("i-0123456789abcdef0 aws-g0-0" if "sb-" in name else "4711 otherhost\n")
                os.utime(place / name, (0, 0))
            begin = time.monotonic()
            world.slurm.power_up(world.groups["g0"])
            world.must("resume", world.groups["g0"])
            world.must("change_state")
            self.assertLess(time.monotonic() - begin, 3)
            world.pass_time(90)
            self.assertEqual(world.faults(), {})
            self.assertEqual(list((world.run / "state/launches/aws-g0").iterdir()), [])

    def test_a_program_that_hangs_under_the_lock_holds_up_its_group_only_and_its_death_frees_it(self):
        with World(Pods()) as world:
            world.begin([2, 2])
            mine, other = world.groups.values()
            world.cloud.fault("pods.list", "slow", ms=60_000)
            world.slurm.power_up(mine + other)
            held = world.start("resume", ",".join(mine))
            lock = world.run / "state/locks/kube-g0.lock"
            processes.wait_until(lambda: world.cloud.calls("pods.list"), "resume does not list", 20, 0.01)
            self.assertEqual(subprocess.run(["flock", "-n", str(lock), "true"], check=False).returncode, 1)
            held.send_signal(signal.SIGSTOP)
            world.must("resume", other)
            begin = time.monotonic()
            world.must("change_state")  # leaves the group for the next run
            self.assertLess(time.monotonic() - begin, 10)
            self.assertIn("kube-g0: busy", world.log())
            held.kill()
            self.assertEqual(world.finish(held)[0], -9)
            begin = time.monotonic()
            world.must("resume", mine)
            self.assertLess(time.monotonic() - begin, 3)
            world.pass_time(90)
            self.assertEqual(world.faults(), {})


if __name__ == "__main__":
    unittest.main()
