# SPDX-License-Identifier: Apache-2.0
"""Whose work is measured: slurm-burst's programs, and the Python plugin's; each installed with its configuration."""

import json
import pathlib
import shutil

from simulated_clouds import CREDENTIALS, REGION

SCONTROL = pathlib.Path("/usr/bin")
_SLURM_CONF = {"PrivateData": "CLOUD", "ResumeProgram": "/bin/true", "SuspendProgram": "/bin/true", "ResumeRate": 100,
               "SuspendRate": 100, "ResumeTimeout": 1800, "SuspendTime": 86400, "TreeWidth": 60000}


def partitions(nodes, group_size):
    """One partition `aws` with so many nodes, in groups g0, g1, ... of at most group_size."""
    groups = []
    while nodes > 0:
        groups.append({
            "NodeGroupName": f"g{len(groups)}",
            "MaxNodes": min(nodes, group_size),
            "Region": REGION,
            "SlurmSpecifications": {"CPUs": "2", "Gres": "gpu:1"},
            "PurchasingOption": "on-demand",
            "OnDemandOptions": {"AllocationStrategy": "lowest-price"},
            "LaunchTemplateSpecification": {"LaunchTemplateName": "template-name", "Version": "$Latest"},
            "LaunchTemplateOverrides": [{"InstanceType": "c5.large"}, {"InstanceType": "c5a.large"}],
            "SubnetIds": ["subnet-11111111", "subnet-22222222"],
            "Tags": [{"Key": "node", "Value": "{node_name}"}],
        })
        nodes -= groups[-1]["MaxNodes"]
    return [{"PartitionName": "aws", "NodeGroups": groups}]


def first_nodes(count):
    """The hostlist of the first nodes of the first group."""
    return f"aws-g0-[0-{count - 1}]" if count > 1 else "aws-g0-0"


class Candidate:
    """Programs in a folder with config.json and partitions.json beside them, as both suites are installed."""

    name = None

    def __init__(self, folder, source, endpoint):
        self.folder, self._source, self._endpoint = folder, source, endpoint
        folder.mkdir(parents=True)
        self._copy_programs()

    def configure(self, content, scontrol=SCONTROL):
        """`content`: partitions.json's Partitions. `scontrol`: the folder with Slurm's commands."""
        config = {"LogFileName": str(self.folder / "log"), "SlurmBinPath": str(scontrol), "SlurmConf": _SLURM_CONF,
                  **self._more_configuration()}
        (self.folder / "config.json").write_text(json.dumps(config, indent=2))
        (self.folder / "partitions.json").write_text(json.dumps({"Partitions": content}, indent=2))

    def _copy_programs(self):
        raise NotImplementedError

    def _more_configuration(self):
        return {}

    def command(self, program, *arguments):
        raise NotImplementedError

    def environment(self):
        """Beside SLURM_CONF, the one variable that slurmctld gives to its programs."""
        return {}


class SlurmBurst(Candidate):
    name = "slurm-burst"

    def _copy_programs(self):
        for program in ("resume", "suspend", "change_state", "generate_conf"):
            shutil.copy(self._source / program, self.folder / program)

    def _more_configuration(self):
        return {"StateDir": str(self.folder / "state"),
                "Environment": {"AWS_ENDPOINT_URL": self._endpoint, **CREDENTIALS}}

    def command(self, program, *arguments):
        return [str(self.folder / program), *arguments]


class PythonPlugin(Candidate):
    name = "Python plugin"

    def _copy_programs(self):
        for script in ("common", "resume", "suspend", "change_state", "generate_conf"):
            shutil.copy(self._source / f"{script}.py", self.folder)

    def command(self, program, *arguments):
        return ["/usr/bin/python3", str(self.folder / f"{program}.py"), *arguments]

    def environment(self):
        # It takes credentials from the environment or from ~/.aws; slurmctld's programs have no PATH.
        return {"HOME": str(self.folder), "PYTHONPATH": str(pathlib.Path(__file__).parent / "python_plugin"),
                "BENCH_ENDPOINT": self._endpoint, **CREDENTIALS}
