"""Prints the figures of a protocol as a table, and writes its files: the page, pictures, `result.json`."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from rich.table import Table

from ssdlab.experiments.protocols.contract import Matrix, Protocol
from ssdlab.experiments.protocols.figures import COLUMNS, Figures
from ssdlab.experiments.protocols.kept import Kept, tested
from ssdlab.experiments.protocols.page import PAGE_NAME, Extra, name_of, pictures, protocol_page, waf_reasons
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_bytes, measured
from ssdlab.presentation.report.chosen import write_figures
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives import standing
from ssdlab.simulator.results.files import staged

if TYPE_CHECKING:
    from rich.console import Console


_ALIKE_MIN = 5


def print_table(protocol: Protocol, figures: Sequence[Figures], console: "Console") -> None:
    """Prints a row for each step shown; below, the reasons why write amplification is missing."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    with_points = any(each.point for each in figures)
    for heading in (["point"] if with_points else []) + ["step"]:
        table.add_column(heading)
    for name in protocol.columns:
        table.add_column(COLUMNS[name][0], justify="right")
    with_rounds = any(each.rounds is not None for each in figures if each.shown)
    if with_rounds:
        table.add_column("rounds", justify="right")
    rows = []
    for each in figures:
        if not each.shown:
            continue
        values = [COLUMNS[name][1](each) for name in protocol.columns]
        rounds = "-" if each.rounds is None else f"{each.rounds}{'' if each.steady else ' (not steady)'}"
        names = [*([each.point] if with_points else []), each.step]
        rows.append((names, [*(_number(value) for value in values), *([rounds] if with_rounds else [])]))
    for names, cells in _without_alike(rows):
        table.add_row(*names, *cells)
    matrices = protocol.tabulate(figures)
    for place, matrix in enumerate(matrices):
        if place:
            console.print()
        show(_matrix(matrix), console)
    # A report format with a table of its own needs no line for each of its cells.
    if not matrices:
        show(table, console)
    for reason in waf_reasons(protocol, figures):
        console.print(f"no WAF: {reason}", highlight=False, markup=False)


def _without_alike(rows: Sequence[tuple[list[str], list[str]]]) -> list[tuple[list[str], list[str]]]:
    """The rows; of `_ALIKE_MIN` or more with the same figures, the first, a count, and the last."""
    shown: list[tuple[list[str], list[str]]] = []
    for _, grouped in groupby(rows, key=lambda row: row[1]):
        alike = list(grouped)
        if len(alike) >= _ALIKE_MIN:
            names, cells = alike[0]
            said = [*[""] * (len(names) - 1), f"({len(alike) - 2} steps alike)"]
            alike = [alike[0], (said, [""] * len(cells)), alike[-1]]
        shown += alike
    return shown


def _matrix(matrix: Matrix) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(f"{matrix.title}{',' if ',' in matrix.title else ''} by {matrix.corner}")
    for heading in matrix.columns:
        table.add_column(heading, justify="right")
    for name, values in matrix.rows:
        table.add_row(name, *map(_number, values))
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return measured(value)


def write(
    protocol: Protocol,
    figures: Sequence[Figures],
    target: Mapping[str, Any],
    directory: Path,
    *,
    quick: bool,
    seed: int,
    extra: Extra,
    command_line: str,
    beside: Sequence[Kept] = (),
) -> list[str]:
    """Writes `result.json` (protocol, target, figures of every step with its command lines), pictures and the page.

    `beside` are results of the same protocol that the pictures and the page show too. Writes all or none. Returns the
    names, the page last.
    """
    plain = content(protocol, figures, target, quick=quick, seed=seed, extra=extra.content)
    shown = [Kept(target, figures, ""), *beside]
    drives, named = tested(shown), bool(beside)
    drawn = pictures(protocol, drives)
    place_name = str(target["path"] if target["kind"] == "device" else target["drive"]["name"])
    page = protocol_page(
        protocol,
        figures,
        drawn,
        target=place_name,
        quick=quick,
        extra=extra,
        command_line=command_line,
        drives=drives,
        notices=list(dict.fromkeys(each for one in shown for each in limits_of(one.steps, one.target, named=named))),
    )
    names = ["result.json"]
    with staged(directory) as place:
        (place / "result.json").write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
        names.extend(write_figures([*extra.figures, *drawn], place))
        (place / PAGE_NAME).write_text(page.html(), encoding="utf-8")
    return [*names, PAGE_NAME]


def standing_of(target: Mapping[str, Any]) -> str | None:
    """What stands behind the name of a simulated drive, in a sentence; None for a real one."""
    if target["kind"] == "device":
        return None
    return f"{target['drive']['name']}: {standing.behind(target['drive'], target.get('scale', '1'))}."


def limits_of(figures: Sequence[Figures], target: Mapping[str, Any], *, named: bool = False) -> list[str]:
    """What a reader of a simulated drive's rates must know, in sentences, `named` with its name in each; empty for a
    real one."""
    standing_sentence = standing_of(target)
    if standing_sentence is None:
        return []
    said = [standing_sentence]
    start = f"{target['drive']['name']}: " if named else ""
    if (scale := target.get("scale", "1")) != "1":
        said.append(
            f"{start}{'simulated' if named else 'Simulated'} on {scale} of the drive: bytes and durations are of that"
            " part, and shorter than the drive's."
        )
    buffer_bytes = target["drive"]["write_buffer"]["bytes"]
    written = [each for each in figures if each.shown and each.write]
    inside = [each for each in written if each.written_bytes <= buffer_bytes]
    if inside:
        names = "every step" if inside == written else "; ".join(map(name_of, inside))
        most = max(each.written_bytes for each in inside)
        said.append(
            f"{start}{'all' if named else 'All'} that is written fits into the write buffer ({format_bytes(most)} of"
            f" {format_bytes(buffer_bytes)}): such a rate is the buffer's, and not what the flash sustains. So in"
            f" {names}."
        )
    return said


def write_incomplete(
    protocol: Protocol,
    figures: Sequence[Figures],
    target: Mapping[str, Any],
    directory: Path,
    *,
    quick: bool,
    seed: int,
    failure: str,
    interrupted: bool,
) -> None:
    """Writes `result.json` with the finished steps and the reason why the others are missing; no page."""
    plain = content(
        protocol, figures, target, quick=quick, seed=seed, extra={}, failure=failure, interrupted=interrupted
    )
    with staged(directory) as place:
        (place / "result.json").write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


class OriginJson(TypedDict):
    version: str
    seed: int
    target: JsonObject
    standing: str | None
    failure: str | None
    interrupted: bool


class ProtocolJson(TypedDict):
    name: str
    title: str
    source: str
    quick: bool
    given_up: str | None


def content(
    protocol: Protocol,
    figures: Sequence[Figures],
    target: Mapping[str, Any],
    *,
    quick: bool,
    seed: int,
    extra: Mapping[str, Any],
    failure: str | None = None,
    interrupted: bool = False,
) -> JsonObject:
    """The object of `result.json`; `extra` has the keys that a study adds."""
    origin: OriginJson = {
        "version": version("ssdlab"),
        "seed": seed,
        "target": dict(target),
        "standing": standing_of(target),
        "failure": failure,
        "interrupted": interrupted,
    }
    described: ProtocolJson = {
        "name": protocol.name,
        "title": protocol.title,
        "source": protocol.source,
        "quick": quick,
        "given_up": protocol.quick_gives_up if quick else None,
    }
    return {"ssdlab": origin, "protocol": described, **extra, "steps": [each.to_dict() for each in figures]}
