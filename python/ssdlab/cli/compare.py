"""`ssdlab compare`: compares spare areas, drives or policies under one workload, in the steady state."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import comparing, options
from ssdlab.cli.ahead import DRAWING, loading
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form
from ssdlab.cli.groups import Parsed
from ssdlab.errors import InputError
from ssdlab.experiments.comparison import request
from ssdlab.foundation.quantities import parse_share
from ssdlab.simulator import workloads
from ssdlab.simulator.workloads.specifying import PRECISION, Until


@dataclass(frozen=True)
class Stages(request.Stages):
    """The start and the end of the runs, as options."""

    precondition: options.Precondition = "fill"
    until: Annotated[
        Until,
        typer.Option(
            metavar="steady|job", help="Repeat the last stage until SNIA's steady state, or run the job once."
        ),
    ] = "steady"
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            metavar="SHARE",
            help="Go on in the steady state until WAF and rates are known within this share, or 40 drive writes.",
        ),
        Parsed(parse_share, default="1%"),
    ] = PRECISION


def compare(
    context: typer.Context,
    job: options.Job,
    variants: comparing.Variants,
    stages: Stages,
    running: comparing.Running,
    form: Form,
    output: Annotated[str | None, options.folder("out/compare-JOB")] = None,
) -> None:
    """Compare spare areas, drives or policies under one workload: a table, charts, report.html and all figures.

    One run each on drives of other kinds, such as real ones: ssdlab compare targets.
    """
    from ssdlab.experiments.comparison.comparing import compared

    directory = Path(output) if output else Path("out") / f"compare-{workloads.title(job)}"
    check_folder(directory, "compare")
    if not variants.drives:
        raise InputError("give --drive NAME")
    with loading(DRAWING):
        found = compared(job, variants, stages, running.chosen)
    comparing.report(found, directory, command_line(context), form)
