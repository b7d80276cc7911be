"""`ssdlab drives`: lists the catalogue; shows one drive with the source of every value, its geometry and capacities;
writes a new drive file."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.cli import fit_data_sheet, options
from ssdlab.cli.console import Console
from ssdlab.cli.form import FormOrJson, Rows
from ssdlab.errors import InputError
from ssdlab.foundation.quantities import (
    format_bytes,
    format_bytes_binary,
    format_count,
    format_scale,
    format_share,
    rounded,
)
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives import data_sheet_line, listing, load, standing
from ssdlab.simulator.drives.drawing import draw
from ssdlab.simulator.drives.schema import KINDS
from ssdlab.simulator.results.files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.simulator.drives import DriveFile, ResolvedDrive

_NEW = "new"
_GROUPS = ("generic drives", "real models", "textbook, tests")
_FOR_TESTS = ("textbook", "tiny")


def drives(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE.toml|new]",
            help="A drive of the catalogue or a drive file; new: write a drive file; without: list all.",
        ),
    ] = None,
    new_file: Annotated[str | None, typer.Argument(metavar="[FILE.toml]", help="With new: the file to write.")] = None,
    like: Annotated[
        str | None, typer.Option("--like", metavar="NAME|FILE", help="With new: the drive to start from.")
    ] = None,
    data_sheet: Annotated[
        str | None,
        typer.Option(
            "--data-sheet",
            metavar="LINE",
            help=f'With new: fit the drive to a line of its data sheet, such as "{data_sheet_line.EXAMPLE}".',
        ),
    ] = None,
    *,
    changes: options.Changes,
    form: FormOrJson,
) -> None:
    """List the drive models, or show one with the source of every value."""
    if name == _NEW:
        if changes.is_changed or form.is_data:
            raise InputError("drives new takes --like and --data-sheet; change values in the file that it writes")
        _write_new(like, new_file, data_sheet)
        return
    if like or new_file or data_sheet:
        raise InputError(
            "a second file, --like and --data-sheet belong to new: ssdlab drives new --like generic-tlc-480 my.toml"
        )
    if name is None:
        if changes.is_changed:
            raise InputError(
                "--op, --left-empty, --set and --scale apply to one drive: name it, such as ssdlab drives tiny --op 60%"
            )
        catalogue = listing.drives()
        form.give(catalogue, lambda: _print_list(catalogue.drives))
        return
    drive = changes.of(name)
    values = listing.values(drive.file)
    form.give(Rows(values, listing.summary(drive) | {"values": values}), lambda: _print_one(drive, name))


def _write_new(like: str | None, file: str | None, line: str | None) -> None:
    """Writes a drive file based on another drive, or fitted to a line of a data sheet from that drive on.

    Raises InputError if an argument is missing, the line cannot be read or the file exists.
    """
    if not like or not file:
        missing = "--like, the drive to start from" if file else "the file to write"
        raise InputError(f"drives new needs {missing}: ssdlab drives new --like generic-tlc-480 my.toml")
    path = Path(file)
    if path.suffix != ".toml":
        raise InputError(f"{file}: the name of a drive file ends in .toml")
    if path.exists():
        raise InputError(f"{file} exists; name a new file")
    if line is not None:
        # The help and the list of drives answer without what simulates.
        from ssdlab.experiments.studies.data_sheets.fitting import of_line

        found = fit_data_sheet.fitted(of_line(line, load(like), path.stem))
        fit_data_sheet.print_fit(found)
        fit_data_sheet.write_drive(found, path)
        typer.echo(f"\nwrote {file}: like {like}, fitted to the line; [datasheet] says what was understood of it")
        typer.echo(f"then: ssdlab drives {file}, or --drive {file} in any command")
        return
    # The path of the base file is relative to the folder of the new file.
    based_on = os.path.relpath(like, path.parent) if like.endswith(".toml") else like
    # It loads tomlkit, which the help and the list of drives do not need.
    from ssdlab.simulator.drives.writer import new_file

    write_text(path, new_file(load(like), based_on, path.stem))
    typer.echo(f"wrote {file}: {like} under a name of its own, its values as comments to change")
    typer.echo(f"then: ssdlab drives {file}, or --drive {file} in any command")


def _print_list(all_drives: Sequence[ResolvedDrive]) -> None:
    console = Console()
    groups: dict[str, list[ResolvedDrive]] = {}
    for drive in all_drives:
        groups.setdefault(_group(drive), []).append(drive)
    for group in _GROUPS:
        members = groups[group]
        table = _table(f"<{group}", ">flash", ">for host", ">OP", "<cell", ">sources")
        for drive in members:
            table.add_row(
                drive.name,
                format_bytes_binary(drive.capacity.physical_bytes),
                format_bytes(drive.capacity.user_bytes),
                format_share(drive.capacity.over_provisioning),
                drive.file.nand.cell,
                "/".join(str(count) for count in listing.kinds(drive.file).values()),
            )
        table.columns[0].min_width = max(len(drive.name) for drive in all_drives)
        show(table, console, ("sources", "flash"))
    console.print("OP = (flash - for host) / for host, in bytes")
    console.print(f"sources: numbers of values that are {' / '.join(KINDS)}")
    console.print("ssdlab drives NAME shows a drive with its geometry and the source of each value")


def _group(drive: ResolvedDrive) -> str:
    """The heading under which a drive of the catalogue is listed."""
    if drive.name in _FOR_TESTS:
        return _GROUPS[2]
    return _GROUPS[0] if drive.name.startswith("generic-") else _GROUPS[1]


def _print_one(drive: ResolvedDrive, asked: str) -> None:
    console = Console()
    console.print(f"{drive.name}: {drive.file.description}", style="bold")
    console.print(f"behind this name: {standing.behind(drive.specification(), drive.scale)}")
    if drive.scale != 1:
        console.print(f"scaled: {format_scale(drive.scale)} of the full drive, same dies, erase units and OP")
    console.print()
    typer.echo(draw(drive.file, drive.capacity, width=min(80, max(60, console.width))))
    console.print()
    show(_capacity_table(drive), console, ("definition",))
    _print_values(console, drive.file)
    _print_data_sheet(console, drive.file, asked)


def _print_data_sheet(console: Console, file: DriveFile, asked: str) -> None:
    """Prints the rows of the data sheet; nothing if the file has none. `asked` is the drive's name or its file."""
    if not file.data_sheet:
        return
    table = _table("<data sheet", ">value", "unit", "condition", "source")
    for row in file.data_sheet:
        value = ("yes" if row.value else "no") if isinstance(row.value, bool) else rounded(row.value, 6)
        table.add_row(row.quantity, value, row.unit, row.condition, row.source)
    show(table, console, ("source",))
    console.print(f"ssdlab study data-sheets --drive {asked} simulates these rows")


