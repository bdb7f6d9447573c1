# SPDX-License-Identifier: Apache-2.0
"""Slurm's commands against one cluster, their answers as data, and waiting for a state of nodes and jobs."""

import dataclasses
import functools
import re
import subprocess

from processes import Timeout, wait_until

_ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE"}
_OFF = {"POWERED_DOWN", "POWERING_UP", "POWERING_DOWN", "POWER_UP", "POWER_DOWN", "NOT_RESPONDING", "DOWN"}


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    state: frozenset  # {"IDLE", "CLOUD", "POWERED_DOWN"}
    address: str      # NodeAddr; the node's name where none is set
    hostname: str     # NodeHostName
    reason: str       # without [user@time]; empty: none

    def up(self):
        return not self.state & _OFF

    def off(self):
        """Powered down and ready to be used again."""
        return {"IDLE", "POWERED_DOWN"} <= self.state and not self.state & (_OFF - {"POWERED_DOWN", "NOT_RESPONDING"})


def parse_nodes(text):
    """The output of `scontrol -o show nodes`, as {name: Node}."""
    nodes = {}
    for line in text.splitlines():
        if not line.startswith("NodeName="):
            continue
        fields = dict(re.findall(r"(?:^| )(NodeName|NodeAddr|NodeHostName|State)=(\S*)", line))
        reason = re.search(r" Reason=(.*?)(?: \[\S+@\S+\])?(?: Comment=.*| Extra=.*)?$", line.rstrip())
        nodes[fields["NodeName"]] = Node(fields["NodeName"], frozenset(re.split(r"[+*]+", fields["State"].strip("*"))),
                                         fields.get("NodeAddr", ""), fields.get("NodeHostName", ""),
                                         reason.group(1) if reason else "")
    return nodes


class SlurmCommands:
    """Needs: self.environment (a dict for commands), self.folder."""

    def run(self, *command, check=True, timeout=60, cwd=None):
        """Runs a command as an administrator of this cluster would. Returns a subprocess.CompletedProcess with text."""
        result = subprocess.run([str(word) for word in command], env=self.environment, cwd=cwd or self.folder,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        if check and result.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}: exit status {result.returncode}\n"
                                 f"{result.stdout}{result.stderr}")
        return result

    def scontrol(self, *words, check=True):
        return self.run("scontrol", *words, check=check).stdout

    @functools.lru_cache(maxsize=None)
    def expand(self, hostlist):
        return tuple(self.scontrol("show", "hostnames", hostlist).split())

    def nodes(self, hostlist=None):
        """{name: Node}, of all nodes or of those named."""
        words = ("show", "nodes") if hostlist is None else ("show", "node", hostlist)
        return parse_nodes(self.scontrol("-o", *words))

    def node(self, name):
        return self.nodes(name)[name]

    def set_node_state(self, hostlist, state, reason=None):
        self.scontrol("update", f"nodename={hostlist}", f"state={state}", *([f"reason={reason}"] if reason else []))

    def sinfo_state(self, name):
        """As users see it: `idle~`, `alloc#`."""
        return self.run("sinfo", "-h", "-N", "-n", name, "-o", "%t").stdout.split()[0]

    def sbatch(self, script="srun hostname", nodes=1, *options):
        """Submits a batch job. Returns its id."""
        out = self.run("sbatch", "--parsable", f"--nodes={nodes}", f"--output={self.folder}/job-%j.out", *options,
                       "--wrap", script).stdout
        return int(out.split(";")[0])

    def srun(self, *command, nodes=1, options=(), timeout=60):
        """Runs a command on fresh nodes and returns its output."""
        return self.run("srun", f"--nodes={nodes}", *options, *command, timeout=timeout).stdout

    def job(self, job_id):
        """scontrol's fields of a job: {"JobState": "RUNNING", "NodeList": ...}. Empty when Slurm does not know it."""
        text = self.scontrol("-o", "show", "job", job_id, check=False)
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    def job_state(self, job_id):
        return self.job(job_id).get("JobState", "")

    def job_output(self, job_id):
        return (self.folder / f"job-{job_id}.out").read_text()

    def wait_for_job(self, job_id, state="COMPLETED", timeout=90):
        """Waits for a job state; fails at once when the job ends in another."""
        def reached():
            now = self.job_state(job_id)
            if now in _ENDED and now != state:
                raise AssertionError(f"job {job_id} is {now}, expected {state}")
            return now == state
        wait_until(reached, lambda: f"job {job_id} is not {state}: {self.job(job_id)}", timeout)

    def start_requeued_now(self, job_id):
        """Spares a requeued job the rest of its waiting time, unless it has started already."""
        result = self.run("scontrol", "update", f"jobid={job_id}", "starttime=now", check=False)
        if result.returncode != 0 and "no longer pending" not in result.stdout + result.stderr:
            raise AssertionError(result.stdout + result.stderr)

    def wait_for_nodes(self, hostlist, condition, what, timeout=60):
        """Waits until `condition(node)` holds for every node of the list at once. Returns them."""
        names = self.expand(hostlist)

        def reached():
            nodes = self.nodes(hostlist)
            return nodes if len(nodes) == len(set(names)) and all(map(condition, nodes.values())) else None

        def seen():
            nodes = self.nodes(hostlist).values()
            found = (f"{node.name} {'+'.join(sorted(node.state))} {node.reason}" for node in nodes)
            return f"{hostlist} not {what}: {', '.join(found)}"
        return wait_until(reached, seen, timeout)

    def wait_until_up(self, hostlist, timeout=60):
        return self.wait_for_nodes(hostlist, Node.up, "up", timeout)

    def wait_until_off(self, hostlist, timeout=60):
        """Powered down, to the end of SuspendTimeout, and idle."""
        return self.wait_for_nodes(hostlist, Node.off, "off", timeout)

    def wait_for_state(self, hostlist, *words, lacks=(), timeout=60):
        """Waits until each node's state has all these words (`"DOWN", "POWERED_DOWN"`) and none of `lacks`."""
        return self.wait_for_nodes(hostlist, lambda n: set(words) <= n.state and not set(lacks) & n.state,
                                   "+".join(words) + "".join(f" without {word}" for word in lacks), timeout)

    def never(self, condition, what, seconds):
        """Asserts that something does not happen within a time: a claim about a duration, for want of an event."""
        try:
            wait_until(condition, what, seconds)
        except Timeout:
            return
        raise AssertionError(f"happened: {what}")
