"""`ssdlab advise space`: how much of a drive should stay empty for a workload to hold its limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import advise, drive_options, options, progress, workload_options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrTraces
from ssdlab.cli.groups import Parsed, given
from ssdlab.errors import InputError
from ssdlab.experiments.advice import described, limits, words
from ssdlab.experiments.advice.advising import answer, asked, explained
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.tenants import has_tenants
from ssdlab.foundation.quantities import parse_bytes_with_unit, parse_scale, parse_share
from ssdlab.presentation.terminal import wrapped
from ssdlab.simulator.drives import load
from ssdlab.simulator.workloads import title

if TYPE_CHECKING:
    from ssdlab.experiments.advice.advising import Advice


def _block_size(text: str) -> int:
    size = parse_bytes_with_unit(text)
    if not size:
        raise InputError(f"--block-size is {text!r}; allowed: above 0, such as 16KiB")
    return size


@dataclass(frozen=True)
class Wanted(limits.Wanted):
    """The limits to meet, as options."""

    life: Annotated[str | None, typer.Option(metavar="TIME", help="Minimum life, such as 5y.")] = None
    writes_per_day: Annotated[str | None, typer.Option(metavar="SIZE", help="Host writes per day, such as 2TB.")] = None
    waf: Annotated[float | None, typer.Option(metavar="N", help="Maximum write amplification.")] = None
    write_rate: Annotated[str | None, typer.Option(metavar="RATE", help="Minimum write rate, such as 400MB/s.")] = None
    latency: Annotated[
        Sequence[str], typer.Option(metavar="LIMIT", help="Maximum latency, such as write.p99=2ms. Repeatable.")
    ] = ()
    price: Annotated[str | None, typer.Option(metavar="PRICE", help="Maximum price, such as 0.08USD/GB usable.")] = None
    drive_price: Annotated[
        float | None,
        typer.Option(metavar="N", help="Price of the drive.  [default: the drive file's price]"),
        options.PRICE,
    ] = None


@dataclass(frozen=True)
class Numbers:
    """A workload described by options instead of a file."""

    space_in_use: Annotated[
        int | None, typer.Option(metavar="SIZE", help="Without a file: amount of data, such as 300GB."), options.SIZE
    ] = None
    block_size: Annotated[
        int,
        typer.Option(metavar="SIZE", help="Without a file: request size."),
        Parsed(_block_size, default="4KiB"),
    ] = 4096
    skew: Annotated[
        str, typer.Option(metavar="SKEW", help="Without a file: uniform, zipf:1.1, or hot:20/80 (space/writes).")
    ] = "uniform"
    reads: Annotated[
        float, typer.Option(metavar="SHARE", help="Without a file: share of reads."), Parsed(parse_share, default="0%")
    ] = 0.0

    def workload(self, path: str) -> described.Described:
        """The workload that the options describe. Raises InputError if they are not valid."""
        space_bytes = self.space_in_use and self.space_in_use // self.block_size * self.block_size
        return described.of_numbers(space_bytes, self.block_size, self.skew, self.reads * 100, path=path)


@dataclass(frozen=True)
class Own:
    """SMART reports of a real drive in place of a workload."""

    left_empty: Annotated[
        list[float] | None,
        typer.Option(
            metavar="LIST",
            help="With --smart: shares of the drive to leave unpartitioned, of which the effect is inferred first.  "
            f"[default: {options.LEFT_EMPTY_OF_REPORTS}]",
        ),
        Parsed(options.left_empty_of_reports),
    ] = None
    smart: Annotated[
        Sequence[str],
        typer.Option(
            metavar="PLACE",
            help="Instead of a workload: SMART reports of a drive, as for ssdlab health, which a workload is made to "
            "explain. Repeatable.",
        ),
    ] = ()


@dataclass(frozen=True)
class Runs:
    """How the answer is verified, the number of processes, and the folder of the files."""

    whole: Annotated[bool, typer.Option("--whole", help="Verify with runs of the whole drive; these take minutes.")] = (
        False
    )
    scale: Annotated[
        Fraction | None,
        typer.Option(
            "--scale",
            metavar="1/N",
            help="Scale of the runs that search; those that verify are up to four times larger.  [default: about a "
            "million mapping units]",
        ),
        Parsed(parse_scale),
    ] = None
    seed: options.Seed = 1
    workers: options.Workers = None
    output: Annotated[str | None, options.folder("out/advise-NAME")] = None


def advise_space(
    context: typer.Context,
    files: workload_options.Files = (),
    *,
    drive: drive_options.Drive,
    own: Own,
    wanted: Wanted,
    numbers: Numbers,
    reading: workload_options.Reading,
    settings: options.Set = None,
    runs: Runs,
    form: FormOrTraces,
) -> None:
    """Find the least spare area with which a workload meets its limits, and alternatives.

    The search starts from the closed form where one applies, brackets the answer with runs of a scaled drive, and
    verifies it with larger runs. The drive is assumed to be full and never trimmed, which is the worst case; the
    effect of fstrim is an alternative.

    The last sentence says whether placement helps the workload, and how much spare area it is worth.
    """
    if own.left_empty is not None and not own.smart:
        raise InputError("--left-empty requires --smart: without reports the least spare area is searched for")
    if own.smart:
        wanted, numbers = _explaining(own, drive, settings, wanted, numbers, files, form)
    if has_tenants(drive):
        raise InputError(f"drive {drive} has [[namespace]]; its tenants: ssdlab advise tenants JOB.fio --drive {drive}")
    if files and given(numbers):
        raise InputError(
            f"{files[0]} determines the workload; leave out --space-in-use, --block-size, --skew and --reads"
        )
    name = title(files[0]) if files else Path(own.smart[-1]).stem if own.smart else "described"
    directory = Path(runs.output) if runs.output else Path("out") / f"advise-{name}"
    check_folder(directory, "advise")
    with asked(
        files or numbers.workload(str(directory / "workload.fio")),
        drive,
        wanted,
        settings=settings,
        reading=reading.with_format(form.trace_format),
        workers=runs.workers,
        scale=runs.scale,
        seed=runs.seed,
    ) as trials:
        options.print_notes(trials.notes)
        with progress.described() as trials.on_progress:
            found = answer(trials, whole=runs.whole)
        # The answer is printed before the alternatives and pictures are computed.
        if not form.is_data:
            typer.echo(wrapped(str(words.headline(trials, found))))
            typer.echo("")
        with progress.described() as trials.on_progress:
            advice = explained(trials, found)
    form.give(advice, lambda: _print(advice))
    names = advice.write(
        directory,
        question=f"Spare area for {name if files else 'the workload'}",
        command_line=command_line(context),
    )
    form.say_files(directory, names)


def _explaining(
    own: Own,
    drive: str,
    settings: dict[str, str] | None,
    wanted: Wanted,
    numbers: Numbers,
    files: Sequence[str],
    form: FormOrTraces,
) -> tuple[Wanted, Numbers]:
    """The limits and the workload with what explains the reports, which are told. Raises InputError if none does."""
    from ssdlab.experiments.advice.own_drive import own_drive

    if numbers.space_in_use is not None or numbers.skew != "uniform" or wanted.writes_per_day or files:
        raise InputError("--smart determines the workload; leave out files, --space-in-use, --skew, --writes-per-day")
    own_share = Setting(load(drive), settings or {}, drive).at(None, None).capacity.over_provisioning
    found = own_drive(
        own.smart, own_share, own.left_empty or options.left_empty_of_reports(options.LEFT_EMPTY_OF_REPORTS)
    )
    advise.say_own(found, form)
    if not found.what_ifs:
        raise InputError(
            f"--smart {' '.join(own.smart)}: no workload is known that would give the simulated drive the write "
            f"amplification of this one, {found.waf:.2f}, so that its life and speed would be those of "
            "another; allowed is ssdlab advise smart, or a described workload without --smart"
        )
    form.say()
    return replace(wanted, writes_per_day=found.writes_per_day), replace(numbers, skew=found.skew)


def _print(advice: "Advice") -> None:
    found = advice.found
    advise.say(advice.sentences)
    advise.print_wrapped(advice.trials.setting.standing)
    if found.over_provisioning not in (None, found.own):
        assert found.over_provisioning is not None
        typer.echo("\nTo leave it empty, one of:")
        for what, line in words.commands(advice.trials, found.over_provisioning):
            typer.echo(f"  {line}\n      ({what})")