def _print_values(console: Console, file: DriveFile) -> None:
    """Prints every value in a table, and below it the sources with the numbers that the last column refers to."""
    numbers: dict[tuple[str, str], int] = {}
    table = _table("<key", ">value", "unit", "<kind", ">source")
    for entry in listing.values(file):
        number = numbers.setdefault((entry["kind"], entry["source"]), len(numbers) + 1)
        table.add_row(entry["key"], _shown(entry["value"]), entry["unit"], entry["kind"], f"[{number}]")
    show(table, console, ("kind", "unit"))
    notes = _table("", "", show_header=False)
    for (kind, source), number in numbers.items():
        notes.add_row(f"[{number}]", f"{kind}: {source}")
    show(notes, console)


def _capacity_table(drive: ResolvedDrive) -> Table:
    capacity = drive.capacity
    held_back = capacity.reserve_erase_units + capacity.open_erase_units
    held_units = held_back * capacity.data_units_per_erase_unit
    table = _table("capacity", ">", "definition")

    def both(size: int) -> str:
        return f"{format_bytes_binary(size)} = {format_bytes(size)}"

    if capacity.held_out_bytes:
        table.add_row("all flash", both(capacity.flash_bytes), "T and the flash excluded from it")
        table.add_row("held out", both(capacity.held_out_bytes), "ftl.reserved_bytes, in whole erase units")
    table.add_row("flash", both(capacity.physical_bytes), "T: all slots that can hold data")
    table.add_row("for the host", both(capacity.user_bytes), "U")
    table.add_row("sold as", format_bytes(capacity.sold_bytes), "S: the capacity on the label")
    table.add_row("spare area", both(capacity.spare_bytes), "T - U")
    table.add_row("over-provisioning", format_share(capacity.over_provisioning), "(T - U) / U")
    if drive.left_empty is not None:
        empty = format_share(drive.left_empty)
        table.add_row("left empty", empty, "of the drive's own U, by the host")
    table.add_row("spare factor", format_share(capacity.spare_factor), "(T - U) / T")
    table.add_row("hidden OP", format_share(capacity.hidden_over_provisioning), "(T - S) / S")
    table.add_row("least OP", format_share(drive.over_provisioning_min), "one erase unit left for garbage collection")
    table.add_row(
        "held back",
        both(held_units * capacity.mapping_unit_bytes),
        f"{capacity.reserve_erase_units} erase units in reserve, {capacity.open_erase_units} open",
    )
    blocks = capacity.blocks_per_erase_unit
    superblock = f"superblocks of {format_count(blocks)} blocks" if blocks > 1 else "blocks"
    table.add_row("erase units", format_count(capacity.erase_units), superblock)
    table.add_row(
        "units per erase unit",
        format_count(capacity.units_per_erase_unit),
        "all for data"
        if capacity.data_units_per_erase_unit == capacity.units_per_erase_unit
        else f"{format_count(capacity.data_units_per_erase_unit)} for data, the rest for parity",
    )
    table.add_row(
        f"units of {capacity.mapping_unit_bytes} B",
        format_count(capacity.physical_units),
        f"{format_count(capacity.user_units)} for the host",
    )
    return table


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() if value >= 10_000:
            return format_count(value)
        case dict():
            parameters = [f"{key}={_shown(item)}" for key, item in value.items() if key != "name"]
            return " ".join([value["name"], *parameters])
    return str(value)


def _table(*columns: str, show_header: bool = True) -> Table:
    """A plain table. Columns whose names begin with `>` (aligned right) or `<` are not wrapped."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_header=show_header)
    for column in columns:
        if column.startswith(">"):
            table.add_column(column[1:], justify="right", no_wrap=True)
        elif column.startswith("<"):
            table.add_column(column[1:], no_wrap=True)
        else:
            table.add_column(column, overflow="fold")
    return table
