"""Reads what sysstat prints: `iostat` with and without `-x`, `sar -d`, `sadf -d`, and both as JSON; and `iostat -x` of
FreeBSD and illumos.

Columns are known by name, so that the versions of sysstat, which have them in different orders, need no distinction:
sysstat 10 has the mean size of all requests (`avgrq-sz`, in sectors), 11.7 and later that of reads and of writes
(`rareq-sz`, in kB), 12.1 and later discards, 12.2 flushes (sysstat's CHANGES, iostat(1)). With `-h` a report is
several tables, one for reads, one for writes and so on, with the device last. FreeBSD and illumos have the same
columns with other names (`kr/s`, their iostat(8)).
"""

import json
import re
from collections.abc import Mapping, Sequence

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject
from ssdlab.simulator.workloads.rates.log import Flow, Interval, Log
from ssdlab.simulator.workloads.rates.times import lengths, time_of

_KIB, _SECTOR_BYTES = 1024, 512
_BYTES = {"sec": _SECTOR_BYTES, "Blk": _SECTOR_BYTES, "blk": _SECTOR_BYTES, "kB": _KIB, "MB": _KIB**2}
# The names of the bytes per second of each kind, without their unit: rkB/s, rd_sec/s, kB_read/s.
_RATES = {
    "reads": ("r{}/s", "rd_{}/s", "{}_read/s"),
    "writes": ("w{}/s", "wr_{}/s", "{}_wrtn/s"),
    "discards": ("d{}/s", "{}_dscd/s"),
}
_REQUESTS = {"reads": "r/s", "writes": "w/s", "discards": "d/s"}
_SIZES = {"reads": "rareq-sz", "writes": "wareq-sz", "discards": "dareq-sz"}
_OTHER_NAMES = {"kr/s": "rkB/s", "kw/s": "wkB/s", "Mr/s": "rMB/s", "Mw/s": "wMB/s"}
_HUMAN = {"B": 1 / _KIB, "k": 1.0, "M": float(_KIB), "G": float(_KIB**2), "T": float(_KIB**3)}
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?)([BkMGT%]?)")
_DEVICE = ("Device", "Device:", "DEV", "device")
_UNSIZED = "the log has one number for reads and writes together: both are taken to be of the mean size of all requests"

Row = Mapping[str, float]
Report = tuple[float | None, dict[str, Row]]
"""The time and the rows of all devices."""


def read_text(text: str, file: str) -> Log:
    """The log in a text of iostat, sar or `sadf -d`. Raises InputError with the line that cannot be read."""
    reports: list[Report] = []
    columns: list[str] = []
    time: float | None = None
    program = "iostat"
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        words = line.replace(";", " ").split() if ";" in line else line.split()
        if not words or words[0] in ("Linux", "Average:", "extended") or "RESTART" in line:
            columns = [] if not words else columns
            continue
        head = words[1:] if words[0] == "#" else words
        at = next((index for index, word in enumerate(head) if word in _DEVICE), None)
        if (at is not None and len(head) > at + 1) or head[-1] in _DEVICE:
            columns = [_OTHER_NAMES.get(word, word) for word in head]
            program = "sar" if "DEV" in head else "iostat"
            # Another table of the same report has other columns.
            known = {name for row in reports[-1][1].values() for name in row} if reports else set()
            if program == "iostat" and (not known or known & set(columns)):
                reports.append((time, {}))
            continue
        if words[0] == "avg-cpu:" or head[0].startswith("avg-cpu"):
            columns = []
            continue
        if not columns:
            moment = time_of(line)
            if moment is not None:
                time = moment
            continue
        stamped = _of_sar(line, words, columns) if program == "sar" else (time, words, columns)
        moment, values, names = stamped
        is_new = not reports or reports[-1][0] != moment or _device(values, names) in reports[-1][1]
        if program == "sar" and is_new:
            reports.append((moment, {}))
        if len(values) != len(names):
            if number == len(lines) and not text.endswith("\n"):
                break
            raise InputError(
                f"{file}, line {number}: {len(values)} values under {len(names)} columns; allowed are rows as "
                f"{program} prints them"
            )
        row = {}
        for name, value in zip(names, values, strict=True):
            if name not in _DEVICE:
                row[name] = _number(value, f"{file}, line {number}", name)
        device = _device(values, names)
        reports[-1][1][device] = {**reports[-1][1].get(device, {}), **row}
    if not reports:
        raise InputError(f"{file}: a log of {program} without a row of a device")
    return _log(program, reports, file)


