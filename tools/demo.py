# SPDX-License-Identifier: Apache-2.0
"""The demo's second half, when everything is built: the cluster, the job, and what is seen of them."""

import argparse
import os
import pathlib
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/e2e"))
from cloudsim import Cloudsim  # noqa: E402
from cluster import Cluster, ec2_group, partition  # noqa: E402
from gce import ComputeEngine, flex_group, gce_partition  # noqa: E402
from kubernetes import Kubernetes, kubernetes_group, kubernetes_partition  # noqa: E402
from processes import wait_until  # noqa: E402

_TERMINAL = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
_COLOUR = _TERMINAL and "NO_COLOR" not in os.environ
_SHOWN_NODES = 8
_QUEUE_MS = 6000  # how long Google's queue is here
_SCALE_UP_MS = 4000  # and how long a Kubernetes autoscaler takes
_MEANING = {"~": "powered down", "#": "powering up", "%": "powering down", "!": "to be powered down", "*": "no answer"}


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if _COLOUR else text


def title(text):
    print(f"\n{paint(text, '1;36')}")


def command(text):
    print(f"  {paint('$ ' + text, '1')}")


def cut(text):
    """One line of the terminal: what is longer would spoil the redraw."""
    width = shutil.get_terminal_size((80, 24)).columns if _TERMINAL else 80
    return text if len(text) < width else text[:width - 4] + "..."


def state_colour(state):
    if state.endswith(("~", "%")):
        return "2"
    return "33" if state.endswith(("#", "!", "*")) else "32"


class Ec2:
    """What the demo shows of EC2."""

    name, machine, node = "EC2", "instance", "aws-c5"

    def cloud(self):
        return Cloudsim(boot_ms=1500, terminate_ms=1000)

    def partition(self, nodes):
        return partition("aws", ec2_group("c5", nodes))

    def machines(self, cloud):
        """{node: (id, state)}"""
        return {instance["tags"].get("Name", ""): (instance["id"], instance["state"]) for instance in cloud.instances()}


class FlexStart:
    """What the demo shows of Compute Engine: the job's request waits in Google's queue before there are machines."""

    name, machine, node = "Compute Engine", "Flex Start", "gce-h200"

    def cloud(self):
        return ComputeEngine(boot_ms=1500, terminate_ms=1000, gce={"accepted_ms": _QUEUE_MS})

    def partition(self, nodes):
        return gce_partition(flex_group("h200", nodes))

    def machines(self, cloud):
        found = {}
        for mig in cloud.migs():
            for request in mig["requests"]:
                found.update({node: ("in Google's queue", request["state"]) for node in request["instances"]
                              if request["state"] in ("CREATING", "ACCEPTED")})
        for machine in cloud.machines():
            found[machine["name"]] = (machine["zone"], machine["status"])
        return found


class Pods:
    """What the demo shows of Kubernetes: the pods wait until the cluster's autoscaler has brought machines for them."""

    name, machine, node = "Kubernetes", "pod's machine", "kube-cpu"

    def cloud(self):
        return Kubernetes(boot_ms=1000, terminate_ms=1000, kubernetes={"scale_up_ms": _SCALE_UP_MS})

    def partition(self, nodes):
        return kubernetes_partition(kubernetes_group("cpu", nodes, AddressWait=1))

    def machines(self, cloud):
        def state(pod):
            return "Terminating" if "deletionTimestamp" in pod["metadata"] else pod["status"]["phase"]
        return {pod["metadata"]["name"]: (pod["spec"].get("nodeName", "none yet"), state(pod)) for pod in cloud.pods()}


_PROVIDERS = {"aws": Ec2(), "gce": FlexStart(), "kubernetes": Pods()}


class View:
    """Nodes, machines and the job: redrawn in place on a terminal, else one line a change."""

    def __init__(self, cluster, provider, job, started):
        self._cluster, self._provider, self._job, self._started = cluster, provider, job, started
        self._drawn, self._last = 0, None

    def _look(self):
        states = {}
        for line in self._cluster.run("sinfo", "-h", "-N", "-o", "%N %t").stdout.splitlines():
            name, state = line.split()
            states[name] = state
        return states, self._provider.machines(self._cluster.cloud), self._cluster.job_state(self._job)

    def update(self):
        """Looks again, shows it, and returns what it saw."""
        states, machines, job = self._look()
        elapsed = time.monotonic() - self._started
        self._draw(states, machines, job, elapsed) if _TERMINAL else self._report(states, machines, job, elapsed)
        return states, machines, job

    def _draw(self, states, machines, job, elapsed):
        lines = [paint(f"  {'node':<12}{'Slurm':<9}{'':<19}{self._provider.machine:<21}{'':<11}", "2")]
        for name in sorted(states, key=lambda text: int(text.rsplit("-", 1)[1]))[:_SHOWN_NODES]:
            state, (identity, machine) = states[name], machines.get(name, ("-", ""))
            cloud = f"{identity:<21}{machine:<14}"
            lines.append(f"  {name:<12}{paint(f'{state:<9}', state_colour(state))}"
                         f"{_MEANING.get(state[-1], ''):<19}{cloud}")
        if len(states) > _SHOWN_NODES:
            lines.append(f"  and {len(states) - _SHOWN_NODES} more")
        lines.append(f"  {paint(f'job {self._job}', '1')} {job:<14}{elapsed:5.1f} s since sbatch")
        if self._drawn:
            sys.stdout.write(f"\033[{self._drawn}A")
        sys.stdout.write("".join(f"\033[2K{line}\n" for line in lines))
        sys.stdout.flush()
        self._drawn = len(lines)

    def _report(self, states, machines, job, elapsed):
        by_state = {}
        for name, state in states.items():
            by_state.setdefault(state, []).append(name)
        nodes = "  ".join(f"{len(names)} {state}" for state, names in sorted(by_state.items()))
        counts = {}
        for _, state in machines.values():
            counts[state] = counts.get(state, 0) + 1
        cloud = ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "no machine"
        now = f"{nodes:<18}  job {job:<12}  {cloud}"
        if now != self._last:
            print(cut(f"  {elapsed:5.1f} s  {now}"), flush=True)
            self._last = now


