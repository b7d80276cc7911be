"""A fleet of real drives as a page: the effect of leaving a part of each empty, inferred from SMART reports."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from markupsafe import Markup

from ssdlab.experiments.fleet.reported import ReportedFleet
from ssdlab.foundation.quantities import format_bytes, format_share
from ssdlab.presentation.report import page, parts
from ssdlab.simulator.results import page_folder

INFERENCE = (
    "An inference: counters do not show why a drive amplifies. Ranges cover the models of ssdlab advise smart; spare "
    "area assumes flash of the next power of two GiB."
)
_HEAVIEST_SHOWN = 60


def rows(fleet: ReportedFleet, years: float) -> list[list[str]]:
    """Head and rows of the table of shares left empty."""
    found = [["left empty", "WAF of all", "flash a day", f"of {fleet.known_lives:,} wear out within {years:g} years"]]
    for each in fleet.wholes(years):
        low, high = f"{each.short_lived_low:,}", f"{each.short_lived_high:,}"
        nand_low, nand_high = (format_bytes(round(size)) for size in (each.nand_low, each.nand_high))
        found.append(
            [
                format_share(each.left_empty) if each.left_empty else "as they are",
                _range(f"{each.waf_low:.2f}", f"{each.waf_high:.2f}"),
                f"{nand_low} to {nand_high}" if each.left_empty else nand_low,
                _range(low, high),
            ]
        )
    return found


def title(fleet: ReportedFleet, years: float) -> str:
    """The effect of the largest share: on the drives that wear out, or else on flash writes, if the whole range is
    below the present figure; otherwise what the page is about."""
    now, *others = fleet.wholes(years)
    most = max(others, key=lambda each: each.left_empty, default=now)
    with_most = f"With {format_share(most.left_empty)} of each drive left empty"
    if most.short_lived_high < now.short_lived_low:
        few = _range(f"{most.short_lived_low:,}", f"{most.short_lived_high:,}")
        return (
            f"{with_most}, {few} of {_counted(fleet.known_lives)} wear out within {years:g} years instead of "
            f"{now.short_lived_low:,}"
        )
    if most.nand_high < now.nand_low:
        low, high = (format_share(size / now.nand_low, 2) for size in (most.nand_low, most.nand_high))
        return f"{with_most}, {_counted(len(fleet.drives))} write {_range(low, high)} of what they write to flash now"
    return f"{_counted(len(fleet.drives))}, and the effect of leaving a part of each empty"


def _counted(drives: int) -> str:
    return f"{drives:,} drive{'s' * (drives != 1)}"


def write(fleet: ReportedFleet, directory: Path, *, years: float, notices: Sequence[str] = (), line: str) -> list[str]:
    """Writes report.html, result.json and `data/fleet.parquet`, all or none. Returns their names, the page last."""
    head, *wholes = rows(fleet, years)
    whole = page.Page(
        title=title(fleet, years),
        subtitle=f"{_counted(len(fleet.drives))}, from their SMART reports",
        summary=(
            f"{_counted(len(fleet.drives))} write {format_bytes(round(fleet.nand_bytes_per_day))} a day to flash; the "
            f"remaining life of {fleet.known_lives:,} is known."
        ),
        notices=[*(f"{notice}." for notice in notices), INFERENCE],
        before=[page.Section("The whole fleet", parts.table("The whole fleet", head, wholes))],
        after=[page.Section("Most flash writes", _heaviest(fleet)), *page.reproduced(line)],
    )
    content = {"years": years, "notices": list(notices), "left_empty": [asdict(each) for each in fleet.wholes(years)]}
    texts = {"result.json": json.dumps(content, indent=2) + "\n"}
    return page_folder.write(directory, whole, texts, {"fleet": fleet.frame()})


def _heaviest(fleet: ReportedFleet) -> Markup:
    cells: Sequence[Sequence[str]] = [
        [
            drive.name,
            format_bytes(round(drive.nand_bytes_per_day)),
            drive.what_ifs[-1].sentence() if drive.what_ifs else "nothing to infer",
        ]
        for drive in fleet.heaviest(_HEAVIEST_SHOWN)
    ]
    return parts.table("Most flash writes", ["drive", "flash a day", "effect"], cells, sentence=2)


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
