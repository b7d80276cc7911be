"""Drives as metrics in Prometheus' text format: for node-exporter's textfile collector, or for `ssdlab export`.

Metrics that smartctl_exporter has keep its names, so that its dashboards continue to work; other metrics have names
that end in their base unit. All metrics of a drive have the label `device`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ssdlab.field.health.drive import Row
from ssdlab.presentation.report.files import write_atomically
from ssdlab.theory.endurance import HOURS_PER_YEAR

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Metric:
    """A metric with its name and help text. `value` computes it from a drive's row; None if the drive does not report
    it."""

    name: str
    kind: str
    help: str
    value: Callable[[Row], float | None]


@dataclass(frozen=True)
class Sample:
    """A metric of the exporter itself."""

    name: str
    kind: str
    help: str
    value: float


def _plain(column: str, factor: float = 1.0) -> Callable[[Row], float | None]:
    return lambda row: None if row[column] is None else float(row[column]) * factor


def _bounded(column: str, factor: float = 1.0) -> Callable[[Row], float | None]:
    """A figure that has an upper bound; that of a drive that has used less than 2 % can be any number."""
    return lambda row: None if row[f"{column}_high"] is None else float(row[column]) * factor


def _life_left(row: Row) -> float | None:
    return None if row["used_percent"] is None else max(0.0, 1 - row["used_percent"] / 100)


_CONCERN_LEVELS = {"fine": 0.0, "note": 1.0, "attention": 2.0, "failing": 3.0}

METRICS = (
    Metric("smartctl_device_capacity_bytes", "gauge", "Capacity of the drive.", _plain("capacity_bytes")),
    Metric("smartctl_device_smart_status", "gauge", "1 if the drive's self-assessment test passed.", _plain("passed")),
    Metric(
        "smartctl_device_critical_warning", "gauge", "Bits of the drive's critical warning.", _plain("critical_warning")
    ),
    Metric(
        "smartctl_device_percentage_used",
        "gauge",
        "Percentage of the rated life used; may exceed 100.",
        _plain("used_percent"),
    ),
    Metric("smartctl_device_available_spare", "gauge", "Spare blocks left, in percent.", _plain("spare_percent")),
    Metric(
        "smartctl_device_available_spare_threshold",
        "gauge",
        "Percentage of spare blocks below which the drive warns.",
        _plain("spare_threshold_percent"),
    ),
    Metric(
        "smartctl_device_media_errors",
        "gauge",
        "Number of unreadable or corrupt reads.",
        _plain("media_errors"),
    ),
    Metric(
        "smartctl_device_power_on_seconds", "gauge", "Time with power.", _plain("power_on_hours", _SECONDS_PER_HOUR)
    ),
    Metric("ssd_temperature_celsius", "gauge", "Temperature of the drive.", _plain("temperature_c")),
    Metric("ssd_host_written_bytes_total", "counter", "Bytes written by the host.", _plain("host_bytes")),
    Metric("ssd_nand_written_bytes_total", "counter", "Bytes programmed to flash.", _plain("nand_bytes")),
    Metric(
        "ssd_write_amplification_ratio",
        "gauge",
        "Bytes programmed to flash divided by bytes written by the host, since the drive was new.",
        _plain("waf"),
    ),
    Metric(
        "ssd_write_amplification_implausible",
        "gauge",
        "1 if the drive's write counters contradict each other.",
        lambda row: None if row["waf"] is None and not row["waf_is_implausible"] else float(row["waf_is_implausible"]),
    ),
    Metric(
        "ssd_life_left_ratio",
        "gauge",
        "Share of the rated life left; at most this where the value of the drive falls no further.",
        _life_left,
    ),
    Metric(
        "ssd_life_left_seconds",
        "gauge",
        "Time until the rated life is used at the drive's write rate; absent below 2 % used.",
        _bounded("years_left", HOURS_PER_YEAR * _SECONDS_PER_HOUR),
    ),
    Metric(
        "ssd_writes_left_bytes",
        "gauge",
        "Bytes that the host can write until the rated life is used, with the current use; absent below 2 % used.",
        _bounded("left_bytes"),
    ),
    Metric(
        "ssd_concern_level",
        "gauge",
        "0 if all is fine, 1 for a note, 2 if it needs attention, 3 if it is failing; absent if nothing is known.",
        lambda row: _CONCERN_LEVELS.get(row["level"]),
    ),
)
_INFO = ("smartctl_device", "gauge", "Identity of the drive; always 1.")


def write(path: Path, drives: pl.LazyFrame) -> None:
    """Writes the drives of a survey to a textfile, atomically."""
    write_atomically(path, text_of(drives.collect().to_dicts()))


def text_of(rows: Sequence[Row], own: Iterable[Sample] = ()) -> str:
    """The metrics of all drives, and those of the exporter (`own`)."""
    devices = _devices(rows)
    lines = [*_head(*_INFO), *(_info(device, row) for device, row in devices)]
    for metric in METRICS:
        values = [(device, metric.value(row)) for device, row in devices]
        known = [(device, value) for device, value in values if value is not None and math.isfinite(value)]
        if known:
            lines += _head(metric.name, metric.kind, metric.help)
            lines += [f'{metric.name}{{device="{_escaped(device)}"}} {_number(value)}' for device, value in known]
    for sample in own:
        lines += [*_head(sample.name, sample.kind, sample.help), f"{sample.name} {_number(sample.value)}"]
    return "\n".join(lines) + "\n"


def _devices(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """Rows with unique names: the device's name, or the name of the file that contains the report."""
    found: dict[str, Row] = {}
    for row in rows:
        name = row["source"].removeprefix("/dev/")
        while name in found:
            name += "'"
        found[name] = row
    return list(found.items())


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"


def _info(device: str, row: Row) -> str:
    labels = {
        "device": device,
        "interface": row["protocol"].lower(),
        "model_name": row["model"],
        "model_family": row["family"] or "",
        "serial_number": row["serial"],
    }
    said = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{_INFO[0]}{{{said}}} 1"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
