"""`ssdlab advise smart`: the effect of leaving a part of a real drive empty, by its SMART reports."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import advise, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form


def advise_smart(
    context: typer.Context,
    places: options.Reports,
    left_empty: options.LeftEmptyOfReports,
    form: Form,
    output: Annotated[str | None, options.folder("print only")] = None,
) -> None:
    """Infer what leaving a part of a drive unpartitioned does to its wear, from its SMART reports, as a range.

    The drive's own write amplification and write rate are used; nothing is simulated. For a search with limits under
    the workload that explains them: ssdlab advise space --smart PLACE --drive NAME.
    """
    from ssdlab.experiments.advice.own_drive import own_drive

    found = own_drive(places, None, left_empty)
    if output:
        check_folder(Path(output), "advise")
    form.give(found, lambda: advise.say_own(found, form))
    if output:
        names = found.write(output, command_line=command_line(context))
        form.say_files(output, names)
