"""`--output` and `--output-format` of the commands that report as fio does: the place and format of a result."""

from dataclasses import dataclass
from pathlib import Path

import typer

from ssdlab.errors import InputError
from ssdlab.simulator.results.files import check_writable, write_text


@dataclass(frozen=True)
class Destination:
    """A folder for all files of a result, or a file for its text, or neither, if the text is printed."""

    directory: Path | None
    file: Path | None
    format: str

    @property
    def log_folder(self) -> Path:
        """The folder for log files: the output folder, the folder of the output file, or the working directory."""
        return self.directory or (self.file.parent if self.file else Path())

    def give(self, text: str) -> None:
        """Prints the text, or writes it into the file."""
        if self.file:
            write_text(self.file, text)
        else:
            typer.echo(text, nl=False)


def check_folder(directory: Path, command: str) -> None:
    """Raises InputError unless `command` can write its files into this folder. Called before long work begins."""
    check_writable(directory)
    check_own(directory, command)


def check_own(directory: Path, command: str) -> None:
    """Raises InputError if the folder has the report of another command, because the files of both would mix."""
    report = directory / "report.html"
    if not report.is_file():
        return
    from ssdlab.presentation.report import page

    other = page.made_by(report.read_text(encoding="utf-8", errors="replace"))
    if other not in (None, command):
        raise InputError(f"--output {directory}: has the report of `ssdlab {other}`; choose another folder")


def destination(output: str | None, output_format: str | None, *, command: str) -> Destination:
    """The destination that the options give. `output` is a folder if it exists as one, ends with a slash, or does not
    exist and has no suffix. Without `output_format` a file named *.json gets json, anything else normal. Raises
    InputError if the place is not writable or the folder has the report of another command."""
    path = Path(output) if output is not None else None
    is_directory = path is not None and (
        path.is_dir() or str(output).endswith("/") or (not path.suffix and not path.exists())
    )
    directory, file = (path, None) if is_directory else (None, path)
    if output_format is None:
        output_format = "json" if file and file.suffix == ".json" else "normal"
    found = Destination(directory, file, output_format)
    if path is not None:
        check_writable(found.log_folder)
    if directory is not None:
        check_own(directory, command)
    return found
