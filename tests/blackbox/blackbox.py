# SPDX-License-Identifier: Apache-2.0
"""The executables as processes: a folder with their configuration, a recorded scontrol, the simulated cloud."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

_HERE = pathlib.Path(__file__).resolve().parent
os.umask(0o022)  # the programs speak of files that others can write
sys.path.insert(0, str(_HERE.parent / "e2e"))
import processes  # noqa: E402
from cloudsim import Cloudsim  # noqa: E402

BINARIES = pathlib.Path(os.environ.get("BURST_BINARY_DIR", _HERE.parents[1] / "build/dev/bin"))
SECRET = "cloudsim-secret-key"
KEY = {"AWS_ACCESS_KEY_ID": "AKIACLOUDSIM00000001", "AWS_SECRET_ACCESS_KEY": SECRET}
CLUSTER_TAG, PARTITION_TAG, GROUP_TAG, LAUNCH_TAG = (
    "slurm-burst:cluster", "slurm-burst:partition", "slurm-burst:node-group", "slurm-burst:launch")
# What nobody may write down, whatever its value: cloudsim's temporary keys, access tokens of Google, tokens of EKS, JSON Web
# Tokens, private keys, signatures.
_TEMPORARY = re.compile(
    rb"[0-9a-f]{16}/[0-9a-f]{16}\+[0-9a-f]{6}|FwoGZXIvYXdzE[0-9a-f]{8}|ya29\.[A-Za-z0-9_.-]{8}|k8s-aws-v1\.[A-Za-z0-9_-]{8}|"
    rb"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}|PRIVATE KEY-----|Signature=[0-9a-f]{64}|Bearer [A-Za-z0-9]")
_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - (?:\w+ - )?(DEBUG|INFO|WARNING|ERROR|CRITICAL) - (.*)")

OFF = "IDLE+CLOUD+POWERED_DOWN"
BOOTING = "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP"

# slurmctld leaves these blocked in the programs that it starts (Slurm up to 24.05).
BLOCKED = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE,
           signal.SIGALRM, signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP, signal.SIGXCPU}

Result = collections.namedtuple("Result", "status out err seconds")
Update = collections.namedtuple("Update", "nodes options")


def group(name="c5", nodes=4, **keys):
    """A node group of partitions.json."""
    return {"NodeGroupName": name, "MaxNodes": nodes, "Region": "us-east-1", "PurchasingOption": "on-demand",
            "SlurmSpecifications": {"CPUs": 2, "RealMemory": 3500},
            "OnDemandOptions": {"AllocationStrategy": "prioritized"},
            "LaunchTemplateSpecification": {"LaunchTemplateName": "template-name", "Version": "$Latest"},
            "LaunchTemplateOverrides": [{"InstanceType": "c5.large"}],
            "SubnetIds": ["subnet-11111111", "subnet-22222222"], **keys}


def messages(text, *levels):
    """The messages of log lines, of all levels or of these."""
    found = [match.groups() for match in map(_LINE.fullmatch, text.splitlines()) if match]
    return [message for level, message in found if not levels or level in levels]


def names(hostlist):
    """The nodes of a hostlist such as "aws-c5-[0-2,7],x", in its order, without help of the programs under test."""
    expanded = []
    for item in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", hostlist):
        prefix, _, ranges = item.partition("[")
        if not ranges:
            expanded.append(prefix)
        for part in filter(None, ranges.rstrip("]").split(",")):
            low, _, high = part.partition("-")
            expanded += [f"{prefix}{number}" for number in range(int(low), int(high or low) + 1)]
    return expanded


class BlackboxTest(unittest.TestCase):
    """One cloudsim a class, as new for each test; a folder with programs and configuration for each test.

    At the end of each test no process is left, and no secret stands in what the programs wrote."""

    @classmethod
    def make_cloud(cls):
        return Cloudsim(program=BINARIES / "cloudsim", boots=False, throttling=False)

    @classmethod
    def setUpClass(cls):
        cls._home = tempfile.TemporaryDirectory(prefix="burst-blackbox-cloud-")
        folder = pathlib.Path(cls._home.name)
        for name in ("log", "run"):
            (folder / name).mkdir()
        cls.cloud = cls.make_cloud()
        cls.cloud.start(types.SimpleNamespace(folder=folder, environment=dict(os.environ)))
        cls.addClassCleanup(cls._home.cleanup)
        cls.addClassCleanup(cls.cloud.stop)

    def setUp(self):
        self.cloud.control("reset", {})
        temporary = tempfile.TemporaryDirectory(prefix="burst-blackbox-")
        self.addCleanup(temporary.cleanup)
        self.addCleanup(self._nothing_left)
        self.folder = pathlib.Path(temporary.name)
        self.folder.chmod(0o755)
        self.secrets = [SECRET]
        self._results = []
        for name in ("bin", "slurm", "slurm/calls", "spool"):
            (self.folder / name).mkdir()
        for name in ("resume", "suspend", "change_state", "generate_conf"):
            self._place(BINARIES / name, self.folder / "bin" / name)
        for name in ("scontrol", "squeue"):
            shutil.copy(_HERE / "recorder", self.folder / "slurm" / name)
        (self.folder / "slurm/version").write_text("23.11.4\n")
        self.slurm_conf = self.folder / "slurm.conf"
        self.slurm_conf.write_text(f"ClusterName=Blackbox\nStateSaveLocation={self.folder}/spool\nSlurmUser=root\n"
                                   "ResumeTimeout=120\nSuspendTimeout=60\n")
        self.log_file, self.state = self.folder / "log.txt", self.folder / "spool/slurm-burst"
        self.config = {
            "LogLevel": "DEBUG", "LogFileName": str(self.log_file), "SlurmBinPath": str(self.folder / "slurm"),
            "SlurmConf": {"PrivateData": "CLOUD", "ResumeProgram": "/opt/burst/resume",
                          "SuspendProgram": "/opt/burst/suspend", "ResumeRate": 0, "SuspendRate": 0,
                          "ResumeTimeout": 120, "SuspendTime": 600, "TreeWidth": 16},
            "Environment": dict(self.cloud.environment)}
        self.partitions = [{"PartitionName": "aws", "NodeGroups": [group()]}]
        self.configure()
        self.show_nodes(names("aws-c5-[0-3]"))

    # -- the folder

    @staticmethod
    def _place(program, target):
        """A program finds its configuration beside itself, links resolved: a hard link is no such link."""
        try:
            os.link(program, target)
        except OSError:
            shutil.copy2(program, target)

    def configure(self, *groups, **keys):
        """Writes config.json with these keys set or (None) left out, and partitions.json with these groups, if any."""
        for key, value in keys.items():
            self.config[key] = value
            if value is None:
                del self.config[key]
        if groups:
            self.partitions = [{"PartitionName": "aws", "NodeGroups": list(groups)}]
        self.write("config.json", json.dumps(self.config))
        self.write("partitions.json", json.dumps({"Partitions": self.partitions}))

    def write(self, name, text):
        """A file beside the programs."""
        path = self.folder / "bin" / name
        path.write_text(text)
        return path

    def variables(self, **changes):
        """Changes `Environment`; None takes one out."""
        merged = {**self.config["Environment"], **changes}
        self.configure(Environment={name: value for name, value in merged.items() if value is not None})

    def show_nodes(self, nodes, state="IDLE+CLOUD+POWERED_DOWN"):
        """What scontrol shows from now on."""
        self.show({node: state for node in nodes})

    def show(self, states):
        """{node: state}, as scontrol shows them from now on, in place of all others."""
        line = ("NodeName={0} CoresPerSocket=1 CPUAlloc=0 CPUTot=2 NodeAddr={0} NodeHostName={0} State={1} "
                "ThreadsPerCore=1 BootTime=None SlurmdStartTime=None LastBusyTime=Unknown\n")
        (self.folder / "slurm/nodes").write_text("".join(line.format(node, state) for node, state in states.items()))

    def show_jobs(self, jobs, limit="1:00:00"):
        """{job id: hostlist}: what squeue shows from now on."""
        lines = (f"{job} CONFIGURING {nodes} {limit}\n" for job, nodes in jobs.items())
        (self.folder / "slurm/jobs").write_text("".join(lines))

    def log(self):
        return self.log_file.read_text() if self.log_file.exists() else ""

    # -- programs

    def start(self, program, *arguments, env=None, prefix=(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
              stderr=subprocess.PIPE, prepare=None):
        """As slurmctld does: argv[0] without a path, no environment but SLURM_CONF, a process group of its own."""
        path = str(self.folder / "bin" / program)
        command = [*prefix, path, *arguments] if prefix else [program, *arguments]

        def before():
            os.setpgid(0, 0)
            signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
            if prepare:
                prepare()
        return subprocess.Popen(command, executable=None if prefix else path, preexec_fn=before, cwd="/",
                                env={"SLURM_CONF": str(self.slurm_conf)} if env is None else env,
                                stdin=stdin, stdout=stdout, stderr=stderr, text=True, errors="replace")

    def run_program(self, program, *arguments, timeout=100, **how):
        begin = time.monotonic()
        with self.start(program, *arguments, **how) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"{program} {arguments} runs since {timeout} s\n{self.log()[-3000:]}") from None
        result = Result(process.returncode, out or "", err or "", time.monotonic() - begin)
        self._results.append(result)
        for word in ("terminate called", "Sanitizer", "Traceback", "what():"):
            self.assertNotIn(word, result.err)
        self.assertIn(result.status, (0, 1, 2), f"{program} {arguments}\n{result.err}\n{self.log()[-3000:]}")
        return result

    def resume(self, hostlist, **how):
        return self.run_program("resume", hostlist, **how)

    def suspend(self, hostlist, **how):
        return self.run_program("suspend", hostlist, **how)

    def resume_jobs(self, jobs, name="resume-file"):
        """resume, for {job id: hostlist}, as slurmctld 23.02 and later calls it."""
        entries = [{"extra": None, "features": None, "job_id": job, "nodes_alloc": nodes, "nodes_resume": nodes,
                    "oversubscribe": "OK", "partition": self.partitions[0]["PartitionName"], "reservation": None}
                   for job, nodes in jobs.items()]
        hostlist = ",".join(jobs.values())
        path = self.folder / name
        path.write_text(json.dumps({"all_nodes_resume": hostlist, "jobs": entries}))
        return self.resume(hostlist, env={"SLURM_CONF": str(self.slurm_conf), "SLURM_RESUME_FILE": str(path)})

    def resumed(self, hostlist, **how):
        """A resume without any fault."""
        return self._faultless(self.resume(hostlist, **how))

    def suspended(self, hostlist, **how):
        return self._faultless(self.suspend(hostlist, **how))

    def change_state(self):
        result = self.run_program("change_state")
        self.assertEqual(result.status, 0, result.err)
        return result

    def _faultless(self, result):
        self.assertEqual((result.status, messages(result.err, "ERROR", "CRITICAL")), (0, []), self.log()[-3000:])
        return result

    # -- what was said and done

    def one_complaint(self, result, pattern, status):
        """Asserts that this one line, and no other, stands on stderr, and in the log too; gives its message."""
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 1, result.err)
        self.assertRegex(lines[0], pattern)
        self.assertEqual(result.status, status)
        self.assertIn(messages(lines[0])[0], messages(self.log()))
        return messages(lines[0])[0]

    def scontrol_runs(self, *words):
        """The arguments of each run of scontrol, in order; with `words`, of those that begin with them."""
        files = sorted((self.folder / "slurm/calls").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        runs = [path.read_text().splitlines() for path in files if not path.name.startswith(".")]
        runs = [run[1:] for run in runs if run[0] == "scontrol"]
        return [run for run in runs if tuple(run[:len(words)]) == words]

    def updates(self, key=None):
        """Each `scontrol update` of nodes as (nodes, {option: value}); with `key`, of those that set it."""
        found = []
        for run in self.scontrol_runs("update"):
            options = dict(argument.split("=", 1) for argument in run[1:])
            if "NodeName" not in options:  # a job's
                continue
            found.append(Update(names(options.pop("NodeName")), options))
        return [update for update in found if key is None or key in update.options]

    def addresses(self):
        """{node: (NodeAddr, NodeHostName)} as Slurm was told, the last word on each."""
        told = {}
        for update in self.updates("NodeAddr"):
            pairs = zip(names(update.options["NodeAddr"]), names(update.options["NodeHostName"]))
            told.update(zip(update.nodes, pairs))
        return told

    def refusals(self):
        """{node: reason} of the nodes that were given back."""
        return {node: update.options["Reason"] for update in self.updates("State") for node in update.nodes
                if update.options["State"] == "POWER_DOWN_FORCE"}

    def calls_of(self, action):
        """The calls of this action, in order."""
        return self.cloud.requests(action)

    @staticmethod
    def wait_until(condition, what, timeout=30):
        return processes.wait_until(condition, what, timeout)

    def alive(self):
        """Instances that run or are about to."""
        return self.cloud.instances("pending", "running")

    def names_alive(self):
        return sorted(instance["tags"].get("Name", "") for instance in self.alive())

    def actions(self):
        """Every API action that was called, changes only once."""
        return set(self.cloud.control("calls").get("actions", {}))

    def nothing_started(self):
        self.assertEqual(self.cloud.instances(), [])
        self.assertLessEqual(self.actions(), {"DescribeInstances"})

    # -- the end

    def _nothing_left(self):
        left = processes.kill_descendants(self.folder)
        written = [path for path in self.folder.rglob("*") if path.is_file() and path.parent.name != "bin"]
        told = [("stdout or stderr", (result.out + result.err).encode()) for result in self._results]
        for where, content in told + [(str(path), path.read_bytes()) for path in written if path not in self.given]:
            for secret in self.secrets:
                self.assertNotIn(secret.encode(), content, f"a secret in {where}")
            self.assertIsNone(_TEMPORARY.search(content), f"a temporary secret in {where}")
        self.assertEqual([path for path in self.folder.rglob("core*") if path.is_file()], [])
        self.assertEqual(left, [])

    @property
    def given(self):
        """Files with secrets that a test itself has written: in the folder `given`."""
        return set((self.folder / "given").rglob("*"))

    def give(self, name, text, mode=0o600):
        """A file with a secret for the programs, such as credentials; gives its path."""
        folder = self.folder / "given"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)
