"""Scrapes in Prometheus' text format: of smartctl_exporter, of ssdlab itself, of nvme_exporter, and of node-exporter's
textfile scripts `smartmon` and `nvme_metrics`; and the answers of Prometheus' API to a query of them.

Every sample has the label `device` or `disk`. Times of samples are not read: a scrape is one reading.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.counts import NVME_DATA_UNIT_BYTES
from ssdlab.hardware.smart.formats.nvme_cli import HEALTH, MAKER
from ssdlab.hardware.smart.plain import Plain

_SAMPLE = re.compile(
    r"^((?:smartctl_device|smartmon_|nvme_|ssd_)\w*)\{([^\n]*)\}[ \t]+(\S+)(?:[ \t]+\d+)?[ \t]*$", re.MULTILINE
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_INFO = {
    "model_name": "model_name",
    "device_model": "model_name",
    "model": "model_name",
    "model_family": "model_family",
    "serial_number": "serial_number",
    "serial": "serial_number",
    "firmware_version": "firmware_version",
}
# The samples by the names of NVMe's health log, and what they are multiplied with.
_LOG: dict[str, tuple[str, float]] = {
    "smartctl_device_percentage_used": ("percentage_used", 1),
    "smartctl_device_available_spare": ("available_spare", 1),
    "smartctl_device_available_spare_threshold": ("available_spare_threshold", 1),
    "smartctl_device_critical_warning": ("critical_warning", 1),
    "smartctl_device_media_errors": ("media_errors", 1),
    "smartctl_device_bytes_written": ("data_units_written", 1 / NVME_DATA_UNIT_BYTES),
    "ssd_host_written_bytes_total": ("data_units_written", 1 / NVME_DATA_UNIT_BYTES),
    "nvme_percentage_used_ratio": ("percentage_used", 100),
    "nvme_available_spare_ratio": ("available_spare", 100),
    "nvme_available_spare_threshold_ratio": ("available_spare_threshold", 100),
    "nvme_critical_warning_total": ("critical_warning", 1),
    "nvme_media_errors_total": ("media_errors", 1),
    "nvme_data_units_written_total": ("data_units_written", 1),
    "nvme_power_on_hours_total": ("power_on_hours", 1),
    # nvme_exporter: the keys of nvme-cli's JSON. Its temperature is in Fahrenheit or Celsius, by version: not read.
    "nvme_percent_used": ("percentage_used", 1),
    "nvme_percentage_used": ("percentage_used", 1),
    "nvme_avail_spare": ("available_spare", 1),
    "nvme_available_spare": ("available_spare", 1),
    "nvme_spare_thresh": ("available_spare_threshold", 1),
    "nvme_critical_warning": ("critical_warning", 1),
    "nvme_media_errors": ("media_errors", 1),
    "nvme_data_units_written": ("data_units_written", 1),
    "nvme_power_on_hours": ("power_on_hours", 1),
}
_COLUMNS = {"value": "value", "worst": "worst", "thresh": "thresh", "threshold": "thresh", "raw": "raw"}
_SMARTMON = re.compile(r"smartmon_(\w+?)_(value|worst|threshold|raw_value)")


def is_text(text: str) -> bool:
    """Whether a text has a sample of a drive."""
    return _SAMPLE.search(text) is not None


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each device."""
    return _reports_of(
        (
            name,
            {key: value.replace("\\\\", "\\").replace('\\"', '"') for key, value in _LABEL.findall(labelled)},
            number,
        )
        for name, labelled, number in _SAMPLE.findall(text)
    )