def show_configuration(cluster):
    title("1. The configuration: partitions.json names the nodes, no machine runs yet")
    command("generate_conf && cat slurm.conf.aws")
    for line in (cluster.folder / "slurm.conf.aws").read_text().splitlines():
        if re.match("(Resume|Suspend)Program=|SuspendTime=|NodeName=|PartitionName=", line):
            print("  " + cut(line.replace(str(cluster.folder), "..."))[:78])


def run_job(cluster, provider, nodes):
    title(f"2. A job for {nodes} nodes that do not exist")
    # Without root the machines share the host's name.
    script = f"srun {'hostname' if os.geteuid() == 0 else 'printenv SLURMD_NODENAME'}; sleep 1"
    command(f"sbatch --nodes={nodes} --wrap '{script}'")
    started = time.monotonic()
    job = cluster.sbatch(script, nodes=nodes)
    view = View(cluster, provider, job, started)
    wait_until(lambda: view.update()[2] == "COMPLETED", f"job {job} does not end", 120, 0.1)
    took = time.monotonic() - started
    title("3. Its output: each task on another machine")
    command(f"cat job-{job}.out")
    lines = sorted(cluster.job_output(job).split(), key=lambda host: [int(part) for part in re.findall(r"\d+", host)])
    for line in lines[:_SHOWN_NODES]:
        print("  " + cut(line))
    if len(lines) > _SHOWN_NODES:
        print(f"  and {len(lines) - _SHOWN_NODES} more")
    return job, started, took


def watch_suspend(cluster, provider, job, started):
    title(f"4. Nobody needs the nodes any more: after SuspendTime, {cluster.power_saving['SuspendTime']} s, they are "
          "ended")
    view = View(cluster, provider, job, started)

    def all_gone():
        states, machines, _ = view.update()
        return set(states.values()) == {"idle~"} and not machines
    wait_until(all_gone, "nodes do not power down", 120, 0.1)


def show_bill(cluster, provider, took, began):
    title("5. What is left")
    left = provider.machines(cluster.cloud)
    actions = cluster.cloud.control("calls")["actions"]
    calls = ", ".join(f"{name.removeprefix('Regioninstancegroupmanager')} {count['attempts']}" for name, count in sorted(actions.items())
                      if name != "Metadata")
    print(f"  machines: {len(left) or paint('none', '32')}")
    print("  " + cut(f"calls: {calls}"))
    print(f"  {took:.1f} s from sbatch to the end of the job, {time.monotonic() - began:.0f} s in all")


def keep(cluster):
    title("The cluster stays up")
    print(f"  In another terminal:\n    export SLURM_CONF={cluster.slurm_conf}\n    sinfo; srun -N2 hostname; squeue")
    print(f"  Logs:       {cluster.folder}/log\n  Simulator:  {cluster.cloud.endpoint}/_control/calls")
    print(f"  To end it:  Ctrl-C here, or kill {os.getpid()}", flush=True)
    while True:
        signal.pause()


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt(*_):
    """The way out is short and must be gone to its end: one more Ctrl-C is not to cut it."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(prog="demo", add_help=False)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--provider", choices=_PROVIDERS, default="aws")
    parser.add_argument("--nodes", type=int, default=4, choices=range(1, 101), metavar="N")
    options = parser.parse_args()
    for number in _ENDING:
        signal.signal(number, interrupt)
    began = time.monotonic()
    provider = _PROVIDERS[options.provider]
    try:
        with Cluster([provider.partition(options.nodes)], cloud=provider.cloud(), slurm={"SuspendTime": 3}) as cluster:
            print(paint("slurm-burst", "1") + f": a real Slurm, a simulated {provider.name}")
            cluster.start_change_state(1)
            show_configuration(cluster)
            job, started, took = run_job(cluster, provider, options.nodes)
            watch_suspend(cluster, provider, job, started)
            show_bill(cluster, provider, took, began)
            if options.keep:
                keep(cluster)
    except KeyboardInterrupt:
        print("\ncleaned up")
        return 0 if options.keep else 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
