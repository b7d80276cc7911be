"""`ssdlab compare`: one workload over several spare areas, drives or policies, to the steady state."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import options

UNTIL = ("steady", "job")


def compare(
    job: options.Job,
    drives: Annotated[
        list[str] | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file. Repeatable."),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target", metavar="KIND:WHAT", help="Instead: simulated:NAME or device:PATH, side by side. Repeatable."
        ),
    ] = None,
    op: options.OpList = None,
    settings: options.SetLists = None,
    until: Annotated[
        str,
        typer.Option(metavar="steady|job", help="Repeat the last stage until SNIA's steady state, or do the job once."),
    ] = "steady",
    precondition: options.Precondition = "fill",
    dwpd: options.Dwpd = 1.0,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    workers: options.Workers = None,
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="With --target device:FOLDER, the size of the file.")
    ] = None,
    destroy_data_on: Annotated[
        str | None, typer.Option("--destroy-data-on", metavar="SERIAL", help="As in `ssdlab measure`.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where the files go.  [default: out/compare-JOB]")
    ] = None,
) -> None:
    """Compare spare areas, drives or policies under one workload: a table, pictures, report.html and all figures.

    With --target the job is done once on each, simulated or real, and its figures are laid side by side.
    """
    from tempfile import TemporaryDirectory

    from ssdlab import workloads
    from ssdlab.cli import comparing
    from ssdlab.errors import InputError
    from ssdlab.results.files import check_writable
    from ssdlab.targets.preconditioning import steady_state
    from ssdlab.targets.simulated import specify

    options.check_word("--until", until, UNTIL)
    options.check_word("--precondition", precondition, options.PRECONDITIONS)
    options.check_dwpd(dwpd)
    directory = Path(output) if output else Path("out") / f"compare-{workloads.title(job)}"
    check_writable(directory)
    if targets:
        _on_targets(job, targets, drives, op, settings, scale, size, destroy_data_on, seed, directory)
        return
    if not drives:
        raise InputError("give --drive NAME, or --target simulated:NAME --target device:PATH")
    if size or destroy_data_on:
        raise InputError("--size and --destroy-data-on belong to --target device:PATH")

    from ssdlab.comparison.axes import plan

    job_file = workloads.load(job)
    planned = plan(drives, op, settings or [], scale=options.scale_of(scale))
    with TemporaryDirectory(prefix="ssdlab-") as folder:
        steady = precondition == "steady"
        specifications = [
            specify(
                job_file,
                variant.drive,
                seed=seed,
                until="steady" if until == "steady" else "job",
                precondition="fill" if precondition == "fill" else "none",
                timed=not untimed,
                initial_state=steady_state(job_file, variant.drive, Path(folder), seed=seed) if steady else None,
            )
            for variant in planned
        ]
        options.print_notes(job_file.notes)
        results = comparing.run_all([variant.label for variant in planned], specifications, workers)

    from ssdlab.comparison.variant import Variant

    title = workloads.title(job)
    variants = [Variant(variant, result, dwpd) for variant, result in zip(planned, results, strict=True)]
    said: dict[str, comparing.Said] = {
        **{"--drive": drives, "--op": op, "--set": settings, "--scale": scale, "--untimed": untimed},
        **{"--until": until, "--precondition": precondition, "--dwpd": f"{dwpd:g}", "--seed": str(seed)},
    }
    comparing.report(
        variants,
        directory,
        title=title if len(variants) == 1 else f"{title}: {len(variants)} variants compared",
        subtitle=_subtitle(drives, until, precondition, seed),
        command_line=comparing.command_line(["ssdlab", "compare", job], said),
        notes=job_file.notes,
    )


def _subtitle(drives: list[str], until: str, precondition: str, seed: int) -> str:
    start = {"fill": "filled in sequence first", "steady": "from the steady state of a smaller drive"}.get(
        precondition, "from a fresh drive"
    )
    end = "until the steady state by SNIA's rule" if until == "steady" else "until the job is done"
    return f"{', '.join(Path(drive).stem for drive in drives)}; {start}, {end}; seed {seed}"


def _on_targets(
    job: str,
    targets: list[str],
    drives: list[str] | None,
    op: str | None,
    settings: list[str] | None,
    scale: str | None,
    size: str | None,
    serial: str | None,
    seed: int,
    directory: Path,
) -> None:
    from ssdlab.cli import compare_targets, comparing
    from ssdlab.errors import InputError
    from ssdlab.targets.device.place import Permission

    if drives:
        raise InputError("--drive and --target exclude each other: --target simulated:NAME stands for a drive")
    said: dict[str, comparing.Said] = {
        **{"--target": targets, "--op": op, "--set": settings, "--scale": scale, "--size": size},
        **{"--destroy-data-on": serial, "--seed": str(seed)},
    }
    compare_targets.compare(
        job,
        targets,
        op=op,
        settings=settings,
        scale=scale,
        size=size,
        permission=Permission(serial),
        seed=seed,
        output=directory,
        command_line=comparing.command_line(["ssdlab", "compare", job], said),
    )
