"""The life of a drive until it turns read-only, from runs of the workload at several spare areas.

The runs are the engine's, in the steady state; between the losses of erase units everything is constant
(`ssdlab.theory.lifetime`). Not for lives that are shorter than the approach to the steady state.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from ssdlab.errors import InputError, RunFailed
from ssdlab.evidence.estimate import SEEDS_DIFFER
from ssdlab.experiments.advice.setting import Setting, scale_of
from ssdlab.experiments.advice.trials import Progress
from ssdlab.foundation.quantities import format_share, rounded
from ssdlab.simulator.results.speed import speed
from ssdlab.simulator.targets.side_by_side import all_side_by_side
from ssdlab.theory.endurance import BYTES_PER_TB, DAYS_PER_YEAR
from ssdlab.theory.lifetime import Calibration, Course, Wear, course, lives

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ssdlab.experiments.advice.described import Described
    from ssdlab.experiments.advice.recorded import Trace
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.results import Result

_UNITS = 500_000
_OF_OWN = (1.0, 0.75, 0.55, 0.4)
"""Spare areas of the runs, as shares of the way from the least that works to the drive's own."""
_LEAST = 0.1
_DRAWN = 20
_LAST_MONTHS = (12, 6, 3, 2, 1)
HEADS = ("when", "years", "written", "erase units lost", "OP", "WAF", "writes/s")
"""The names of the cells of `Life.rows`."""


class Moment(TypedDict):
    """The drive at a moment of its life."""

    when: str
    years: float
    written_tb: float
    erase_units_lost: int
    erase_units_spare: int
    """How many it can lose and still be written."""
    over_provisioning: float
    waf: float
    iops: float | None
    is_extrapolated: bool
    """Whether no run had so little spare area. WAF and speed are then those of the least that a run had: WAF is higher,
    the speed lower."""


@dataclass(frozen=True)
class Life:
    """A life until the drive turns read-only."""

    drive: "ResolvedDrive"
    course: Course
    scale: "Fraction | None"
    """That of the runs; None for whole drives."""
    over_provisioning_run_min: float
    """The least spare area of a run."""
    host_bytes_of_others: tuple[float, float]
    """The shortest and the longest life of `_DRAWN` drives whose blocks are drawn, of which this is the first."""

    @property
    def host_bytes(self) -> float:
        """What the host writes until the end."""
        return float(self.course.host_bytes[-1])

    def moment(self, when: str, written_bytes: float, daily_bytes: float) -> Moment:
        """The drive after so many bytes."""
        step = self.course.at(written_bytes)
        # Beyond the runs, what is known is that WAF does not fall and the speed does not rise.
        known = min(step, self._steps_with_runs - 1)
        iops = self.course.iops
        over_provisioning = float(self.course.over_provisioning[step])
        return {
            "when": when,
            "years": written_bytes / daily_bytes / DAYS_PER_YEAR,
            "written_tb": written_bytes / BYTES_PER_TB,
            "erase_units_lost": step,
            "erase_units_spare": len(self.course.host_bytes) - 1,
            "over_provisioning": over_provisioning,
            "waf": float(self.course.waf[known]),
            "iops": None if iops is None else float(iops[known]),
            "is_extrapolated": step > known,
        }

    def moments(self, daily_bytes: float) -> list[Moment]:
        """The drive when new, in the middle of its life, and in its last year."""
        end, a_month = self.host_bytes, daily_bytes * DAYS_PER_YEAR / 12
        at = [("new", 0.0), ("half of its life", end / 2)]
        at += [
            (f"{each} months before" if each > 1 else "a month before", end - each * a_month) for each in _LAST_MONTHS
        ]
        at.sort(key=lambda each: each[1])
        return [self.moment(when, written, daily_bytes) for when, written in [*at, ("the end", end)] if written >= 0]

    def rows(self, daily_bytes: float) -> list[list[str]]:
        """The same as cells under `HEADS`. Where no run had so little spare area, there are bounds."""
        return [
            [
                each["when"],
                rounded(each["years"]),
                f"{digits(each['written_tb'], 3)} TB",
                f"{each['erase_units_lost']:,} of {each['erase_units_spare']:,}",
                format_share(each["over_provisioning"]),
                bound(each["waf"], "over") if each["is_extrapolated"] else digits(each["waf"], 3),
                "-"
                if each["iops"] is None
                else bound(each["iops"], "below")
                if each["is_extrapolated"]
                else digits(each["iops"], 3),
            ]
            for each in self.moments(daily_bytes)
        ]

    def last_year(self, daily_bytes: float, points: int) -> list[tuple[float, Moment]]:
        """The drive at evenly spaced moments of its last year, each with the months since the year began; of all its
        life if that is shorter."""
        year = min(self.host_bytes, daily_bytes * DAYS_PER_YEAR)
        months = 12 * year / (daily_bytes * DAYS_PER_YEAR)
        shares = [number / (points - 1) for number in range(points)]
        begin = self.host_bytes - year
        return [(share * months, self.moment("", begin + share * year, daily_bytes)) for share in shares]

    def extrapolated_days(self, daily_bytes: float) -> float:
        """How long, before the end, the drive has less spare area than any run had."""
        return (self.host_bytes - float(self.course.host_bytes[self._steps_with_runs - 1])) / daily_bytes

    @property
    def _steps_with_runs(self) -> int:
        """How many steps have at least as much spare area as a run had; one at least."""
        return max(1, int((self.course.over_provisioning >= self.over_provisioning_run_min).sum()))


