"""A survey as a page: the distribution of wear and write amplification, and the most important drives."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from ssdlab.field.health import history, models, table
from ssdlab.field.health.concerns import LEVELS
from ssdlab.field.health.drive import Row
from ssdlab.field.health.summary import Summary
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.charts.published import Line, published_lines
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.results import page_folder
from ssdlab.theory.endurance_class import CLASSES

SHOWN = 60
_POINTS = 101
_WAF_SHOWN_MAX = 100.0


def figures(drives: pl.LazyFrame, reports: pl.LazyFrame) -> list[Figure]:
    """The histories of drives with many reports, and distributions over the drives, of which a single one has none.

    `reports` are those of `history.timed`.
    """
    over_drives = [figure for figure in (_waf(drives), _used(drives)) if figure is not None]
    return [*history.figures(reports), *over_drives]


def write(
    folder: Path,
    drives: pl.LazyFrame,
    reports: pl.LazyFrame,
    found: Summary,
    gravest: Sequence[Row],
    command_line: str,
) -> list[str]:
    """Writes `report.html` with its charts, and `result.json`; all or none. Returns their names, the page last."""
    drawn = figures(drives, reports)
    whole = page.Page(
        title=found.finding(),
        subtitle="Health of drives, from SMART reports: wear, write amplification, time left",
        # The title is the finding, with which the sentence begins.
        summary=wording.capitalized(found.sentence().removeprefix(found.finding()).lstrip(";. ")),
        before=[*_tickets(gravest), page.Section("Most important drives", _table(gravest, found.drives))],
        figures=drawn,
        after=[
            *_models(drives),
            *_classes(drives),
            page.Section("Columns", parts.definitions(_MEANINGS)),
            *page.reproduced(command_line),
        ],
    )
    return page_folder.write(folder, whole, {"result.json": json.dumps(found.to_dict(), indent=2) + "\n"})


_MEANINGS = (
    (
        "WAF",
        "Bytes programmed to flash divided by host bytes, since the drive was new. Question mark: see the notes.",
    ),
    ("used", "Used share of the rated life, as counted by the drive; it may exceed 100 %."),
    ("years left", "Power-on time until the rated life is used, at the drive's write rate."),
    ("writes left", "Host writes until then, with the same wear per byte as before."),
    ("DWPD class", "The lowest class of endurance, in drive writes per day, that its rate of writing needs."),
    ("report", "The file, archive or device that the figures are from; folders are often named after hosts."),
    ("state", f"{', '.join(LEVELS)}: urgency of action."),
)


def _tickets(rows: Sequence[Row]) -> list[page.Section]:
    """A sentence for each drive that needs a person, worst first, to paste into a ticket; empty if none does."""
    said = [table.ticket_text(row) for row in rows if row["level"] in models.URGENT]
    return [page.Section("For tickets", parts.bullets(said))] if said else []


def _models(drives: pl.LazyFrame) -> list[page.Section]:
    """The drives by model; empty for one model."""
    if not (cells := models.by_model(drives, SHOWN)):
        return []
    made = parts.table("By model", models.HEADS, cells, wraps=True) + parts.paragraphs(models.EXPLAINED)
    return [page.Section("By model", made)]


def _classes(drives: pl.LazyFrame) -> list[page.Section]:
    """Of how many drives each class of endurance allows the rate; empty if no rate of writing is known."""
    known = drives.filter(pl.col("drive_writes_per_day").is_not_null()).select("endurance_class").collect()
    classes = [each for each in known["endurance_class"].to_list() if each is not None]
    if not len(known):
        return []
    rows = [
        [f"{each:g}", f"{classes.count(each):,}", f"{sum(other <= each for other in classes):,} of {len(known):,}"]
        for each in sorted(set(classes))
    ]
    if len(classes) < len(known):
        above = f"none named: above {CLASSES[-1]:g}, or the bytes from the host do not tell the wear"
        rows.append([above, f"{len(known) - len(classes):,}", "-"])
    heads = ["drive writes a day", "drives that need this class", "drives whose rate it allows"]
    return [page.Section("Classes of endurance", parts.table("Classes of endurance", heads, rows))]


def _table(rows: Sequence[Row], total: int) -> Markup:
    # The state and the notes come first, where they are visible without scrolling. What needs a person is in the
    # sentences for tickets.
    drive, *others, state = table.COLUMNS
    notes = [
        "" if row["level"] in models.URGENT else " ".join(filter(None, (row["concerns"], table.standing_text(row))))
        for row in rows
    ]
    first = ["state", "notes"] if any(notes) else ["state"]
    heads = [drive.heading, *first, *(column.heading for column in others)]
    cells = [
        [drive.text(row), *[state.text(row), said][: len(first)], *(column.text(row) for column in others)]
        for row, said in zip(rows, notes, strict=True)
    ]
    note = f"{len(rows):,} of {total:,}; all are in drives.parquet and drives.csv."
    return parts.paragraphs(note) + parts.table("Drives", heads, cells, sentence=2 if any(notes) else 0)


def _waf(drives: pl.LazyFrame) -> Figure | None:
    settled = drives.filter(pl.col("waf").is_not_null() & ~pl.col("waf_is_early"))
    found = _quantiles(settled, pl.col("waf").clip(upper_bound=_WAF_SHOWN_MAX))
    if found is None:
        return None
    count, points = found
    return published_lines(
        name="waf",
        title=f"Half of the {count:,} drives that count it have a write amplification of "
        f"{wording.waf(_middle(points))} or less",
        caption="Drives with at least one full drive write, since they were new. The vertical axis is logarithmic.",
        lines=[Line("write amplification", points)],
        x_title="drives in ascending order, %",
        y_title="write amplification",
        scale="log",
    )


def _used(drives: pl.LazyFrame) -> Figure | None:
    found = _quantiles(drives.filter(pl.col("used_percent").is_not_null()), pl.col("used_percent"))
    if found is None:
        return None
    count, points = found
    return published_lines(
        name="used",
        title=f"Half of the {count:,} drives that report it have used {wording.rounded(_middle(points), 2)} % of their "
        "rated life or less",
        caption="The percentage that the drives themselves report.",
        lines=[Line("used", points)],
        x_title="drives in ascending order, %",
        y_title="% of the rated life used",
    )


def _quantiles(drives: pl.LazyFrame, figure: pl.Expr) -> tuple[int, list[tuple[float, float]]] | None:
    """The number of drives, and points (share of the drives in percent, figure); None for a single drive."""
    shares = [index / (_POINTS - 1) for index in range(_POINTS)]
    found = drives.select(
        pl.len().alias("n"), *(figure.quantile(share, "linear").alias(f"q{share}") for share in shares)
    ).collect()
    n, *values = found.row(0)
    return (n, [(share * 100, value) for share, value in zip(shares, values, strict=True)]) if n > 1 else None


def _middle(points: Sequence[tuple[float, float]]) -> float:
    return points[len(points) // 2][1]
