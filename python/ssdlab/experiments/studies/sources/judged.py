"""What a run of a study shows: its rows with their verdicts, and the names of its pictures and tables."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ssdlab.experiments.studies import wording
from ssdlab.experiments.studies.contract import Study, StudyResult, Verdict, published

KEPT = Path(__file__).parent / "judged.csv"
Kind = Literal["row", "picture", "table"]
COLUMNS = ("study", "kind", "name", "published", "shown", "unit", "deviation", "in_points", "verdict")
_HEAD = "# The rows, pictures and tables of the five studies. Written by tools/judged_rows.py from a run; not edited.\n"


@dataclass(frozen=True)
class Judged:
    """A row, picture or table of a study."""

    study: str
    kind: Kind
    name: str
    """Of a row "GROUP: WHAT", or "WHAT" without a group; the name of a picture; the heading of a table."""
    published: str = ""
    """As on the study's page; empty if nothing was published."""
    shown: str = ""
    """The simulated figure, as on the study's page."""
    unit: str = ""
    deviation: float | None = None
    """A share of the published figure, or with `in_points` a difference in `unit`."""
    in_points: bool = False
    verdict: Verdict | None = None


def judge(study: Study, result: StudyResult) -> list[Judged]:
    """All that a run of the study shows."""
    found = [
        Judged(
            study.name,
            "row",
            f"{row.group}: {row.what}" if row.group else row.what,
            "" if row.published is None else wording.published(row),
            "" if row.simulated is None else wording.simulated(row),
            row.unit,
            None if row.deviation is None else round(row.deviation, 4),
            row.in_points,
            row.verdict,
        )
        for row in result.rows
    ]
    found += [Judged(study.name, "picture", figure.name) for figure in result.figures]
    return found + [Judged(study.name, "table", table.heading) for table in result.tables]


def kept() -> list[Judged]:
    """What the run showed whose rows are kept."""
    return [_parsed(entry) for entry in published(KEPT)]


def keep(found: Iterable[Judged], path: Path = KEPT) -> None:
    """Writes what a run showed, for `kept`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_HEAD)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_plain(each) for each in found)


def _plain(each: Judged) -> Sequence[str]:
    deviation = "" if each.deviation is None else f"{each.deviation:z.4g}"
    in_points = "yes" if each.in_points else ""
    first = (each.study, each.kind, each.name, each.published, each.shown, each.unit)
    return (*first, deviation, in_points, each.verdict or "")


def _parsed(entry: dict[str, str]) -> Judged:
    (kind,) = (kind for kind in get_args(Kind) if kind == entry["kind"])
    return Judged(
        entry["study"],
        kind,
        entry["name"],
        entry["published"],
        entry["shown"],
        entry["unit"],
        float(entry["deviation"]) if entry["deviation"] else None,
        bool(entry["in_points"]),
        Verdict(entry["verdict"]) if entry["verdict"] else None,
    )
