"""`ssdlab fleet` for tenants: groups of namespaces on shared drives, or each on a drive of its share."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli.fleet_table import print_rows
from ssdlab.cli.form import Printing, Rows
from ssdlab.cli.sweep import carry_out_shown
from ssdlab.errors import InputError
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.presentation.terminal import text_columns


@dataclass(frozen=True)
class Tenants:
    """Groups of tenants in place of traces."""

    writes_per_day: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="For tenants: host writes per day to each drive, such as 2TB, or a list by job file."
        ),
    ] = None
    drives: Annotated[
        str | None,
        typer.Option(
            "--drives",
            metavar="LIST",
            help="For tenants: number of drives, or a list by job file, such as 300,100.  [default: 1]",
        ),
    ] = None


def from_tenants(
    files: Sequence[str],
    setting: Setting,
    tenants: Tenants,
    *,
    price: float | None,
    years: float,
    scale: Fraction | None,
    seed: int,
    jobs: int | None,
    cluster: str | None,
    directory: Path,
    line: str,
    form: Printing,
) -> None:
    """Runs the layouts of the tenants, prints what each needs, and writes the page. Raises InputError."""
    from ssdlab.experiments.fleet import layouts_page
    from ssdlab.experiments.fleet.layouts import briefly_written, layouts_of
    from ssdlab.experiments.fleet.tenants import groups_of, plan_tenants
    from ssdlab.experiments.sweeps.execution import Sweep

    if tenants.writes_per_day is None:
        raise InputError(
            "--writes-per-day is missing: what the tenants of a drive write per day, such as 2TB, on which life depends"
        )
    groups = groups_of(files, tenants.drives or "1", tenants.writes_per_day)
    made = plan_tenants(groups, setting, scale, seed)
    whole = Sweep(made.runs, Dataset(str(directory)))
    missing, keys = len(whole.missing()), whole.all_keys()
    names = [namespace.name for namespace in setting.file.namespaces]
    drives = sum(group.drives for group in groups)
    fleet = f"{drives:,} group{'s' * (drives != 1)} of {len(names)} tenants"
    form.say(f"{fleet}: {len(keys)} runs, {len(keys) - missing} stored in {directory}, {missing} to run")
    whole.dataset.make()
    carry_out_shown(whole, missing, jobs, cluster)
    kept = dict(zip(keys, whole.dataset.frame(keys).iter_rows(named=True), strict=True))
    found = layouts_of(made, kept, years, price)
    notices = [
        setting.standing,
        *_notices(kept, [row.group for row in briefly_written(found)]),
    ]

    def print_all() -> None:
        for text in (layouts_page.sentence(found, made, years), setting.standing):
            typer.echo("\n" + "\n".join(textwrap.wrap(text, text_columns())))
        print_rows(layouts_page.layout_rows(found, years))
        print_rows(layouts_page.drive_rows(found))
        for layout, drive, reason in made.left_out:
            typer.echo(f"not run: {layout}, {drive}: {reason}")
        for notice in notices:
            typer.echo(notice)

    rows = [{**row.to_dict()} for layout in found for row in layout.rows]
    form.give(Rows(rows, [layout.to_dict(years) for layout in found]), print_all)
    written = layouts_page.write(
        found,
        made,
        directory,
        title=f"{drives:,} group{'s' * (drives != 1)} of tenants on {setting.file.name}",
        notices=notices,
        years=years,
        line=line,
    )
    form.say()
    form.say(f"report: {directory / 'report.html'}\nfiles:  {len(written)} in {directory}")


def _notices(kept: dict[str, dict[str, object]], brief: Sequence[str]) -> list[str]:
    from ssdlab.experiments.advice.tenants import DRIVE_WRITES_MIN

    notices = []
    scales = sorted({str(row["scale"]) for row in kept.values() if row["scale"] != "1"})
    if scales:
        notices.append(f"Runs of {', '.join(scales)} of the drive, with the same ratios.")
    if brief:
        notices.append(
            f"The tenants of {', '.join(brief)} wrote less than {DRIVE_WRITES_MIN} times the size of the drive: write "
            "amplification may still rise. Let the jobs write more."
        )
    return notices
