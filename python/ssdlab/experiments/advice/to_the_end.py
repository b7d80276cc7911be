"""The life of a drive until it turns read-only, from runs of the workload at several spare areas.

The runs are the engine's, in the steady state; between the losses of erase units everything is constant
(`ssdlab.theory.lifetime`). Not for lives that are shorter than the approach to the steady state.
"""

from contextlib import closing
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.advice.setting import Setting, scale_of
from ssdlab.experiments.advice.side_by_side import run_side_by_side
from ssdlab.experiments.advice.trials import Progress
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.results.speed import speed
from ssdlab.theory.lifetime import Calibration, Course, Wear, course

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


def whole_life(
    workload: "Described | Trace", setting: Setting, workers: int | None, tell: Progress | None, *, timed: bool = True
) -> "tuple[Course, Fraction | None]":
    """The life of the drive, and the scale of the runs (None: whole drives). Without `timed` the life has no speeds.

    Raises InputError for a drive whose blocks all endure alike, and RunFailed if a run is incomplete.
    """
    drive = setting.at(None, None)
    spread = drive.file.faults.endurance_spread
    if not spread:
        raise InputError(
            f"{drive.name}: faults.endurance_spread is 0: all blocks fail at once, at their rated cycles; give it with "
            "--set faults.endurance_spread=0.1"
        )
    scale = scale_of(workload, setting, _UNITS)
    # The runs are of drives that have lost erase units, but lose none.
    lasting = setting.with_settings({"faults.wear_out": "false", "faults.endurance_spread": "0"})
    own, least = drive.capacity.over_provisioning, lasting.at(None, scale).over_provisioning_min
    shares = sorted(least + (own - least) * part for part in (_LEAST, *_OF_OWN))
    drives = [lasting.at(share if share < own else None, scale) for share in shares]
    found = _run(drives, workload, workers, tell, timed)
    wafs, rates = [], []
    for share, result in zip(shares, found, strict=True):
        if result.failure or result.settled_waf is None:
            why = result.failure or "nothing was written"
            raise RunFailed(f"{drive.name} with {format_share(share)} of spare area: {why}")
        wafs.append(result.settled_waf)
        speeds = speed(result)
        rates.append(speeds.write.iops if speeds else 0.0)
    calibration = Calibration(shares, wafs, rates if timed and all(rates) else None)
    return course(drive, calibration, Wear(spread), seed=1), scale


def _run(
    drives: "Sequence[ResolvedDrive]",
    workload: "Described | Trace",
    workers: int | None,
    tell: Progress | None,
    timed: bool,
) -> "list[Result]":
    specifications = [workload.specify(drive, seed=1, timed=timed) for drive in drives]
    shares: dict[int, float] = {}

    def on_progress(index: int, share: float, host_bytes: int) -> None:
        shares[index] = share
        if tell:
            tell("runs", sum(shares.values()) / len(specifications))

    with closing(run_side_by_side(specifications, workers, on_progress)) as runs:
        results = dict(runs)
    return [results[index] for index in range(len(specifications))]
