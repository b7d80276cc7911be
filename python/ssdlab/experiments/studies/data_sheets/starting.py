"""Where the fit of a drive to its data sheet starts: the class of the drive, its capacity, and closed forms for each
value that a row gives.

The forms are balances of times: what a die, a channel, the link or the controller does in a second. They are a few
percent off; `fitting.py` corrects them by simulation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ssdlab.errors import InputError
from ssdlab.experiments.studies.data_sheets.simulating import condition
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_bytes, format_count
from ssdlab.simulator.drives import DriveFile, Source, load
from ssdlab.simulator.drives.data_sheet import Rated
from ssdlab.simulator.drives.schema import changed, drive_of, mean_us
from ssdlab.theory.closed_forms import greedy

SATA_MB_S_MAX = 600.0
"""More than SATA carries, in MB/s: 6 Gb/s at 8 bits in 10."""
_PCIE4 = 3602.0
"""Data of four lanes of PCIe 3.0 in MB/s, as the engine has it (docs/simulate/time.md); each generation doubles it."""
_PROGRAM_US = {"slc": (100.0, 800.0), "mlc": (400.0, 3000.0), "tlc": (300.0, 4000.0), "qlc": (800.0, 9000.0)}
"""Bounds of program times by cell, from fast to slow parts of all generations in the catalogue."""
_SLC_MODE_US = (50.0, 2000.0)
_READ_US = (8.0, 250.0)
_COMMAND_US = (0.5, 200.0)
_DIES_FACTOR_MAX = 8
_MAPPING_UNITS = 2**32
"""The flash of a drive has fewer (`nand/geometry.rs` of the engine)."""
_OP_MAX = 1.0
_OF_CLASS = "of what flash and controllers of the class have"
_OP_MARGIN = 1.2
"""The least over-provisioning of a fit, over the least with which garbage collection works."""
_SCALED = (
    "ftl.reserved_bytes",
    "slc_cache.static_bytes",
    "slc_cache.dynamic_bytes_max",
    "background.erased_pool_bytes",
)


@dataclass(frozen=True)
class Free:
    """A value that is fitted to one row, by the place of the row in the data sheet."""

    key: str
    row: int
    start: float
    low: float
    high: float
    elasticity: float
    """The relative change of the row's figure per relative change of the value, roughly."""
    low_is: str = _OF_CLASS
    """Whose bound the lower one is, in words behind "a bound"."""
    high_is: str = _OF_CLASS
    """The same of the upper one."""

    def bound_at(self, value: float) -> str | None:
        """Whose bound the value is at; None if it is at none."""
        if value < 1.001 * self.low:
            return self.low_is
        return self.high_is if 1.001 * value > self.high else None


@dataclass
class Start:
    """A drive to start from, and what is free in it."""

    content: JsonObject
    free: list[Free] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    """Keys that the data sheet gives as they are, and the rows that give them."""
    chosen: dict[str, str] = field(default_factory=dict)
    """Keys whose values were chosen so that a row is possible at all, and why."""


def class_of(rows: Sequence[Rated]) -> DriveFile:
    """The generic drive of the class that the rows suggest: SATA or NVMe, for clients or data centres, with the
    interface that carries the sequential reads."""
    speeds = [float(row.value) for row in rows if row.unit == "MB/s"]
    is_sata = max(speeds, default=0.0) <= SATA_MB_S_MAX and not any(
        row.unit == "IOPS" and float(row.value) > 150_000 for row in rows
    )
    protection = [bool(row.value) for row in rows if row.quantity == "power-loss protection"]
    is_for_servers = protection[0] if protection else any(row.state == "steady" for row in rows)
    if is_sata:
        return load("generic-sata-dc-480" if is_for_servers else "generic-sata-tlc-500")
    return load("generic-nvme-dc-3840" if is_for_servers else "generic-nvme-tlc-1000")


