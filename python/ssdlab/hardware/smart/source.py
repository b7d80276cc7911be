"""Reads SMART: through smartctl and nvme-cli for a real drive, from the statistics file for a simulated drive.

Both sources give the same structure, which `reading` parses. Reading a real drive requires root.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart import placement, reading, vendor_log
from ssdlab.hardware.smart.formats.nvme_cli import FDP
from ssdlab.hardware.smart.placement import PlacementLogs
from ssdlab.hardware.smart.reading import Reading

_SECONDS_MAX = 60
# Bits of smartctl's exit status: it could not parse its command line, or open the device.
_NO_ANSWER = 0b11


@dataclass(frozen=True)
class Unavailable:
    """The reason why a drive's SMART could not be read."""

    reason: str


@dataclass(frozen=True)
class Report:
    """The reports as read, and their interpretation. `ocp` is the log C0h, or None if the drive does not have it."""

    smartctl: Mapping[str, Any]
    ocp: Mapping[str, Any] | None
    reading: Reading
    vendor: Mapping[str, Any] | None = None
    """The maker's additional log, used if there is no OCP log."""
    fdp: PlacementLogs | None = None
    """The logs of flexible data placement, if it is enabled."""


def read(disk: str, backing_file: Path | None = None) -> Report | Unavailable:
    """Reads a disk, by the kernel's name (`nvme0n1`), or the simulated drive behind a loop device (`backing_file`)."""
    where = f"/dev/{disk}"
    if backing_file is not None:
        return _of_simulated(backing_file)
    if shutil.which("smartctl") is None:
        return Unavailable("smartctl is not installed (package smartmontools)")
    report = run_json("smartctl", "--json", "--xall", where)
    if isinstance(report, Unavailable):
        return report
    if int(report.get("smartctl", {}).get("exit_status", 0)) & _NO_ANSWER:
        said = "; ".join(entry.get("string", "") for entry in report["smartctl"].get("messages", ()))
        return Unavailable(said or f"smartctl could not open {where}")
    if "nvme_smart_health_information_log" not in report:
        return _report(report, where, None)
    ocp = _ocp(where)
    vendor = None if ocp else _vendor(str(report.get("model_name", "")), where)
    placed = placement.read(_nvme_cli, where)
    found = _report(report | ({FDP: placed.stats} if placed else {}), where, ocp, vendor)
    return replace(found, fdp=placed) if isinstance(found, Report) else found


def scanned() -> list[str]:
    """Paths of the devices that smartctl finds; empty if it is not installed."""
    found = run_json("smartctl", "--json", "--scan")
    devices = [] if isinstance(found, Unavailable) else found.get("devices", [])
    names = [entry["name"] for entry in devices if isinstance(entry, dict) and isinstance(entry.get("name"), str)]
    return sorted({name for name in names if name.startswith("/dev/")})


def _of_simulated(backing_file: Path) -> Report | Unavailable:
    """Reads the statistics file that `ssdlab mount` writes next to the drive."""
    statistics = backing_file.parent / "stats.json"
    try:
        smart = json.loads(statistics.read_text(encoding="utf-8"))["ssdlab"]["smart"]
    except FileNotFoundError:
        return Unavailable("a loop device over a file has no SMART")
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Unavailable(f"{statistics} could not be read: {error}")
    return _report(smart, str(statistics), smart.get("ocp_smart_log"))


def _report(
    report: Mapping[str, Any], where: str, ocp: Mapping[str, Any] | None, vendor: Mapping[str, Any] | None = None
) -> Report | Unavailable:
    try:
        return Report(report, ocp, reading.parse(report, where, ocp, vendor), vendor)
    except InputError as error:
        return Unavailable(str(error))


def _ocp(where: str) -> Mapping[str, Any] | None:
    """The OCP log, or None if nvme-cli, its plugin or the drive's log is missing. Few client drives have it."""
    return _nvme_cli("ocp", "smart-add-log", where, "--output-format=json")


def _nvme_cli(*arguments: str) -> Mapping[str, Any] | None:
    if shutil.which("nvme") is None:
        return None
    found = run_json("nvme", *arguments)
    return None if isinstance(found, Unavailable) else found


def _vendor(model: str, where: str) -> Mapping[str, Any] | None:
    command = vendor_log.command(model, where)
    log = run_json(*command) if command else None
    return None if isinstance(log, Unavailable) else log


def run_json(*command: str) -> JsonObject | Unavailable:
    """Runs a program and returns the JSON object that it prints."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS_MAX)
        found = vendor_log.first_object(done.stdout)
    except subprocess.TimeoutExpired:
        return Unavailable(f"{command[0]} did not respond within {_SECONDS_MAX} s")
    except FileNotFoundError:
        return Unavailable(f"{command[0]} is not installed")
    except (OSError, ValueError) as error:
        return Unavailable(f"{command[0]} returned no JSON: {error}")
    return found if isinstance(found, dict) else Unavailable(f"{command[0]} returned no JSON object")
