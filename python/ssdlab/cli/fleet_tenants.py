"""`ssdlab fleet tenants`: groups of namespaces on shared drives, or each on a drive of its share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdlab.cli import fleet
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.fleet import print_rows
from ssdlab.cli.form import Form, Rows
from ssdlab.errors import InputError
from ssdlab.presentation.terminal import wrapped


def fleet_tenants(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="JOBS.fio...", help="Job files, each of the tenants of a group.", show_default=False),
    ],
    writes_per_day: Annotated[
        str,
        typer.Option(metavar="LIST", help="Host writes per day to each drive, such as 2TB, or a list by job file."),
    ],
    drives: Annotated[
        str, typer.Option("--drives", metavar="LIST", help="Number of drives, or a list by job file, such as 300,100.")
    ] = "1",
    *,
    drive: fleet.Drive,
    life: fleet.Years,
    runs: fleet.Runs,
    form: Form,
    output: fleet.Output = None,
) -> None:
    """Compare the drives that tenants need: shared, with and without a placement handle each, or split.

    The drive has a [[namespace]] for each tenant. In the last layout each tenant is on a drive of its share. Each job
    file runs once on a filled drive; results are stored, so the same command resumes an interrupted run.
    """
    from ssdlab.experiments.fleet import layouts_page
    from ssdlab.experiments.fleet.layouts import briefly_written, layouts_of
    from ssdlab.experiments.fleet.tenants import groups_of, plan_tenants

    directory = Path(output) if output else Path("out") / f"fleet-{Path(files[0]).stem}"
    check_folder(directory, "fleet")
    setting = drive.setting
    if not setting.file.namespaces:
        raise InputError(f"drive {drive.drive} has no [[namespace]] for tenants; traces: ssdlab fleet simulate TRACES")
    groups = groups_of(files, drives, writes_per_day)
    made = plan_tenants(groups, setting, runs.scale, runs.seed)
    count = sum(group.drives for group in groups)
    tenants = f"{count:,} group{'s' * (count != 1)} of {len(setting.file.namespaces)} tenants"
    kept = runs.stored(made.runs, directory, form, tenants)
    found = layouts_of(made, kept, life, drive.price)
    notices = [
        setting.standing,
        *_notices(kept, [row.group for row in briefly_written(found)]),
    ]

    def print_all() -> None:
        typer.echo(f"\n{wrapped(layouts_page.sentence(found, made, life))}")
        print_rows(layouts_page.layout_rows(found, life))
        print_rows(layouts_page.drive_rows(found))
        for layout, drive, reason in made.left_out:
            typer.echo(f"not run: {layout}, {drive}: {reason}")
        for notice in notices:
            typer.echo(wrapped(notice))

    rows = [{**row.to_dict()} for layout in found for row in layout.rows]
    form.give(Rows(rows, [layout.to_dict(life) for layout in found]), print_all)
    written = layouts_page.write(
        found,
        made,
        directory,
        title=f"{count:,} group{'s' * (count != 1)} of tenants on {setting.file.name}",
        notices=notices,
        years=life,
        line=command_line(context),
    )
    form.say_files(directory, written)


def _notices(kept: Mapping[str, Mapping[str, Any]], brief: Sequence[str]) -> list[str]:
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
