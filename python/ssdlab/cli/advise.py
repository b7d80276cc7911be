"""`ssdlab advise`: how much of a drive should stay empty for a workload to hold its limits."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.advice import words
from ssdlab.advice.described import of_numbers
from ssdlab.advice.setting import Setting
from ssdlab.cli import options, workload_options
from ssdlab.cli.advise_smart import own_workload
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.progress import described
from ssdlab.drives import load
from ssdlab.errors import InputError
from ssdlab.quantities import parse_share

if TYPE_CHECKING:
    from ssdlab.cli.advise_smart import OwnWorkload

_COLUMNS = 79


def advise(
    context: typer.Context,
    files: workload_options.Files = None,
    drive: Annotated[
        str | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
    ] = None,
    smart: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="One or two SMART reports of a drive (as for ssdlab health) instead of a workload."
        ),
    ] = None,
    left_empty: options.LeftEmpty = "7%,14%,28%",
    life: Annotated[str | None, typer.Option(metavar="TIME", help="Minimum life, such as 5y.")] = None,
    writes_per_day: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Host writes per day, such as 2TB.")
    ] = None,
    waf: Annotated[float | None, typer.Option(metavar="N", help="Maximum write amplification.")] = None,
    write_rate: Annotated[str | None, typer.Option(metavar="RATE", help="Minimum write rate, such as 400MB/s.")] = None,
    latency: Annotated[
        list[str] | None, typer.Option(metavar="LIMIT", help="Maximum latency, such as write.p99=2ms. Repeatable.")
    ] = None,
    price: Annotated[
        str | None, typer.Option(metavar="PRICE", help="Maximum price, such as 0.08USD/GB usable.")
    ] = None,
    drive_price: Annotated[
        float | None, typer.Option(metavar="N", help="Price of the drive.  [default: the drive file's price]")
    ] = None,
    space_in_use: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Without a file: amount of data, such as 300GB.")
    ] = None,
    block_size: Annotated[str, typer.Option(metavar="SIZE", help="Without a file: request size.")] = "4KiB",
    skew: Annotated[
        str, typer.Option(metavar="SKEW", help="Without a file: uniform, zipf:1.1, or hot:20/80 (space/writes).")
    ] = "uniform",
    reads: Annotated[str, typer.Option(metavar="SHARE", help="Without a file: share of reads.")] = "0%",
    format_name: workload_options.Format = None,
    volume: workload_options.Volume = None,
    merge_volumes: workload_options.MergeVolumes = False,
    skip_bad: workload_options.SkipBad = 0,
    whole: Annotated[
        bool, typer.Option("--whole", help="Verify with runs of the whole drive; these take minutes.")
    ] = False,
    settings: options.Set = None,
    workers: options.Workers = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/advice-...]")
    ] = None,
) -> None:
    """Find the least spare area with which a workload meets its limits, and alternatives.

    The search starts from the closed form where one applies, brackets the answer with runs of a scaled drive, and
    verifies it with larger runs. The drive is assumed to be full and never trimmed, which is the worst case; the
    effect of fstrim is an alternative.

    With --smart, the write amplification and write rate of a real drive give the effect of leaving a part of it
    unpartitioned, as a range; with --drive and a limit, the search uses the workload that explains them.
    """
    if smart:
        is_described = bool(space_in_use or skew != "uniform" or writes_per_day or files)
        own = _of_smart(smart, drive, left_empty, settings, is_described=is_described)
        if not drive:
            return
        skew, writes_per_day = own.skew, own.writes_per_day
        typer.echo("")
    if not drive:
        raise InputError("--drive is missing: a drive of the catalogue (ssdlab drives) or a .toml file")

    from ssdlab.advice.advising import answer, asked, explained

    numbers = _numbers(files or [], space_in_use, block_size, skew, reads)
    name = Path(files[0]).stem if files else Path(smart).stem if smart else "described"
    directory = Path(output) if output else Path("out") / f"advice-{name}"
    check_folder(directory, "advise")
    with asked(
        files or of_numbers(*numbers, path=str(directory / "workload.fio")),
        drive,
        life=life,
        writes_per_day=writes_per_day,
        waf=waf,
        write_rate=write_rate,
        latency=latency or (),
        price=price,
        drive_price=drive_price,
        settings=options.settings_of(settings),
        format_name=format_name,
        volume=volume,
        merge_volumes=merge_volumes,
        skip_bad=skip_bad,
        workers=workers,
    ) as trials:
        options.print_notes(trials.notes)
        with described() as trials.on_progress:
            found = answer(trials, whole=whole)
        # The answer does not wait for what else would help, nor for what draws the pictures.
        typer.echo("\n".join(textwrap.wrap(str(words.headline(trials, found)), _COLUMNS)))
        typer.echo("")
        with described() as trials.on_progress:
            advice = explained(trials, found)
    for sentence in advice.sentences:
        typer.echo("\n".join(textwrap.wrap(str(sentence), _COLUMNS, initial_indent="- ", subsequent_indent="  ")))
    if found.over_provisioning not in (None, found.own):
        assert found.over_provisioning is not None
        typer.echo("\nTo leave it empty, one of:")
        for what, line in words.commands(trials, found.over_provisioning):
            typer.echo(f"  {line}\n      ({what})")
    names = advice.write(
        directory,
        question=f"Spare area for {name if files else 'the workload'}",
        command_line=command_line(context),
    )
    typer.echo(f"\nreport: {directory / 'report.html'}\nfiles:  {len(names)} in {directory}")


def _of_smart(
    path: str, drive: str | None, left_empty: str, settings: list[str] | None, *, is_described: bool
) -> "OwnWorkload":
    if is_described:
        raise InputError("--smart determines the workload; leave out files, --space-in-use, --skew, --writes-per-day")
    shares = options.left_empty_of(left_empty)
    setting = Setting(load(drive), options.settings_of(settings), drive) if drive else None
    return own_workload(path, setting, shares)


def _numbers(
    files: list[str], space: str | None, block: str, skew: str, reads: str
) -> tuple[int | None, int, str, float]:
    """Space, block, skew and share of reads of a workload that options describe."""
    described = space is not None or skew != "uniform" or block != "4KiB" or reads != "0%"
    if files and described:
        raise InputError(
            f"{files[0]} determines the workload; leave out --space-in-use, --block-size, --skew and --reads"
        )
    block_bytes = options.bytes_of("--block-size", block)
    if not block_bytes:
        raise InputError(f"--block-size is {block!r}; allowed: above 0, such as 16KiB")
    try:
        read_percent = parse_share(reads) * 100
    except InputError as error:
        raise InputError(f"--reads: {error}") from None
    space_bytes = options.bytes_of("--space-in-use", space)
    return space_bytes and space_bytes // block_bytes * block_bytes, block_bytes, skew, read_percent
