"""A real zoned drive: zone writes and reads, alone and beside resets and finishes of zones.

A finish of a zone that is hardly written makes the drive program the rest of it. No job can ask for a finish; what it
programs is written here, at the rate of the measurement. A reset erases the zone's blocks.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.advice.fit_drive import METRICS
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, published
from ssdlab.simulator.drives import drive
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
FIGURES = published(FOLDER / "commands.csv")
SCALE = "1/64"
SECONDS, IDLE_SECONDS = 0.25, 0.05
FITTED = Fitted(
    (
        "nand.read_us",
        "that of the slowest page",
        "host_link.mb_s",
        "controller.command_us",
        "nand.program_us",
        "nand.erase_us",
        "nand.erase_suspend_us",
        "nand.program_suspend_us",
    ),
    9,
)
"""Seven rates of `commands.csv`, and two percentiles of reads at depth 1."""
RESETS_PER_SECOND = 31.0
"""Half of the highest rate, with 16 ms for a reset of a full zone: from memory, not looked up, of Doekemeijer et al.,
"Performance Characterization of NVMe Flash Devices with Zoned Namespaces", CLUSTER 2023."""
FINISHED_BYTES_PER_SECOND = 149_317 * 8192 / 2
"""Half of the rate at which the drive programs zones, which is that of finishes with nothing beside them."""
WRITTEN_ZONES, READ_ZONES, ZONES_A_JOB = 400, 100, 16


def label(figure: Mapping[str, str]) -> str:
    """A run's label."""
    beside = "" if figure["beside"] == "-" else f" beside {figure['beside']}"
    return f"a real zoned drive, {figure['measured']}s{beside}, depth {figure['depth']}"


def specify_commands(context: Context, figure: Mapping[str, str]) -> "Specification":
    """The run of a figure."""
    resolved = drive(FOLDER / "real-zoned.toml", scale=context.scale(SCALE))
    is_read, beside, depth = figure["measured"] == "read", figure["beside"], int(figure["depth"])
    parts = 1 / resolved.scale
    seconds = {"RUN": SECONDS, "IDLE": IDLE_SECONDS}
    variables = {name: str(round(value * 10**6 * parts)) for name, value in seconds.items()}
    variables |= {
        "WRITTEN": str(WRITTEN_ZONES),
        "RW": "randread" if is_read else "write",
        "DEPTH": str(depth if is_read else 1),
        "JOBS": str(1 if is_read else depth),
        "FIRST": str(WRITTEN_ZONES - READ_ZONES if is_read else WRITTEN_ZONES),
        "ZONES": str(READ_ZONES if is_read else ZONES_A_JOB),
    }
    text = (FOLDER / "commands.fio").read_text(encoding="utf-8")
    if beside != "-":
        text += (FOLDER / f"commands-{beside}.fio").read_text(encoding="utf-8")
        zones = resolved.file.zones
        # Zones of a smaller drive are smaller: as many bytes are reset, and programmed, in a second.
        variables |= {
            "ZONE_BYTES": str(zones.zone_bytes),
            "RESET": str(WRITTEN_ZONES - READ_ZONES),
            "EMPTY": str(WRITTEN_ZONES + 9 * ZONES_A_JOB),
            "PADDED": str(ZONES_A_JOB),
            "RATE": str(round(RESETS_PER_SECOND * parts if beside == "resets" else FINISHED_BYTES_PER_SECOND / 4)),
        }
    job = jobs.parse(text, "commands.fio", environment=variables)
    return specify(job, resolved, seed=context.seed, until="job")


def rows(results: "Mapping[str, Result]") -> list[Row]:
    """Each figure, measured and simulated."""
    return [
        Row(
            f"{figure['measured']}s, {figure['depth']}",
            float(figure["iops"]),
            _iops(results[label(figure)], figure["measured"]),
            "IOPS",
            tolerance=float(figure["tolerance"]),
            fitted=FITTED,
            is_left_out=figure["fitted"] == "no",
            group="A real zoned drive, 8 KiB" + (f", beside {figure['beside']}" if figure["beside"] != "-" else ""),
        )
        for figure in FIGURES
    ]


def finding(of_drive: Sequence[Row]) -> str:
    """How many rows are met, in a sentence."""
    predicted = [row for row in of_drive if row.is_left_out]
    met = sum(row.is_within_tolerance is True for row in predicted)
    missed = [row for row in predicted if not row.is_within_tolerance]
    where = {row.group.partition(", 8 KiB")[2].strip(", ") or "alone" for row in missed}
    said = f"; the others are {' and '.join(sorted(where))}" if missed else ""
    return f"Of {len(predicted)} predicted rates of a real zoned drive {met} are within 15 %{said}."


def _iops(result: "Result", side: str) -> float:
    return METRICS[f"{side}_iops"](result, "measured")
