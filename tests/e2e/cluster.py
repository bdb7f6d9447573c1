# SPDX-License-Identifier: Apache-2.0
"""A throw-away Slurm cluster: real munged, slurmctld and slurmd, private in all that it uses, gone without a trace."""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading

import processes
import slurm_conf
from slurm import SlurmCommands

PROGRAMS = ("resume", "suspend", "change_state", "generate_conf")
_SOURCE = pathlib.Path(__file__).resolve().parents[2]


def program_folder():
    """Where the programs under test are: BURST_BINARY_DIR (set by ctest), else the dev build's."""
    return pathlib.Path(os.environ.get("BURST_BINARY_DIR", _SOURCE / "build/dev/bin"))


def ec2_group(name="c5", nodes=4, **more):
    """A node group for partitions.json whose launch template and subnets exist in the simulated EC2."""
    return {
        "NodeGroupName": name,
        "MaxNodes": nodes,
        "Region": "us-east-1",
        "SlurmSpecifications": {"CPUs": 1},
        "PurchasingOption": "on-demand",
        "OnDemandOptions": {"AllocationStrategy": "lowest-price"},
        "LaunchTemplateSpecification": {"LaunchTemplateName": "template-name", "Version": "$Latest"},
        "LaunchTemplateOverrides": [{"InstanceType": "c5.large"}],
        "SubnetIds": ["subnet-11111111"],
        **more,
    }


def partition(name="aws", *groups, **options):
    return {"PartitionName": name, "NodeGroups": list(groups) or [ec2_group()],
            "PartitionOptions": {"Default": "YES", **options}}


