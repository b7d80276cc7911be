"""The output of an identification: `drive.toml`, `result.json`, `report.html`, and the printed table."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from markupsafe import Markup
from rich.table import Table

from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_bytes, format_bytes_binary, format_share, rounded, significant
from ssdlab.hardware.identification.drive import DERIVED, Model
from ssdlab.hardware.identification.evidence import Inferred, InferredJson, Picture, UndeterminedJson
from ssdlab.hardware.identification.identify import Found
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.charts.published import published_lines
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives.writer import to_toml
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


_NOTHING = "No value could be inferred from completed requests"


def print_table(found: Found, console: "Console") -> None:
    """Prints a row for each inferred value, followed by the values that could not be determined, with reasons."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("value", "inferred", "90 % interval", "experiment"):
        right = heading in ("inferred", "90 % interval")
        table.add_column(heading, justify="right" if right else "left")
    for row in _rows(found):
        table.add_row(*row)
    if found.inferred:
        show(table, console, left_out_first=("experiment",))
    else:
        console.print(f"{_NOTHING}.")
    if found.undetermined:
        console.print("\nnot determined:", highlight=False)
    for said in _reasons(found):
        console.print(f"  {said}", highlight=False, markup=False, soft_wrap=True)


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


def _named(key: str) -> str:
    """The key, or the name of a quantity that is no key of the drive file."""
    return DERIVED.get(key, key)


def _said(key: str, value: object) -> str:
    """The value with the unit that its key has, in the figures that people use."""
    if isinstance(value, bool | str):
        return shown(value)
    assert isinstance(value, int | float)
    if key == "over_provisioning":
        return format_share(value, 2)
    if key.endswith("_bytes") or key.endswith(".bytes"):
        return format_bytes_binary(round(value))
    text = significant(value, 4)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    unit = next((unit for ending, unit in _UNITS.items() if key.endswith(ending)), "")
    return f"{text} {unit}".rstrip()


_UNITS = {"_us": "us", "mb_s": "MB/s", "_ms": "ms"}


def _interval(each: Inferred) -> str:
    """The ends of the interval, with their unit once; "-" of a word or a certain count, which have none. Ends that
    would be printed alike are said as a share."""
    if each.low == each.high or isinstance(each.value, bool | str):
        return "-"
    low, high = _said(each.key, each.low), _said(each.key, each.high)
    if low == high:
        assert isinstance(each.low, int | float) and isinstance(each.high, int | float)
        return f"\N{PLUS-MINUS SIGN}{format_share((each.high - each.low) / 2 / each.value, 1)}"
    figure, _, unit = low.partition(" ")
    return f"{figure if unit and high.endswith(f' {unit}') else low} to {high}"


def _rows(found: Found) -> list[list[str]]:
    """Name, value, interval and experiment of each value. A quantity that is also a key of the drive file is in that
    row only."""
    repeated = {"buffer_bytes"} if "write_buffer.bytes" in found.inferred else set()
    return [
        [_named(each.key), _said(each.key, each.value), _interval(each), each.experiment]
        for each in ordered(found)
        if each.key not in repeated
    ]


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
        subtitle=(
            f"{_of(found, target)}; {rounded(written, 2)} drive writes in {rounded(found.seconds / 60, 2)} minutes "
            "of the drive's time"
        ),
        summary=(
            f"{_looks(found)}{determined} values were inferred from completed requests alone; {missed} could not be "
            f"determined. {DRIVE_FILE} holds what was inferred; the rest is assumed, and its sources say so."
            if determined
            else f"{_NOTHING}. {DRIVE_FILE} holds assumed values, and its sources say so."
        ),
        before=[page.Section("Inferred values", _table(found))] if determined else [],
        figures=figures,
        after=[
            page.Section("What could not be determined", _undetermined(found)),
            page.Section("How intervals are made", parts.paragraphs(_INTERVALS)),
            page.Section("How to use the drive", parts.command(f"ssdlab run JOB.fio --drive {DRIVE_FILE}")),
            *page.reproduced(line),
        ],
    )


def _of(found: Found, target: Mapping[str, Any]) -> str:
    """What was looked at: a capacity, and of a simulated drive its scale."""
    size = format_bytes(found.capacity_bytes)
    if target["kind"] != "simulated":
        return size
    scale = target["scale"]
    return f"a simulated drive of {size}" + (f", {scale} of its full size" if scale != "1" else "")


def _looks(found: Found) -> str:
    """A sentence of the values that most readers look for first, each with its interval; "" if none was inferred."""
    known = found.inferred
    said = []
    for key, name in _FIRST.items():
        if key in known:
            each = known[key]
            interval = f" ({_interval(each)})" if each.low != each.high else ""
            said.append(f"{name}: {_said(key, each.value)}{interval}")
    return f"{wording.capitalized('; '.join(said))}. " if said else ""


_FIRST = {
    "parallel_units": "dies",
    "over_provisioning": "over-provisioning",
    "erase_unit_bytes": "erase unit",
    "slc_cache_bytes": "SLC cache",
    "write_buffer.bytes": "write buffer",
    "ftl.victim": "victim policy",
}

_INTERVALS = (
    "A host only adds time, so what the drive takes is where the distribution of measured times begins. The 90 % "
    "intervals come from a bootstrap of the measurements and a systematic part for the shape of the distribution, "
    "which is not known. Values derived from several others take their deviations together, in squares. Counts have "
    "an interval where several arrangements explain the measurements about equally well. Intervals do not cover "
    "mechanisms that the model of a drive does not have."
)


def _table(found: Found) -> Markup:
    return parts.table("Inferred values", ["value", "inferred", "90 % interval", "experiment"], _rows(found))


def _undetermined(found: Found) -> Markup:
    if not found.undetermined:
        return parts.paragraphs("Every value that the experiments look for was determined.")
    return parts.bullets(_reasons(found))


def _reasons(found: Found) -> list[str]:
    """Each reason why values are missing once, behind the names of these values."""
    by_reason: dict[str, list[str]] = {}
    for each in found.undetermined:
        by_reason.setdefault(each.reason, []).append(_named(each.key))
    return [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]


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
