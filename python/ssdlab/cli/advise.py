"""`ssdlab advise`: how much of a drive should stay empty for a workload to hold its limits."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options, progress, workload_options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrTraces, Printing, Rows
from ssdlab.cli.groups import Parsed, given
from ssdlab.errors import InputError
from ssdlab.experiments.advice import described, limits, only_read, words
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.tenants import advise_tenants, has_tenants
from ssdlab.foundation.quantities import parse_bytes_with_unit, parse_share
from ssdlab.presentation.terminal import text_columns
from ssdlab.simulator.drives import load
from ssdlab.simulator.results.namespaces_text import namespace_lines
from ssdlab.simulator.workloads import title

if TYPE_CHECKING:
    from ssdlab.experiments.advice.advising import Advice
    from ssdlab.experiments.advice.own_drive import OwnDrive
    from ssdlab.experiments.advice.tenants import TenantAdvice


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

    reads_per_day: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            help="For a drive that is only read: host reads per day, such as 20TB; how often to refresh its data.",
        ),
        options.SIZE,
    ] = None
    read_size: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="With --reads-per-day: the size of a request.  [default: 128KiB]"),
        options.SIZE,
    ] = None

    def workload(self, path: str) -> described.Described:
        """The workload that the options describe. Raises InputError if they are not valid."""
        space_bytes = self.space_in_use and self.space_in_use // self.block_size * self.block_size
        return described.of_numbers(space_bytes, self.block_size, self.skew, self.reads * 100, path=path)


@dataclass(frozen=True)
class Own:
    """SMART reports of a real drive in place of a workload."""

    left_empty: options.LeftEmptyOfReports
    smart: Annotated[
        Sequence[str],
        typer.Option(
            metavar="PLACE", help="SMART reports of a drive (as for ssdlab health) instead of a workload. Repeatable."
        ),
    ] = ()


@dataclass(frozen=True)
class Runs:
    """How the answer is verified, the number of processes, and the folder of the files."""

    whole: Annotated[bool, typer.Option("--whole", help="Verify with runs of the whole drive; these take minutes.")] = (
        False
    )
    workers: options.Workers = None
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/advise-NAME]")
    ] = None


def advise(
    context: typer.Context,
    files: workload_options.Files = (),
    *,
    drive: Annotated[
        str | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
    ] = None,
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

    For a drive with [[namespace]] the tenants of a job file are compared instead: all on the drive, and each on a drive
    of its share. Of the limits only --writes-per-day applies.

    For a drive that is only read, such as a model server's, --reads-per-day and --life give how often its data can be
    refreshed, what that costs, and how many reads are slow before it.

    With --smart, the write amplification and write rate of a real drive give the effect of leaving a part of it
    unpartitioned, as a range; with --drive and a limit, the search uses the workload that explains them.
    """
    from ssdlab.experiments.advice.advising import answer, asked, explained
    from ssdlab.experiments.advice.own_drive import own_drive

    if numbers.reads_per_day is not None or numbers.read_size is not None:
        _advise_reads(files, drive, numbers, wanted, settings, form)
        return
    if own.smart:
        if numbers.space_in_use is not None or numbers.skew != "uniform" or wanted.writes_per_day or files:
            raise InputError(
                "--smart determines the workload; leave out files, --space-in-use, --skew, --writes-per-day"
            )
        own_share = None
        if drive:
            own_share = Setting(load(drive), settings or {}, drive).at(None, None).capacity.over_provisioning
        explaining = own_drive(own.smart, own_share, own.left_empty)
        if not drive:
            _give_own(explaining, Path(runs.output) if runs.output else None, command_line(context), form)
            return
        numbers = replace(numbers, skew=explaining.skew)
        wanted = replace(wanted, writes_per_day=explaining.writes_per_day)
        _say_own(explaining, form)
        if not explaining.what_ifs:
            raise InputError(
                f"--smart {' '.join(own.smart)}: no workload is known that would give the simulated drive the write "
                f"amplification of this one, {explaining.waf:.2f}, so that its life and speed would be those of "
                "another; allowed is --smart without --drive, or a described workload without --smart"
            )
        form.say()
    if not drive:
        raise InputError("--drive is missing: a drive of the catalogue (ssdlab drives) or a .toml file")
    if has_tenants(drive):
        _advise_tenants(
            context, files, drive, wanted, settings, runs, form, is_plain=not own.smart and not given(numbers)
        )
        return
    if files and not own.smart and given(numbers):
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
    ) as trials:
        options.print_notes(trials.notes)
        with progress.described() as trials.on_progress:
            found = answer(trials, whole=runs.whole)
        # The answer is printed before the alternatives and pictures are computed.
        if not form.is_data:
            typer.echo("\n".join(textwrap.wrap(str(words.headline(trials, found)), text_columns())))
            typer.echo("")
        with progress.described() as trials.on_progress:
            advice = explained(trials, found)
    form.give(advice, lambda: _print(advice))
    names = advice.write(
        directory,
        question=f"Spare area for {name if files else 'the workload'}",
        command_line=command_line(context),
    )
    form.say()
    form.say(f"report: {directory / 'report.html'}\nfiles:  {len(names)} in {directory}")


