"""`ssdlab study`: the published experiments, listed, or repeated and laid beside what was published."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from ssdlab.studies import Context, Study, StudyResult


def study(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A study; without: list them.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all, and end with one page for all.")] = False,
    full: Annotated[bool, typer.Option("--full", help="At full capacity, where a study is scaled otherwise.")] = False,
    seed: options.Seed = 1,
    workers: options.Workers = None,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="PATH", help="On a real drive: a folder, the name of a new file, or a device."),
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="SIZE", help="With --on a folder: the file's size.")] = None,
    destroy_data_on: options.DestroyDataOn = None,
    discard_signatures: options.DiscardSignatures = False,
    max_write: Annotated[str | None, typer.Option(metavar="SIZE", help="With --on: write no more than this.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="With --on: shorter; it says what it gives up.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="With --on: go on after the last finished step.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --on: say what would be written.")] = False,
    smart: Annotated[str | None, typer.Option(metavar="FILE", help="With --on: read health from FILE.")] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR", help="Where the files go.  [default: out/study-NAME, out/studies]"),
    ] = None,
) -> None:
    """Repeat a published experiment on simulated drives: published, simulated and deviation, row by row.

    With --on PATH its steps are carried out on a real drive, scaled to its size, through fio, sysbench, cp and fstrim;
    --destroy-data-on, --max-write and --dry-run are as in `ssdlab measure`.
    """
    from ssdlab.errors import InputError
    from ssdlab.studies import registry

    if name is not None and every:
        raise InputError("give the name of a study or --all, not both")
    if name is None and not every:
        _print_list(registry.studies())
        return
    if on is not None:
        if name is None:
            raise InputError("--on takes one study: ssdlab study NAME --on PATH")
        from ssdlab.cli import comparing, study_on

        study_on.run(
            registry.study(name),
            Path(on),
            size=size,
            serial=destroy_data_on,
            discard_signatures=discard_signatures,
            max_write=max_write,
            smart=smart,
            quick=quick,
            resume=resume,
            dry_run=dry_run,
            seed=seed,
            output=Path(output) if output else Path("out") / f"study-{name}-measured",
            command_line=comparing.command_line(
                ["ssdlab", "study", name],
                {
                    **{"--on": on, "--size": size, "--destroy-data-on": destroy_data_on, "--smart": smart},
                    **{"--discard-signatures": discard_signatures, "--max-write": max_write, "--quick": quick},
                    "--seed": str(seed),
                },
            ),
        )
        return
    if quick or resume or dry_run or destroy_data_on:
        raise InputError("--quick, --resume, --dry-run and --destroy-data-on belong to --on PATH")
    chosen = registry.studies() if name is None else [registry.study(name)]
    directory = Path(output) if output else Path("out") / ("studies" if every else f"study-{name}")
    from ssdlab.results.files import check_writable

    check_writable(directory)
    done = []
    for each in chosen:
        place = directory / each.name if every else directory
        done.append((each, *_run(each, place, seed=seed, full=full, workers=workers)))
    if every:
        from ssdlab.studies import output as files

        files.write_all(done, directory, _command_line("--all", full, seed))
        typer.echo(f"\nall studies: {directory / 'report.html'}")


def _run(study: Study, place: Path, *, seed: int, full: bool, workers: int | None) -> tuple[StudyResult, Context]:
    from rich.console import Console

    from ssdlab.cli.progress import shown
    from ssdlab.studies import Context
    from ssdlab.studies import output as files
    from ssdlab.studies.table import print_rows

    context = Context(seed=seed, full=full, workers=workers, show_progress=shown)
    typer.echo(f"{study.name}: {study.title}\n", err=True)
    result = study.run(context)
    console = Console()
    print_rows(result.rows, console)
    console.print(f"\n{result.finding}", highlight=False, markup=False, width=80)
    names = files.write(study, result, context, place, _command_line(study.name, full, seed))
    typer.echo(f"\nreport: {place / names[-1]}\nfiles:  {len(names)} in {place}\n")
    return result, context


def _command_line(what: str, full: bool, seed: int) -> str:
    return shlex.join(["ssdlab", "study", what, *(["--full"] if full else []), "--seed", str(seed)])


def _print_list(studies: list[Study]) -> None:
    for each in studies:
        typer.echo(f"{each.name}\n  {each.title}\n  {each.source}")
    typer.echo("\nssdlab study NAME runs one, --all all of them")
