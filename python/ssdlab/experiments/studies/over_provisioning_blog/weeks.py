"""Two months of use with no trim, weekly fstrim or discard, then the runs: does the fall happen on a system that trims?

Not published as an experiment: the blog only says that weekly trims prevent the fall.
"""

from fractions import Fraction
from string import Template
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Row, StudyResult
from ssdlab.experiments.studies.over_provisioning_blog.runs import (
    DRIVE,
    FOLDER,
    RESERVE,
    RUNS,
    SCALE,
    SECONDS,
    WRITES_A_FLUSH,
    Key,
    Runs,
)
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads import filesystem
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

WEEKS = 8
NO_TRIM, WEEKLY, DISCARD = "no trim", "weekly fstrim", "discard"
TRIMS = (NO_TRIM, WEEKLY, DISCARD)
FILE_SYSTEMS = {"whole drive": "100%", "over-provisioned": "186GiB"}


def run(context: Context) -> StudyResult:
    """Simulates the weeks with each kind of trim, with and without unpartitioned space."""
    keys = [(trim, state) for state in FILE_SYSTEMS for trim in TRIMS]
    labels = {key: f"{WEEKS} weeks of use, {key[0]}, {key[1]}" for key in keys}
    results = context.simulate({label: _specified(context, *key) for key, label in labels.items()})
    scale = context.scale(SCALE) or Fraction(1)
    group = f"{WEEKS} weeks of use, then the {RUNS} runs, with the same reserve"
    rows = []
    for (trim, state), label in labels.items():
        result = results[label]
        runs = Runs.of(result, scale)
        rows += [
            Row(f"{state}, {trim}: WAF of the weeks", None, _waf_of_the_weeks(result), "", group=group),
            Row(f"{state}, {trim}: written in the runs", None, runs.written_gb()[-1], "GB", group=group),
        ]
    written = {key: Runs.of(results[label], scale).written_gb()[-1] for key, label in labels.items()}
    whole = [written[trim, "whole drive"] for trim in TRIMS]
    return StudyResult(
        finding=f"After {WEEKS} weeks of use the full drive writes {whole[0]:.0f} GB in the runs without any trim, "
        f"{whole[1]:.0f} GB with a weekly one, and {whole[2]:.0f} GB with discard.",
        rows=rows,
    )


def _specified(context: Context, trim: str, state: str) -> "Specification":
    scale = context.scale(SCALE)
    drive = drive_of(DRIVE, scale=scale, settings=Key(RESERVE, state).settings)
    weeks = []
    for week in range(1, WEEKS + 1):
        weeks += [
            *(["fstrim"] if trim == WEEKLY else []),
            f"write week-{week} 1GiB count=16",
            *([f"rm week-{week - 1}.*"] if week > 1 else []),
            "overwrite test_file.* 4GiB random bs=16KiB",
        ]
    text = Template((FOLDER / "weeks.files").read_text(encoding="utf-8")).substitute(
        FILE_SYSTEM=FILE_SYSTEMS[state],
        MOUNT="discard" if trim == DISCARD else "",
        WEEKS="\n".join(weeks),
        RUNS=str(RUNS),
        SECONDS=f"{float(SECONDS * (scale or 1)):.6f}",
        WRITES=str(WRITES_A_FLUSH),
    )
    script = filesystem.parse(text, f"weeks.files, {trim}")
    return specify(script, drive, seed=context.seed, series_points_max=64)


def _waf_of_the_weeks(result: "Result") -> float:
    """Of all writes between the fill and the runs."""
    ledgers = [job.ledger for job in result.jobs if job.name in ("write", "overwrite")]
    return sum(each.programmed_bytes for each in ledgers) / sum(each.host_written_bytes for each in ledgers)
