"""`ssdlab fleet`: many volumes, each on a drive of its own or packed on shared ones."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence


_HEAVIEST_PRINTED = 8


def fleet(
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACES...",
            help="Trace files of one volume or many, folders of them, or Parquet data sets of requests.",
            show_default=False,
        ),
    ],
    drive: Annotated[
        str, typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file.")
    ],
    op: options.OpList = None,
    pack: Annotated[
        str,
        typer.Option(
            metavar="each|first-fit",
            help="Every volume on its own drive; or in order on the first drive with room for its address space.",
        ),
    ] = "each",
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="F", help="The traces' format.  [default: recognised]")
    ] = None,
    skip_bad: Annotated[
        int, typer.Option("--skip-bad", min=0, metavar="N", help="Pass over up to N malformed lines of a trace.")
    ] = 0,
    life: Annotated[str, typer.Option(metavar="TIME", help="Count the drives that do not last so long.")] = "5y",
    drive_price: Annotated[
        float | None, typer.Option(metavar="N", help="What a drive costs.  [default: the drive file's price]")
    ] = None,
    settings: options.Set = None,
    scale: Annotated[
        str | None,
        typer.Option("--scale", metavar="1/N", help="Of the miniatures, with a sample of each trace.  [default: fits]"),
    ] = None,
    seed: options.Seed = 1,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, metavar="N", help="Processes side by side.  [default: as memory allows]"),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask scheduler, such as tcp://scheduler:8786.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where results are kept.  [default: out/fleet-NAME]")
    ] = None,
) -> None:
    """Say how write amplification, life and cost spread over many volumes, and which of them matter most.

    Each trace is repeated until its drive is steady, as `ssdlab advise` does, without a clock. Results are kept under
    the hash of what is run, so that the same command goes on where it stopped. On a cluster, the traces and --output
    must lie where all workers see them.
    """
    from ssdlab.cli.sweep import carry_out_shown
    from ssdlab.drives import load
    from ssdlab.errors import InputError
    from ssdlab.fleet import page
    from ssdlab.fleet.packing import PACKS
    from ssdlab.fleet.plan import plan
    from ssdlab.fleet.summary import summarised
    from ssdlab.fleet.volumes import found
    from ssdlab.planning.advice import limits
    from ssdlab.planning.advice.workload import Setting
    from ssdlab.quantities import parse_shares
    from ssdlab.results.files import check_writable
    from ssdlab.sweeps.dataset import Dataset
    from ssdlab.sweeps.execution import Sweep

    options.check_word("--pack", pack, PACKS)
    years = limits.life(life).bound
    if cluster and jobs:
        raise InputError("--jobs counts processes of this machine; with --cluster the workers' own threads count")
    directory = Path(output) if output else Path("out") / f"fleet-{Path(traces[0]).stem}"
    check_writable(directory)
    file = load(drive)
    setting = Setting(file, options.settings_of(settings), drive)
    try:
        shares = list(parse_shares(op)) if op else [None]
    except InputError as error:
        raise InputError(f"--op: {error}") from None
    volumes = found(traces, format_name, skip_bad, directory / "requests")
    made = plan(volumes, setting, shares, "each" if pack == "each" else "first-fit", options.scale_of(scale), seed)
    whole = Sweep([planned for _, _, planned in made.runs], Dataset(str(directory)))
    missing, total = len(whole.missing()), len(whole.all_keys())
    typer.echo(
        f"{len(volumes)} volumes on {len(made.drives)} drives: {total} runs, {total - missing} kept in {directory}, "
        f"{missing} to run"
    )
    whole.dataset.make()
    carry_out_shown(whole, missing, jobs, cluster)
    keys = whole.all_keys()
    kept = dict(zip(keys, whole.dataset.frame(keys).iter_rows(named=True), strict=True))
    wholes = summarised(made, kept, setting, drive_price or file.market.price_usd)
    notices = _notices(made.runs, kept)
    typer.echo(f"\n{page.sentence(wholes, made, years)}")
    _print(page.spread_rows(wholes, years))
    _print(page.heaviest_rows(wholes[0], _HEAVIEST_PRINTED))
    for name, reason in made.left_out[:_HEAVIEST_PRINTED]:
        typer.echo(f"not run: {name}: {reason}")
    if len(made.left_out) > _HEAVIEST_PRINTED:
        typer.echo(f"not run: {len(made.left_out) - _HEAVIEST_PRINTED} more, in result.json")
    words = sys.argv[1:] if sys.argv[1:2] == ["fleet"] else ["fleet", "..."]
    names = page.write(
        wholes,
        made,
        directory,
        title=f"{len(volumes)} volumes on {file.name}",
        subtitle=_subtitle(pack),
        notices=notices,
        years=years,
        line=shlex.join(["ssdlab", *words]),
    )
    typer.echo(f"\nreport: {directory / 'report.html'}\nfiles:  {len(names)} in {directory}")


def _subtitle(pack: str) -> str:
    placed = "each on its own drive" if pack == "each" else "in order on the first drive with room"
    return (
        f"{placed}; traces repeated in changing order until the drive is steady; the drives are full, nothing trimmed"
    )


def _notices(runs: "Sequence[tuple[object, float, object]]", kept: "dict[str, dict[str, object]]") -> list[str]:
    scales = sorted({str(row["scale"]) for row in kept.values() if row["scale"] != "1"})
    notices = []
    if scales:
        notices.append(
            f"Runs of {', '.join(scales)} of the drive, with as small a sample of each trace; write amplification of "
            "such samples was within 3 % of whole runs where an erase unit kept 2,048 units, within 6 % at 512 "
            "(docs/advice.md)."
        )
    unsteady = sum(row["steady_reached"] is False for row in kept.values())
    if unsteady:
        notices.append(f"{unsteady} of {len(runs)} runs did not settle by SNIA's rule; take their figures with care.")
    return notices


def _print(rows: "Sequence[Sequence[str]]") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for index, name in enumerate(rows[0]):
        table.add_column(name, justify="right" if index else "left")
    for row in rows[1:]:
        table.add_row(*row)
    Console().print(table)
