"""`ssdlab atlas`: wear and errors of drives in the field, as a page; or the distributions rebuilt from reports."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.progress import counting
from ssdlab.errors import InputError
from ssdlab.presentation.terminal import wrapped
from ssdlab.simulator.results.files import check_writable

_BUILD = "build"


def atlas(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[build PLACE...]",
            help="build and the paths of reports, to build an atlas; without: write the page.",
            show_default=False,
        ),
    ] = None,
    from_file: Annotated[
        str | None, typer.Option("--from", metavar="FILE", help="Another atlas.  [default: the included one]")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", metavar="FILE|DIR", help="With build a .parquet file, otherwise a folder.  [default: out/atlas]"
        ),
    ] = None,
    credit: Annotated[
        str | None, typer.Option(metavar="TEXT", help="With build: origin and licence of the reports.")
    ] = None,
    workers: options.Workers = None,
    *,
    form: Form,
) -> None:
    """Show distributions of write amplification, wear and use of drives in the field, by model and manufacturer.

    The included atlas is built from about 24,000 reports of the EnterpriseDrive collection of linuxhw, CC BY 4.0.
    `ssdlab atlas build PATH...` builds an atlas from your own reports; it contains no serial numbers.
    """
    if words and words[0] != _BUILD:
        raise InputError(f"{words[0]!r} is not known; allowed: build PATH..., or nothing for the page")
    if words and len(words) < 2:
        raise InputError("build needs the paths of reports: ssdlab atlas build PATH...")
    if words:
        _build(words[1:], Path(output or "out/atlas/atlas.parquet"), credit, workers, form)
    else:
        _page(Path(from_file) if from_file else None, Path(output or "out/atlas"), form, command_line(context))


def _build(places: list[str], path: Path, credit: str | None, workers: int | None, form: Form) -> None:
    from ssdlab.field.atlas import distributions
    from ssdlab.field.health.survey import surveyed

    check_writable(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    with counting("files") as tell, surveyed(places, workers=workers, tell=tell) as spool:
        frame = distributions.build(spool.drives())
    distributions.write(frame, path, {"source": credit} if credit else {})
    models = frame.filter(frame["model"] != "")["model"].n_unique()
    said = f"{path}: {len(frame)} distributions of {models} models, {path.stat().st_size:,} bytes"
    form.give(Rows(frame.to_dicts()), lambda: typer.echo(said))


def _page(file: Path | None, folder: Path, form: Form, line: str) -> None:
    from ssdlab.field.atlas import distributions, page

    check_folder(folder, "atlas")
    known = distributions.load(file) if file else distributions.shipped()
    names = page.write(known, folder, is_shipped=file is None, command_line=line)
    form.give(lambda: Rows(known.frame.to_dicts()), lambda: typer.echo(wrapped(page.summary(known))))
    form.say(f"\nreport: {folder / 'report.html'}\nfiles:  {len(names)} in {folder}")
