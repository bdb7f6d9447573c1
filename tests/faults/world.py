# SPDX-License-Identifier: Apache-2.0
"""A cloud, a model of Slurm, their common time, and the programs between them: many node groups that are alike.

Each group is a case of its own; what follows, change_state each minute, is done for all of them at once. A minute of
the world takes as long as the programs need: the time of day is moved (moved_clock.c) for everybody."""
import json
import mmap
import os
import pathlib
import shutil
import struct
import sys
import tempfile
import time
import types

import slurm_model
from clouds import BINARIES

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import processes  # noqa: E402

MINUTE = 60
# What waits for the cloud's permission to ask again takes its time, and is not what is tested here.
UNLIMITED = {action: {"Burst": 1e6, "PerSecond": 1e6}
             for action in ("CreateTags", "DescribeInstances", "CreateFleet", "TerminateInstances")}
# A sanitizer wants to be the first library; its own must not be said to be missing.
_SANITIZERS = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}


class Clock:
    """The world's time of day."""

    def __init__(self, path, ahead=0):
        path.write_bytes(bytes(8))
        self.path, self._moved = path, 0
        with open(path, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), 8)
        self.move(ahead)

    def move(self, seconds):
        self._moved += seconds
        self._page[:] = struct.pack("=q", self._moved)

    def now(self):
        return int(time.time()) + self._moved


