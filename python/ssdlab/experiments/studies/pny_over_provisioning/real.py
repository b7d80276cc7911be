"""Random writes and JESD219's workload on a whole drive, and with 7 % of it left unused after a trim."""

from collections.abc import Sequence
from fractions import Fraction

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, fill, random_writes
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.contract import Range, Row
from ssdlab.experiments.studies.pny_over_provisioning.drives import FOLDER, TOLERANCE
from ssdlab.experiments.studies.real import Real, ratio, step, steps

USED_PERCENT = (100, 94)


def points(setting: Setting) -> Sequence[Point]:
    found = []
    for used in USED_PERCENT:
        size = f"{used}%"
        found.append(
            Point(f"{used} % used, random", [fill(size), random_writes("random writes", size, quick=setting.quick)])
        )
    for used in USED_PERCENT:
        variables = {"USED_PERCENT": str(used)}
        prime, jesd = steps(FOLDER / "endurance.fio", Fraction(1), variables)
        loops = 1 if setting.quick else 4
        # A device with 4 KiB sectors rejects smaller requests; they are rounded up, as in a file system.
        text = "".join(
            f"{'bssplit=4k/77:8k/10:16k/7:32k/3:64k/3' if line.startswith('bssplit') else line}\n"
            for line in jesd.text.splitlines()
        )
        workload = Step("JESD219", f"{text}loops={loops}\n")
        found.append(Point(f"{used} % used, JESD219", [Step("prime", prime.text, shown=False), workload]))
    return found


def rows(figures: Sequence[Figures]) -> list[Row]:
    random = {used: step(figures, "random writes", f"{used} % used, random") for used in USED_PERCENT}
    jesd = {used: step(figures, "JESD219", f"{used} % used, JESD219") for used in USED_PERCENT}
    all_used, less = USED_PERCENT
    speed = ratio(_iops(random[less]), _iops(random[all_used]))
    return [
        Row(
            "speed gained by 7 % more spare area",
            Range(80),
            None if speed is None else 100 * (speed - 1),
            "%",
            tolerance=TOLERANCE,
            printed="text",
            group="Random writes, 4 KiB",
            note="the wall clock's: of a served drive, this machine's speed rather than the drive's",
        ),
        Row(
            "write amplification, 0 % over 7 %",
            None,
            ratio(random[all_used].waf, random[less].waf),
            "x",
            group="Random writes, 4 KiB",
            note=random[all_used].waf_reason or "",
        ),
        Row(
            "NAND writes, 0 % over 7 %",
            round((14976 / 5257) / (42112 / 22558), 2),
            ratio(jesd[all_used].waf, jesd[less].waf),
            "x",
            tolerance=TOLERANCE,
            group="JESD219's enterprise workload, a byte of the host's",
            note=jesd[all_used].waf_reason or "",
        ),
    ]


def _iops(figures: Figures) -> float | None:
    return figures.write.iops if figures.write else None


REAL = Real(
    Protocol(
        name="pny-over-provisioning",
        title="What do 7 % more spare area give?",
        source="the white paper's random writes, and JESD219A's enterprise workload with sectors of 4 KiB",
        quick_gives_up="the steady state (two passes of random writes), and three of four passes of JESD219",
        points=points,
        needs_device=True,
        columns=("waf", "write_iops", "write_p99_us"),
    ),
    rows,
)
