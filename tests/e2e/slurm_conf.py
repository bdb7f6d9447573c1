# SPDX-License-Identifier: Apache-2.0
"""The settings of a throw-away cluster, all of them in one place: as quick as Slurm can be made to be."""

import os
import pwd
import socket

# What config.json's SlurmConf holds, so that generate_conf writes it. A real cluster's times are a hundred times these.
POWER_SAVING = {
    "PrivateData": "CLOUD",
    "ResumeRate": 0,
    "SuspendRate": 0,
    "ResumeTimeout": 30,
    "SuspendTimeout": 4,    # a node that powers down is unusable for the whole of it
    "SuspendTime": 300,     # tests that are about suspending say less
    "TreeWidth": 65533,
}

# slurm.conf itself. 22.05 polls: each value here is the shortest interval that it accepts or that is safe on a busy
# machine with two cores.
QUICK = {
    "SlurmctldParameters": "idle_on_node_suspend,power_save_interval=1,power_save_min_interval=0",
    "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1",
    "SlurmdTimeout": 10,
    "SlurmctldTimeout": 10,
    "KillWait": 2,
    # slurmctld 22.05 answers nobody for 10 s while it tries to resolve the name of a node that has no address (a requeue
    # talks to the job's nodes); with the default of 10 s commands would fail of it.
    "MessageTimeout": 25,
    "MinJobAge": 300,
    "ReturnToService": 2,
    "DebugFlags": "Power,NO_CONF_HASH",  # node.conf is meant to differ
    "SlurmctldDebug": "verbose",
    "SlurmdDebug": "verbose",
}

# The same for config.json: change_state's patience.
GRACES = {"LaunchGrace": 5, "OrphanGrace": 3, "MissingGrace": 3, "CoolDown": 5, "ProbeTime": 5}

# A requeued job waits as long as a credential lives before it may start again (120 s by default). 5 is the least.
REQUEUE_DELAY = 5

_WAIT_FOR_NODES = """\
#!/bin/sh
# PrologSlurmctld: ends when the job's nodes are up. slurmctld looks only every 30 s whether the nodes of a batch job
# have booted, but starts the job at once when this program ends. The job stays CONFIGURING as long as it runs.
export PATH=/usr/bin:/bin SLURM_CONF={conf}
while scontrol -o show node "$SLURM_JOB_NODELIST" |
  grep -qE ' State=[A-Z+]*(POWERING_UP|POWERED_DOWN|NOT_RESPONDING)'; do
  case $(scontrol -o show job "$SLURM_JOB_ID") in *JobState=CONFIGURING*) ;; *) exit 0 ;; esac
  sleep 0.1
done
exit 0
"""

_JOB_ENVIRONMENT = """\
#!/bin/sh
# TaskProlog: commands inside a job use the cluster's slurm.conf, not the one with which the machine's slurmd runs.
echo export SLURM_CONF={conf}
"""


def write(folder, port, overrides):
    """Writes slurm.conf (which includes slurm.conf.aws, to be generated), gres.conf, node.conf and two prologs."""
    user = pwd.getpwuid(os.getuid()).pw_name
    settings = {
        "ClusterName": "e2e",
        "SlurmctldHost": f"{socket.gethostname()}(127.0.0.1)",
        "SlurmctldPort": port,
        "SlurmUser": user,
        "SlurmdUser": user,
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "AuthInfo": f"socket={folder}/munge/socket,cred_expire={REQUEUE_DELAY}",
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool/%n",
        "SlurmctldPidFile": folder / "run/slurmctld.pid",
        "SlurmdPidFile": folder / "run/slurmd-%n.pid",
        "SlurmctldLogFile": folder / "log/slurmctld.log",
        "SlurmdLogFile": folder / "log/slurmd-%n.log",
        "LogTimeFormat": "iso8601_ms",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "AccountingStorageType": "accounting_storage/none",
        "MpiDefault": "none",
        "MailProg": "/bin/true",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU",
        "SlurmdParameters": "config_overrides",
        "PrologSlurmctld": folder / "wait-for-nodes",
        "TaskProlog": folder / "job-environment",
        **QUICK,
        **overrides,
    }
    lines = [f"{key}={value}" for key, value in settings.items() if value is not None]
    conf = folder / "slurm.conf"
    conf.write_text("\n".join(lines) + "\nInclude slurm.conf.aws\n")
    (folder / "gres.conf").write_text("Include gres.conf.aws\n")
    # A machine's slurmd listens at its host name's address only, so that a wrong NodeAddr does not go unnoticed.
    (folder / "node.conf").write_text(f"Include {conf}\nCommunicationParameters=NoInAddrAny\n")
    for name, text in (("wait-for-nodes", _WAIT_FOR_NODES), ("job-environment", _JOB_ENVIRONMENT)):
        (folder / name).write_text(text.format(conf=conf))
        (folder / name).chmod(0o755)


def give_ports(partitions, ports):
    """Gives every node a port of its own, as several slurmd on one host need."""
    for partition in partitions["Partitions"]:
        for group in partition["NodeGroups"]:
            count = max(1, group["MaxNodes"])
            first = ports.take(count)
            text = f"[{first}-{first + count - 1}]" if count > 1 else str(first)
            group.setdefault("SlurmSpecifications", {}).setdefault("Port", text)


def write_fragments(folder, power_saving, partitions):
    """What generate_conf writes, in short: for tests of the harness itself, which run without our programs."""
    lines = [f"{key}={value}" for key, value in power_saving.items()]
    for partition in partitions["Partitions"]:
        ranges = []
        for group in partition["NodeGroups"]:
            ranges.append(f"{partition['PartitionName']}-{group['NodeGroupName']}-[0-{group['MaxNodes'] - 1}]")
            specs = " ".join(f"{key}={value}" for key, value in group["SlurmSpecifications"].items())
            lines.append(f"NodeName={ranges[-1]} State=CLOUD {specs}")
        options = {"MaxTime": "INFINITE", "State": "UP", **partition.get("PartitionOptions", {})}
        lines.append(f"PartitionName={partition['PartitionName']} Nodes={','.join(ranges)} " +
                     " ".join(f"{key}={value}" for key, value in options.items()))
    (folder / "slurm.conf.aws").write_text("\n".join(lines) + "\n")
    (folder / "gres.conf.aws").write_text("")