class World:
    """with World(cloud) as world: world.begin([3, 3, 40]) ..., again and again.

    `skew`: seconds by which the head node's clock is ahead of the cloud's; `keys`: of config.json."""

    def __init__(self, kind, skew=0, keys=None):
        self.kind, self.skew = kind, skew
        self._keys = {"RequestLimits": UNLIMITED} if keys is None else keys

    def __enter__(self):
        self._home = tempfile.TemporaryDirectory(prefix="burst-faults-")
        self.folder = pathlib.Path(self._home.name)
        self.folder.chmod(0o755)
        for name in ("log", "run"):
            (self.folder / name).mkdir()
        self.clock, self._cloud_clock = Clock(self.folder / "clock", self.skew), Clock(self.folder / "cloud-clock")
        self._preload = {"LD_PRELOAD": str(BINARIES / "moved_clock.so"), "BURST_CLOCK_FILE": str(self.clock.path)}
        self.cloud = self.kind.make()
        environment = {**os.environ, **self._preload, "BURST_CLOCK_FILE": str(self._cloud_clock.path), **_SANITIZERS}
        self.cloud.start(types.SimpleNamespace(folder=self.folder, environment=environment))
        self.slurm = None
        return self

    def __exit__(self, *error):
        if self.slurm:
            self.slurm.stop()
        self.cloud.stop()
        left = processes.kill_descendants(self.folder)
        self._home.cleanup()
        if not error[0] and left:
            raise AssertionError(f"left: {left}")

    # -- a new world

    def begin(self, sizes):
        """All as new: an empty cloud, node groups g0, g1 ... of so many nodes, which are off, an empty StateDir."""
        self.cloud.control("reset", {})
        if self.slurm:
            self.slurm.stop()
        self.run = self.folder / "run/world"
        shutil.rmtree(self.run, ignore_errors=True)
        for name in ("slurm", "state", "reports"):
            (self.run / name).mkdir(parents=True)
        self.slurm = slurm_model.SlurmModel(self.run / "slurm", BINARIES / "model_scontrol", self.clock.now)
        (self.run / "slurm.conf").write_text(
            f"ClusterName=Faults\nStateSaveLocation={self.run}\nSlurmUser=root\n"
            f"ResumeTimeout={slurm_model.RESUME_TIMEOUT}\nSuspendTimeout={slurm_model.SUSPEND_TIMEOUT}\n")
        self.groups = {f"g{i}": [f"{self.kind.partition}-g{i}-{j}" for j in range(size)]
                       for i, size in enumerate(sizes)}
        self.kind.prepare(self.cloud, self.groups)
        for name, members in self.groups.items():
            self.slurm.add(members)
            self._configure(name, [name])
        self._configure("all", self.groups)

    def _configure(self, folder, groups):
        place = self.run / folder
        place.mkdir()
        for name, text in self.kind.templates.items():
            (place / name).write_text(text)
        (place / "config.json").write_text(json.dumps({
            "LogLevel": "INFO", "LogFileName": str(place / "log.txt"), "SlurmBinPath": str(self.run / "slurm"),
            "StateDir": str(self.run / "state"), **self._keys,
            "SlurmConf": {"PrivateData": "CLOUD", "ResumeProgram": "/opt/burst/resume", "TreeWidth": 16,
                          "SuspendProgram": "/opt/burst/suspend", "ResumeRate": 0, "SuspendRate": 0,
                          "ResumeTimeout": slurm_model.RESUME_TIMEOUT, "SuspendTime": 600},
            "Environment": dict(self.cloud.environment)}))
        members = [self.kind.group(name, len(self.groups[name])) for name in groups]
        (place / "partitions.json").write_text(json.dumps(
            {"Partitions": [{"PartitionName": self.kind.partition, "NodeGroups": members}]}))

    # -- programs

    def start(self, program, hostlist=None, config="all", kill_at=None, report="report", job=None):
        """Starts one for the groups of that configuration; with kill_at it dies after so many effects (0: it lives,
        and counts them). `job`: resume gets SLURM_RESUME_FILE, and squeue knows the job."""
        environment = {"SLURM_CONF": str(self.run / "slurm.conf"), **self._preload, **_SANITIZERS}
        if kill_at is not None:
            environment |= {"LD_PRELOAD": f"{BINARIES / 'kill_point.so'} {self._preload['LD_PRELOAD']}",
                            "BURST_KILL_AT": str(kill_at), "BURST_KILL_STATE_DIR": str(self.run / "state"),
                            "BURST_KILL_REPORT": str(self.run / "reports" / report)}
        if job:
            self.slurm.jobs[job] = hostlist
            path = self.run / f"resume-file-{job}"
            path.write_text(json.dumps({"all_nodes_resume": hostlist, "jobs": [
                {"extra": None, "features": None, "job_id": job, "nodes_alloc": hostlist, "nodes_resume": hostlist,
                 "oversubscribe": "OK", "partition": self.kind.partition, "reservation": None}]}))
            environment["SLURM_RESUME_FILE"] = str(path)
        arguments = ["--config", str(self.run / config / "config.json"), *([hostlist] if hostlist else [])]
        return slurm_model.program(BINARIES / program, arguments, environment)

    def finish(self, process, timeout=120):
        """(status, complaints); -9 for one that was killed."""
        _, err = process.communicate(timeout=timeout)
        err = err.decode(errors="replace")
        if process.returncode not in (0, 1, -9):
            raise AssertionError(f"{process.args}: status {process.returncode}\n{err}")
        return process.returncode, err

    def must(self, program, nodes=None, **how):
        """One that does its work without any fault."""
        status, err = self.finish(self.start(program, ",".join(nodes) if nodes else None, **how))
        if status != 0 or err:
            raise AssertionError(f"{program} {nodes}: status {status}\n{err}\n{self.log()}")

    def effects(self, report="report"):
        """(count, last effect) as kill_point.so has written it."""
        count, _, last = (self.run / "reports" / report).read_text().partition(" ")
        return int(count), last.strip()

    def log(self, mention=""):
        """Of all programs, the last of it; only lines that mention this."""
        return "\n".join(f"{path.parent.name}: {line}" for path in sorted(self.run.glob("*/log.txt"))
                         for line in [line for line in path.read_text().splitlines() if mention in line][-40:])

    # -- time

    def pass_time(self, seconds):
        self.move_clocks(seconds)
        self.slurm.tick(self.by_node())

    def move_clocks(self, seconds):
        """Time passes in which Slurm notices nothing."""
        self.clock.move(seconds)
        self._cloud_clock.move(seconds)

    def minute(self):
        """A minute passes: machines boot, Slurm's timeouts run out, change_state does its work, SuspendProgram what
        Slurm asks for."""
        self.pass_time(MINUTE)
        self.suspend_due()
        status, err = self.finish(self.start("change_state"))
        self.suspend_due()
        return status, err

    def out_of_queue(self):
        """Waits until no machine is queued any more: the cloud's own time does not pass quicker."""
        def none_waits():
            return all(machine.created for machines in self.kind.machines(self.cloud).values() for machine in machines
                       if machine.node)
        processes.wait_until(none_waits, lambda: f"{self.kind.machines(self.cloud)}", 20)

    def suspend_due(self):
        due = self.slurm.take_suspended()
        if due:
            self.finish(self.start("suspend", ",".join(due)))

    # -- what there is

    def by_node(self):
        found = {}
        for machines in self.kind.machines(self.cloud).values():
            for machine in machines:
                if machine.node and machine.created is not None:
                    found.setdefault(machine.node, []).append((machine.created + self.skew, machine.address))
        return found

    def faults(self):
        """{group: what is not as it should be}: orphans, doubles, nodes that are neither off nor up, each a list."""
        machines = self.kind.machines(self.cloud)
        found = {}
        for group, members in self.groups.items():
            count = {node: 0 for node in members}
            orphans, doubles, stuck = [], [], []
            for machine in machines.get(group, []):
                if machine.node not in count:
                    orphans.append(machine.id)
                else:
                    count[machine.node] += 1
            for node in members:
                state = self.slurm.nodes[node]
                if count[node] > 1:
                    doubles.append(node)
                if state.off():
                    orphans += [node] * count[node]
                elif not state.up() or count[node] == 0:
                    stuck.append(f"{node} {state.state()} {count[node]} machines")
            if orphans or doubles or stuck:
                found[group] = {"orphans": orphans, "doubles": doubles, "stuck": stuck}
        return found
