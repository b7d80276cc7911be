"""Latency against load: SNIA's demand intensity, in the steady state: how the latency grows with what is asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ssdlab.experiments.protocols import drawing
from ssdlab.experiments.protocols.contract import (
    DriveTests,
    Matrix,
    Point,
    Protocol,
    Setting,
    Step,
    fill,
    job,
    random_writes,
)
from ssdlab.foundation.quantities import format_share, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.experiments.protocols.drawing import Points
    from ssdlab.experiments.protocols.figures import Figures, Rates
    from ssdlab.presentation.report.figure import Figure

MIXES = (100, 65, 0)
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
QUICK_MIXES = (100, 0)
QUICK_DEPTHS = (1, 4, 16, 64)
# From here on more requests in flight give hardly more requests per second.
_KNEE_SHARE = 0.9
_POINTS_MIN = 3


_NAMES = {100: "Reads", 65: "65 % reads and 35 % writes", 0: "Writes"}


def points(setting: Setting) -> Sequence[Point]:
    mixes, depths, seconds = (QUICK_MIXES, QUICK_DEPTHS, 2) if setting.quick else (MIXES, DEPTHS, 60)
    timed = ("norandommap", "time_based", f"runtime={seconds}s")
    cells = [
        Step(_name(mix, depth), job("randrw", "4k", depth, f"rwmixread={mix}", *timed))
        for mix in mixes
        for depth in depths
    ]
    return [Point("", [fill(loops=1 if setting.quick else 2), random_writes(quick=setting.quick), *cells])]


def _name(mix: int, depth: int) -> str:
    return f"{mix} % reads, depth {depth}"


def _curve(figures: Sequence[Figures], mix: int, key: str) -> Points:
    """(requests per second, latency in microseconds) at each depth that was measured, in the order of depths."""
    found = [_at(figures, mix, depth, key) for depth in DEPTHS]
    return [each for each in found if each is not None]


def _at(figures: Sequence[Figures], mix: int, depth: int, key: str) -> tuple[float, float] | None:
    step = next((each for each in figures if each.step == _name(mix, depth)), None)
    if step is None:
        return None
    sides = [(side.iops, _latency(side, key)) for side in (step.read, step.write) if side is not None]
    known = [(iops, latency) for iops, latency in sides if iops is not None and latency is not None]
    rate = sum(iops for iops, _ in known)
    if len(known) < len(sides) or not rate:
        return None
    if key == "mean_us":
        return rate, sum(iops * latency for iops, latency in known) / rate
    # Percentiles of two directions do not add up: that of the slower one.
    return rate, max(latency for _, latency in known)


def _latency(side: Rates, key: str) -> float | None:
    found: float | None = getattr(side, key)
    return found


def _mixes(figures: Sequence[Figures]) -> list[int]:
    return [mix for mix in MIXES if len(_curve(figures, mix, "mean_us")) >= _POINTS_MIN]


def conclude(figures: Sequence[Figures]) -> str | None:
    """Of each mix, the most requests per second, and the least depth that gives nearly as many, with the latency."""
    said = []
    for mix in _mixes(figures):
        curve = _curve(figures, mix, "mean_us")
        most = max(rate for rate, _ in curve)
        rate, latency = next(each for each in curve if each[0] >= _KNEE_SHARE * most)
        depth = round(rate * latency / 1e6)
        share = "that" if most == rate else f"{format_share(_KNEE_SHARE)} of that"
        said.append(
            f"{_NAMES[mix]} reach {measured(most)} per second; {share} takes about {depth:,} in flight, at "
            f"{measured(latency)} \N{MICRO SIGN}s on average"
        )
    return ". ".join(said) or None


def tabulate(figures: Sequence[Figures]) -> list[Matrix]:
    """Rates and mean latencies: a row for each number of requests in flight, a column for each mix."""
    names = {each.step for each in figures}
    mixes = [mix for mix in MIXES if any(_name(mix, depth) in names for depth in DEPTHS)]
    depths = [depth for depth in DEPTHS if any(_name(mix, depth) in names for mix in mixes)]
    cells = {(mix, depth): _at(figures, mix, depth, "mean_us") for mix in mixes for depth in depths}
    columns = [f"{mix} % reads" for mix in mixes]
    return [
        Matrix(
            title,
            "depth",
            columns,
            [(str(depth), [(cells[mix, depth] or (None, None))[place] for mix in mixes]) for depth in depths],
        )
        for place, title in enumerate(("IOPS", "Mean latency, \N{MICRO SIGN}s"))
        if cells
    ]


def draw(tested: Sequence[DriveTests]) -> list[Figure]:
    """Mean and 99th percentile over requests per second, a picture each, with a line for each mix; of several drives
    a picture for each mix."""
    from ssdlab.presentation.report.charts.published import published_lines

    mixes = _mixes(tested[0].runs[0])
    drawn: list[Figure] = []
    for key, said in (("mean_us", "mean"), ("p99_us", "99th percentile")):
        named = [(f"{mix} % reads", partial(_curve, mix=mix, key=key)) for mix in mixes]
        for name, lines in drawing.lines_of(tested, named):
            caption = [
                "4 KiB random requests after random writes; from point to point more of them are in flight",
                drawing.repetitions(tested),
            ]
            drawn.append(
                published_lines(
                    name="-".join(["latency-against-load", key.removesuffix("_us"), *name.split()[:1]]),
                    title=", ".join(filter(None, ("Latency against load", said, name))),
                    caption=". ".join(filter(None, caption)) + ".",
                    lines=lines,
                    x_title="requests per second",
                    y_title=f"latency, {said}, \N{MICRO SIGN}s",
                    scale="log",
                )
            )
    return [*drawn, *drawing.rounds(tested)]


PROTOCOL = Protocol(
    name="latency-against-load",
    title="Latency against load: rates and response times with more and more requests in flight",
    source="SNIA Solid State Storage Performance Test Specification, demand intensity; here the depth of one job takes "
    "the place of threads times depth",
    quick_gives_up="the mix, five of nine depths, the steady state (two passes instead), and all but 2 s per depth",
    points=points,
    columns=("read_iops", "read_mean_us", "read_p99_us", "write_iops", "write_mean_us", "write_p99_us"),
    conclude=conclude,
    draw=draw,
    tabulate=tabulate,
)
