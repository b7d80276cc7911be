"""`ssdlab study`: lists the published experiments, or repeats them and compares with the published figures."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import measure_protocol, options, study_on
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.groups import given
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError
from ssdlab.experiments.protocols.carrying_out import Target
from ssdlab.experiments.studies import registry, studying
from ssdlab.experiments.studies.internal_fragmentation import windows
from ssdlab.experiments.studies.real_drives import asked
from ssdlab.experiments.studies.table import print_rows
from ssdlab.presentation.terminal import text_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.experiments.studies import Study
    from ssdlab.experiments.studies.studying import Studied


CONTRIBUTED = "internal-fragmentation"
"""The study whose readings are exchanged."""


@dataclass(frozen=True)
class OneRun:
    """One drive of the data sheets, or one run of a drive under one of the real drives' workloads."""

    drive: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="With data-sheets and ocp-acceptance: only this drive. With real-drives: one run of it.",
        ),
    ] = None
    workload: Annotated[
        str | None, typer.Option(metavar="TEXT", help='With --drive: such as "zipf 0.8" or "latency 50000".')
    ] = None
    in_use: Annotated[
        str | None, typer.Option("--in-use", metavar="SIZE", help="With --drive: addresses in use.  [default: all]")
    ] = None


@dataclass(frozen=True)
class Readers:
    """Readings of other people's drives, for internal-fragmentation."""

    contribute: Annotated[
        Path | None,
        typer.Option(
            "--contribute", metavar="FILE", help="With internal-fragmentation --on: write its readings, as TOML."
        ),
    ] = None
    readings: Annotated[
        list[Path] | None,
        typer.Option("--readings", metavar="FILE", help="With internal-fragmentation: draw such a file. Repeatable."),
    ] = None
    powershell: Annotated[
        bool,
        typer.Option(
            "--powershell",
            help="With internal-fragmentation: print its steps as a script for Windows, which writes such a file.",
        ),
    ] = False


@dataclass(frozen=True)
class Running:
    """How simulations run."""

    full: Annotated[bool, typer.Option("--full", help="Full capacity for studies that are scaled by default.")] = False
    seed: options.Seed = 1
    workers: options.Workers = None


def study(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A study; without: list all.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all studies and write one page for all.")] = False,
    *,
    running: Running,
    real: study_on.RealDrive,
    one: OneRun,
    readers: Readers,
    form: Form,
    output: Annotated[str | None, options.folder("out/study-NAME, out/study-all")] = None,
) -> None:
    """Repeat a published experiment on simulated drives: published figure, simulated figure and deviation, row by row.

    With --on PATH its steps run on a real drive, scaled to its size, through fio, sysbench, cp and fstrim;
    --destroy-data-on, --max-write and --dry-run work as in `ssdlab measure`.
    """
    if name is not None and every:
        raise InputError("give the name of a study or --all, not both")
    if readers.contribute and (name != CONTRIBUTED or real.on is None):
        raise InputError(f"--contribute writes the readings of one drive: ssdlab study {CONTRIBUTED} --on PATH")
    if readers.readings and (name != CONTRIBUTED or real.on is not None):
        raise InputError(f"--readings are drawn by: ssdlab study {CONTRIBUTED}, without --on")
    if readers.powershell:
        if name != CONTRIBUTED or every or real.on is not None or readers.readings or given(one) or output:
            raise InputError(f"--powershell prints a script, and is alone: ssdlab study {CONTRIBUTED} --powershell")
        typer.echo(windows.script(), nl=False)
        return
    is_one_sheet = (
        name in ("data-sheets", "ocp-acceptance")
        and one.drive is not None
        and not (one.workload or one.in_use or real.on)
    )
    if given(one) and not is_one_sheet:
        if name != "real-drives" or one.drive is None or one.workload is None:
            raise InputError(
                "--drive, --workload and --in-use ask for one run:"
                " ssdlab study real-drives --drive NAME --workload WORKLOAD; one drive's data sheet:"
                " ssdlab study data-sheets --drive NAME; its acceptance: ssdlab study ocp-acceptance --drive NAME"
            )
        output = output or "out/study-real-drives"
        line = command_line(context)
        _run_one(
            one.drive,
            one.workload,
            one.in_use,
            form,
            seed=running.seed,
            full=running.full,
            output=Path(output),
            line=line,
        )
        return
    if name is None and not every:
        studies = registry.studies()
        rows = [{"name": each.name, "title": each.title, "source": each.source} for each in studies]
        form.give(Rows(rows), lambda: _print_list(studies))
        return
    if real.on is not None:
        if name is None:
            raise InputError("--on needs one study: ssdlab study NAME --on PATH")
        place = Path(output) if output else Path("out") / f"study-{name}-measured"
        how = measure_protocol.How(
            place, command_line(context), real.quick, running.seed, resume=real.resume, dry_run=real.dry_run, form=form
        )
        target = Target(real.on, real.size, real.permission, real.smart)
        study_on.run(registry.study(name), target, how, readers.contribute)
        return
    if real.quick or real.resume or real.dry_run or real.destroy_data_on:
        raise InputError("--quick, --resume, --dry-run and --destroy-data-on require --on PATH")
    chosen = registry.studies() if name is None else [registry.study(name)]
    directory = Path(output) if output else Path("out") / f"study-{'all' if every else name}"

    check_folder(directory, "study")
    done = []
    for each in chosen:
        place = directory / each.name if every else directory
        drawn = readers.readings or []
        done.append(
            _run(
                each,
                place,
                form,
                seed=running.seed,
                full=running.full,
                workers=running.workers,
                drive=one.drive,
                readings=drawn,
            )
        )
    form.give(lambda: done[0] if name else _of_all(done), lambda: None)
    if every:
        # Here, because the list of studies needs no pages.
        from ssdlab.experiments.studies import output as files

        whole = [(each.study, each.result, each.context) for each in done]
        files.write_all(whole, directory, command_line(context))
        form.say(f"\nall studies: {directory / 'report.html'}")


