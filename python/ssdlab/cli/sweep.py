"""`ssdlab sweep`: many runs over a space of drives, spare areas, policies, workloads; kept, resumed, queried, drawn."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars

    from ssdlab.sweeps.execution import Sweep

_ROWS_SHOWN_MAX = 40


def sweep(
    file: Annotated[str, typer.Argument(metavar="FILE.toml", help="The sweep file.", show_default=False)],
    query: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Ask what was kept, run nothing; tables: runs (of this file), all_runs."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, metavar="N", help="Processes side by side; as many as processors and memory allow."
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask scheduler, such as tcp://scheduler:8786.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be run.")] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR|URL", help="Where results are kept.  [default: out/sweep-NAME]"),
    ] = None,
) -> None:
    """Run a grid or a sample over drives, spare areas, policies, workloads and seeds.

    Each result is kept under the hash of its specification: run the command again and it goes on where it stopped;
    change the file and only what is new is run. On a cluster, --output must be a place that all workers share.
    """
    from ssdlab.errors import InputError
    from ssdlab.sweeps.dataset import Dataset
    from ssdlab.sweeps.execution import Sweep
    from ssdlab.sweeps.file import load
    from ssdlab.sweeps.plan import plan

    if cluster and jobs:
        raise InputError("--jobs counts processes of this machine; with --cluster the workers' own threads count")
    path = Path(file)
    content = load(path)
    planned = plan(content, path)
    place = output or str(Path("out") / f"sweep-{content.name}")
    whole = Sweep(planned, Dataset(place))
    if query is not None:
        _answer(whole, query)
        return
    missing = len(whole.missing())
    total = len(whole.all_keys())
    typer.echo(f"{content.name}: {total} runs, {total - missing} kept in {place}, {missing} to run")
    if dry_run:
        return
    whole.dataset.make()
    carry_out_shown(whole, missing, jobs, cluster)
    axes = list(content.axes)
    rows = whole.dataset.frame(whole.all_keys())
    _print_rows(_summary(rows, axes))
    if "://" in place:
        typer.echo(f"\nresults: {place}")
        return
    from ssdlab.sweeps.pictures import write_report
    from ssdlab.sweeps.rows import column

    write_report(
        rows,
        [column(axis) for axis in axes],
        Path(place),
        title=content.name,
        subtitle=content.description or f"{total} runs over {', '.join(axes)}",
        line=shlex.join(["ssdlab", "sweep", file, *(["--output", output] if output else [])]),
    )
    typer.echo(f"\nreport: {place}/report.html\nask:    ssdlab sweep {file} --query 'select avg(waf) from runs'")


def carry_out_shown(whole: "Sweep", missing: int, jobs: int | None, cluster: str | None) -> None:
    """Runs what is missing with a bar; Ctrl-C says what is kept."""
    from ssdlab.cli.progress import counted
    from ssdlab.sweeps.execution import carry_out, on_this_machine

    whole.dataset.tidy()
    done = 0
    try:
        with counted("runs", missing) as tell:
            if cluster:
                from ssdlab.sweeps.cluster import on_cluster

                executor = on_cluster(cluster)
            else:
                executor = on_this_machine(jobs, (lambda count, share: tell(count + share)) if tell else None)

            def note(count: int) -> None:
                nonlocal done
                done = count
                if tell:
                    tell(count)

            carry_out(whole, executor, note)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{done} of {missing} runs were done and are kept; the same command goes on from there"
        ) from None


def _answer(whole: "Sweep", sql: str) -> None:
    from ssdlab.errors import InputError
    from ssdlab.sweeps.dataset import query

    kept = whole.dataset.keys()
    keys = [key for key in whole.all_keys() if key in kept]
    if not keys:
        raise InputError(f"{whole.dataset.place}: holds no result of this sweep yet; run it without --query first")
    if len(keys) < len(whole.all_keys()):
        typer.echo(f"note: {len(whole.all_keys()) - len(keys)} runs of this sweep are missing", err=True)
    _print_rows(query(whole.dataset.frame(keys), whole.dataset.frame(), sql), rows_max=None)


def _summary(rows: "polars.DataFrame", axes: list[str]) -> "polars.DataFrame":
    """The axes that vary, and the figures that were measured."""
    from ssdlab.sweeps.rows import column

    varying = [column(axis) for axis in axes if rows[column(axis)].n_unique() > 1]
    figures = ["waf", "write_iops", "read_iops", "write_latency_us_p999", "failure"]
    return rows.select(*varying, *(name for name in figures if rows[name].null_count() < rows.height))


def _print_rows(rows: "polars.DataFrame", rows_max: int | None = _ROWS_SHOWN_MAX) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for name in rows.columns:
        table.add_column(name, justify="right" if rows[name].dtype.is_numeric() else "left")
    for row in rows.head(rows_max or rows.height).iter_rows():
        table.add_row(*(_text(value) for value in row))
    Console().print(table)
    if rows_max and rows.height > rows_max:
        typer.echo(f"... and {rows.height - rows_max} more; --query shows what you ask for")


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