def of_capacity(drive: DriveFile, user_bytes: int) -> DriveFile:
    """The drive with another capacity and as much flash for each byte of it: more or fewer blocks, and dies where
    blocks would become twice as many or half as many.

    Raises InputError, in words of the capacity, if the drive cannot have it.
    """
    unit = drive.ftl.mapping_unit_bytes
    ratio = user_bytes / drive.ftl.user_bytes
    asked = f"a drive like {drive.name} cannot have {format_bytes(user_bytes)}"
    dies = 2 ** round(math.log2(ratio))
    per_channel = max(1, round(drive.nand.dies_per_channel * dies))
    blocks = math.ceil(drive.nand.blocks_per_plane * ratio * drive.nand.dies_per_channel / per_channel)
    share = blocks * per_channel / (drive.nand.blocks_per_plane * drive.nand.dies_per_channel)
    if share * drive.capacity.flash_bytes >= _MAPPING_UNITS * unit:
        most = _flash_max(drive) * drive.ftl.user_bytes / drive.capacity.flash_bytes
        raise InputError(
            f"{asked}: its flash has fewer than 2^32 mapping units of {format_count(unit)} B, which is"
            f" {math.floor(most / 1e11) / 10:g} TB or less for the host; start from a drive with larger mapping units"
        )
    values: JsonObject = {
        "ftl.user_bytes": user_bytes // unit * unit,
        "market.sold_bytes": user_bytes,
        "nand.dies_per_channel": per_channel,
        "nand.blocks_per_plane": blocks,
    }
    for key in _SCALED:
        if drive.says(key):
            values[key] = int(_value(drive, key) * ratio) // unit * unit
    sources = dict.fromkeys(values, Source(kind="assumed", source=f"{drive.name} at another capacity, in proportion"))
    try:
        return drive_of(changed(drive.content, values, sources), drive.name)
    except InputError as error:
        raise InputError(f"{asked} with as much flash for each byte: {error}") from None


def start(drive: DriveFile) -> Start:
    """The start of a fit to the drive's own data sheet. Raises InputError if no row gives a value."""
    found = Start(dict(drive.content))
    rows = list(enumerate(drive.data_sheet))
    _take_facts(found, drive, rows)
    for step in (_link, _dies, _fewer_dies, _write_command, _reads, _commands, _programs, _spare_area):
        step(found, rows)
    if not found.free:
        raise InputError(
            f"{drive.name}: no row of [datasheet] gives a value that can be fitted; speeds and latencies do"
        )
    return found


_Rows = Sequence[tuple[int, Rated]]


def _take_facts(start: Start, drive: DriveFile, rows: _Rows) -> None:
    """Rows that are values of the drive file as they are."""
    for _, row in rows:
        if row.quantity == "power-loss protection" and drive.write_buffer.bytes:
            _give(start, "write_buffer.power_loss_protection", row.value, row.quantity)
        if row.quantity == "endurance":
            _give(start, "market.rated_tbw" if row.unit == "TB" else "market.rated_dwpd", float(row.value), "endurance")


def _give(start: Start, key: str, value: object, of_row: str) -> None:
    _set(start, {key: value})
    start.inputs[key] = of_row


def _set(start: Start, values: Mapping[str, object]) -> None:
    """Sets values. A file whose sources name single keys has none for a key that it does not set: it gets one here, and
    `fitting.py` writes the final one."""
    named = start.content["sources"]
    missing = [key for key in values if key not in named and f"{key.partition('.')[0]}.*" not in named]
    source = Source(kind="assumed", source="the start of the fit")
    start.content = changed(start.content, values, dict.fromkeys(missing, source))


def _drive(start: Start) -> DriveFile:
    return drive_of(start.content, "the start of the fit")


def _link(start: Start, rows: _Rows) -> None:
    """The link carries the faster of the sequential rows, and the generation of PCIe follows from it. Each device of a
    stripe has a link of its own."""
    drive = _drive(start)
    sequential = [(float(row.value) / drive.stripe.devices, index, row) for index, row in rows if row.unit == "MB/s"]
    if not sequential:
        return
    rated, index, row = max(sequential, key=lambda each: each[0])
    interface = drive.host_link.interface
    if interface.startswith("sata") and rated > SATA_MB_S_MAX:
        raise InputError(
            f"{drive.name}: {row.quantity} of {rated:,g} MB/s is more than its link, {interface}, carries; start from"
            " an NVMe drive, such as generic-nvme-tlc-1000"
        )
    if not interface.startswith("sata"):
        needed = next(
            generation for generation in (3, 4, 5, 6) if rated <= _PCIE4 * 2 ** (generation - 3) or generation == 6
        )
        if interface == "none" or (
            interface.startswith("pcie") and interface.endswith("x4") and int(interface[4]) < needed
        ):
            _set(start, {"host_link.interface": f"pcie{needed}x4"})
            start.chosen["host_link.interface"] = f"{row.quantity}: four lanes that carry it"
    block, _ = condition(row, drive)
    fitted = block / (block / rated - min(drive.host_link.command_us, 0.5 * block / rated))
    start.free.append(_of_row("host_link.mb_s", index, fitted, (0.9, 3), rated))
    _set(start, {"host_link.mb_s": fitted})


