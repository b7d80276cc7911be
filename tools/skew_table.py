"""Writes python/ssdlab/theory/skew.csv: simulated write amplification over spare area and skew.

usage: skew_table.py. Runs a generic server drive, full, under random 4 KiB writes to its whole space, skewed by Zipf's
law, to steady state, without a clock. Takes one or two minutes. Must be run again when the engine's write amplification
changes.
"""

import csv
from fractions import Fraction
from pathlib import Path

from ssdlab.experiments.advice.described import of_numbers
from ssdlab.experiments.advice.setting import Setting
from ssdlab.simulator.drives import load
from ssdlab.simulator.runs import run_many

DRIVE = "generic-sata-dc-480"
SCALE = Fraction(1, 256)
OVER_PROVISIONINGS = (0.03, 0.05, 0.07, 0.10, 0.145, 0.20, 0.28, 0.40, 0.60, 1.00)
THETAS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.99, 1.1, 1.2, 1.4)
TARGET = Path(__file__).parents[1] / "python/ssdlab/theory/skew.csv"


def main() -> None:
    """Runs all points and writes the table."""
    setting = Setting(load(DRIVE), {}, DRIVE)
    points = [(op, theta) for op in OVER_PROVISIONINGS for theta in THETAS]
    specifications = []
    for op, theta in points:
        workload = of_numbers(None, 4096, f"zipf:{theta}" if theta else "uniform", 0.0)
        specifications.append(workload.specify(setting.at(op, SCALE), seed=1, timed=False))
    wafs = {index: result.settled_waf for index, result in run_many(specifications)}
    with TARGET.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["over_provisioning", "zipf_theta", "waf"])
        for index, (op, theta) in enumerate(points):
            waf = wafs[index]
            assert waf is not None, (op, theta)
            lines.writerow([op, theta, f"{waf:.4f}"])


if __name__ == "__main__":
    main()
