"""Runs one drive under one workload, published or not, and writes its row and a page."""

import json
from fractions import Fraction
from pathlib import Path

from ssdlab.experiments.studies.real_drives import loads, measuring
from ssdlab.foundation.quantities import parse_bytes_with_unit
from ssdlab.simulator.drives import load
from ssdlab.simulator.results import page_folder
from ssdlab.simulator.results.files import check_writable
from ssdlab.simulator.targets import simulated


class AskedRow(measuring.MeasuredJson):
    """The row of `result.json`."""

    drive: str
    workload: str
    in_use_gib: float


def run(
    drive_name: str,
    workload: str,
    in_use: str | None,
    *,
    seed: int,
    scale: Fraction | None,
    output: Path,
    command_line: str = "",
) -> AskedRow:
    """Runs the workload and returns the row, also written to `output`, as `result.json` and as a page.

    `in_use` is a size with a unit, or None for the whole capacity of the drive. Raises InputError and RunFailed.
    """
    # Here, because only a row that is asked for has a page of its own.
    from ssdlab.presentation.report import page, parts

    load_asked, drive = loads.parse(workload), load(drive_name)
    in_use_bytes = parse_bytes_with_unit(in_use) if in_use else drive.ftl.user_bytes
    specification = measuring.specify(
        drive, load_asked, in_use_bytes, seed=seed, scale=scale or measuring.scale_of(drive, load_asked)
    )
    check_writable(output)
    found = measuring.measured(simulated.run(specification), load_asked)
    row: AskedRow = {
        "drive": drive_name,
        "workload": workload,
        "in_use_gib": in_use_bytes / (1 << 30),
        **found.to_dict(),
    }
    whole = page.Page(
        title=f"{drive_name} under {workload}",
        subtitle=f"{row['in_use_gib']:.4g} GiB in use; {specification.scale} of the drive, seed {seed}",
        summary="One run of a simulated drive under a workload of the study of real drives; nothing is compared.",
        before=[page.Section("Figures", parts.definitions(_figures(row)))],
        after=page.reproduced(command_line),
    )
    content = {"rows": [row], "scale": specification.scale, "seed": seed}
    page_folder.write(output, whole, {"result.json": json.dumps(content, indent=2) + "\n"})
    return row


def _figures(row: AskedRow) -> list[tuple[str, str]]:
    """The figures that were measured, with their units."""
    found = [("write amplification", row["waf"]), ("host writes, MiB/s", row["host_write_mib_s"])]
    for name, latencies in (("reads", row["read_us"]), ("writes", row["write_us"])):
        found += [(f"{name}, {rank.replace('_', '.')}, us", value) for rank, value in latencies.items()]
    found += [(f"reads over {us} us, %", share) for us, share in row["reads_over_us"].items()]
    return [(name, f"{value:,.4g}") for name, value in found if value is not None]