def _of_all(studied: Sequence[Studied]) -> Rows:
    """The rows of several studies as one table."""
    return Rows([{"study": each.study.name, **row} for each in studied for row in each.frame().iter_rows(named=True)])


def _run(
    study: Study,
    place: Path,
    form: Form,
    *,
    seed: int,
    full: bool,
    workers: int | None,
    drive: str | None,
    readings: Sequence[Path],
) -> Studied:
    typer.echo(f"{study.name}: {study.title}\n", err=True)
    studied = studying.study(
        study.name, seed=seed, full=full, workers=workers, drive=drive, readings=readings, show_progress=shown
    )
    if not form.is_data:
        console = Console()
        print_rows(studied.result.rows, console)
        console.print(f"\n{studied.finding}", highlight=False, markup=False, width=80)
    names = studied.write(place)
    form.say()
    form.say(f"report: {place / names[-1]}\nfiles:  {len(names)} in {place}\n")
    return studied


def _run_one(
    drive: str, workload: str, in_use: str | None, form: Form, *, seed: int, full: bool, output: Path, line: str
) -> None:
    """One run of a drive under one of the real drives' workloads."""
    scale = Fraction(1) if full else None
    row = asked.run(drive, workload, in_use, seed=seed, scale=scale, output=output, command_line=line)
    form.give(Rows([row]), lambda: _print_one(row))
    form.say()
    form.say(f"report: {output / 'report.html'}\nfiles:  2 in {output}")


def _print_one(row: asked.AskedRow) -> None:
    typer.echo(f"{row['drive']}, {row['in_use_gib']:.4g} GiB in use, {row['workload']}")
    rate, waf = row["host_write_mib_s"], row["waf"]
    written = "no host writes measured" if rate is None else f"host writes {rate:,.1f} MiB/s"
    typer.echo(f"  {written}, write amplification {'unknown' if waf is None else f'{waf:.3f}'}")
    for direction, latencies in (("read", row["read_us"]), ("write", row["write_us"])):
        ranks = {rank: value for rank, value in latencies.items() if value is not None}
        if ranks:
            shown = ", ".join(f"{rank.replace('_', '.')} {value:,.1f}" for rank, value in ranks.items())
            typer.echo(f"  {direction}s, us: {shown}")
    slow = {us: share for us, share in row["reads_over_us"].items() if share is not None}
    if slow:
        typer.echo(f"  reads over, us: {', '.join(f'{us} {share:.2f} %' for us, share in slow.items())}")


def _print_list(studies: list[Study]) -> None:
    for each in studies:
        typer.echo(each.name)
        for text in (each.title, each.source):
            typer.echo(
                textwrap.fill(text, text_columns(), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            )
    typer.echo("\nssdlab study NAME runs a study, --all runs all")
