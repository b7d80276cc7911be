"""Fits a drive to depths 1 and 32 of a ladder, in closed form, and simulates every depth.

Alone, a request takes its time in the drive, its transfer, and the host's share; at depth 32 a SATA drive answers as
fast as commands pass, one after another. Of reads, all pages of a word line but the slowest have the median's time, the
slowest has that of the 99th percentile, and the host's share is what the mean leaves. Reads have four parameters from
four figures, and the base's number of dies by the 99th percentile at depth 32; writes three from three: that these
agree is no evidence. The other depths are predictions.

Reads and writes are fitted apart, since a command of one kind takes another time than one of the other, and the
simulated link has one for both.
"""

import math
import statistics
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, Note
from ssdlab.experiments.advice.fit_drive import METRICS
from ssdlab.experiments.studies.contract import Fitted, Row, Table
from ssdlab.experiments.studies.queue_depths.ladders import ALONE, MANY, Ladder, Step
from ssdlab.simulator.drives import DriveFile, Source, resolve
from ssdlab.simulator.drives import settings as drive_settings
from ssdlab.simulator.workloads import jobs, specifying

if TYPE_CHECKING:
    from ssdlab.experiments.studies.context import Context
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

BASE = Path(__file__).parent / "sata-480.toml"
"""Where a fit begins without another drive."""
BLOCK_BYTES = 4096
SECONDS, IDLE_SECONDS = 0.3, 0.1
"""Of each depth: 2,000 requests at depth 1 and more at others."""
TOLERANCES = {"iops": 0.05, "p50": 0.08, "p99": 0.20}
"""Allowed medians over the predicted depths."""
_UNITS = {"iops": "IOPS", "p50": "us", "p99": "us"}
_BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
_SATA_MB_S = {"sata-6g": 560.0, "sata-3g": 285.0}
"""The rates of links without one of their own (crates/engine/src/specification/drive/host.rs)."""
_PARTS = 256
"""The drive is simulated at this part, with a word line or more in each block."""


@dataclass(frozen=True)
class LadderFit:
    """A drive fitted to two depths of a ladder."""

    ladder: Ladder
    drive: DriveFile
    host_us: float
    """The share of the host in a request, outside of completion latencies."""
    parameters: tuple[str, ...]

    @property
    def fitted(self) -> Fitted:
        """The parameters, and the figures of depths 1 and 32 that they were fitted to: as many."""
        return Fitted(self.parameters, len(self.parameters))


def fit(ladder: Ladder, base: DriveFile) -> LadderFit:
    """The drive whose figures at depths 1 and 32 are those of the ladder.

    Raises InputError if the figures leave no time for the drive itself, or the base has no SATA link.
    """
    if base.host_link.interface not in _SATA_MB_S:
        allowed = " or ".join(_SATA_MB_S)
        raise InputError(f"{base.name}: host_link.interface is {base.host_link.interface!r}; allowed is {allowed}")
    alone, many = ladder.steps[ALONE], ladder.steps[MANY]
    data_us = BLOCK_BYTES / (base.host_link.mb_s or _SATA_MB_S[base.host_link.interface])
    command_us = 1e6 / many.iops - data_us
    values = {"host_link.command_us": command_us}
    in_drive_us = alone.p50 - data_us - command_us
    if ladder.is_reads:
        bits = _BITS[base.nand.cell]
        fixed_us = BLOCK_BYTES / base.nand.channel_mb_s + data_us + command_us
        low, high = alone.p50 - fixed_us, max(alone.p99, alone.p50) - fixed_us
        host_us = 1e6 / alone.iops - ((bits - 1) * low + high) / bits - fixed_us
        settings = {"nand.read_us": _list([low] * (bits - 1) + [high])}
        names: tuple[str, ...] = ("the read time", "that of the slowest page", "the number of dies")
        in_drive_us = low
    else:
        host_us = 1e6 / alone.iops - alone.p50
        settings, names = {"controller.command_us": f"{in_drive_us:.4g}"}, ("controller.command_us",)
    if in_drive_us <= 0 or command_us < 0:
        raise InputError(
            f"{ladder.label}: alone a request takes {alone.p50:g} us, of {MANY} one ends every {1e6 / many.iops:.1f} "
            f"us, and its data take {data_us:.1f} us on the link: nothing is left for the drive"
        )
    settings |= {key: f"{value:.4g}" for key, value in values.items()}
    drive = drive_settings.apply(_with_word_lines(base), settings)
    said = (
        f"closed form, with the host's share as many free as figures of {ladder.label}: IOPS at depths {ALONE} and "
        f"{MANY}, percentiles at depth {ALONE}"
    )
    sources = {key: Source(kind="fitted", source=said) for key in settings}
    parameters = (*names, "host_link.command_us", "the host's share")
    return LadderFit(ladder, drive.with_sources(sources), max(0.0, host_us), parameters)


def _with_word_lines(base: DriveFile) -> DriveFile:
    """The drive with whole word lines in each block of its miniature, and as much flash or a little more."""
    nand = base.nand
    pages = _BITS[nand.cell] * _PARTS
    blocks = math.ceil(nand.blocks_per_plane * nand.pages_per_block / pages)
    return drive_settings.apply(base, {"nand.pages_per_block": str(pages), "nand.blocks_per_plane": str(blocks)})


def _list(times: list[float]) -> str:
    return f"[{', '.join(f'{each:.4g}' for each in times)}]"


