"""A database's table after years of updates, and after it was rebuilt: a prediction, nothing is fitted to it."""

from ssdlab.experiments.studies import wording
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Range, Row, StudyResult, published
from ssdlab.experiments.studies.internal_fragmentation.drives import DRIVES as OF_THE_ARTICLE
from ssdlab.experiments.studies.internal_fragmentation.drives import FOLDER
from ssdlab.experiments.studies.internal_fragmentation.reading import SCALE
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads.specifying import specify

JOB = "table.fio"
DRIVES = {"toshiba-xg5-512gb": "Toshiba XG5", "samsung-pm981-1tb": "Samsung PM981"}
"""The two drives of the article for desktops whose links are fast enough to show it."""
WORDS = {
    "read-loaded": "as loaded",
    "read-updated": "after years of updates at random",
    "read-reloaded": "after it was rebuilt",
}


def run(context: Context) -> StudyResult:
    """Simulates the table's life on both drives."""
    scale = context.scale(SCALE)
    labels = {drive: f"{drive}, a database's table" for drive in DRIVES}
    job = context.job(FOLDER / JOB)
    as_read = {each.drive: each.as_read for each in OF_THE_ARTICLE}
    drives = {drive: drive_of(drive, scale=scale, settings=as_read[drive]) for drive in labels}
    results = context.simulate({labels[name]: specify(job, drive, seed=context.seed) for name, drive in drives.items()})
    figures = {row["job"]: row for row in published(FOLDER / "table.csv")}
    rows = []
    for drive, label in labels.items():
        of_job = {each.name: each for each in results[label].jobs}
        for name, words in WORDS.items():
            figure = figures.get(name)
            rows.append(
                Row(
                    f"{DRIVES[drive]}, {words}",
                    None if figure is None else _figure(figure),
                    _mb_s(of_job[name].ledger.host_read_bytes, of_job[name].seconds),
                    "MB/s",
                    tolerance=None if figure is None else float(figure["tolerance"]),
                    printed="text",
                    group="A database's table of 100 GB, read in order",
                    note="Predicted by drives fitted to files of 4 GiB. The article does not name the table's drive.",
                )
            )
    updated, rebuilt = (row.simulated or 0.0 for row in rows[1 : len(WORDS)])
    return StudyResult(
        finding=f"A table of 100 GB on the {DRIVES['toshiba-xg5-512gb']} is read at {updated:,.0f} MB/s after years of "
        f"updates (published: {wording.published(rows[1])}) and at {rebuilt:,.0f} MB/s after it was rebuilt.",
        rows=rows,
    )


def _figure(row: dict[str, str]) -> float | Range:
    return float(row["low"]) if row["low"] == row["high"] else Range(float(row["low"]))


def _mb_s(size_bytes: int, seconds: float | None) -> float | None:
    return size_bytes / seconds / 1e6 if seconds else None
