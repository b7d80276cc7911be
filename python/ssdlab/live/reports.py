"""Saves a session as a report: the files of `ssdlab compare`, and the job files that reproduce the figures."""

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ssdlab.experiments.comparison.axes import Planned
from ssdlab.experiments.comparison.variant import Variant
from ssdlab.live.messages import Report
from ssdlab.live.share import command_line, job_file_name
from ssdlab.simulator.results import drive_state

if TYPE_CHECKING:
    from ssdlab.live.workbench import Workbench

# The report is a separate page that contains its scripts and styles and makes no requests.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
_CONTENT_TYPES = {
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".fio": "text/plain",
}
_DRIVE_WRITES_PER_DAY = 1.0


class Reports:
    """The reports of one page, each in its own folder: 1, 2, ..."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, workbench: "Workbench") -> Report:
        """Writes a report of the session so far. Returns its folder, and the path of its page for the browser."""
        from ssdlab.experiments.comparison import output

        with workbench.settled() as drives:
            results = [settled.result for settled in drives]
            texts = [settled.job_file for settled in drives]
        labels = workbench.labels()
        variants = [
            Variant(Planned(label, bench.drive), result, _DRIVE_WRITES_PER_DAY)
            for label, bench, result in zip(labels, workbench.benches, results, strict=True)
        ]
        number, folder = self._next()
        names = output.write(
            variants,
            folder,
            title=f"{workbench.title()}, recorded on the live page",
            subtitle=f"{', '.join(labels)}; from a fresh drive; seed {workbench.start.seed}",
            command_line="\n".join(command_line(workbench, drive) for drive in range(len(results))),
            notes=[
                *(f"{moment.name}: after {moment.host_written_bytes[0]:,} host bytes" for moment in workbench.moments),
                *drive_state.facts(dict(zip(labels, results, strict=True)), "none"),
            ],
        )
        for drive, text in enumerate(texts):
            (folder / job_file_name(drive)).write_text(text, encoding="utf-8")
        return {"folder": str(folder), "page": f"reports/{number}/{names[-1]}"}

    def read(self, path: str) -> tuple[bytes, str, str] | None:
        """A file of a report, with its content type and its policy for the browser; None if it does not exist."""
        parts = PurePosixPath(path).parts
        if len(parts) != 2 or not parts[0].isdigit() or parts[1].startswith("."):
            return None
        file = self._folder / parts[0] / parts[1]
        if file.suffix not in _CONTENT_TYPES or not file.is_file():
            return None
        return file.read_bytes(), _CONTENT_TYPES[file.suffix], _POLICY if file.suffix == ".html" else ""

    def _next(self) -> tuple[int, Path]:
        number = 1
        while (folder := self._folder / str(number)).exists():
            number += 1
        return number, folder
