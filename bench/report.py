# SPDX-License-Identifier: Apache-2.0
"""What was measured, as rows, and the tables printed from them."""

import dataclasses
import statistics


@dataclasses.dataclass
class Run:
    """One run of one program, as `measure` tells it. Seconds, KiB."""
    wall: float
    begin: float
    cpu: float          # with the programs that it ran
    cpu_own: float      # without them
    peak_kib: int       # of the biggest among it and the programs that it ran
    own_peak_kib: int   # its own; -1: not traced
    status: int


@dataclasses.dataclass
class Target:
    text: str
    reached: bool


@dataclasses.dataclass
class Row:
    """One piece of work done by one candidate."""
    candidate: str
    work: str
    nodes: int
    runs: list                                   # timed
    counted: Run = None                          # an untimed run, traced and counted
    calls: dict = dataclasses.field(default_factory=dict)  # {action: (attempts, refused)}
    slurm_runs: int = None                       # of scontrol, squeue ...
    targets: list = dataclasses.field(default_factory=list)
    problem: str = ""                            # why the work was not done as it should be

    def wall(self):
        return statistics.median(run.wall for run in self.runs)

    def least(self):
        return min(run.wall for run in self.runs)

    def cpu(self):
        return statistics.median(run.cpu for run in self.runs)

    def cpu_own(self):
        return statistics.median(run.cpu_own for run in self.runs)

    def peak_mib(self):
        run = self.counted or self.runs[0]
        return (run.own_peak_kib if run.own_peak_kib >= 0 else run.peak_kib) / 1024

    def check(self, text, reached):
        self.targets.append(Target(text, bool(reached)))

    def as_json(self):
        return {**dataclasses.asdict(self), "wall_median": self.wall(), "wall_least": self.least(), "cpu": self.cpu(),
                "cpu_own": self.cpu_own(), "peak_mib": self.peak_mib()}


def milliseconds(seconds):
    value = seconds * 1000
    return f"{value:,.0f}" if value >= 1000 else f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def _calls(calls):
    parts = []
    for action, (attempts, refused) in calls.items():
        parts.append(f"{action} {attempts}" + (f" ({refused} refused)" if refused else ""))
    return ", ".join(parts) or "-"


def _markdown(head, lines):
    """A table that reads well in a terminal and in a document."""
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    left = [not all(line[i][:1].isdigit() or line[i] in ("", "-") for line in lines) for i in range(len(head))]
    rule = ["-" * width if is_left else "-" * (width - 1) + ":" for width, is_left in zip(widths, left)]

    def text(line):
        cells = (cell.ljust(width) if is_left else cell.rjust(width)
                 for cell, width, is_left in zip(line, widths, left))
        return "| " + " | ".join(cells) + " |"
    return "\n".join([text(head), text(rule), *map(text, lines)])


def work_table(rows):
    head = ["work", "nodes", "wall ms", "least", "CPU ms", "own CPU", "peak MiB", "API calls", "Slurm commands"]
    lines = []
    for row in rows:
        lines.append([row.work, str(row.nodes), milliseconds(row.wall()), milliseconds(row.least()),
                      milliseconds(row.cpu()), milliseconds(row.cpu_own()), f"{row.peak_mib():.1f}", _calls(row.calls),
                      "-" if row.slurm_runs is None else str(row.slurm_runs)])
    return _markdown(head, lines)


def target_table(rows):
    lines = []
    for row in rows:
        for target in row.targets:
            lines.append([f"{row.work}, {row.nodes} nodes", target.text, "ok" if target.reached else "MISSED"])
    return _markdown(["work", "target", ""], lines) if lines else ""


def comparison_table(ours, theirs):
    """Side by side what both did."""
    found = {(row.work, row.nodes): row for row in theirs}
    lines = []
    for row in ours:
        other = found.get((row.work, row.nodes))
        if other is None:
            continue
        lines.append([row.work, str(row.nodes), milliseconds(row.wall()), milliseconds(other.wall()),
                      f"{other.wall() / row.wall():.1f}", milliseconds(row.cpu()), milliseconds(other.cpu()),
                      f"{other.cpu() / row.cpu():.1f}", f"{row.peak_mib():.1f}", f"{other.peak_mib():.1f}",
                      f"{row.slurm_runs} / {other.slurm_runs}"])
    return _markdown(["work", "nodes", "wall ms", "Python", "ratio", "CPU ms", "Python", "ratio", "peak MiB", "Python",
                      "Slurm commands"], lines)


def hostlist_table(results):
    """`results`: of hostlist_bench --benchmark_format=json, medians alone."""
    lines = []
    for result in results:
        verb, kind, count = result["run_name"].split("/")
        microseconds = result["cpu_time"] / 1000
        lines.append([verb, kind, count, f"{microseconds:,.2f}", f"{result['real_time'] / int(count):.0f}"])
    return _markdown(["hostlist", "names", "count", "CPU us", "ns a name"], lines)