def _advise_reads(
    files: Sequence[str],
    drive: str | None,
    numbers: Numbers,
    wanted: Wanted,
    settings: dict[str, str] | None,
    form: FormOrTraces,
) -> None:
    """How often to refresh a drive that is only read, instead of searching for a spare area."""
    others = given(replace(wanted, life=None)) or given(replace(numbers, reads_per_day=None, read_size=None))
    if files or not drive or not wanted.life or others or numbers.reads_per_day is None:
        raise InputError(
            "--reads-per-day is for a drive that is only read: it requires --drive and --life, and excludes a workload "
            "and the other limits"
        )
    resolved = Setting(load(drive), settings or {}, drive).at(None, None)
    life = limits.life_limit(wanted.life).bound
    size = only_read.READ_BYTES if numbers.read_size is None else numbers.read_size
    # The number cancels out: life is in proportion to it.
    anything = resolved.file.background.read_disturb_reads or resolved.file.nand.pages_per_block
    refreshed = only_read.refreshes(only_read.read_only(numbers.reads_per_day, size, resolved, anything), life)
    sentences = only_read.advice(refreshed, life)
    rows = [only_read.row(each) for each in refreshed]
    form.give(Rows(rows, {"drive": resolved.name, "refreshes": rows, "sentences": sentences}), lambda: _say(sentences))


def _give_own(found: "OwnDrive", directory: Path | None, line: str, form: Printing) -> None:
    """Prints what the reports say, and writes it if a folder is given."""
    if directory:
        check_folder(directory, "advise")
    form.give(found, lambda: _say_own(found, form))
    if directory:
        names = found.write(directory, command_line=line)
        form.say()
        form.say(f"report: {directory / names[-1]}\nfiles:  {len(names)} in {directory}")


def _say_own(found: "OwnDrive", form: Printing) -> None:
    for text in found.sentences:
        indent = "  " if text.startswith("- ") else ""
        form.say("\n".join(textwrap.wrap(text, text_columns(), subsequent_indent=indent)))


def _print(advice: "Advice") -> None:
    found = advice.found
    _print_sentences(advice.sentences)
    _print_wrapped(advice.trials.setting.standing)
    if found.over_provisioning not in (None, found.own):
        assert found.over_provisioning is not None
        typer.echo("\nTo leave it empty, one of:")
        for what, line in words.commands(advice.trials, found.over_provisioning):
            typer.echo(f"  {line}\n      ({what})")


def _print_sentences(sentences: "Sequence[words.Sentence]") -> None:
    _say(sentences)
    if any(sentence.runs for sentence in sentences):
        typer.echo("[R...]: the runs behind a statement, as the report numbers them.")


def _print_wrapped(text: str) -> None:
    typer.echo("\n".join(textwrap.wrap(text, text_columns())))


def _say(sentences: "Sequence[words.Sentence] | Sequence[str]") -> None:
    for sentence in sentences:
        typer.echo("\n".join(textwrap.wrap(str(sentence), text_columns(), initial_indent="- ", subsequent_indent="  ")))


def _advise_tenants(
    context: typer.Context,
    files: Sequence[str],
    drive: str,
    wanted: Wanted,
    settings: dict[str, str] | None,
    runs: Runs,
    form: FormOrTraces,
    *,
    is_plain: bool,
) -> None:
    """Compares sharing the drive with splitting it between the tenants, instead of searching for a spare area."""
    limits_given = given(replace(wanted, writes_per_day=None))
    if len(files) != 1 or not is_plain or limits_given or runs.workers is not None:
        raise InputError(
            f"drive {drive} has [[namespace]]: its tenants are compared, shared and split; allowed are one fio job "
            "file, --writes-per-day, --set, --whole and --output"
        )
    directory = Path(runs.output) if runs.output else Path("out") / f"advise-{title(files[0])}"
    check_folder(directory, "advise")
    advice = advise_tenants(files[0], drive, writes_per_day=wanted.writes_per_day, settings=settings, whole=runs.whole)
    form.give(advice, lambda: _print_tenants(advice))
    names = advice.write(directory, command_line=command_line(context))
    form.say()
    form.say(f"report: {directory / 'report.html'}\nfiles:  {len(names)} in {directory}")


def _print_tenants(advice: "TenantAdvice") -> None:
    _print_wrapped(f"{advice.headline}")
    typer.echo()
    _print_sentences(advice.sentences)
    _print_wrapped(advice.standing)
    typer.echo("\n" + "\n".join(namespace_lines(advice.result.namespaces or [])))
