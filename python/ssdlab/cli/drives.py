"""`ssdlab drives`: the catalogue, and one drive with every value, its source, its geometry and its capacities."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdlab.cli.options import Op, Scale, Set, op_of, scale_of, settings_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ssdlab.drives import DriveFile, ResolvedDrive


def drives(
    name: Annotated[
        str | None, typer.Argument(help="A drive of the catalogue or a drive file (.toml); without: list all.")
    ] = None,
    op: Op = None,
    settings: Set = None,
    scale: Scale = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """List the drive models, or show one with the source of every value."""
    from ssdlab.drives import load, names, resolve
    from ssdlab.errors import InputError

    if name is None:
        if op or settings or scale:
            raise InputError("--op, --set and --scale change one drive: name it, such as ssdlab drives tiny --op 60%")
        all_drives = [resolve(load(each)) for each in names()]
        if as_json:
            typer.echo(json.dumps([_summary(drive) for drive in all_drives], indent=2))
        else:
            _print_list(all_drives)
        return
    drive = resolve(
        load(name),
        over_provisioning=op_of(op),
        settings=settings_of(settings),
        scale=scale_of(scale),
    )
    if as_json:
        typer.echo(json.dumps(_summary(drive) | {"values": _values(drive.file)}, indent=2))
    else:
        _print_one(drive)


def _print_list(all_drives: list[ResolvedDrive]) -> None:
    from rich.console import Console

    from ssdlab.drives.schema import KINDS
    from ssdlab.quantities import format_bytes, format_bytes_binary, format_share

    table = _table("<name", "what", ">flash", ">for host", ">OP", "cell", ">sources")
    for drive in all_drives:
        table.add_row(
            drive.name,
            drive.file.description,
            format_bytes_binary(drive.capacity.physical_bytes),
            format_bytes(drive.capacity.user_bytes),
            format_share(drive.capacity.over_provisioning),
            drive.file.nand.cell,
            "/".join(str(count) for count in _kinds(drive.file).values()),
        )
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print("OP = (flash - for host) / for host, in bytes")
    console.print(f"sources: how many values are {' / '.join(KINDS)}")
    console.print("ssdlab drives NAME shows one with its geometry and the source of each value")


def _print_one(drive: ResolvedDrive) -> None:
    from rich.console import Console

    from ssdlab.drives.drawing import draw
    from ssdlab.quantities import format_scale

    console = Console(highlight=False, markup=False)
    console.print(f"{drive.name}: {drive.file.description}", style="bold")
    if drive.scale != 1:
        console.print(f"made smaller: {format_scale(drive.scale)} of the full drive, same dies, erase units and OP")
    console.print()
    typer.echo(draw(drive.file, drive.capacity, width=min(80, max(60, console.width))))
    console.print()
    console.print(_capacity_table(drive))
    _print_values(console, drive.file)


def _print_values(console: Console, file: DriveFile) -> None:
    """Every value, and under the table the sources that its last column counts."""
    numbers: dict[tuple[str, str], int] = {}
    table = _table("<key", ">value", "unit", "<kind", ">source")
    for entry in _values(file):
        number = numbers.setdefault((entry["kind"], entry["source"]), len(numbers) + 1)
        table.add_row(entry["key"], _shown(entry["value"]), entry["unit"], entry["kind"], f"[{number}]")
    console.print(table)
    notes = _table("", "", show_header=False)
    for (kind, source), number in numbers.items():
        notes.add_row(f"[{number}]", f"{kind}: {source}")
    console.print(notes)


def _capacity_table(drive: ResolvedDrive) -> Table:
    from ssdlab.drives.consistency import over_provisioning_min
    from ssdlab.quantities import format_bytes, format_bytes_binary, format_count, format_share

    capacity = drive.capacity
    held_back = capacity.reserve_erase_units + capacity.open_erase_units
    held_units = held_back * capacity.data_units_per_erase_unit
    table = _table("capacity", ">", "how it is counted")

    def both(size: int) -> str:
        return f"{format_bytes_binary(size)} = {format_bytes(size)}"

    if capacity.held_out_bytes:
        table.add_row("all flash", both(capacity.flash_bytes), "T and what is held out of it")
        table.add_row("held out", both(capacity.held_out_bytes), "ftl.reserved_bytes, in whole erase units")
    table.add_row("flash", both(capacity.physical_bytes), "T: everything that can hold data")
    table.add_row("for the host", both(capacity.user_bytes), "U")
    table.add_row("sold as", format_bytes(capacity.sold_bytes), "S: the capacity on the label")
    table.add_row("spare area", both(capacity.spare_bytes), "T - U")
    table.add_row("over-provisioning", format_share(capacity.over_provisioning), "(T - U) / U")
    table.add_row("spare factor", format_share(capacity.spare_factor), "(T - U) / T")
    table.add_row("hidden OP", format_share(capacity.hidden_over_provisioning), "(T - S) / S")
    table.add_row("least OP", format_share(over_provisioning_min(capacity)), "one erase unit left for cleaning")
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


def _values(file: DriveFile) -> list[dict[str, Any]]:
    """Every value that the drive has, defaults too, with unit, kind and source; what it does not say is left out."""
    entries = []
    for table, content in file.tables().items():
        for name, value in content.model_dump().items():
            if value is None:
                continue
            key = f"{table}.{name}"
            source = file.source_of(key)
            entries.append(
                {"key": key, "value": value, "unit": content.unit(name), "kind": source.kind, "source": source.source}
            )
    return entries


def _kinds(file: DriveFile) -> dict[str, int]:
    """How many of the values that the file says are of each kind."""
    from ssdlab.drives.schema import KINDS

    said = [entry["kind"] for entry in _values(file) if file.says(entry["key"])]
    return {kind: said.count(kind) for kind in KINDS}


def _summary(drive: ResolvedDrive) -> dict[str, Any]:
    from ssdlab.quantities import format_scale

    capacity = drive.capacity
    return {
        "name": drive.name,
        "description": drive.file.description,
        "cell": drive.file.nand.cell,
        "scale": format_scale(drive.scale),
        "capacity": {
            "physical_bytes": capacity.physical_bytes,
            "user_bytes": capacity.user_bytes,
            "sold_bytes": capacity.sold_bytes,
            "over_provisioning": capacity.over_provisioning,
            "spare_factor": capacity.spare_factor,
            "hidden_over_provisioning": capacity.hidden_over_provisioning,
            "erase_units": capacity.erase_units,
            "units_per_erase_unit": capacity.units_per_erase_unit,
            "data_units_per_erase_unit": capacity.data_units_per_erase_unit,
            "mapping_unit_bytes": capacity.mapping_unit_bytes,
        },
        "sources": _kinds(drive.file),
    }


def _shown(value: Any) -> str:
    from ssdlab.quantities import format_count

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
    """A plain table; columns whose names begin with `>` (set to the right) or `<` are never broken."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_header=show_header)
    for column in columns:
        if column.startswith(">"):
            table.add_column(column[1:], justify="right", no_wrap=True)
        elif column.startswith("<"):
            table.add_column(column[1:], no_wrap=True)
        else:
            table.add_column(column, overflow="fold")
    return table