class Cluster(SlurmCommands):
    """with Cluster([partition("aws", ec2_group("c5", 4))], cloud=Cloudsim()) as cluster: ...

    partitions  partitions.json's Partitions; each node gets a port of its own
    cloud       what the nodes' machines come from: has start(cluster), stop() and environment (for config.json)
    slurm       settings over those of slurm_conf.py: {"SuspendTime": 2}; None as a value takes a setting away
    config      keys over those that config.json gets
    programs    the folder with resume, suspend ... ; they are copied beside the configuration, as in an installation

    To be started and ended by one and the same thread: its end is the end of the daemons.
    """

    def __init__(self, partitions=None, *, cloud=None, slurm=None, config=None, programs=None):
        self.partitions = {"Partitions": partitions or [partition()]}
        self.cloud = cloud
        self._slurm, self._config = dict(slurm or {}), dict(config or {})
        self._programs = pathlib.Path(programs or program_folder())
        self._munged = self._slurmctld = self._change_state = None

    # --- life ---

    def __enter__(self):
        processes.adopt_orphans()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-burst-"))
        self.ports = processes.Ports()
        try:
            self._set_up()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            self.print_logs()
        problems = []
        for step in (self.stop_change_state, self._stop_slurmctld, self._stop_cloud, self._stop_munged,
                     self._no_process_left, self._no_port_left, self._remove_folder):
            try:
                step()
            except Exception as problem:  # the other steps have to be taken all the same
                problems.append(f"{step.__name__}: {problem}")
        self.ports.release()
        if problems and kind is None:
            raise AssertionError("after the end of the cluster:\n" + "\n".join(problems))
        for problem in problems:
            print(problem, file=sys.stderr)

    def _set_up(self):
        self.folder.chmod(0o755)
        for name in ("state", "spool", "run", "log", "munge", "bin"):
            (self.folder / name).mkdir(mode=0o755)
        self.slurm_conf = self.folder / "slurm.conf"
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8",
                            "SLURM_CONF": str(self.slurm_conf)}
        self.port = self.ports.take()
        slurm_conf.give_ports(self.partitions, self.ports)
        self._start_munged()
        if self.cloud:
            self.cloud.start(self)
        self._install()
        self.start_slurmctld()

    def _start_munged(self):
        folder = self.folder / "munge"
        key = folder / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        options = [f"--{name}-file={folder / name}" for name in ("key", "pid", "log", "seed")]
        options[2] = f"--log-file={self.folder / 'log/munged.log'}"
        self._munged = processes.Daemon("munged", ["/usr/sbin/munged", "--foreground", "--force", "--num-threads=2",
                                                   f"--socket={folder / 'socket'}", *options],
                                        self.folder / "log/munged.out", env=self.environment)

        def answers():
            self._munged.require_running()
            return self.run("munge", "-n", f"--socket={folder / 'socket'}", check=False).returncode == 0
        processes.wait_until(answers, "munged does not answer")

    def _install(self):
        """Puts programs and configuration into one folder, as the admin of a cluster does, and generates the rest."""
        bin_folder = self.folder / "bin"
        if not (self._programs / "resume").exists():
            raise AssertionError(f"{self._programs}/resume: not built")
        for name in PROGRAMS:
            if (self._programs / name).exists():
                shutil.copy(self._programs / name, bin_folder / name)
                (bin_folder / name).chmod(0o755)
        power_saving = {**slurm_conf.POWER_SAVING, "ResumeProgram": str(bin_folder / "resume"),
                        "SuspendProgram": str(bin_folder / "suspend"), "ResumeFailProgram": str(bin_folder / "suspend")}
        overrides = dict(self._slurm)
        for key in [key for key in overrides if key in power_saving]:
            power_saving[key] = overrides.pop(key)
        self.power_saving = {key: value for key, value in power_saving.items() if value is not None}
        slurm_conf.write(self.folder, self.port, overrides)
        self.write_configuration()
        if (bin_folder / "generate_conf").exists():
            self.program("generate_conf")
            self._drop_cloud_reg_addrs()
        else:
            slurm_conf.write_fragments(self.folder, self.power_saving, self.partitions)

    def _drop_cloud_reg_addrs(self):
        """Which 22.05 needs for machines that queue; but all registrations come from 127.0.0.1 here, and slurmctld would
        take that for the nodes' address."""
        fragment = self.folder / "slurm.conf.aws"
        lines = fragment.read_text().splitlines(keepends=True)
        fragment.write_text("".join(line for line in lines if not line.startswith("SlurmctldParameters=")))

    def write_configuration(self):
        """Writes config.json and partitions.json; also to be called after a change of self.partitions."""
        config = {"LogLevel": "DEBUG", "LogFileName": str(self.folder / "log/slurm-burst.log"),
                  "SlurmBinPath": "/usr/bin/", "SlurmConf": self.power_saving,
                  "Environment": dict(self.cloud.environment if self.cloud else {}), **slurm_conf.GRACES,
                  **self._config}
        for name, content in (("config.json", config), ("partitions.json", self.partitions)):
            (self.folder / "bin" / name).write_text(json.dumps(content, indent=2) + "\n")

    # --- slurmctld ---

    def start_slurmctld(self, cold=False):
        """cold: with -c, forgetting the state of nodes and jobs."""
        self._slurmctld = processes.Daemon("slurmctld", ["/usr/sbin/slurmctld", "-D", *(["-c"] if cold else [])],
                                           self.folder / "log/slurmctld.out", env=self.environment)

        def answers():
            self._slurmctld.require_running()
            return " is UP" in self.scontrol("ping", check=False)
        processes.wait_until(answers, "slurmctld does not answer")

    def stop_slurmctld(self):
        self._slurmctld.stop()

    def kill_slurmctld(self):
        self._slurmctld.kill()

    def restart_slurmctld(self, cold=False):
        self.stop_slurmctld()
        self.start_slurmctld(cold)

    # --- our programs ---

    def program(self, name, *arguments, check=True, timeout=60):
        """Runs one of the installed programs by hand, with no more than what slurmctld or cron would give it."""
        return self.run(self.folder / "bin" / name, *arguments, check=check, timeout=timeout)

    def change_state(self, *arguments, check=True):
        return self.program("change_state", *arguments, check=check)

    def start_change_state(self, interval=1.0):
        """Runs change_state again and again, as cron does each minute, until stop_change_state() or the end."""
        self._change_state = _Repeated(lambda: self.program("change_state", check=False), interval)

    def stop_change_state(self):
        """Returns the exit statuses of all runs."""
        if self._change_state is None:
            return []
        repeated, self._change_state = self._change_state, None
        return [result.returncode for result in repeated.stop()]

    # --- what is there to read ---

    def log(self, name="slurm-burst"):
        """A log's text so far: slurm-burst, slurmctld, slurmd-NODE, munged, cloudsim."""
        path = self.folder / "log" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def print_logs(self, lines=int(os.environ.get("BURST_E2E_LINES", 60))):
        for path in sorted([*(self.folder / "log").glob("**/*"), *self.folder.glob("job-*.out")]):
            logs_elsewhere = path.parent.name == "log" and path.suffix == ".out" and path.with_suffix(".log").exists()
            if path.is_file() and path.stat().st_size and not logs_elsewhere:
                tail = path.read_text(errors="replace").splitlines()[-lines:]
                print(f"--- {path.name}", *tail, sep="\n", file=sys.stderr)

    # --- the end ---

    def _stop_slurmctld(self):
        if self._slurmctld:
            self._slurmctld.stop()

    def _stop_cloud(self):
        if self.cloud:
            self.cloud.stop()

    def _stop_munged(self):
        if self._munged:
            self._munged.stop()

    def _no_process_left(self):
        left = processes.kill_descendants(self.folder)
        if left:
            raise AssertionError("processes were left:\n  " + "\n  ".join(left))

    def _no_port_left(self):
        processes.wait_until(lambda: not self.ports.busy(), lambda: f"ports still taken: {self.ports.busy()}", 10)

    def _remove_folder(self):
        if os.environ.get("BURST_E2E_KEEP"):
            print(f"kept: {self.folder}", file=sys.stderr)
            return
        shutil.rmtree(self.folder)


class _Repeated:
    """Calls a function each so many seconds in a thread of its own."""

    def __init__(self, function, interval):
        self._results, self._end = [], threading.Event()

        def loop():
            while True:
                self._results.append(function())
                if self._end.wait(interval):
                    return
        self._thread = threading.Thread(target=loop, daemon=True)
        self._thread.start()

    def stop(self):
        self._end.set()
        self._thread.join()
        return self._results
