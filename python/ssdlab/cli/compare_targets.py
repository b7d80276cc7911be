"""`ssdlab compare targets`: one run each of a job on simulated and real drives, and results of fio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError, RunFailed, notify
from ssdlab.experiments.comparison import targets
from ssdlab.experiments.comparison.fio_report import content_of, failures, is_report
from ssdlab.hardware.device.permission import Permission
from ssdlab.presentation.terminal import fits, show
from ssdlab.simulator import workloads
from ssdlab.simulator.results import drive_state
from ssdlab.simulator.targets.preconditioning import specify_beginning
from ssdlab.simulator.targets.side_by_side import all_side_by_side
from ssdlab.simulator.workloads.specifying import Beginning

if TYPE_CHECKING:
    from ssdlab.experiments.comparison.targets import Figures, Target
    from ssdlab.foundation.foreign import JsonObject
    from ssdlab.hardware.device.place import Place
    from ssdlab.simulator.results.result import Result, ResultJson
    from ssdlab.simulator.workloads.jobs import JobFile


def _targets(texts: Sequence[str]) -> list[targets.Target]:
    """The targets, results of fio last. Raises InputError for other forms, and for results that nothing is beside."""
    named = sorted(map(targets.target, texts), key=lambda each: each.kind == "measured")
    if all(each.kind == "measured" for each in named):
        raise InputError("a result of fio lies beside a run: add --target simulated:NAME or device:PATH")
    return named


@dataclass(frozen=True)
class Real:
    """What may be done to real drives."""

    size: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="With device:FOLDER: size of the file."),
        options.SIZE,
    ] = None
    destroy_data_on: options.DestroyDataOn = None


def compare_targets(
    context: typer.Context,
    job: options.Job,
    named: Annotated[
        list[targets.Target],
        typer.Option(
            "--target",
            metavar="KIND:WHAT",
            help="simulated:NAME, device:PATH, or measured:FILE, a result of fio (--output-format=json). Repeatable.",
        ),
        Parsed(_targets, several=True),
    ],
    real: Real,
    changes: options.Changes,
    precondition: Annotated[
        Beginning | None,
        typer.Option(
            help="State of simulated drives at the start; see ssdlab run.  [default: fill beside measured:, or none]"
        ),
    ] = None,
    seed: options.Seed = 1,
    *,
    workers: options.Workers = None,
    form: Form,
    output: Annotated[str | None, options.folder("out/compare-JOB")] = None,
) -> None:
    """Compare one run each of a job on simulated drives, real drives and files, and results that fio wrote of it.

    Jobs of a result are matched by name. Simulated drives run beside each other, then real ones one after another. The
    ratio is that of the last to the first.
    """
    directory = Path(output) if output else Path("out") / f"compare-{workloads.title(job)}"
    check_folder(directory, "compare")
    reports = {each.name: fio_report(each.name) for each in named if each.kind == "measured"}
    start = precondition or ("fill" if reports else "none")
    job_file = workloads.load_for_device(job)
    drives = [each for each in named if each.kind == "simulated"]
    for each in named:
        if each.kind == "device":
            # What is wrong with a place is said before the simulations, which can take minutes.
            with _opened(job_file, each, real, seed):
                pass
    runs = iter(_simulated(job_file, drives, changes, start, seed, workers))
    found: list[Figures] = []
    results: list[ResultJson | JsonObject] = []
    reasons: dict[str, str] = {}
    states: dict[str, str] = {}
    for each in named:
        if each.kind == "measured":
            figures = targets.figures_of_report(reports[each.name], each.name)
            reasons |= _lacking(each.name, figures, found)
            for name, why in failures(reports[each.name]).items():
                reasons[f"job {name} of {each.name}"] = f"{why}: its figures are of what it did before"
            results.append(reports[each.name])
        elif each.kind == "simulated":
            figures, simulated_result, states[each.label] = next(runs)
            results.append(simulated_result)
        else:
            figures, measured_result, reason = _measured(job_file, each, real, seed)
            results.append(measured_result)
            if reason:
                reasons[f"WAF on {each.label}"] = reason
        found.append(figures)
    compared = targets.rows(named, found)
    form.give(Rows(targets.plain(named, compared)), lambda: _print(named, compared, reasons, states))
    names = targets.write(
        named,
        compared,
        reasons,
        directory,
        title=Path(job).stem,
        command_line=command_line(context),
        results=results,
        states=states,
        notes=job_file.notes(timed=True) if drives else (),
        scale=changes.scale or targets.WHOLE,
    )
    form.say_files(directory, names)


def _print(
    named: Sequence[Target], compared: Sequence[targets.Row], reasons: Mapping[str, str], states: Mapping[str, str]
) -> None:
    console = Console()
    names = [each.label for each in named]
    letters = [chr(ord("A") + index) for index in range(len(names))]
    # Names of drives and files can be longer than all figures; one key then serves the tables of all jobs.
    headings = names if all(fits(table, console) for table in _tables(compared, names)) else letters
    for table in _tables(compared, headings):
        show(table, console)
        console.print()
    if headings is letters:
        for letter, name in zip(letters, names, strict=True):
            console.print(f"{letter}: {name}", highlight=False, markup=False)
    if found := targets.headline(named, compared):
        console.print(f"{found}. {targets.caution(named)}", highlight=False, markup=False)
    for what, reason in [*reasons.items(), *states.items()]:
        console.print(f"{what}: {reason}", highlight=False, markup=False)


def _tables(compared: Sequence[targets.Row], headings: Sequence[str]) -> list[Table]:
    """A table for each job, under its name."""
    found = []
    for job, rows in groupby(compared, key=lambda row: row.job):
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(Text(job, style="bold"))
        for heading in (*headings, "last / first"):
            table.add_column(Text(heading), justify="right", no_wrap=True)
        for row in rows:
            table.add_row(Text(row.said), *targets.cells(row))
        found.append(table)
    return found


def fio_report(file: str) -> JsonObject:
    """The JSON report of fio in the file. Raises InputError if it is another file."""
    try:
        content = content_of(Path(file).read_text(encoding="utf-8", errors="replace"), file)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    if not is_report(content):
        raise InputError(f"{file}: not a result of fio; allowed is what fio --output-format=json writes")
    return content


def _lacking(file: str, measured: Figures, simulated: Sequence[Figures]) -> dict[str, str]:
    """What the result of fio lacks. Raises InputError if it has no job of the job file."""
    names = dict.fromkeys(name for each in simulated for name in each)
    if not any(name in names for name in measured):
        raise InputError(
            f"{file}: its jobs are {', '.join(measured)}, those of the job file {', '.join(names)}; jobs are "
            "matched by name"
        )
    said = {f"WAF of {file}": "fio does not see what a drive writes to its flash; ssdlab measure reads it from SMART"}
    only = [name for name in measured if name not in names]
    missing = [name for name in names if name not in measured]
    if only or missing:
        said[f"jobs of {file}"] = "; ".join(
            [
                *([f"only there: {', '.join(only)}"] if only else []),
                *([f"missing there: {', '.join(missing)}"] if missing else []),
            ]
        )
    return said


def _simulated(
    job_file: JobFile,
    named: Sequence[Target],
    changes: options.Changes,
    start: Beginning,
    seed: int,
    workers: int | None,
) -> list[tuple[Figures, ResultJson, str]]:
    """For each drive the figures, the result, and in which state the drive began and ended."""
    labels = [each.label for each in named]
    with shown(labels) as tell, ExitStack() as stack:
        specifications = [
            specify_beginning(
                job_file,
                changes.of(each.name),
                start,
                Path(stack.enter_context(TemporaryDirectory(prefix="ssdlab-"))),
                seed=seed,
                until="job",
                timed=True,
            )
            for each in named
        ]
        if named:
            notify(job_file.notes(timed=True))
        results = all_side_by_side(specifications, workers, tell)
    if failed := next((pair for pair in zip(labels, results, strict=True) if pair[1].failure), None):
        raise RunFailed(f"{failed[0]}: {failed[1].failure}")
    own = {section.name for section in job_file.sections}
    # The jobs that only bring the drive into its state are not compared.
    before = [[job.name for job in each.jobs if job.name not in own] for each in results]
    return [
        (targets.figures(each, skip=skip), each.to_dict(), _state(each, start))
        for each, skip in zip(results, before, strict=True)
    ]


def _state(result: Result, start: Beginning) -> str:
    """In which state the drive began and ended, and its scale."""
    said, scale = drive_state.sentence(result, start), result.specification.scale
    return said if scale == "1" else f"{said}; simulated on {scale} of the drive, and that share of the job's requests"


def _opened(job_file: JobFile, target: Target, real: Real, seed: int) -> AbstractContextManager[Place]:
    # Here, because a comparison of simulated drives needs nothing that checks and claims a real one.
    from ssdlab.hardware.device.opened import opened

    return opened(Path(target.name), job_file, Permission(real.destroy_data_on), size_bytes=real.size, seed=seed)


def _measured(job_file: JobFile, target: Target, real: Real, seed: int) -> tuple[Figures, JsonObject, str | None]:
    from ssdlab.hardware.device import health, run

    with _opened(job_file, target, real, seed) as place:
        stages = run.prepared(job_file, place, seed=seed)
        source = health.of(place.claim.place)
        with shown([f"{target.label}, {stage.name}" for stage in stages]) as tell:
            measured = run.measure(job_file, place, source, seed=seed, on_progress=tell)
    if measured.interrupted:
        raise KeyboardInterrupt
    if measured.failure:
        raise RunFailed(f"{target.label}: {measured.failure}")
    return targets.figures(measured, skip=[run.LAYOUT]), measured.to_dict(), measured.whole.reason
