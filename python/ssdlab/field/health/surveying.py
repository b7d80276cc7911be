"""`ssdlab.health`: the health of drives from their SMART reports."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ssdlab.field.health import history, page, summary
from ssdlab.field.health.drive import Row
from ssdlab.field.health.privacy import without_identities
from ssdlab.field.health.scanning import Tell
from ssdlab.field.health.standing import with_standing
from ssdlab.field.health.summary import Summary
from ssdlab.field.health.survey import surveyed
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.results.files import note_complete

DRIVES_FILE = "drives.parquet"
CSV_FILE = "drives.csv"


@dataclass(frozen=True, repr=False)
class Health(Shown):
    """The drives of a survey, the most urgent first, with what is to be said of each."""

    drives: pl.LazyFrame
    reports: pl.LazyFrame
    """Of `history.timed`."""
    summary: Summary
    unread: pl.DataFrame
    """The files that could not be read: source, and the reason."""
    kept_in: Path | None = None
    """The folder whose file has the drives; None if they are in memory."""

    def __repr__(self) -> str:
        return f"<Health: {self.summary.finding()}>"

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each drive, the most urgent first.

        Columns as in drives.parquet of `ssdlab health` (docs/real-drives/health.md): model, serial, level (ok to
        failing), concerns (sentences), waf, used_percent, host_bytes and others in bytes, years_left with its bounds;
        null where the drive does not report it.
        """
        kinds = self.drives.collect_schema()
        return pl.DataFrame(self.gravest(self.summary.drives), schema=kinds)

    def gravest(self, most: int) -> list[Row]:
        """The most urgent drives: by state, failing first, then by wear."""
        return summary.gravest(self.drives, most)

    def figures(self) -> Sequence[Figure]:
        """The histories of drives with many reports, and distributions of write amplification and wear over drives."""
        return page.figures(self.drives, self.reports)

    def to_dict(self) -> dict[str, object]:
        """The object that `ssdlab health --format json` prints."""
        drives = self.gravest(self.summary.drives)
        return {"summary": self.summary.to_dict(), "drives": drives, "unread": self.unread.to_dicts()}

    def write(self, directory: str | Path, *, command_line: str = "") -> list[str]:
        """Writes report.html, its pictures, result.json, drives.parquet and drives.csv.

        Returns their names, the page last.
        """
        folder = Path(directory)
        if self.kept_in != folder:
            _sink(self.drives, folder)
        gravest = self.gravest(page.SHOWN)
        written = page.write(folder, self.drives, self.reports, self.summary, gravest, command_line)
        return [DRIVES_FILE, CSV_FILE, *written]


def health(places: str | Path | Sequence[str | Path], *, anonymous: bool = False, workers: int | None = None) -> Health:
    """Reports the health of drives from their SMART reports, as `ssdlab health`: wear, write amplification, years left.

    `places` are files, folders and archives with reports in any form that `ssdlab health` reads, or devices. Two
    reports of a drive give its write rate between them. `anonymous` omits serial numbers and file names. `workers` is
    the number of processes, by default as many as processors.

    Raises InputError if a place does not exist, or if nothing in the places could be read.

        ssdlab.health("reports/").frame().filter(polars.col("level") != "ok").select("model", "serial", "concerns")
    """
    named = [str(places)] if isinstance(places, str | Path) else [str(each) for each in places]
    with observed(named, anonymous=anonymous, workers=workers) as found:
        return found


@contextmanager
def observed(
    places: Sequence[str],
    *,
    anonymous: bool = False,
    workers: int | None = None,
    folder: Path | None = None,
    tell: Tell | None = None,
) -> Iterator[Health]:
    """As `health`. With `folder` the drives are in a file of it, not in memory, and the reports that were read are kept
    for the next call, unless they are to be anonymous."""
    kept = folder / "parts" if folder and not anonymous else None
    with surveyed(places, workers=workers, kept=kept, tell=tell) as spool:
        drives = with_standing(spool.drives())
        if anonymous:
            drives = without_identities(drives)
        # Collected once: otherwise each query below would join the reports of a drive again.
        drives = _sink(drives, folder) if folder else drives.collect().lazy()
        reports = history.timed(spool.rows())
        reports = reports if folder else reports.collect().lazy()
        unread = spool.unread().collect()
        if anonymous:
            unread = unread.with_columns(pl.lit("a file").alias(unread.columns[0]))
        yield Health(drives, reports, summary.summed_up(drives, len(unread), spool.unnamed()), unread, folder)


def _sink(drives: pl.LazyFrame, folder: Path) -> pl.LazyFrame:
    """The drives, read from the file that they are written to: a million of them do not fit into memory."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / DRIVES_FILE
    partial = folder / f"{DRIVES_FILE}.partial"
    drives.sink_parquet(partial)
    partial.replace(path)
    note_complete(path)
    partial_csv = folder / f"{CSV_FILE}.partial"
    pl.scan_parquet(path).sink_csv(partial_csv)
    partial_csv.replace(folder / CSV_FILE)
    return pl.scan_parquet(path)