def read_json(text: str, file: str) -> Log:
    """The log in the JSON of `iostat -o JSON` or `sadf -j`. A log that was cut off is read as far as it is whole."""
    try:
        content: JsonObject = json.loads(text)
    except json.JSONDecodeError as error:
        content = _repaired(text, file, error)
    reports: list[Report] = []
    program = "iostat"
    for host in content["sysstat"]["hosts"]:
        for entry in host.get("statistics") or ():
            stamp = entry.get("timestamp")
            if isinstance(stamp, dict):
                stamp = f"{stamp.get('date', '')} {stamp.get('time', '')}".strip()
            rows: dict[str, Row] = {}
            for disk in entry.get("disk") or ():
                name = disk.get("disk_device", disk.get("disk-device"))
                program = "sar" if "disk-device" in disk else "iostat"
                rows[str(name)] = {key: float(value) for key, value in disk.items() if isinstance(value, int | float)}
            if rows:
                reports.append((time_of(str(stamp)) if stamp else None, rows))
    if not reports:
        raise InputError(f"{file}: JSON of sysstat without disks; iostat -x -o JSON 1, sadf -j -- -d")
    return _log(program, reports, file)


def _repaired(text: str, file: str, error: json.JSONDecodeError) -> JsonObject:
    """The content up to the last whole report: an iostat that is stopped with a signal may not close its brackets."""
    for cut in reversed([match.end() for match in re.finditer(r"\}\s*\]\s*\}", text)]):
        try:
            whole: JsonObject = json.loads(text[:cut] + "]}]}}")
        except json.JSONDecodeError:
            continue
        return whole
    raise InputError(f"{file}, line {error.lineno}: not valid JSON: {error.msg}")


def _of_sar(line: str, words: Sequence[str], columns: Sequence[str]) -> tuple[float | None, Sequence[str], list[str]]:
    """Time, values and their columns of a row of sar or `sadf -d`, whose columns begin with DEV."""
    at = columns.index("DEV")
    if ";" in line:
        values = [word.strip() for word in line.split(";")]
        return time_of(values[2].removesuffix(" UTC")), values[at:], list(columns[at:])
    has_half = len(words) > 1 and words[1] in ("AM", "PM")
    start = 2 if has_half else 1
    names = columns[start:] if at == len(columns) - 1 else columns[at:]
    return time_of(" ".join(words[:start])), words[start:], list(names)


def _device(values: Sequence[str], columns: Sequence[str]) -> str:
    return values[next(index for index, name in enumerate(columns) if name in _DEVICE)] if values else ""


def _number(value: str, where: str, column: str) -> float:
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise InputError(f"{where}: {column} is {value!r}; allowed: a number")
    return float(match[1].replace(",", ".")) * _HUMAN.get(match[2], 1.0)


def _log(program: str, reports: Sequence[Report], file: str) -> Log:
    notes = []
    seconds, has_times = lengths([time for time, _ in reports])
    if not has_times:
        notes.append("the log has no times: its reports are taken to be 1 s apart (iostat -t writes them)")
    chosen = list(zip(reports, seconds, strict=True))
    if program == "iostat" and len(reports) > 1:
        chosen = chosen[1:]
        notes.append("the first report is left out: it is the mean since the machine was started (iostat -y omits it)")
    elif program == "iostat":
        notes.append(
            "the only report is the mean since the machine was started; iostat -x 1 60 shows the load by second"
        )
    names = dict.fromkeys(name for (_, rows), _ in chosen for name in rows)
    if any(_REQUESTS["reads"] not in row for (_, rows), _ in chosen for row in rows.values()):
        notes.append(_UNSIZED)
    devices = {name: [_interval(rows.get(name, {}), each, file) for (_, rows), each in chosen] for name in names}
    return Log(program, devices, notes)


def _interval(row: Row, seconds: float, file: str) -> Interval:
    flows = {kind: _flow(row, kind) for kind in _RATES}
    total = sum(flow.bytes_per_s for flow in flows.values())
    if "kB/s" in row or "MB/s" in row:
        raise InputError(
            f"{file}: reads and writes are one number (iostat -s); allowed are logs of iostat -x without -s"
        )
    if "tps" in row and _REQUESTS["reads"] not in row and total:
        flows = {kind: Flow(row["tps"] * flow.bytes_per_s / total, flow.bytes_per_s) for kind, flow in flows.items()}
    elif row and "tps" not in row and not any(name in row for name in _REQUESTS.values()):
        raise InputError(f"{file}: no column r/s, w/s or tps; allowed are logs of iostat -x or sar -d")
    return Interval(seconds, flows["reads"], flows["writes"], flows["discards"], row.get("f/s", 0.0))


def _flow(row: Row, kind: str) -> Flow:
    """The requests of a kind. Their bytes are the number of requests times their mean size, which has more digits than
    a rate in MB/s, where the log has such a size."""
    requests = row.get(_REQUESTS[kind], 0.0)
    size = row.get(_SIZES[kind])
    if size is not None:
        return Flow(requests, requests * size * _KIB)
    rates = (row.get(form.format(unit), 0.0) * factor for form in _RATES[kind] for unit, factor in _BYTES.items())
    rate = sum(rates)
    if not rate and requests and kind != "discards":
        rate = requests * row.get("avgrq-sz", 0.0) * _SECTOR_BYTES
    return Flow(requests, rate)
