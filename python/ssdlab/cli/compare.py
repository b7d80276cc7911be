"""`ssdlab compare`: one workload over several spare areas, drives or policies, to the steady state."""

import shlex
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import options

UNTIL = ("steady", "job")
PRECONDITIONS = ("fill", "none")


def compare(
    job: options.Job,
    drives: Annotated[
        list[str],
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file. Repeatable."),
    ],
    op: Annotated[
        str | None,
        typer.Option("--op", metavar="LIST", help="Spare areas, such as 7%,28%.  [default: each drive's own]"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=LIST", help="A key of the drive file; several values with commas vary it. Repeatable."
        ),
    ] = None,
    until: Annotated[
        str,
        typer.Option(metavar="steady|job", help="Repeat the last stage until SNIA's steady state, or do the job once."),
    ] = "steady",
    precondition: Annotated[
        str, typer.Option(metavar="fill|none", help="Write the whole drive in sequence first, or start it fresh.")
    ] = "fill",
    dwpd: Annotated[float, typer.Option(metavar="N", help="Drive writes a day, for the years of life.")] = 1.0,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    workers: options.Workers = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where the files go.  [default: out/compare-JOB]")
    ] = None,
) -> None:
    """Compare spare areas, drives or policies under one workload: a table, pictures, report.html and all figures."""
    from ssdlab.cli.progress import shown
    from ssdlab.errors import RunFailed
    from ssdlab.results.files import check_writable
    from ssdlab.runs import run_many
    from ssdlab.targets.simulated import specify

    _check("--until", until, UNTIL)
    _check("--precondition", precondition, PRECONDITIONS)
    _check_rate(dwpd)
    directory = Path(output) if output else Path("out") / f"compare-{Path(job).stem}"
    check_writable(directory)

    from ssdlab import jobs
    from ssdlab.comparison.axes import plan

    job_file = jobs.load(Path(job))
    planned = plan(drives, op, settings or [], scale=options.scale_of(scale))
    specifications = [
        specify(
            job_file,
            variant.drive,
            seed=seed,
            until="steady" if until == "steady" else "job",
            precondition="fill" if precondition == "fill" else "none",
            timed=not untimed,
        )
        for variant in planned
    ]
    options.print_notes(job_file.notes)

    results = {}
    with (
        shown([variant.label for variant in planned]) as tell,
        closing(run_many(specifications, workers, tell)) as runs,
    ):
        for index, result in runs:
            results[index] = result
            if tell:
                tell(index, 1.0, result.ledger.host_written_bytes)

    from rich.console import Console

    from ssdlab.comparison import output as files
    from ssdlab.comparison.table import print_table
    from ssdlab.comparison.variant import Variant

    variants = [Variant(variant, results[index], dwpd) for index, variant in enumerate(planned)]
    print_table(variants, Console())
    arguments = {"--until": until, "--precondition": precondition, "--dwpd": f"{dwpd:g}", "--seed": str(seed)}
    names = files.write(
        variants,
        directory,
        title=f"{Path(job).stem}: {len(variants)} variants compared" if len(variants) > 1 else Path(job).stem,
        subtitle=_subtitle(drives, until, precondition, seed),
        command_line=_command_line(job, drives, op, settings or [], scale, arguments, untimed=untimed),
        notes=job_file.notes,
    )
    typer.echo(f"\nreport: {directory / names[-1]}\nfiles:  {len(names)} in {directory}")
    failures = [f"{variant.label}: {variant.result.failure}" for variant in variants if variant.result.failure]
    if failures:
        raise RunFailed("; ".join(failures))


def _check(option: str, value: str, allowed: tuple[str, ...]) -> None:
    from ssdlab.errors import InputError, near

    if value not in allowed:
        raise InputError(f"{option} is {value!r}{near(value, allowed)}; allowed: {', '.join(allowed)}")


def _check_rate(dwpd: float) -> None:
    import math

    from ssdlab.errors import InputError

    if not (dwpd > 0 and math.isfinite(dwpd)):
        raise InputError(f"--dwpd is {dwpd:g}; allowed: a number above 0")


def _subtitle(drives: list[str], until: str, precondition: str, seed: int) -> str:
    start = "filled in sequence first" if precondition == "fill" else "from a fresh drive"
    end = "until the steady state by SNIA's rule" if until == "steady" else "until the job is done"
    return f"{', '.join(Path(drive).stem for drive in drives)}; {start}, {end}; seed {seed}"


def _command_line(
    job: str,
    drives: list[str],
    op: str | None,
    settings: list[str],
    scale: str | None,
    arguments: dict[str, str],
    *,
    untimed: bool,
) -> str:
    """What makes the same files again, wherever they go and however many processes there are."""
    words = ["ssdlab", "compare", job]
    words += [word for drive in drives for word in ("--drive", drive)]
    words += ["--op", op] if op else []
    words += [word for setting in settings for word in ("--set", setting)]
    words += ["--scale", scale] if scale else []
    words += ["--untimed"] if untimed else []
    return shlex.join([*words, *(word for pair in arguments.items() for word in pair)])
