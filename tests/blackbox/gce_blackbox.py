# SPDX-License-Identifier: Apache-2.0
"""As blackbox.py, with node groups on the simulated Compute Engine."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import blackbox  # noqa: E402
import processes  # noqa: E402
from blackbox import BINARIES  # noqa: E402
from gce import ComputeEngine, flex_group, gce_group  # noqa: E402,F401

OFF = "IDLE+CLOUD+POWERED_DOWN"
BOOTING = "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP"
REQUEST = "Regioninstancegroupmanagerresizerequests"
GROUP = "Regioninstancegroupmanagers"
_HOLD = 3_600_000  # ms


class GceBlackboxTest(blackbox.BlackboxTest):
    """Requests stay accepted until the test decides."""

    @classmethod
    def make_cloud(cls):
        return ComputeEngine(program=BINARIES / "cloudsim", boots=False, throttling=False, gce={"accepted_ms": _HOLD})

    def setUp(self):
        super().setUp()
        token = self.cloud.metadata_token()
        self.secrets.append(token)
        self.gce(gce_group())

    def gce(self, *groups, **keys):
        """One partition `gce` with these groups; Slurm shows all their nodes powered down."""
        self.partitions = [{"PartitionName": "gce", "NodeGroups": list(groups)}]
        self.configure(**keys)
        self.show_nodes([f"gce-{group['NodeGroupName']}-{i}" for group in groups for i in range(group["MaxNodes"])])

    def show(self, states):
        """{node: state}, as scontrol shows them from now on, in place of all others."""
        line = ("NodeName={0} CoresPerSocket=1 CPUAlloc=0 CPUTot=2 NodeAddr={0} NodeHostName={0} State={1} "
                "ThreadsPerCore=1 BootTime=None SlurmdStartTime=None LastBusyTime=Unknown\n")
        (self.folder / "slurm/nodes").write_text("".join(line.format(node, state) for node, state in states.items()))

    def show_jobs(self, jobs, limit="1:00:00"):
        """{job id: hostlist}: what squeue shows from now on."""
        (self.folder / "slurm/jobs").write_text("".join(f"{job} CONFIGURING {nodes} {limit}\n" for job, nodes in jobs.items()))

    def resume_jobs(self, jobs, name="resume-file"):
        """resume, for {job id: hostlist}, as slurmctld 23.02 and later calls it."""
        entries = [{"extra": None, "features": None, "job_id": job, "nodes_alloc": nodes, "nodes_resume": nodes,
                    "oversubscribe": "OK", "partition": "gce", "reservation": None} for job, nodes in jobs.items()]
        hostlist = ",".join(jobs.values())
        path = self.folder / name
        path.write_text(json.dumps({"all_nodes_resume": hostlist, "jobs": entries}))
        return self.resume(hostlist, env={"SLURM_CONF": str(self.slurm_conf), "SLURM_RESUME_FILE": str(path)})

    def calls_of(self, method):
        return [call for call in self.cloud.control("calls/log") if call["action"] == method]

    def names_alive(self):
        return sorted(machine["name"] for machine in self.cloud.machines("PROVISIONING", "STAGING", "RUNNING"))

    def nothing_started(self):
        self.assertEqual((self.cloud.machines(), self.cloud.migs()), ([], []))

    @staticmethod
    def wait_until(condition, what, timeout=30):
        return processes.wait_until(condition, what, timeout)

    def change_state(self):
        result = self.run_program("change_state")
        self.assertEqual(result.status, 0, result.err)
        return result
