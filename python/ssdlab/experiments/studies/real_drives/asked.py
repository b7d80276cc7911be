"""Runs one drive under one workload, published or not, and writes `result.json` with its row."""

import json
from fractions import Fraction
from pathlib import Path

from ssdlab.experiments.studies.real_drives import loads, measuring
from ssdlab.foundation.quantities import parse_bytes_with_unit
from ssdlab.simulator.drives import load
from ssdlab.simulator.results.files import check_writable, staged
from ssdlab.simulator.targets import simulated


class AskedRow(measuring.MeasuredJson):
    """The row of `result.json`."""

    drive: str
    workload: str
    in_use_gib: float


def run(
    drive_name: str, workload: str, in_use: str | None, *, seed: int, scale: Fraction | None, output: Path
) -> AskedRow:
    """Runs the workload and returns the row, also written to `result.json` in `output`.

    `in_use` is a size with a unit, or None for the whole capacity of the drive. Raises InputError and RunFailed.
    """
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
    with staged(output) as place:
        content = {"rows": [row], "scale": specification.scale, "seed": seed}
        (place / "result.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return row
