# SPDX-License-Identifier: Apache-2.0
"""The works on Compute Engine: what is set up, run and counted, and what each must reach."""

import json
import math

from candidates import SlurmBurst
from processes import wait_until
from report import Row

LATENCY = 0.1
_SIZES = (1, 100, 1000, 5000)
_FLEX_SIZES = (100, 1000)
_DELETED = 1000    # of standard machines as many are deleted again at most
_PAGE = 500        # the most that a list of Compute Engine gives at once
_METADATA = "gce.metadata"  # the head node's own server, asked for a token: no call of the API
_IN_FLIGHT = 32    # the least that deletes have to be at once, as there is no call for many
_GROUPS = {"standard": "g0", "flex": "f0"}


class GceCandidate(SlurmBurst):
    """slurm-burst with its credentials from the simulated metadata server."""

    def _more_configuration(self):
        return {"StateDir": str(self.folder / "state"),
                "Environment": {"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE": f"{self._endpoint}/compute/v1/",
                                "GCE_METADATA_HOST": self._endpoint.removeprefix("http://")}}


def gce_partitions():
    common = {"Provider": "gce", "Project": "cloudsim-project", "Region": "us-central1", "Zones": ["us-central1-a"],
              "SlurmSpecifications": {"CPUs": "2"}, "MaxNodes": _SIZES[-1]}
    return [{"PartitionName": "gce", "NodeGroups": [
        {**common, "NodeGroupName": _GROUPS["standard"], "InstanceTemplate": "template-name"},
        {**common, "NodeGroupName": _GROUPS["flex"], "InstanceTemplate": "flex-template",
         "ProvisioningModel": "FLEX_START", "MaxNodes": _FLEX_SIZES[-1]}]}]


def power(bench):
    """Resume and suspend of machines by bulkInsert, and of Flex Start machines by their group."""
    content = gce_partitions()
    candidate = GceCandidate(bench.folder / "slurm-burst-gce", bench.programs, bench.clouds.endpoint)
    candidate.configure(content)
    rows = []
    with bench.controller(content) as controller:
        for kind, sizes in (("standard", _SIZES), ("flex", _FLEX_SIZES)):
            found = [_Power(bench, controller, candidate, content, kind, nodes).measure() for nodes in bench.sizes(sizes)]
            rows += [row for works in found for row in works]
    _check_growth(rows)
    return rows


class _Power:
    """Resume of so many nodes and their suspend."""

    def __init__(self, bench, controller, candidate, content, kind, nodes):
        self._bench, self._controller, self._candidate, self._content = bench, controller, candidate, content
        self._kind, self._nodes = kind, nodes
        self._environment = {**controller.environment, **candidate.environment()}
        name = "" if kind == "standard" else ", Flex Start"
        self._resume = Row(candidate.name, f"gce: resume{name}", nodes, [])
        self._suspend = Row(candidate.name, f"gce: suspend{name}", nodes, [])
        self._deletes_at_once = 0
        # More single deletes than Google allows a minute: what would be measured is its limit.
        self._ends = kind == "flex" or nodes <= _DELETED

    def measure(self):
        for _ in range(1 if self._nodes > 1000 else self._bench.options.repeat):
            self._once(lambda row, command: row.runs.append(self._bench.run(command, self._environment)))
        self._once(self._count)
        if self._kind == "standard":
            self._check_standard()
        else:
            self._check_flex()
        return [self._resume, self._suspend] if self._ends else [self._resume]

    def _hostlist(self):
        prefix = f"gce-{_GROUPS[self._kind]}-"
        return f"{prefix}[0-{self._nodes - 1}]" if self._nodes > 1 else f"{prefix}0"

    def _once(self, run):
        cloud = self._bench.clouds
        cloud.reset(latency_ms=LATENCY * 1000)
        if self._kind == "flex":
            cloud.set(gce={"accepted_ms": 3_600_000})
        run(self._resume, self._candidate.command("resume", self._hostlist()))
        if self._kind == "flex":
            self._come_out_of_the_queue(cloud)
        self._expect(self._resume, [machine["name"] for machine in cloud.machines()], self._nodes)
        if not self._ends:
            return
        run(self._suspend, self._candidate.command("suspend", self._hostlist()))
        left = [machine["name"] for machine in cloud.machines() if machine["status"] != "STOPPING"]
        self._expect(self._suspend, left, 0)

    def _come_out_of_the_queue(self, cloud):
        migs = cloud.migs()
        if [[request["state"] for request in mig["requests"]] for mig in migs] != [["ACCEPTED"]]:
            self._resume.problem = f"no one accepted request: {migs}"
            return
        cloud.decide(migs[0]["name"], "succeed")
        wait_until(lambda: len(cloud.machines()) == self._nodes, "the request's machines do not come")

    def _expect(self, row, found, count):
        if len(set(found)) != count:
            row.problem = f"{len(set(found))} machines in place of {count}; {self._bench.complaint()}"

    def _count(self, row, command):
        row.counted, commands = self._bench.run_counted(self._candidate, self._content, command, self._environment)
        row.calls, row.slurm_runs = self._bench.clouds.calls(), len(commands)
        self._deletes_at_once = self._bench.clouds.peak_concurrency("Instances.delete")

    def _api_calls(self, row):
        return sum(attempts for name, (attempts, _) in row.calls.items() if name != _METADATA)

    def _check_standard(self):
        pages = math.ceil(self._nodes / _PAGE)
        # list, bulkInsert, its operation, the pages of the list that has the addresses: one after another.
        chain = (3 + pages) * LATENCY
        self._resume.check(f"{3 + pages} API calls, {pages} of them pages of the list of machines: "
                           f"{self._api_calls(self._resume)}", self._api_calls(self._resume) <= 3 + pages)
        if self._nodes == 1000:
            self._resume.check(f"wall <= 1.3 x {chain * 1000:.0f} ms: {self._resume.wall() / chain:.2f} x",
                               self._resume.wall() <= 1.3 * chain)
            self._suspend.check(f">= {_IN_FLIGHT} deletes at once: {self._deletes_at_once}",
                                self._deletes_at_once >= _IN_FLIGHT)
            for row in (self._resume, self._suspend):
                row.check(f"peak memory <= 32 MiB: {row.peak_mib():.1f}", row.peak_mib() <= 32)

    def _check_flex(self):
        deletes = self._suspend.calls.get("Instances.delete", (0, 0))[0]
        self._suspend.check(f"not one call a node: {self._api_calls(self._suspend)} calls",
                            deletes == 0 and self._api_calls(self._suspend) <= 10)


def _check_growth(rows):
    """From 100 nodes to 1000 no call may be added but the pages of the list."""
    standard = {row.nodes: row for row in rows if row.work == "gce: resume"}
    if {100, 1000} <= standard.keys():
        without_pages = {nodes: sum(attempts for name, (attempts, _) in standard[nodes].calls.items()
                                    if name not in (_METADATA, "Instances.aggregatedList", "Instances.list"))
                         for nodes in (100, 1000)}
        standard[1000].check(f"calls but lists as with 100 nodes: {without_pages[1000]}",
                             without_pages[100] == without_pages[1000])
