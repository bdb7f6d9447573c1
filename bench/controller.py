# SPDX-License-Identifier: Apache-2.0
"""A throw-away slurmctld with its munged and thousands of powered-down cloud nodes; no slurmd, so no job can run."""

import os
import pwd
import socket
import subprocess

from processes import Daemon, Ports, wait_until

_SETTINGS = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
TreeWidth=65533
PrivateData=cloud
SlurmctldParameters=idle_on_node_suspend
ResumeProgram=/bin/true
SuspendProgram=/bin/true
ResumeTimeout=1800
SuspendTimeout=120
SuspendTime=86400
"""


class Controller:
    """with Controller(folder, partitions) as controller: ...; the nodes are those of partitions.json's `partitions`."""

    def __init__(self, folder, partitions):
        self.folder = folder
        self.slurm_conf = folder / "slurm.conf"
        self.environment = {"SLURM_CONF": str(self.slurm_conf)}
        self._partitions = partitions
        self._daemons = []
        self._ports = None

    def __enter__(self):
        self._ports = Ports()
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self._daemons):
            daemon.stop()
        self._ports.release()

    def _start(self):
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self._write_settings()
        munge = self.folder / "munge"
        (munge / "key").touch(mode=0o600)
        (munge / "key").write_bytes(os.urandom(128))
        files = [f"--{name}-file={munge / name}" for name in ("key", "pid", "log", "seed")]
        self._daemon("munged", ["/usr/sbin/munged", "--foreground", "--force", "--num-threads=2",
                                f"--socket={munge / 'socket'}", *files])
        self._wait_for("munge", "-n", f"--socket={munge / 'socket'}")
        self._daemon("slurmctld", ["/usr/sbin/slurmctld", "-D", "-c"])
        self._wait_for("scontrol", "show", "partition")

    def _daemon(self, name, command):
        self._daemons.append(Daemon(name, command, self.folder / f"{name}.out", env={**os.environ, **self.environment}))

    def _wait_for(self, *command):
        def answers():
            self._daemons[-1].require_running()
            return subprocess.run([f"/usr/bin/{command[0]}", *command[1:]], env=self.environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
        wait_until(answers, f"{self._daemons[-1].name} does not answer", 60)

    def _write_settings(self):
        lines = [_SETTINGS.format(host=socket.gethostname(), port=self._ports.take(), folder=self.folder,
                                  user=pwd.getpwuid(os.getuid()).pw_name)]
        for partition in self._partitions:
            ranges = []
            for group in partition["NodeGroups"]:
                last = group["MaxNodes"] - 1
                ids = f"[0-{last}]" if last > 0 else "0"
                ranges.append(f"{partition['PartitionName']}-{group['NodeGroupName']}-{ids}")
                lines.append(f"NodeName={ranges[-1]} State=CLOUD CPUs=2")
            lines.append(f"PartitionName={partition['PartitionName']} Nodes={','.join(ranges)} State=UP")
        self.slurm_conf.write_text("\n".join(lines) + "\n")

    def addresses(self):
        """{node: NodeAddr}, as slurmctld has them now."""
        output = subprocess.run(["/usr/bin/scontrol", "-o", "show", "nodes"], env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
        nodes = {}
        for line in output.splitlines():
            words = dict(word.split("=", 1) for word in line.split(" ", 12) if "=" in word)
            address = line.partition(" NodeAddr=")[2].partition(" ")[0]
            nodes[words["NodeName"]] = address
        return nodes