def _of_row(key: str, row: int, value: float, factors: tuple[float, float], rated: float) -> Free:
    """A free rate with bounds around the rated figure of its row."""
    low, high = factors
    said = f"of the fit, {low:g} to {high:g} times the rated figure"
    return Free(key, row, value, low * rated, high * rated, 1.0, said, said)


def _dies(start: Start, rows: _Rows) -> None:
    """Enough rate of the channels, and enough dies for the reads.

    Where planes of a die read different pages at once, they are dies of their own here: dies become more and planes
    fewer, so that erase units and programs stay as large. Where that is not enough, dies have fewer blocks.
    """
    drive = _drive(start)
    nand = drive.nand
    channels = nand.channels * drive.stripe.devices
    for _, row in rows:
        if row.quantity == "sequential read" and channels * nand.channel_mb_s < 1.1 * float(row.value):
            _set(start, {"nand.channel_mb_s": 1.2 * float(row.value) / channels})
            start.chosen["nand.channel_mb_s"] = f"{row.quantity}: channels that carry it"
    read_us = _rated_read_us(drive, rows)
    factor = 1
    while factor < _DIES_FACTOR_MAX and not _reads_suffice(_drive(start), rows, read_us):
        factor *= 2
        planes = max(1, nand.planes_per_die // factor)
        blocks = math.ceil(nand.blocks_per_plane * nand.planes_per_die / planes / factor)
        dies = nand.dies_per_channel * factor
        values = {"nand.dies_per_channel": dies, "nand.planes_per_die": planes, "nand.blocks_per_plane": blocks}
        _set(start, values)
        start.chosen |= dict.fromkeys(values, "reads: dies, or planes that read by themselves, for their rate")


def _fewer_dies(start: Start, rows: _Rows) -> None:
    """Fewer dies with more blocks, where programs would have to be slower than any flash of the cell for the sequential
    writes, and the reads allow it."""
    for _, row in rows:
        if row.quantity != "sequential write" or row.state == "fresh":
            continue
        while True:
            drive = _drive(start)
            nand = drive.nand
            is_slow_enough = _program_us(drive, float(row.value)) <= _PROGRAM_US[nand.cell][1] * nand.pages_per_program
            if is_slow_enough or nand.dies_per_channel % 2:
                return
            values = {
                "nand.dies_per_channel": nand.dies_per_channel // 2,
                "nand.blocks_per_plane": nand.blocks_per_plane * 2,
            }
            fewer = drive_of(changed(start.content, values, {}), "the start of the fit")
            if not _reads_suffice(fewer, rows, _rated_read_us(drive, rows)):
                return
            _set(start, values)
            start.chosen |= dict.fromkeys(values, "sequential writes: few dies, for programs that some flash has")


def _program_us(drive: DriveFile, mb_s: float) -> float:
    """The program time at which all dies together write this rate in sequence. Beside the program a die waits for the
    transfer of the pages."""
    nand = drive.nand
    group_bytes = _die_count(drive) * nand.planes_per_die * nand.page_bytes * nand.pages_per_program
    return group_bytes * _data_share(drive) / mb_s - nand.planes_per_die * nand.page_bytes / nand.channel_mb_s


def _rated_read_us(drive: DriveFile, rows: _Rows) -> float:
    """The array time of a read that the rated latency leaves, or the drive's own."""
    return next(
        (max(float(row.value) - 10, _READ_US[0]) for _, row in rows if row.quantity == "random read latency"),
        mean_us(drive.nand.read_us),
    )


def _reads_suffice(drive: DriveFile, rows: _Rows, read_us: float) -> bool:
    nand = drive.nand
    for _, row in rows:
        if row.quantity == "random read" and _read_iops_max(drive, row, read_us) < 1.03 * float(row.value):
            return False
        page_us = read_us + nand.planes_per_die * nand.page_bytes / nand.channel_mb_s
        mb_s = _die_count(drive) * nand.planes_per_die * nand.page_bytes / page_us
        if row.quantity == "sequential read" and mb_s < 1.3 * float(row.value):
            return False
    return True


def _read_iops_max(drive: DriveFile, row: Rated, read_us: float) -> float:
    """Random reads a second of the dies: with D requests at N dies, D / (D + N - 1) of them have work (a closed network
    of equal stations with exponential times; Denning and Buzen, ACM Computing Surveys 10, 1978)."""
    block, depth = condition(row, drive)
    dies = _die_count(drive)
    busy = dies * depth / (depth + dies - 1)
    return busy / (read_us + block / drive.nand.channel_mb_s) * 1e6


def _write_command(start: Start, rows: _Rows) -> None:
    """Alone, a write takes the time of a command and the link."""
    drive = _drive(start)
    order = ("random write latency", "sequential write latency")
    found = sorted(
        (row.state == "steady", order.index(row.quantity), index, row) for index, row in rows if row.quantity in order
    )
    if not found or not drive.write_buffer.bytes:
        return
    _, _, index, row = found[0]
    rated, link_us = float(row.value), _link_us(drive, condition(row, drive)[0])
    value = min(max(rated - link_us, _COMMAND_US[0]), _COMMAND_US[1])
    start.free.append(Free("controller.command_us", index, value, *_COMMAND_US, value / rated))
    _set(start, {"controller.command_us": value})


def _reads(start: Start, rows: _Rows) -> None:
    """Alone, a read takes the array, the channel and the link."""
    drive = _drive(start)
    for index, row in rows:
        if row.quantity == "random read latency":
            block, _ = condition(row, drive)
            rated = float(row.value)
            value = rated - block / drive.nand.channel_mb_s - _link_us(drive, block)
            value = min(max(value, _READ_US[0]), _READ_US[1])
            start.free.append(Free("nand.read_us", index, value, *_READ_US, value / rated))
            _set(start, {"nand.read_us": _times(drive.nand.read_us, value)})


def _commands(start: Start, rows: _Rows) -> None:
    """A limit of commands holds back the fastest random row of a drive that was not filled at random. Each device of a
    stripe has its own."""
    devices = _drive(start).stripe.devices
    random = [
        (float(row.value) / devices, index)
        for index, row in rows
        if row.unit == "IOPS" and row.quantity in ("random read", "random write") and row.state != "steady"
    ]
    if not random:
        return
    rated, index = max(random)
    # A limit of commands that the dies or the link never reach changes nothing.
    start.free.append(_of_row("controller.commands_per_second_max", index, rated, (0.95, 1.5), rated))
    _set(start, {"controller.commands_per_second_max": round(rated)})


def _programs(start: Start, rows: _Rows) -> None:
    """Sequential writes keep all dies programming: as slow as the row allows. A new drive with an SLC cache programs in
    SLC mode."""
    drive = _drive(start)
    nand = drive.nand
    for index, row in rows:
        if row.quantity != "sequential write":
            continue
        value = _program_us(drive, float(row.value))
        if row.state == "fresh" and drive.has_slc_cache:
            key, bounds = "slc_cache.program_us", _SLC_MODE_US
            value /= nand.pages_per_program
        else:
            low, high = _PROGRAM_US[nand.cell]
            key, bounds = "nand.program_us", (low * nand.pages_per_program, high * nand.pages_per_program)
        if any(each.key == key for each in start.free):
            continue
        value = min(max(value, bounds[0]), bounds[1])
        start.free.append(Free(key, index, value, *bounds, -1.0))
        own = drive.nand.program_us if key == "nand.program_us" else value
        _set(start, {key: _times(own, value)})


def _spare_area(start: Start, rows: _Rows) -> None:
    """Steady random writes: the programs and the reads of garbage collection share the dies; the write amplification
    that leaves the rated rate gives the effective over-provisioning."""
    drive = _drive(start)
    steady = [(index, row) for index, row in rows if row.quantity == "random write" and row.state == "steady"]
    if not steady:
        return
    index, row = steady[0]
    waf = _waf_for(drive, float(row.value) * max(1, condition(row, drive)[0] // drive.ftl.mapping_unit_bytes))
    low, possible = _least(drive), _possible(drive)
    high, high_is = (_OP_MAX, _AS_MUCH_AS_DATA) if possible > _OP_MAX else (max(low, possible), _OF_SIMULATOR)
    op = min(_op_for(waf, low, drive.capacity.data_units_per_erase_unit), high)
    start.free.append(Free(EFFECTIVE_OP, index, op, low, high, 0.9, _OF_COLLECTION, high_is))
    _set(start, at_effective_op(drive, op))


_AS_MUCH_AS_DATA = "of the fit, as much spare area as data"
_OF_COLLECTION = "of garbage collection, which needs as much spare area"
_OF_SIMULATOR = "of the simulator, which has fewer than 2^32 mapping units of flash"
EFFECTIVE_OP = "effective over-provisioning"
"""Not a key: it is set by `ftl.reserved_bytes`, or by more blocks where the flash is too little."""


def at_effective_op(drive: DriveFile, op: float) -> JsonObject:
    """The values that give the drive this over-provisioning: flash in reserve, or more blocks."""
    capacity = drive.capacity
    unit_bytes = capacity.data_units_per_erase_unit * capacity.mapping_unit_bytes
    needed = (1 + op) * capacity.user_bytes
    whole = capacity.erase_units * unit_bytes
    if whole >= needed:
        held = int((whole - needed) / unit_bytes) * capacity.units_per_erase_unit * capacity.mapping_unit_bytes
        return {"ftl.reserved_bytes": held, "nand.blocks_per_plane": drive.nand.blocks_per_plane}
    blocks = math.ceil(drive.nand.blocks_per_plane * needed / whole)
    return {"ftl.reserved_bytes": 0, "nand.blocks_per_plane": blocks}


def _least(drive: DriveFile) -> float:
    least = drive.capacity.over_provisioning_min
    return _OP_MARGIN * (least if least is not None else 0.02)


def _flash_max(drive: DriveFile) -> float:
    """Flash that the mapping units of a simulated drive allow at most, in bytes, in whole blocks."""
    return _MAPPING_UNITS * drive.ftl.mapping_unit_bytes - drive.capacity.flash_bytes / drive.nand.blocks_per_plane


def _possible(drive: DriveFile) -> float:
    """The most over-provisioning that this flash allows."""
    capacity = drive.capacity
    data = _flash_max(drive) * capacity.data_units_per_erase_unit / capacity.units_per_erase_unit
    return data / capacity.user_bytes - 1


def _waf_for(drive: DriveFile, units_per_second: float) -> float:
    """The write amplification at which the dies write this many units a second."""
    nand, unit = drive.nand, drive.ftl.mapping_unit_bytes
    group_units = nand.planes_per_die * nand.page_bytes * nand.pages_per_program / unit * _data_share(drive)
    program_us = mean_us(nand.program_us) + nand.erase_us * nand.pages_per_program / nand.pages_per_block
    program_us += nand.planes_per_die * nand.page_bytes / nand.channel_mb_s
    read_us = mean_us(nand.read_us) + unit / nand.channel_mb_s
    die_us = _die_count(drive) * 1e6 / units_per_second
    return max(1.01, (die_us + read_us) / (program_us / group_units + read_us))


def _op_for(waf: float, low: float, units_per_erase_unit: int) -> float:
    """The over-provisioning at which greedy collection of uniform writes has this write amplification."""
    high = _OP_MAX
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if greedy(middle, units_per_erase_unit) > waf else (low, middle)
    return high


def _die_count(drive: DriveFile) -> int:
    return drive.nand.channels * drive.nand.dies_per_channel * drive.stripe.devices


def _data_share(drive: DriveFile) -> float:
    stripe = drive.parity.units_per_stripe
    return 1 - 1 / stripe if stripe else 1.0


def _link_us(drive: DriveFile, block: int) -> float:
    return drive.host_link.command_us + (block / drive.host_link.mb_s if drive.host_link.mb_s else 0.0)


def _times(own: float | list[float], mean: float) -> float | list[float]:
    """Times with this mean; those of the pages of a word line keep their ratios."""
    if isinstance(own, list):
        return [each * mean / mean_us(own) for each in own]
    return mean


def _value(drive: DriveFile, key: str) -> float:
    table, _, name = key.partition(".")
    return float(getattr(getattr(drive, table), name))
