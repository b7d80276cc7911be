"""sysbench's random writes against the space in use, on ext4: files of a third, a half and two thirds of the drive."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.contract import Row, published
from ssdlab.experiments.studies.free_space_fusionio.curve import FOLDER, TOLERANCE
from ssdlab.experiments.studies.real import Real, ratio, step

WHOLE_GIB = 298
SPACES_GIB = (100, 150, 200)
FILES = 64
_STEP_BYTES = FILES * 16384


def points(setting: Setting) -> Sequence[Point]:
    seconds, runs = (5, 1) if setting.quick else (60, 3)
    found = []
    for space in SPACES_GIB:
        size = max(1, setting.size_bytes * space // WHOLE_GIB // _STEP_BYTES) * _STEP_BYTES
        fileio = f"sysbench fileio --file-num={FILES} --file-total-size={size}"
        run = f"{fileio} --file-test-mode=rndwr --threads=16 --time={seconds} run"
        settle = [Step(f"settle {number + 1}", run, shown=False) for number in range(0 if setting.quick else 5)]
        runs_of = [Step(f"random writes {number + 1}", run) for number in range(runs)]
        begin = [Step("mkfs", "mkfs", shown=False), Step("prepare", f"{fileio} prepare", shown=False)]
        found.append(Point(f"{space} of {WHOLE_GIB} GiB", [*begin, *settle, *runs_of], is_script=True))
    return found


def rows(figures: Sequence[Figures]) -> list[Row]:
    speeds = {int(row["file_size_gib"]): float(row["throughput_mib_s"]) for row in published(FOLDER / "figures.csv")}
    first, *others = SPACES_GIB
    return [
        Row(
            f"{space} over {first} GiB in use",
            round(speeds[space] / speeds[first], 3),
            ratio(_speed(figures, space), _speed(figures, first)),
            "x the speed",
            tolerance=TOLERANCE,
            group="Random writes, 16 KiB",
            note="the wall clock's: of a served drive, this machine's speed rather than the drive's",
        )
        for space in others
    ]


def _speed(figures: Sequence[Figures], space: int) -> float | None:
    last = step(figures, "random writes 1", f"{space} of {WHOLE_GIB} GiB")
    return last.write.mb_s if last.write else None


REAL = Real(
    Protocol(
        name="free-space-fusionio",
        title="How does the speed of random writes depend on the free space?",
        source="sysbench fileio on ext4, at the published shares of the space",
        quick_gives_up="the runs before the measured ones, two of three of these, and all but 5 s a run",
        points=points,
        needs_device=True,
    ),
    rows,
)
