"""The workloads of the acceptance test: their job files with rates, depths, pauses and trims for a drive's capacity.

As in FioSynth (MIT, github.com/facebookincubator/FioSynth: `getJobVars` and the suites that limits.csv names), rates
and depths grow with the capacity in TB and pauses shrink with it. Not for the limits.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from ssdlab.experiments.protocols.contract import Point, Setting, Step, job

FOLDER = Path(__file__).parent
OFFSET_MIB_PER_TB = {"leaf": 100_000, "lsm-tree": 100_000, "follower": 100_000, "search": 50_000}
HANDLES = 4
"""The most jobs of a workload that write."""
PRECONDITION_FASTER = 10
"""Pauses between writes are this many times shorter before the measurement, so that the drive is written quickly."""
PRECONDITION_SECONDS = 2700
SETTLE_SECONDS = 900
"""At the workload's own pace, so that space is trimmed as in the measurement."""
SETTLE_SECONDS_MIN = 2
QUICK_SECONDS = 10
_UNIT_BYTES = 4096
_HEADER = re.compile(r"^\[(.+)\]$")

Part = Literal["precondition", "settle", "measure"]


@dataclass(frozen=True)
class Workload:
    """A workload; times in microseconds and rates in MiB/s are those for one TB."""

    name: str
    """The name in the suite."""
    file: str
    rate_mib_s: int
    depth: int
    write_pauses_us: tuple[int, ...]
    trim_pauses_us: tuple[int, ...] = ()
    read_pause_us: int | None = None
    seconds: int = 3600
    """How long a drive is measured."""
    scaled_seconds: int = 720
    """The same at a smaller scale, for one TB: enough for 100,000 requests of the direction with fewer of them, or as
    many as a minute or so of simulation allows."""
    grows: bool = True
    """Whether rates grow with the capacity; if not, they are those of a server."""


WORKLOADS = (
    Workload("4K_L2R6DWPD_wTRIM", "leaf", 69, 13, (1_280_000, 2_560_000), (12_800_000, 30_000_000)),
    Workload("4K_L2R9DWPD_wTRIM", "leaf", 69, 13, (960_000, 1_920_000), (9_600_000, 22_500_000), scaled_seconds=560),
    Workload(
        "MyRocks_Heavy_wTRIM", "lsm-tree", 210, 20, (87_200, 400_000), (144_000_000, 5_280_000), scaled_seconds=120
    ),
    Workload("FLeaf_wTRIM", "follower", 107, 10, (96_000,), (76_000_000,), scaled_seconds=60),
    Workload(
        "B_Cache", "cache", 290, 13, (512_000, 8_000_000, 43_200_000), (), 19_200_000, seconds=1200, scaled_seconds=30
    ),
    Workload(
        "SearchLM_wTRIM", "search", 2375, 32, (6_000_000,), (30_000_000,), 180_000, 1200, scaled_seconds=20, grows=False
    ),
    Workload("wsf-t-heavy", "object-store", 2, 5, (356_800, 112_700_000), (3_220_000,)),
)


@dataclass(frozen=True)
class Place:
    """What a workload runs on."""

    user_bytes: int
    """At the scale."""
    scale: Fraction = Fraction(1)
    """Of a simulated drive. A smaller drive has the speed of the full-size one, so that rates stay; trims are smaller
    and follow each other sooner, so that the trimmed share of the drive and the rate in bytes stay too."""

    @property
    def terabytes(self) -> float:
        """As FioSynth counts them: rounded to tenths, at least one tenth."""
        return max(round(float(self.user_bytes / self.scale) / 1e12, 1), 0.1)


def points(setting: Setting) -> list[Point]:
    """A point for each workload and for the rates of trims; the quick form has one workload and the trims."""
    place = Place(setting.size_bytes, setting.scale)
    chosen = [each for each in WORKLOADS if not setting.quick or each.name == "4K_L2R9DWPD_wTRIM"]
    return [*(point(each, place, quick=setting.quick) for each in chosen), *trim_points(place)]


def point(workload: Workload, place: Place, *, quick: bool = False, handles: bool = False) -> Point:
    """The steps of a workload: fill nine tenths, write quickly, settle at the workload's pace, measure. With `handles`
    each job that writes has a placement handle of its own."""
    durations = seconds(workload, place, quick=quick)
    steps = [Step("fill", job("write", "512k", 32, "size=90%"), shown=False)]
    parts: tuple[Part, ...] = ("precondition", "measure") if quick else ("precondition", "settle", "measure")
    for part in parts:
        name = workload.name if part == "measure" else f"{workload.name} {part}"
        text = _sections(workload, variables(workload, place, durations[part], part), name, handles=handles)
        steps.append(Step(name, text, shown=part == "measure"))
    return Point("", steps)


