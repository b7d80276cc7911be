"""`ssdlab run`: a fio job on a simulated drive, reported as fio would."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import options

FORMATS = ("normal", "json", "json+", "terse", "sysbench")


def run(
    job: options.Job,
    drive: Annotated[
        str,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
    ],
    op: options.Op = None,
    settings: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    precondition: Annotated[
        str,
        typer.Option(metavar="none|fill|steady", help=f"{options.PRECONDITION_HELP}"),
    ] = "none",
    from_state: Annotated[
        str | None, typer.Option("--from-state", metavar="FILE", help="Begin with the drive as --save-state left it.")
    ] = None,
    save_state: Annotated[
        str | None,
        typer.Option("--save-state", metavar="FILE", help="Leave the drive's state at the end there."),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--output-format",
            metavar="FORMAT",
            help="normal, json, json+ or terse, as fio's; sysbench.  [default: normal, or by FILE]",
        ),
    ] = None,
    output: options.Output = None,
) -> None:
    """Run a fio job file on a simulated drive and report what fio would, and what the flash had to do for it."""
    from tempfile import TemporaryDirectory

    from ssdlab import workloads
    from ssdlab.cli.destination import destination
    from ssdlab.cli.progress import shown
    from ssdlab.drives import load, resolve
    from ssdlab.errors import InputError, RunFailed
    from ssdlab.results import logs
    from ssdlab.results.files import check_writable
    from ssdlab.results.text import FORMATS as writers
    from ssdlab.targets import simulated
    from ssdlab.targets.preconditioning import saved_state, steady_state

    options.check_word("--precondition", precondition, options.PRECONDITIONS)
    if from_state and precondition != "none":
        raise InputError("--from-state and --precondition both say what the drive is like at first; give one of them")
    if save_state:
        check_writable(Path(save_state).parent)
    to = destination(output, output_format, FORMATS)
    job_file = workloads.load(job)
    resolved = resolve(
        load(drive),
        over_provisioning=options.op_of(op),
        settings=options.settings_of(settings),
        scale=options.scale_of(scale),
    )
    with TemporaryDirectory(prefix="ssdlab-") as folder:
        state = saved_state(from_state) if from_state else None
        if precondition == "steady":
            state = steady_state(job_file, resolved, Path(folder), seed=seed)
        specification = simulated.specify(
            job_file,
            resolved,
            seed=seed,
            timed=not untimed,
            precondition="fill" if precondition == "fill" else "none",
            initial_state=state,
        )
        options.print_notes(job_file.notes)
        with shown([workloads.title(job)]) as tell:
            progress = (lambda share, written: tell(0, share, written)) if tell else None
            result = simulated.run(specification, progress, save_state=save_state)
    to.give(writers[to.format](result))
    if to.directory:
        result.write(to.directory)
        series = "timeseries.parquet" + ("" if untimed else " and timeseries-time.parquet")
        typer.echo(f"wrote {to.directory}/result.json, {series}", err=True)
    # As in fio.
    names = logs.write(result, to.beside)
    if untimed and any("logs" in entry.output for entry in specification.reporting):
        typer.echo("note: no logs are written, as they take a clock", err=True)
    if names:
        typer.echo(f"logs: {', '.join(names)}", err=True)
    if result.failure:
        raise RunFailed(f"{job}: {result.failure}")
