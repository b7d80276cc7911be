"""Pictures of protocols in the forms that the field uses: rounds with their window, rates over time and over bytes,
figures over block sizes, latency over rates. Several drives are lines of one picture; a drive that was tested more than
once is a line of means with a band from the least to the greatest.

The forms are those of the report of SNIA's performance test specification, as a vendor of testers shows them
(calypsotesters.com/results/sample-snia-pts-report and /sample-results): steady-state convergence, measurement window
with data and slope excursion, IOPS over block sizes with a line for each mix, write saturation over time and bytes,
demand intensity.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ssdlab.experiments.protocols.steady import RANGE_SHARE_MAX, ROUNDS, SLOPE_SHARE_MAX, window_of
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.lines import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ssdlab.experiments.protocols.contract import DriveTests
    from ssdlab.experiments.protocols.figures import Figures, Round
    from ssdlab.experiments.protocols.steady import Window
    from ssdlab.presentation.report.figure import Figure

Points = list[tuple[float, float]]

_TIMES = (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))
_SIZES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6))
# A unit is chosen so that the axis ends at this or more.
_END_MIN = 2.0
_ROUND_VALUES: Sequence[tuple[str, str, Callable[[Round], float | None]]] = (
    ("IOPS", "IOPS of the round", lambda each: each.iops),
    ("write amplification", "write amplification of the round", lambda each: each.waf),
)


def rounds(tested: Sequence[DriveTests]) -> list[Figure]:
    """A picture for each step that ran until steady: all its rounds, and, of a single drive, the measurement window
    with its mean, the data excursion that is allowed, and the fitted line."""
    first = tested[0].runs[0]
    places = [place for place, each in enumerate(first) if each.by_round]
    return [figure for place in places if (figure := _rounds(tested, place)) is not None]


def _rounds(tested: Sequence[DriveTests], place: int) -> Figure | None:
    from ssdlab.presentation.report.charts.published import Panel, published_panels

    panels: list[Panel] = []
    said: list[str] = []
    of_waf = False
    for name, axis, value in _ROUND_VALUES:
        series = {
            each.label: [of_rounds for run in each.runs if (of_rounds := _values(run[place], value))] for each in tested
        }
        if not all(series.values()):
            continue
        lines = [
            mean_line(label, [list(enumerate(map(float, values), 1)) for values in runs], dotted=True)
            for label, runs in series.items()
        ]
        alone = next(iter(series.values()))
        if len(tested) == 1 and len(alone) == 1 and (window := window_of(alone[0])) is not None:
            count = len(alone[0])
            lines = [Line("each round", lines[0].points, dotted=True), *_window_lines(window, count)]
            said.append(_excursions(name, window))
        panels.append(Panel(axis, lines))
        of_waf |= name != "IOPS"
    if not panels:
        return None
    step = tested[0].runs[0][place]
    name = ", ".join(part for part in (step.point, step.step) if part)
    return published_panels(
        name="-".join(["rounds", *"".join(c if c.isalnum() else " " for c in step.point).split()]),
        title=_verdict(tested, place, name),
        caption=". ".join(wording.capitalized(sentence) for sentence in [*said, *_of_repetitions(tested)])
        + ". A round is what the host writes to fill the drive once; the window is the last five rounds.",
        panels=panels,
        x_title="round",
    )


def _values(figures: Figures, value: Callable[[Round], float | None]) -> list[float]:
    found = [value(each) for each in figures.by_round]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def _window_lines(window: Window, count: int) -> list[Line]:
    begin, end = float(count - ROUNDS + 1), float(count)
    low, high = (window.mean * (1 + sign * RANGE_SHARE_MAX / 2) for sign in (-1, 1))
    change = window.mean * window.slope_share / 2
    return [
        Line(
            "mean of the window, 90 to 110 % of it",
            [(begin, window.mean), (end, window.mean)],
            [(begin, low, high), (end, low, high)],
        ),
        Line("fitted line (slope)", [(begin, window.mean - change), (end, window.mean + change)]),
    ]


def _excursions(name: str, window: Window) -> str:
    return (
        f"{name}: mean of the window {wording.significant(window.mean)}, data excursion "
        f"{wording.share(window.range_share)} of it (allowed {wording.share(RANGE_SHARE_MAX)}), slope excursion "
        f"{wording.share(abs(window.slope_share))} (allowed {wording.share(SLOPE_SHARE_MAX)})"
    )


def _verdict(tested: Sequence[DriveTests], place: int, name: str) -> str:
    ends = [(each.label, run[place]) for each in tested for run in each.runs]
    if len(ends) == 1:
        (_, step) = ends[0]
        if step.steady:
            return f"{wording.capitalized(name)}: steady after {step.rounds} rounds"
        return f"{wording.capitalized(name)}: not steady after {step.rounds} rounds"
    steady = sum(bool(step.steady) for _, step in ends)
    return f"{wording.capitalized(name)}: {steady} of {len(ends)} tests reached the steady state"


def over_time(tested: Sequence[DriveTests], *, title: str) -> list[Figure]:
    """The writes per second of all steps with samples, one after another: over time, and over the bytes written."""
    from ssdlab.presentation.report.charts.published import published_lines

    series = {each.label: [found for run in each.runs if (found := _saturation(run))] for each in tested}
    series = {label: runs for label, runs in series.items() if runs}
    if not series:
        return []
    everything = [row for runs in series.values() for run in runs for row in run]
    time_unit, seconds = _unit(_TIMES, max(row[0] for row in everything))
    size_unit, size = _unit(_SIZES, max(row[1] for row in everything))
    caption = ". ".join(["4 KiB random writes from a purged drive", *_of_repetitions(tested)]) + "."
    drawn = []
    for name, x_title, column, unit, finding in (
        ("saturation-over-time", f"time, {time_unit}", 0, seconds, title),
        ("saturation-over-writes", f"written by the host, {size_unit}", 1, size, ""),
    ):
        lines = [
            common_line(label, [[(row[column] / unit, row[2]) for row in run] for run in runs])
            for label, runs in series.items()
        ]
        drawn.append(
            published_lines(
                name=name,
                title=finding or "Writes per second over the bytes written",
                caption=caption,
                lines=lines,
                x_title=x_title,
                y_title="writes per second",
            )
        )
    return drawn


def _saturation(run: Sequence[Figures]) -> list[tuple[float, float, float]]:
    """(seconds, bytes written, writes per second) at the end of each sample; empty if a step lacks samples."""
    found = []
    seconds = written = 0.0
    for step in run:
        if not step.over_time or step.write is None:
            return []
        write_bytes = step.write.moved_bytes / step.write.ios
        before = 0.0
        for each in step.over_time:
            written += each.write_mb_s * 1e6 * (each.seconds - before)
            before = each.seconds
            found.append((seconds + each.seconds, written, each.write_mb_s * 1e6 / write_bytes))
        seconds += before
    return found


def speed_over_size(tested: Sequence[DriveTests], *, title: str) -> list[Figure]:
    """The rate of consecutive writes over the bytes written since the first: level within each slice."""
    from ssdlab.presentation.report.charts.published import published_lines

    series = {each.label: [_slices(run) for run in each.runs] for each in tested}
    if not all(run for runs in series.values() for run in runs):
        return []
    unit, size = _unit(_SIZES, max(run[-1][0] for runs in series.values() for run in runs))
    caption = [
        "Sequential writes of 1 MiB to a purged drive; what it takes before its speed first drops counts as its cache",
        *_of_repetitions(tested),
    ]
    lines = [
        mean_line(label, [[(at / size, rate) for at, rate in run] for run in runs]) for label, runs in series.items()
    ]
    return [
        published_lines(
            name="speed-over-size",
            title=title,
            caption=". ".join(caption) + ".",
            lines=lines,
            x_title=f"written since the purge, {unit}",
            y_title="MB/s",
        )
    ]


def _slices(run: Sequence[Figures]) -> Points:
    """Both ends of each slice; empty if one has no rate."""
    found: Points = []
    written = 0.0
    for step in run:
        if step.write is None or not step.write.mb_s:
            return []
        found.append((written, step.write.mb_s))
        written += step.written_bytes
        found.append((written, step.write.mb_s))
    return found


def lines_of(
    tested: Sequence[DriveTests], named: Iterable[tuple[str, Callable[[Sequence[Figures]], Points]]]
) -> list[tuple[str, list[Line]]]:
    """Pictures with the lines that `named` takes from the steps: of a single drive one, with a line for each name; of
    several drives one for each name, with a line for each drive, so that a drive has the same colour in all.

    Each with the name that its title adds; without those that have no line.
    """
    of_names = [
        (name, [(each.label, runs) for each in tested if (runs := [found for run in each.runs if (found := of(run))])])
        for name, of in named
    ]
    if len(tested) == 1:
        of_names = [("", [(name, runs) for name, found in of_names for _, runs in found])]
    return [(name, [mean_line(label, runs, dotted=True) for label, runs in found]) for name, found in of_names if found]


def mean_line(label: str, runs: Sequence[Points], *, dotted: bool = False) -> Line:
    """A line of means of points that belong together by their order, with a band from the least to the greatest."""
    count = min(map(len, runs))
    columns = [[run[place] for run in runs] for place in range(count)]
    points = [(_mean([x for x, _ in column]), _mean([y for _, y in column])) for column in columns]
    spread = [
        (x, min(y for _, y in column), max(y for _, y in column))
        for (x, _), column in zip(points, columns, strict=True)
    ]
    return Line(label, points, spread if len(runs) > 1 else (), dotted=dotted)


def common_line(label: str, runs: Sequence[Points]) -> Line:
    """The same of runs whose points are at different places: at those of the first, as far as all runs reach."""
    if len(runs) == 1:
        return Line(label, runs[0])
    end = min(run[-1][0] for run in runs)
    places = [x for x, _ in runs[0] if x <= end]
    return mean_line(label, [[(x, _at(run, x)) for x in places] for run in runs])


def _at(points: Points, x: float) -> float:
    """The value at `x`, on the straight line between its neighbours."""
    place = bisect_left(points, (x,))
    if place == 0:
        return points[0][1]
    if place == len(points):
        return points[-1][1]
    (x0, y0), (x1, y1) = points[place - 1], points[place]
    return y1 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def repetitions(tested: Sequence[DriveTests]) -> str:
    """What the bands are, as a sentence without a full stop; empty if no drive was tested more than once."""
    return next(iter(_of_repetitions(tested)), "")


def _of_repetitions(tested: Sequence[DriveTests]) -> list[str]:
    counts = {len(each.runs) for each in tested}
    if counts == {1}:
        return []
    if len(counts) == 1:
        return [f"Lines are means of {counts.pop()} tests of each drive, bands reach from the least to the greatest"]
    listed = ", ".join(f"{each.label} {len(each.runs)}" for each in tested)
    return [f"Lines are means, bands reach from the least to the greatest; tests: {listed}"]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _unit(units: Sequence[tuple[str, float]], end: float) -> tuple[str, float]:
    return next((each for each in units if end >= _END_MIN * each[1]), units[-1])
