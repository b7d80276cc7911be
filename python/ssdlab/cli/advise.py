"""`ssdlab advise`: how much of a drive should stay empty for a workload to hold its limits."""

import shlex
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options, workload_options

if TYPE_CHECKING:
    from ssdlab.planning.advice.limits import Limit
    from ssdlab.planning.advice.recorded import Trace
    from ssdlab.planning.advice.workload import Workload

# Large enough that write amplification is within a percent or two of the full drive's.
_UNITS = 1_000_000
_UNITS_TIMED = 400_000
_COLUMNS = 79


def advise(
    drive: Annotated[
        str,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
    ],
    files: workload_options.Files = None,
    life: Annotated[str | None, typer.Option(metavar="TIME", help="At least so long, such as 5y.")] = None,
    writes_per_day: Annotated[
        str | None, typer.Option(metavar="SIZE", help="What the host writes, such as 2TB.")
    ] = None,
    waf: Annotated[float | None, typer.Option(metavar="N", help="Write amplification of at most N.")] = None,
    write_rate: Annotated[str | None, typer.Option(metavar="RATE", help="At least so fast, such as 400MB/s.")] = None,
    latency: Annotated[
        list[str] | None, typer.Option(metavar="LIMIT", help="At most, such as write.p99=2ms. Repeatable.")
    ] = None,
    price: Annotated[str | None, typer.Option(metavar="PRICE", help="At most, such as 0.08USD/GB usable.")] = None,
    drive_price: Annotated[
        float | None, typer.Option(metavar="N", help="What the drive costs.  [default: the drive file's price]")
    ] = None,
    space_in_use: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Without a file: the data, such as 300GB.")
    ] = None,
    block_size: Annotated[str, typer.Option(metavar="SIZE", help="Without a file: of a request.")] = "4KiB",
    skew: Annotated[
        str, typer.Option(metavar="SKEW", help="Without a file: uniform, zipf:1.1, or hot:20/80 (space/writes).")
    ] = "uniform",
    reads: Annotated[str, typer.Option(metavar="SHARE", help="Without a file: the share of reads.")] = "0%",
    format_name: workload_options.Format = None,
    volume: workload_options.Volume = None,
    merge_volumes: workload_options.MergeVolumes = False,
    skip_bad: workload_options.SkipBad = 0,
    whole: Annotated[
        bool, typer.Option("--whole", help="Check by runs of the whole drive; these take minutes.")
    ] = False,
    settings: options.Set = None,
    workers: options.Workers = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where the files go.  [default: out/advice-...]")
    ] = None,
) -> None:
    """Find the least spare area with which a workload holds its limits, and what else would help.

    First by closed form where one applies, then by miniature runs that close in on it, then by a larger run that checks
    them. The drive is taken to be full and never trimmed, which is the worst case; what fstrim brings is a what-if.
    """
    from contextlib import ExitStack

    from ssdlab.cli.progress import described
    from ssdlab.drives import load
    from ssdlab.planning.advice import words
    from ssdlab.planning.advice.alternatives import alternatives
    from ssdlab.planning.advice.confirmation import confirmed
    from ssdlab.planning.advice.search import least, rounded_out
    from ssdlab.planning.advice.trials import Demand, Trials
    from ssdlab.planning.advice.workload import Setting, larger_of, of_numbers, scale_of
    from ssdlab.results.files import check_writable

    numbers = _numbers(files or [], space_in_use, block_size, skew, reads)
    name = Path(files[0]).stem if files else "described"
    directory = Path(output) if output else Path("out") / f"advice-{name}"
    check_writable(directory)
    file = load(drive)
    setting = Setting(file, options.settings_of(settings), drive)
    with ExitStack() as stack:
        workload: Workload | Trace
        if files:
            workload = workload_options.workload_of(
                files,
                setting.user_bytes_least,
                format_name=format_name,
                volume=volume,
                merge_volumes=merge_volumes,
                skip_bad=skip_bad,
                stack=stack,
            )
        else:
            workload = of_numbers(*numbers, path=str(directory / "workload.fio"))
        daily_bytes, assumed = workload_options.daily(writes_per_day, workload, needed=False)
        wanted = _limits(life, waf, write_rate, latency or [], price, daily_bytes)
        demand = Demand(daily_bytes, drive_price or file.market.price_usd)
        trials = Trials(workload, setting, demand, wanted, workers)
        scale = scale_of(workload, setting, _UNITS_TIMED if trials.timed else _UNITS)
        with described() as trials.on_progress:
            found = least(trials, scale)
            larger = None if whole or scale is None else larger_of(workload, setting, scale)
            found = confirmed(trials, found, larger)
        # The answer does not wait for what else would help, nor for what draws the pictures.
        options.print_notes([*workload.notes, *assumed])
        head = words.headline(trials, found)
        typer.echo("\n".join(textwrap.wrap(str(head), _COLUMNS)))
        typer.echo("")
        with described() as trials.on_progress:
            found = rounded_out(trials, found, scale) if found.curve else found
            others = alternatives(trials, found, scale) if found.curve else []
    from ssdlab.planning.advice import page

    said = words.sentences(trials, found, others)
    for sentence in said:
        typer.echo("\n".join(textwrap.wrap(str(sentence), _COLUMNS, initial_indent="- ", subsequent_indent="  ")))
    if found.over_provisioning not in (None, found.own):
        assert found.over_provisioning is not None
        typer.echo("\nTo leave it empty, one of:")
        for what, line in words.commands(trials, found.over_provisioning):
            typer.echo(f"  {line}\n      ({what})")
    words_of_line = ["ssdlab", *sys.argv[1:]] if sys.argv[1:2] == ["advise"] else ["ssdlab", "advise", "..."]
    names = page.write(
        trials,
        found,
        head,
        said,
        directory,
        title=f"Spare area for {name if files else 'the workload'}",
        line=shlex.join(words_of_line),
    )
    typer.echo(f"\nreport: {directory / 'report.html'}\nfiles:  {len(names)} in {directory}")


def _limits(
    life: str | None,
    waf: float | None,
    write_rate: str | None,
    latencies: list[str],
    price: str | None,
    daily_bytes: float | None,
) -> "list[Limit]":
    from ssdlab.errors import InputError
    from ssdlab.planning.advice import limits

    found = [limits.life(life)] if life else []
    if life and not daily_bytes:
        raise InputError("--life needs --writes-per-day: how much the host writes")
    found += [limits.write_amplification(waf)] if waf is not None else []
    found += [limits.write_rate(write_rate)] if write_rate else []
    found += [limits.latency(text) for text in latencies]
    found += [limits.price(price)] if price else []
    limits.refuse_twice(found)
    if not any(not limit.falls_with_spare_area for limit in found):
        raise InputError("say what must hold: one or more of --life, --waf, --write-rate, --latency")
    return found


def _numbers(
    files: list[str], space: str | None, block: str, skew: str, reads: str
) -> tuple[int | None, int, str, float]:
    """Space, block, skew and share of reads of a workload that options describe."""
    from ssdlab.errors import InputError
    from ssdlab.quantities import parse_share

    described = space is not None or skew != "uniform" or block != "4KiB" or reads != "0%"
    if files and described:
        raise InputError(
            f"{files[0]} says what the workload is; leave out --space-in-use, --block-size, --skew and --reads"
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