def seconds(workload: Workload, place: Place, *, quick: bool = False) -> dict[Part, float]:
    """The duration of each part. At a smaller scale the drive is written as often as the full-size one in the hours
    before; it is measured for `scaled_seconds`."""
    if quick:
        return dict.fromkeys(("precondition", "settle", "measure"), QUICK_SECONDS * float(place.scale))
    scale = float(place.scale)
    size = place.terabytes if workload.grows else 1.0
    measured = workload.seconds if place.scale == 1 else min(workload.seconds, workload.scaled_seconds / size)
    return {
        "precondition": PRECONDITION_SECONDS * scale,
        "settle": max(SETTLE_SECONDS * scale, SETTLE_SECONDS_MIN),
        "measure": measured,
    }


def variables(workload: Workload, place: Place, duration: float, part: Part) -> dict[str, str]:
    """The values of the job file's variables."""
    size = place.terabytes if workload.grows else 1.0
    faster = PRECONDITION_FASTER if part == "precondition" else 1
    offset = round(OFFSET_MIB_PER_TB.get(workload.file, 0) * 2**20 * place.terabytes * place.scale)
    # Small drives count as a tenth of a TB. 95 % of a drive do not fit behind 50,000 MiB for each TB: fio then reads to
    # the end.
    offset = min(offset, place.user_bytes * 15 // 100) // _UNIT_BYTES * _UNIT_BYTES
    searched = (place.user_bytes - offset) // (256 << 10) * (256 << 10)
    values = {
        "RUNTIME": f"{max(1, round(duration * 1000))}ms",
        "READ_RATE": f"{max(1, int(workload.rate_mib_s * size))}m",
        "DEPTH": str(max(1, int(workload.depth * size))),
        "OFFSET": str(offset),
        "SEARCHED": str(searched),
    }
    if workload.read_pause_us:
        values["READ_PAUSE"] = str(int(workload.read_pause_us / size))
    for number, pause in enumerate(workload.write_pauses_us, 1):
        values[f"WRITE_PAUSE_{number}"] = str(max(1, int(pause / size / faster)))
    for number, pause in enumerate(workload.trim_pauses_us, 1):
        values[f"TRIM_PAUSE_{number}"] = str(max(1, int(pause / size * place.scale)))
    return values | {f"TRIM_{mib}M": str(trim_bytes(mib, place)) for mib in (1, 8, 16, 64, 1024, 2048, 2300)}


def trim_bytes(mib: int, place: Place) -> int:
    """The length of a trim of `mib` MiB at the scale: at most a fortieth of the drive, at least one mapping unit."""
    largest = place.user_bytes // 40
    return max(1, min(round(mib * 2**20 * place.scale), largest) // _UNIT_BYTES) * _UNIT_BYTES


def trim_points(place: Place) -> list[Point]:
    """The rate of trims, without other requests: the drive is filled, then trimmed as a whole."""
    fill = Step("fill", job("write", "512k", 32), shown=False)
    return [
        Point("", [fill, Step(name, job("trim", str(trim_bytes(mib, place)), 1))])
        for name, mib in (("trim-64M", 64), ("trim-3G", 3072))
    ]


def _sections(workload: Workload, values: Mapping[str, str], name: str, *, handles: bool) -> str:
    """The jobs of the file as a step: options of the first job, and sections for the others, with what is common."""
    common: list[str] = []
    jobs: list[_Section] = []
    for line in (FOLDER / f"{workload.file}.fio").read_text(encoding="utf-8").splitlines():
        if found := _HEADER.match(line):
            if found[1] != "global":
                jobs.append(_Section(found[1]))
        elif line and not line.startswith("#"):
            (jobs[-1].lines if jobs else common).append(line)
    if handles:
        for handle, job_that_writes in enumerate(each for each in jobs if "rw=randwrite" in each.lines):
            job_that_writes.lines.extend(["fdp=1", f"plids={handle}"])
    first, *others = jobs
    lines = [*common, *first.lines]
    for other in others:
        lines += [f"[{name} {other.name}]", *common, *other.lines]
    return re.sub(r"\$\{(\w+)\}", lambda variable: values[variable[1]], "\n".join(lines)) + "\n"


@dataclass(frozen=True)
class _Section:
    name: str
    lines: list[str] = field(default_factory=list)
