"""One job of a result, or clones merged by `group_reporting`: its requests and its own flash counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.results import fio_schema
from ssdlab.results.ledger import Ledger
from ssdlab.targets.specification import Reporting

DIRECTIONS = ("read", "write", "trim")

READ_ONLY_ERROR = 30
"""EROFS, what fio would report of a drive that has turned read-only."""


@dataclass(frozen=True)
class DirectionResult:
    """Requests of one direction. What takes a clock is None without one."""

    total_ios: int
    io_bytes: int
    iops: float | None = None
    bw_bytes: float | None = None

    def to_dict(self, *, bins: bool) -> dict[str, Any]:
        """fio's object for the direction; `bw` in KiB/s."""
        frame = fio_schema.direction(has_requests=self.total_ios > 0, bins=bins)
        return frame | {
            "io_bytes": self.io_bytes,
            "io_kbytes": self.io_bytes // 1024,
            "bw_bytes": self.bw_bytes,
            "bw": None if self.bw_bytes is None else int(self.bw_bytes) // 1024,
            "iops": self.iops,
            "total_ios": self.total_ios,
            "short_ios": 0,
            "drop_ios": 0,
        }


@dataclass(frozen=True)
class JobResult:
    """What fio calls a job in its output. The counters are this job's own, not those of the run so far."""

    name: str
    group: int
    stage: int
    clones: int
    error: int
    options: Mapping[str, str]
    read: DirectionResult
    write: DirectionResult
    trim: DirectionResult
    ledger: Ledger
    specification: Sequence[Mapping[str, Any]]
    """The engine's job objects, one a clone."""

    @property
    def waf(self) -> float | None:
        """Write amplification over the whole of this job; None when it wrote nothing."""
        return self.ledger.waf

    def to_dict(self, *, bins: bool) -> dict[str, Any]:
        """fio's object for the job, with the key `ssdlab` at its end."""
        return {
            "jobname": self.name,
            "groupid": self.group,
            "error": self.error,
            "eta": None,
            "elapsed": None,
            "job options": dict(self.options),
            **{name: getattr(self, name).to_dict(bins=bins) for name in DIRECTIONS},
            **fio_schema.job_tail(),
            "ssdlab": {
                "stage": self.stage,
                "clones": self.clones,
                "specification": {"job": [dict(job) for job in self.specification]},
                "host": self.ledger.host_json(),
                "nand": self.ledger.nand_json(),
                "waf": self.waf,
                "waf_parts": self.ledger.waf_parts,
                "simulated_seconds": None,
                "wall_seconds": None,
                "programs_per_wall_second": None,
                "ios_per_wall_second": None,
            },
        }


def job_results(
    raw_jobs: Sequence[Mapping[str, Any]],
    jobs: Sequence[Mapping[str, Any]],
    reporting: Sequence[Reporting],
    mapping_unit_bytes: int,
    failed_stage: int | None,
) -> list[JobResult]:
    """The engine's jobs as fio reports them: neighbours of a group become one where `group_reporting` is set.

    `failed_stage` is the stage in which the drive turned read-only, or None.
    """
    runs: list[list[int]] = []
    for index, entry in enumerate(reporting):
        if runs and entry.merged and reporting[runs[-1][0]].group == entry.group:
            runs[-1].append(index)
        else:
            runs.append([index])
    return [
        _merge(
            [raw_jobs[index] for index in run],
            [jobs[index] for index in run],
            # fio keeps the name of the first and the options of the last.
            reporting[run[-1]],
            mapping_unit_bytes,
            failed_stage,
        )
        for run in runs
    ]


def _merge(
    raw_jobs: Sequence[Mapping[str, Any]],
    jobs: Sequence[Mapping[str, Any]],
    reporting: Reporting,
    mapping_unit_bytes: int,
    failed_stage: int | None,
) -> JobResult:
    first, *rest = (Ledger.from_outcome(raw["ledger"], mapping_unit_bytes) for raw in raw_jobs)
    stage = raw_jobs[0]["stage"]
    return JobResult(
        name=raw_jobs[0]["name"],
        group=reporting.group,
        stage=stage,
        clones=len(raw_jobs),
        error=READ_ONLY_ERROR if stage == failed_stage else 0,
        options=reporting.options,
        **{
            name: DirectionResult(
                total_ios=sum(raw[name]["ios"] for raw in raw_jobs),
                io_bytes=sum(raw[name]["bytes"] for raw in raw_jobs),
            )
            for name in DIRECTIONS
        },
        ledger=sum(rest, first),
        specification=jobs,
    )
