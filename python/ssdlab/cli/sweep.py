"""`ssdlab sweep`: many runs over drives, spare areas, policies and workloads, stored, resumable and queryable."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_own
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.progress import counted
from ssdlab.errors import InputError
from ssdlab.foundation.quantities import rounded
from ssdlab.presentation.terminal import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars

    from ssdlab.experiments.sweeps.execution import Sweep

_ROWS_SHOWN_MAX = 40


def sweep(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE.toml", help="The sweep file.", show_default=False)],
    query: Annotated[
        str | None,
        typer.Option(
            metavar="SQL", help="SQL query on stored results, without running; tables: runs (of this file), all_runs."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "--jobs",
            min=1,
            metavar="N",
            help="Number of processes; default: limited by processors and memory.",
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://scheduler:8786.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be run.")] = False,
    *,
    form: Form,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR|URL", help="Output folder.  [default: out/sweep-NAME]"),
    ] = None,
) -> None:
    """Run a grid or a sample over drives, spare areas, policies, workloads and seeds.

    Each result is stored under the hash of its specification: the same command resumes an interrupted sweep, and a
    changed file runs only what is new. On a cluster all workers need access to --output.
    """
    from ssdlab.experiments.sweeps.sweeping import swept as swept_of

    if cluster and jobs:
        raise InputError("--workers counts processes of this machine; with --cluster the workers' own threads count")
    swept = swept_of(file, output)
    whole = swept.runs
    missing, total = len(whole.missing()), len(whole.all_keys())
    if query is not None:
        answer = swept.query(query)
        if missing:
            typer.echo(f"note: {missing} runs of this sweep are missing", err=True)
        form.give(Rows(answer.to_dicts()), lambda: _print_rows(answer, rows_max=None))
        return
    place = whole.dataset.place
    form.say(f"{swept.content.name}: {total} runs, {total - missing} stored in {place}, {missing} to run")
    if dry_run:
        return
    if "://" not in place:
        check_own(Path(place), "sweep")
    whole.dataset.make()
    carry_out_shown(whole, missing, jobs, cluster)
    form.give(swept, lambda: _print_rows(_summary(swept.rows(), swept.axes)))
    form.say()
    if "://" in place:
        form.say(f"results: {place}")
        return
    swept.write_report(place, command_line=command_line(context))
    form.say(
        f"report: {place.rstrip('/')}/report.html\nask:    ssdlab sweep {file} --query 'select avg(waf) from runs'"
    )


def carry_out_shown(whole: "Sweep", missing: int, jobs: int | None, cluster: str | None) -> None:
    """Runs the missing runs with a progress bar. KeyboardInterrupt gets a message with the number of runs stored."""
    from ssdlab.experiments.sweeps.execution import carry_out, on_this_machine

    whole.dataset.tidy()
    done = 0
    try:
        with counted("runs", missing) as tell:
            if cluster:
                from ssdlab.experiments.sweeps.cluster import on_cluster

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
        raise KeyboardInterrupt(f"{done} of {missing} runs are complete and stored; the same command resumes") from None


def _summary(rows: "polars.DataFrame", axes: "Sequence[str]") -> "polars.DataFrame":
    """The columns of the axes that vary and of the figures that are not all null."""
    varying = [name for name in axes if rows[name].n_unique() > 1]
    figures = ["waf", "write_iops", "read_iops", "write_latency_us_p999", "failure"]
    return rows.select(*varying, *(name for name in figures if rows[name].null_count() < rows.height))


def _print_rows(rows: "polars.DataFrame", rows_max: int | None = _ROWS_SHOWN_MAX) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for name in rows.columns:
        table.add_column(name, justify="right" if rows[name].dtype.is_numeric() else "left")
    for row in rows.head(rows_max or rows.height).iter_rows():
        table.add_row(*(_text(value) for value in row))
    show(table, Console())
    if rows_max and rows.height > rows_max:
        typer.echo(f"... and {rows.height - rows_max} more; select with --query")


def _text(value: object) -> str:
    if value is None:
        return "-"
    return rounded(float(f"{value:.2e}")) if isinstance(value, float) else str(value)
