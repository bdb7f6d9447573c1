# SPDX-License-Identifier: Apache-2.0
"""A model of slurmctld as a power-save program meets it: node states, their changes by scontrol, and time.

What it knows of Slurm is what tests/e2e shows of the real one; it answers in milliseconds, and its hours pass at once.
Several controllers' worth of programs may speak to it at the same time."""
import pathlib
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))
from blackbox import names  # noqa: E402

RESUME_TIMEOUT, SUSPEND_TIMEOUT, BOOT_TIME = 900, 120, 50
_ORDER = ["DRAIN", "POWER_DOWN", "POWER_UP", "POWERED_DOWN", "NOT_RESPONDING", "POWERING_UP", "POWERING_DOWN"]


class Node:
    def __init__(self, name):
        self.name = self.address = self.hostname = name
        self.base, self.flags, self.reason, self.since = "IDLE", {"POWERED_DOWN"}, "", 0

    def state(self):
        return "+".join([self.base, "CLOUD", *(flag for flag in _ORDER if flag in self.flags)])

    def off(self):
        return self.base == "IDLE" and self.flags <= {"POWERED_DOWN", "NOT_RESPONDING"} and "POWERED_DOWN" in self.flags

    def up(self):
        return self.base in ("IDLE", "ALLOCATED") and not self.flags

    def line(self, now):
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
        reason = f" Reason={self.reason} [root@{when}]" if self.reason else ""
        return (f"NodeName={self.name} CoresPerSocket=1 CPUAlloc=0 CPUTot=2 NodeAddr={self.address} "
                f"NodeHostName={self.hostname} State={self.state()} ThreadsPerCore=1 BootTime=None "
                f"SlurmdStartTime=None LastBusyTime=Unknown{reason}\n")


class Refused(Exception):
    """scontrol's complaint."""


