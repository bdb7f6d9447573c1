# SPDX-License-Identifier: Apache-2.0
"""As blackbox.py, with node groups on the simulated Compute Engine."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import blackbox  # noqa: E402
from blackbox import BINARIES, BOOTING, OFF  # noqa: E402,F401
from gce import ComputeEngine, flex_group, gce_group  # noqa: E402,F401

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

    def names_alive(self):
        return sorted(machine["name"] for machine in self.cloud.machines("PROVISIONING", "STAGING", "RUNNING"))

    def nothing_started(self):
        self.assertEqual((self.cloud.machines(), self.cloud.migs()), ([], []))