def simulate(context: "Context", fits: Mapping[str, LadderFit]) -> dict[str, dict[int, Step]]:
    """Every depth of every ladder, by label."""
    asked = {(label, depth): found for label, found in fits.items() for depth in found.ladder.steps}
    specifications = {
        f"{label}, depth {depth}": specify(context, found, depth) for (label, depth), found in asked.items()
    }
    results = context.simulate(specifications)
    steps: dict[str, dict[int, Step]] = {label: {} for label in fits}
    for (label, depth), result in zip(asked, results.values(), strict=True):
        steps[label][depth] = _step(result, asked[label, depth])
    return steps


def specify(context: "Context", found: LadderFit, depth: int) -> "Specification":
    """The run of one depth, with the host's share in each request."""
    with warnings.catch_warnings():
        # The length of garbage collection's bursts does not matter here: nothing is collected.
        warnings.simplefilter("ignore", Note)
        drive = resolve(found.drive, scale=None if context.full else Fraction(1, _PARTS))
    ladder = found.ladder
    times = {"RUN": SECONDS, "IDLE": IDLE_SECONDS}
    variables = {name: str(round(seconds * 10**6 / drive.scale)) for name, seconds in times.items()}
    job = jobs.load(
        Path(__file__).parent / "requests.fio", environment={"RW": ladder.pattern, "DEPTH": str(depth), **variables}
    )
    made = specifying.specify(
        job, drive, seed=context.seed, until="job", precondition="fill" if ladder.is_reads else "none"
    )
    host_ns = round(1000 * found.host_us)
    engine_jobs = [{**each, "host_ns": host_ns} for each in made.engine["jobs"]]
    return replace(made, engine={**made.engine, "jobs": engine_jobs})  # type: ignore[typeddict-item]


def _step(result: "Result", found: LadderFit) -> Step:
    side = "read" if found.ladder.is_reads else "write"
    iops, p50, p99 = (METRICS[f"{side}_{name}"](result, "") for name in ("iops", "us_p50", "us_p99"))
    return Step(iops, p50 - found.host_us, p99 - found.host_us)


def rows(found: LadderFit, steps: Mapping[int, Step]) -> list[Row]:
    """Each depth's figures, measured and simulated."""
    made = []
    for depth, measured in found.ladder.steps.items():
        for name, tolerance in TOLERANCES.items():
            is_predicted = depth not in (ALONE, MANY)
            is_fitted_to = name == "iops" or (depth == ALONE and name == "p50")
            is_fitted_to |= name == "p99" and found.ladder.is_reads
            made.append(
                Row(
                    f"depth {depth}: {name}",
                    getattr(measured, name),
                    getattr(steps[depth], name),
                    _UNITS[name],
                    tolerance=tolerance,
                    fitted=found.fitted,
                    is_left_out=is_predicted or not is_fitted_to,
                    group=found.ladder.label,
                )
            )
    return made


def medians(found: LadderFit, steps: Mapping[int, Step]) -> dict[str, float]:
    """The median deviation over the predicted depths, by figure; empty if the ladder has no other depths."""
    if not found.ladder.predicted:
        return {}
    return {
        name: statistics.median(
            abs(getattr(steps[depth], name) / getattr(found.ladder.steps[depth], name) - 1)
            for depth in found.ladder.predicted
        )
        for name in TOLERANCES
    }


_SAID = {"iops": "IOPS of the others", "p50": "p50 latency", "p99": "p99 latency"}
"""The names of what is predicted, for readers."""


def finding(fits: Mapping[str, LadderFit], steps: Mapping[str, Mapping[int, Step]]) -> str:
    """The medians over the predicted depths, and how many ladders keep them, in a sentence or two."""
    found = {label: medians(each, steps[label]) for label, each in fits.items() if each.ladder.predicted}
    if not found:
        return "The ladders have no depth besides those that the drives were fitted to."
    kept = {name: sum(of[name] <= tolerance for of in found.values()) for name, tolerance in TOLERANCES.items()}
    said = {
        name: f"{_SAID[name]} within {100 * tolerance:.0f} % for {kept[name]} of {len(found)} ladders"
        for name, tolerance in TOLERANCES.items()
    }
    first, *others = said.values()
    worst = {name: max(of[name] for of in found.values()) for name in TOLERANCES}
    at_worst = ", ".join(f"{100 * worst[name]:.1f} % for {_SAID[name]}" for name in TOLERANCES)
    return (
        f"Queue depths {ALONE} and {MANY} tell the {first}. They tell the {' and the '.join(others)}; all are medians "
        f"over the depths that were not fitted. The worst ladder's median is {at_worst}."
    )


def median_table(fits: Mapping[str, LadderFit], steps: Mapping[str, Mapping[int, Step]]) -> Table:
    """The medians, with the parameters of each ladder."""
    cells: list[list[str | float | None]] = []
    for label, found in fits.items():
        of = medians(found, steps[label])
        deviations = [100 * of[name] if of else None for name in TOLERANCES]
        cells.append(
            [label, f"{len(found.parameters)} / {len(found.parameters)}", len(found.ladder.predicted), *deviations]
        )
    return Table(
        "Median deviations over the predicted depths",
        ("ladder", "parameters / figures", "depths predicted", *(f"{name}, %" for name in TOLERANCES)),
        cells,
        f"Allowed are {', '.join(f'{100 * limit:.0f} % of {name}' for name, limit in TOLERANCES.items())}.",
    )