class SlurmModel:
    """`commands` is a folder that gets scontrol and squeue; `now` gives the world's time."""

    def __init__(self, commands, client, now):
        self.nodes, self.jobs, self.now = {}, {}, now
        self.to_suspend, self.updates, self.timeouts = set(), [], []
        self._lock = threading.RLock()
        for name in ("scontrol", "squeue"):
            (commands / name).symlink_to(client)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(commands / "socket"))
        self._server.listen(128)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self):
        self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._server.close()

    def _serve(self):
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            with client:
                asked = b""
                while part := client.recv(65536):
                    asked += part
                try:
                    status, answer = 0, self._answer(asked.decode().split("\0")[:-1])
                except Refused as refused:
                    status, answer = 1, f"slurm_update error: {refused}\n"
                try:
                    client.sendall(f"{status}\n".encode() + answer.encode())
                except OSError:
                    pass  # it was killed

    def _answer(self, argv):
        with self._lock:
            if argv[0] == "squeue":
                return self._squeue(argv[-1])
            if argv[1:] == ["-V"]:
                return "slurm 23.11.4\n"
            if argv[1:4] == ["-o", "show", "nodes"]:
                wanted = names(argv[4]) if len(argv) > 4 else self.nodes
                now = self.now()
                return "".join(self.nodes[name].line(now) for name in wanted)
            if argv[1:4] == ["-o", "show", "reservations"]:
                return "No reservations in the system\n"
            if argv[1] == "update":
                return self._update(dict(word.split("=", 1) for word in argv[2:]))
            raise Refused(f"not modelled: {argv}")

    def _squeue(self, form):
        return "".join(form.replace("%A", str(job)).replace("%T", "CONFIGURING").replace("%N", nodes)
                       .replace("%l", "1:00:00").replace("%k", "(null)") for job, nodes in self.jobs.items())

    def _update(self, options):
        if "JobId" in options:
            return ""
        self.updates.append(options)
        nodes = [self.nodes[name] for name in names(options.pop("NodeName"))]
        if "NodeAddr" in options:
            addresses, hosts = names(options["NodeAddr"]), names(options["NodeHostName"])
            if not len(nodes) == len(addresses) == len(hosts):
                raise Refused("Invalid node name specified")
            for node, node.address, node.hostname in zip(nodes, addresses, hosts):
                pass
        refused = []
        for node in nodes if "State" in options else ():
            try:
                self._change(node, options["State"], options.get("Reason"))
            except Refused as why:
                refused.append(why)  # Slurm goes on with the other nodes
        if refused:
            raise refused[0]
        return ""

    def _change(self, node, state, reason):
        if state == "IDLE":
            if node.base not in ("IDLE", "DOWN"):
                raise Refused("Invalid node state specified")
            node.base, node.reason = "IDLE", ""
            node.flags.discard("DRAIN")
        elif state == "RESUME":
            if "POWERING_DOWN" in node.flags:
                self._powered_down(node)
            elif node.base != "DOWN" and "DRAIN" not in node.flags:
                raise Refused("Invalid node state specified")
            if node.base == "DOWN":
                node.base = "IDLE"
                node.flags.add("NOT_RESPONDING")
            node.flags.discard("DRAIN")
        elif state == "DOWN":
            node.base = "DOWN"
        elif state == "POWER_UP":
            if "POWERED_DOWN" in node.flags:
                self.power_up([node.name], base=node.base)
        elif state in ("POWER_DOWN", "POWER_DOWN_FORCE"):
            if state == "POWER_DOWN" and node.base == "ALLOCATED":
                node.flags.add("POWER_DOWN")  # when the job is over
            else:
                self._power_down(node)
        else:
            raise Refused(f"not modelled: {state}")
        if reason is not None:
            node.reason = reason

    def _power_down(self, node):
        """As POWER_DOWN_FORCE: the job is requeued, and SuspendProgram is due, though ResumeProgram may still run."""
        if "POWERING_DOWN" in node.flags:
            return
        if node.base == "ALLOCATED":
            node.base = "IDLE"
        node.flags = {"POWERING_DOWN"}
        node.since = self.now()
        self.to_suspend.add(node.name)

    @staticmethod
    def _powered_down(node):
        node.flags = {"POWERED_DOWN"}
        node.address = node.hostname = node.name

    # -- what a scheduler, an admin, slurmd and time do

    def add(self, nodes):
        with self._lock:
            self.nodes.update({name: Node(name) for name in nodes})

    def power_up(self, nodes, base="ALLOCATED"):
        """For a job: ResumeProgram is to be called for those that are returned."""
        with self._lock:
            started = [self.nodes[name] for name in nodes if self.nodes[name].off()]
            for node in started:
                node.base, node.flags, node.reason = base, {"POWERING_UP", "NOT_RESPONDING"}, ""
                node.since = self.now()
            return [node.name for node in started]

    def set(self, nodes, base, *flags):
        with self._lock:
            for name in nodes:
                self.nodes[name].base, self.nodes[name].flags, self.nodes[name].since = base, set(flags), self.now()

    def force_down(self, nodes):
        """As an admin's POWER_DOWN_FORCE, or SuspendTime for those that are up."""
        with self._lock:
            for name in nodes:
                if "POWERED_DOWN" not in self.nodes[name].flags:
                    self._power_down(self.nodes[name])

    def take_suspended(self):
        """The nodes for which SuspendProgram is due."""
        with self._lock:
            due, self.to_suspend = sorted(self.to_suspend), set()
            return due

    def tick(self, machines):
        """Time has passed. machines: {node: [(created, address)]} of machines that live and bear the node's name."""
        with self._lock:
            now = self.now()
            for node in self.nodes.values():
                age = now - node.since
                if "POWERING_DOWN" in node.flags and age >= SUSPEND_TIMEOUT:
                    self._powered_down(node)
                elif "POWERING_UP" in node.flags:
                    booted = [address for created, address in machines.get(node.name, [])
                              if created >= node.since - 1 and now - created >= BOOT_TIME]
                    if booted:
                        node.flags -= {"POWERING_UP", "NOT_RESPONDING"}
                        if node.address == node.name:
                            node.address = booted[0]  # Slurm 23.11 takes it from the registration
                    elif age >= RESUME_TIMEOUT:
                        node.base, node.flags, node.reason = "DOWN", {"POWERED_DOWN"}, "ResumeTimeout reached"
                        self.timeouts.append(node.name)
                        self.to_suspend.add(node.name)


def program(path, arguments, environment):
    """Starts one as slurmctld does: argv[0] without a path, a process group of its own, nearly no environment."""
    return subprocess.Popen([pathlib.Path(path).name, *arguments], executable=str(path), cwd="/", env=environment,
                            process_group=0, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)
