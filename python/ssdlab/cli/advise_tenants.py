"""`ssdlab advise tenants`: one drive for all tenants, or a drive of its share for each."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import advise, drive_options, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form
from ssdlab.errors import InputError
from ssdlab.experiments.advice.tenants import advise_tenants as advised
from ssdlab.experiments.advice.tenants import has_tenants
from ssdlab.simulator.results.namespaces_text import namespace_lines
from ssdlab.simulator.workloads import title

if TYPE_CHECKING:
    from ssdlab.experiments.advice.tenants import TenantAdvice


def advise_tenants(
    context: typer.Context,
    job: Annotated[str, typer.Argument(metavar="JOB.fio", help="The job file of all tenants.", show_default=False)],
    drive: drive_options.Drive,
    writes_per_day: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Host writes of all tenants per day, such as 2TB.")
    ] = None,
    settings: options.Set = None,
    whole: Annotated[bool, typer.Option("--whole", help="Run the whole drive; takes minutes.")] = False,
    *,
    simulations: options.Simulations,
    form: Form,
    output: Annotated[str | None, options.folder("out/advise-NAME")] = None,
) -> None:
    """Say whether tenants should share a drive, or have a drive of their share each.

    The drive has a [[namespace]] for each tenant, which the jobs choose by filename.
    """
    if not has_tenants(drive):
        raise InputError(f"drive {drive} has no [[namespace]] for tenants; one workload: ssdlab advise space JOB.fio")
    directory = Path(output) if output else Path("out") / f"advise-{title(job)}"
    check_folder(directory, "advise")
    if whole and simulations.scale is not None:
        raise InputError(f"--whole and --scale {simulations.scale} exclude each other")
    advice = advised(
        job,
        drive,
        writes_per_day=writes_per_day,
        settings=settings,
        whole=whole,
        scale=simulations.scale,
        seed=simulations.seed,
        workers=simulations.workers,
    )
    form.give(advice, lambda: _print(advice))
    names = advice.write(directory, command_line=command_line(context))
    form.say_files(directory, names)


def _print(advice: "TenantAdvice") -> None:
    advise.print_wrapped(f"{advice.headline}")
    typer.echo()
    advise.say(advice.sentences)
    advise.print_wrapped(advice.standing)
    typer.echo("\n" + "\n".join(namespace_lines(advice.result.namespaces or [])))
