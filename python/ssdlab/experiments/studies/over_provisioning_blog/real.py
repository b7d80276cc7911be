"""The blog's steps with sysbench, cp and rm on ext4: files, copies that are deleted without trim, then runs of writes.

Sizes are the published shares of the drive, with fewer copies, because ext4 takes a larger share of a small drive.
"""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.contract import Row
from ssdlab.experiments.studies.real import Real, ratio

DRIVE_GIB = 238.5
FILES_GIB = 140
PARTITION_SHARE_PERCENT = 78
FILES = 128
WHOLE, PARTITIONED = "whole drive", "over-provisioned"
COPIES = {WHOLE: "test_file.[1-6]?", PARTITIONED: "test_file.[1-2]?"}
_STEP_BYTES = FILES * 16384


def points(setting: Setting) -> Sequence[Point]:
    seconds, count = (2, 4) if setting.quick else (10, 36)
    size = max(1, int(setting.size_bytes * FILES_GIB / DRIVE_GIB) // _STEP_BYTES) * _STEP_BYTES
    fileio = f"sysbench fileio --file-num={FILES} --file-total-size={size}"
    run = f"{fileio} --file-test-mode=rndwr --time={seconds} run"
    found = []
    for label in (WHOLE, PARTITIONED):
        mkfs = "mkfs" if label == WHOLE else f"mkfs {PARTITION_SHARE_PERCENT}%"
        found.append(
            Point(
                label,
                [
                    Step("mkfs", mkfs, shown=False),
                    Step("prepare", f"{fileio} prepare", shown=False),
                    Step("copy", f"cp {COPIES[label]} copies/", shown=False),
                    Step("delete", "rm copies/*", shown=False),
                    # Mounted again, so that no data of the copies is left in memory.
                    Step("mount again", "mount", shown=False),
                    *(Step(f"run {number + 1}", run) for number in range(count)),
                ],
                is_script=True,
            )
        )
    return found


def rows(figures: Sequence[Figures]) -> list[Row]:
    found = []
    for label, said in ((WHOLE, "collapses"), (PARTITIONED, "does not")):
        runs = [each for each in figures if each.point == label and each.shown]
        first, last = runs[0], runs[-1]
        speed = ratio(_speed(last), _speed(first))
        found.append(
            Row(f"{label}: the last run over the first", None, speed, "x the speed", group="Random writes, 16 KiB",
                note=f"published as a picture: it {said}")
        )  # fmt: skip
        found.append(
            Row(f"{label}: WAF of the last run", None, last.waf, "", group="Random writes, 16 KiB",
                note=last.waf_reason or "")
        )  # fmt: skip
    return found


def _speed(figures: Figures) -> float | None:
    return figures.write.mb_s if figures.write else None


REAL = Real(
    Protocol(
        name="over-provisioning-blog",
        title="Does a full drive collapse under random writes, but not with unpartitioned space?",
        source="sysbench fileio, cp and rm on ext4, at the published shares of the drive",
        quick_gives_up="32 of the 36 runs, and 8 of the 10 s of each",
        points=points,
        needs_device=True,
    ),
    rows,
)