def whole_life(
    workload: "Described | Trace",
    setting: Setting,
    workers: int | None,
    tell: Progress | None,
    *,
    timed: bool = True,
    scale: "Fraction | None" = None,
    seed: int = 1,
) -> Life:
    """The life of the drive. Without `timed` it has no speeds.

    Raises InputError for a drive whose blocks all endure alike, and RunFailed if a run is incomplete.
    """
    drive = setting.at(None, None)
    spread = drive.file.faults.endurance_spread
    if not spread:
        raise InputError(
            f"{drive.name}: faults.endurance_spread is 0: all blocks fail at once, at their rated cycles; give it with "
            "--set faults.endurance_spread=0.1"
        )
    scale = scale_of(workload, setting, _UNITS) if scale is None else None if scale == 1 else scale
    # The runs are of drives that have lost erase units, but lose none.
    lasting = setting.with_settings({"faults.wear_out": "false", "faults.endurance_spread": "0"})
    own, least = drive.capacity.over_provisioning, lasting.at(None, scale).over_provisioning_min
    shares = sorted(least + (own - least) * part for part in (_LEAST, *_OF_OWN))
    drives = [lasting.at(share if share < own else None, scale) for share in shares]
    found = _run(drives, workload, workers, tell, timed, seed)
    wafs, hosts, rates = [], [1.0], []
    for share, result in zip(shares, found, strict=True):
        if result.failure or result.settled_waf is None:
            why = result.failure or "nothing was written"
            raise RunFailed(f"{drive.name} with {format_share(share)} of spare area: {why}")
        wafs.append(result.settled_waf)
        hosts.append((result.settled_waf_parts or {})["host"])
        speeds = speed(result)
        rates.append(speeds.write.iops if speeds else 0.0)
    calibration = Calibration(shares, wafs, rates if timed and all(rates) else None, min(hosts))
    wear = Wear(spread)
    drawn = lives(drive, calibration, wear, drives=_DRAWN, seed=seed).host_bytes
    of_others = float(drawn.min()), float(drawn.max())
    return Life(drive, course(drive, calibration, wear, seed=seed), scale, shares[0], of_others)


def digits(value: float, count: int) -> str:
    """So many significant digits, also before the point: 7192 -> "7,190"."""
    return rounded(float(f"{value:.{count}g}"), count)


def bound(value: float, which: Literal["over", "below"]) -> str:
    """A bound of two digits that is `SEEDS_DIFFER` away from the value: another run does not cross it."""
    least = value * (1 - SEEDS_DIFFER if which == "over" else 1 + SEEDS_DIFFER)
    unit = 10.0 ** (math.floor(math.log10(least)) - 1)
    steps = math.floor(least / unit) if which == "over" else math.ceil(least / unit)
    return f"{which} {digits(steps * unit, 2)}"


def assumptions(life: Life, daily_bytes: float) -> str:
    """What the figures of a life rest on, in sentences."""
    file, scale = life.drive.file, life.scale
    least, most = (digits(each / BYTES_PER_TB, 3) for each in life.host_bytes_of_others)
    return (
        f"{life.drive.endurance_cycles:,} cycles on average, of blocks that differ by "
        f"{format_share(file.faults.endurance_spread)} (standard deviation), all erased equally often; the drive turns "
        f"read-only when it has no spare blocks left. {_DRAWN} drives with other such blocks are written {least} to "
        f"{most} TB. WAF and speed are of the steady state at five spare areas"
        + (f", from runs of {scale} of the drive" if scale else "")
        + f". Below {format_share(life.over_provisioning_run_min)} of spare area, in the last "
        f"{rounded(life.extrapolated_days(daily_bytes), 2)} days, there are no runs: WAF is higher than in the last, "
        "the speed lower."
    )


def _run(
    drives: "Sequence[ResolvedDrive]",
    workload: "Described | Trace",
    workers: int | None,
    tell: Progress | None,
    timed: bool,
    seed: int,
) -> "list[Result]":
    specifications = [workload.specify(drive, seed=seed, timed=timed) for drive in drives]
    shares: dict[int, float] = {}

    def on_progress(index: int, share: float, host_bytes: int) -> None:
        shares[index] = share
        if tell:
            tell("runs", sum(shares.values()) / len(specifications))

    return all_side_by_side(specifications, workers, on_progress)