def is_answer(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is the answer of Prometheus' API to a query, with at least one sample."""
    return value.get("resultType") in ("vector", "matrix") and bool(_samples(value))


def reports_of_answer(value: Mapping[str, Any]) -> Iterator[JsonObject]:
    """One report for each device of an answer; of a range of time the last sample of each."""
    return _reports_of(_samples(value))


def _samples(value: Mapping[str, Any]) -> list[tuple[str, dict[str, str], str]]:
    found = []
    for entry in value.get("result") or ():
        labels = entry.get("metric") if isinstance(entry, Mapping) else None
        last = entry.get("value") or (entry.get("values") or [None])[-1] if isinstance(labels, Mapping) else None
        if isinstance(labels, Mapping) and isinstance(last, list) and len(last) == 2:
            found.append((str(labels.get("__name__", "")), {k: str(v) for k, v in labels.items()}, str(last[1])))
    return found


def _reports_of(samples: Iterable[tuple[str, dict[str, str], str]]) -> Iterator[JsonObject]:
    drives: dict[tuple[str, str], _Drive] = {}
    for name, labels, number in samples:
        device = labels.get("device") or labels.get("disk")
        try:
            value = float(number)
        except ValueError:
            continue
        if device and math.isfinite(value):
            # Prometheus itself has the drives of many hosts.
            at = (labels.get("instance", ""), device.removeprefix("/dev/"))
            drives.setdefault(at, _Drive()).add(name, labels, value)
    for (_, device), drive in drives.items():
        yield drive.report(device)


class _Drive:
    """The samples of one device."""

    def __init__(self) -> None:
        self._said: JsonObject = {}
        self._log: dict[str, int] = {}
        self._table: dict[int, JsonObject] = {}
        self._nand: int | None = None
        self._protocol = ""

    def add(self, name: str, labels: dict[str, str], value: float) -> None:
        """Adds a sample; one with an unknown name says nothing."""
        if name in ("smartctl_device", "smartmon_device_info", "nvme_device_info"):
            self._said |= {key: labels[label] for label, key in _INFO.items() if labels.get(label)}
            self._protocol = labels.get("protocol") or labels.get("interface") or labels.get("type") or ""
        elif name in _LOG:
            key, factor = _LOG[name]
            self._log[key] = round(value * factor)
        elif name == "smartctl_device_attribute":
            kind = labels.get("attribute_value_type") or labels.get("value_type") or ""
            number = labels.get("attribute_id") or labels.get("id") or ""
            self._set(number, labels.get("attribute_name") or labels.get("name") or "", _COLUMNS.get(kind), value)
        elif "smart_id" in labels and (match := _SMARTMON.fullmatch(name)):
            # The script writes names in lower case, which are no longer smartctl's.
            self._set(labels["smart_id"], "", "raw" if match[2] == "raw_value" else _COLUMNS[match[2]], value)
        else:
            self._add_other(name, labels, value)

    def _add_other(self, name: str, labels: dict[str, str], value: float) -> None:
        if name == "smartctl_device_power_on_seconds":
            self._said["power_on_time"] = {"hours": round(value / 3600)}
        elif name == "smartctl_device_capacity_bytes":
            self._said["user_capacity"] = {"bytes": round(value)}
        elif name in ("smartctl_device_smart_status", "smartmon_device_smart_healthy"):
            self._said["smart_status"] = {"passed": value == 1}
        elif name in ("ssd_temperature_celsius", "nvme_temperature_celsius") or (
            name == "smartctl_device_temperature" and labels.get("temperature_type", "current") == "current"
        ):
            self._said["temperature"] = {"current": round(value)}
        elif name == "ssd_nand_written_bytes_total":
            self._nand = round(value)

    def _set(self, number: str, name: str, column: str | None, value: float) -> None:
        if not number.isdecimal() or column is None:
            return
        entry = self._table.setdefault(int(number), {"id": int(number), "name": name})
        whole = round(value)
        entry[column] = {"value": whole, "string": str(whole)} if column == "raw" else whole

    def report(self, device: str) -> JsonObject:
        """The report; SATA drives have attributes, NVMe drives a log."""
        report: JsonObject = {"smartctl": {}, **self._said}
        is_nvme = "nvme" in self._protocol.lower() or device.startswith("nvme")
        if self._table:
            table = [self._table[number] for number in sorted(self._table)]
            return report | {"device": {"protocol": "ATA", "name": device}, "ata_smart_attributes": {"table": table}}
        if is_nvme:
            log = {HEALTH: self._log} if self._log else {}
            nand = {"name": "NAND written", "nand": self._nand, "unit_bytes": 1}
            return report | {"device": {"protocol": "NVMe"}} | log | ({MAKER: nand} if self._nand is not None else {})
        written = self._log.get("data_units_written")
        plain = Plain(
            used_percent=self._log.get("percentage_used"),
            used_source="percentage used" if "percentage_used" in self._log else None,
            spare_percent=self._log.get("available_spare"),
            host_bytes=None if written is None else written * NVME_DATA_UNIT_BYTES,
            host_source="bytes written",
            nand_bytes=self._nand,
            media_errors=self._log.get("media_errors"),
        )
        return plain.report(self._protocol.upper(), **self._said)
