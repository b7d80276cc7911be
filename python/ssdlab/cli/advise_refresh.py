"""`ssdlab advise refresh`: how often the data of a drive that is only read can be rewritten, and why it should be."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import advise, answer_page, drive_options, options
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.experiments.advice import limits, only_read
from ssdlab.experiments.advice.setting import Setting
from ssdlab.foundation.quantities import format_bytes, parse_bytes_with_unit
from ssdlab.simulator.drives import load


def advise_refresh(
    context: typer.Context,
    drive: drive_options.Drive,
    reads_per_day: Annotated[
        int, typer.Option(metavar="SIZE", help="Host reads per day, such as 20TB."), Parsed(parse_bytes_with_unit)
    ],
    life: Annotated[str, typer.Option(metavar="TIME", help="Minimum life, such as 5y.")],
    read_size: Annotated[
        int,
        typer.Option(metavar="SIZE", help="The size of a request."),
        Parsed(parse_bytes_with_unit, default="128KiB"),
    ] = only_read.READ_BYTES,
    settings: options.Set = None,
    *,
    form: Form,
    output: answer_page.Output = None,
) -> None:
    """Say how often the data of a drive that is only read, such as a model server's, can be refreshed.

    Also what that costs, and how many reads are slow before it.
    """
    if output:
        check_folder(Path(output), "advise")
    resolved = Setting(load(drive), settings or {}, drive).at(None, None)
    years = limits.life_limit(life).bound
    # The number cancels out: life is in proportion to it.
    anything = resolved.file.background.read_disturb_reads or resolved.file.nand.pages_per_block
    refreshed = only_read.refreshes(only_read.read_only(reads_per_day, read_size, resolved, anything), years)
    sentences = only_read.advice(refreshed, years)
    rows = [only_read.row(each) for each in refreshed]
    found = {"drive": resolved.name, "refreshes": rows, "sentences": sentences}
    answer = Rows(rows, found)
    form.give(answer, lambda: advise.say(sentences))
    if output:
        heads, cells = only_read.table(refreshed)
        told = answer_page.Told(
            title=f"Refreshed every {cells[0][1]} or more rarely, the drive lives {cells[0][2]} years",
            subtitle=f"{resolved.name}, {format_bytes(reads_per_day)} read a day",
            summary=f"{sentences[0]}.",
            sentences=sentences[1 + len(refreshed) :],
            tables=[answer_page.Table("How often, and what it costs", heads, cells)],
        )
        answer_page.write(output, told, answer, form, context)
