"""The output of an identification: `drive.toml`, `result.json`, `report.html`, and the printed table."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from markupsafe import Markup
from rich.table import Table

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.identification.drive import DERIVED, Model
from ssdlab.hardware.identification.evidence import Inferred, InferredJson, Picture, UndeterminedJson
from ssdlab.hardware.identification.identify import Found
from ssdlab.presentation.report import page, parts
from ssdlab.presentation.report.charts.published import published_lines
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.drives import to_toml
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.files import staged

if TYPE_CHECKING:
    from rich.console import Console

DRIVE_FILE, PAGE_NAME = "drive.toml", "report.html"


def write(found: Found, model: Model, target: Mapping[str, Any], directory: Path, *, seed: int, line: str) -> list[str]:
    """Writes all files or none. Returns their names, the page last."""
    figures = [figure(each) for each in found.pictures]
    with staged(directory) as place:
        (place / DRIVE_FILE).write_text(to_toml(model.file), encoding="utf-8")
        plain = content(found, model, target, seed)
        (place / "result.json").write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
        (place / PAGE_NAME).write_text(_page(found, model, target, figures, line).html(), encoding="utf-8")
        return [*sorted(each.name for each in place.iterdir() if each.name != PAGE_NAME), PAGE_NAME]


def print_table(found: Found, console: "Console") -> None:
    """Prints a row for each inferred value, followed by the values that could not be determined, with reasons."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("value", "inferred", "90 % interval", "experiment"):
        right = heading in ("inferred", "90 % interval")
        # On a narrow terminal a value continues on the next line; it is never cut off.
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for each in ordered(found):
        table.add_row(each.key, shown(each.value), _interval(each), each.experiment)
    console.print(table)
    if found.undetermined:
        console.print("\nnot determined:", highlight=False)
    for undetermined in found.undetermined:
        console.print(f"  {undetermined.key}: {undetermined.reason}", highlight=False, markup=False, soft_wrap=True)


def shown(value: object) -> str:
    """A value formatted for readers."""
    match value:
        case bool():
            return str(value).lower()
        case int() if abs(value) >= 10**6:
            return f"{value:,}"
        case float():
            return f"{value:.4g}"
    return str(value)


def _interval(each: Inferred) -> str:
    return "" if each.low == each.high else f"{shown(each.low)} to {shown(each.high)}"


def ordered(found: Found) -> list[Inferred]:
    """Inferred values, derived ones first, otherwise sorted by key."""
    return sorted(found.inferred.values(), key=lambda each: (each.key not in DERIVED, each.key))


class _Origin(TypedDict):
    version: str
    seed: int
    target: JsonObject


class IdentifiedJson(TypedDict):
    """`result.json` of an identification."""

    ssdlab: _Origin
    capacity_bytes: int
    written_bytes: int
    seconds: float
    inferred: list[InferredJson]
    undetermined: list[UndeterminedJson]
    assumed: list[str]
    drive: plain.Drive


def content(found: Found, model: Model, target: Mapping[str, Any], seed: int) -> IdentifiedJson:
    """The object of `result.json`."""
    return {
        "ssdlab": {"version": version("ssdlab"), "seed": seed, "target": dict(target)},
        "capacity_bytes": found.capacity_bytes,
        "written_bytes": found.written_bytes,
        "seconds": found.seconds,
        "inferred": [each.to_dict() for each in ordered(found)],
        "undetermined": [each.to_dict() for each in found.undetermined],
        "assumed": list(model.assumed),
        "drive": model.file.specification,
    }


def _page(found: Found, model: Model, target: Mapping[str, Any], figures: Sequence[Figure], line: str) -> page.Page:
    determined, missed = len(found.inferred), len(found.undetermined)
    written = found.written_bytes / found.capacity_bytes
    return page.Page(
        title=f"What {target['name']} looks like from outside",
        subtitle=f"{found.capacity_bytes / 1e9:.4g} GB; {written:.3g} drive writes, {found.seconds / 60:.3g} minutes",
        summary=(
            f"{determined} values were inferred from completed requests alone; {missed} could not be determined. "
            f"{DRIVE_FILE} holds these values; the others are assumed, and their sources say so."
        ),
        before=[page.Section("Inferred values", _table(found))],
        figures=figures,
        after=[
            page.Section("What could not be determined", _undetermined(found)),
            page.Section("How intervals are made", parts.paragraphs(_INTERVALS)),
            page.Section("How to use the drive", parts.command(f"ssdlab run JOB.fio --drive {DRIVE_FILE}")),
            *page.reproduced(line),
        ],
    )


_INTERVALS = (
    "A host only adds time, so what the drive takes is where the distribution of measured times begins. The 90 % "
    "intervals come from a bootstrap of the measurements and a systematic part for the shape of the distribution, "
    "which is not known. Values derived from several others take their deviations together, in squares. Counts have "
    "an interval where several arrangements explain the measurements about equally well. Intervals do not cover "
    "mechanisms that the model of a drive does not have."
)


def _table(found: Found) -> Markup:
    rows = [[each.key, shown(each.value), _interval(each) or "-", each.experiment] for each in ordered(found)]
    return parts.table("Inferred values", ["value", "inferred", "90 % interval", "experiment"], rows)


def _undetermined(found: Found) -> Markup:
    if not found.undetermined:
        return parts.paragraphs("Every value that the experiments look for was determined.")
    return parts.bullets([f"{each.key}: {each.reason}" for each in found.undetermined])


def figure(picture: Picture) -> Figure:
    """The measurements of an experiment as a picture."""
    return published_lines(
        name=picture.name,
        title=picture.finding,
        caption=picture.caption,
        lines=picture.curves,
        marks=picture.marks,
        x_title=picture.x_title,
        y_title=picture.y_title,
        scale="log" if picture.log_y else "linear",
        scale_x="log" if picture.log_x else "linear",
    )
