"""`--output` and `--output-format` of the commands that report as fio does: the place and format of a result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from ssdlab.cli.form import Form, csv
from ssdlab.errors import InputError
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.results.files import check_writable, write_text

_BY_SUFFIX = {".json": "json", ".csv": "csv"}
_OF_FILES = (*_BY_SUFFIX, ".html", ".txt", ".md")
"""Suffixes of what a file holds: nobody names a folder so."""


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

    def give(self, result: Shown, writers: Mapping[str, Callable[[Any], str]]) -> None:
        """Prints the result, or writes it into the file. `writers` are those of fio's formats."""
        text = csv(result) if self.format == "csv" else writers[self.format](result)
        if self.file:
            write_text(self.file, text)
        else:
            typer.echo(text, nl=False)


def check_folder(directory: Path, command: str) -> None:
    """Raises InputError unless `command` can write its files into this folder. Called before long work begins."""
    if directory.suffix.lower() in _OF_FILES and not directory.is_dir():
        raise InputError(
            f"--output {directory}: this writes a folder, and that is the name of a file; give a folder, such as"
            f" {directory.with_suffix('')}/, or send what is printed into a file: --format json > {directory}"
        )
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


def destination(output: str | None, output_format: str | None, form: Form, *, command: str) -> Destination:
    """The destination that the options give. `output` is a folder if it exists as one, ends with a slash, or does not
    exist and has no suffix. `output_format` is one of fio's, `form` one of all commands; without either a file named
    *.json gets json, *.csv csv, anything else normal.

    Raises InputError for both, or if the place is not writable or the folder has the report of another command.
    """
    path = Path(output) if output is not None else None
    is_directory = path is not None and (
        path.is_dir() or str(output).endswith("/") or (not path.suffix and not path.exists())
    )
    directory, file = (path, None) if is_directory else (None, path)
    if output_format is not None and form.asked is not None:
        raise InputError(f"--format {form.asked} and --output-format {output_format} exclude each other")
    if output_format is None:
        by_name = _BY_SUFFIX.get(file.suffix, "text") if file else "text"
        output_format = (form.asked or by_name).replace("text", "normal")
    found = Destination(directory, file, output_format)
    if path is not None:
        check_writable(found.log_folder)
    if directory is not None:
        check_own(directory, command)
    return found
