"""SMART logs of a simulated drive: NVMe's health log with the structure of `smartctl -j`, and OCP's C0h log.

NVM Express Base Specification 2.0, figure 207 (health information, log page 02h); OCP Datacenter NVMe SSD Specification
2.0, section 4.8.6 (log page C0h); smartctl 7.3's JSON. Values that a simulation lacks, for example temperature, are
null.
"""

from collections.abc import Sequence

from ssdlab.simulator.drives.namespaces import namespaces_of
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.device_json import DeviceState, Events, HealthLog, NamespaceSize, OcpLog, Size, SmartLogs
from ssdlab.simulator.results.job_result import JobJson
from ssdlab.simulator.results.result import SsdlabJson

SPARE_THRESHOLD_PERCENT = 10
"""If fewer spare blocks are left, the first warning bit is set. A typical threshold."""

_SPARE_IS_LOW = 0x01
_IS_READ_ONLY = 0x08

# NVMe counts data in thousands of 512 bytes, rounded up.
_DATA_UNIT_BYTES = 512_000


def logs(
    ssdlab: SsdlabJson,
    jobs: Sequence[JobJson],
    outcome: plain.Outcome,
    drive: plain.Drive,
    device: DeviceState | None = None,
) -> SmartLogs:
    """Both logs, from a result's `ssdlab` object and its jobs, the engine's outcome and the drive's specification.

    `device` is the native module's state of a served drive; without it, faults, spare blocks and power cycles are null.
    The returned object is `smartctl -j`'s with `nvme_smart_health_information_log`, and has the OCP log as
    `ocp_smart_log`.
    """
    events = device["events"] if device else None
    spare_percent = _available_spare_percent(device) if device else None
    power_cycles = device["power_cycles"] if device else None
    live_units = outcome["capacity"]["live_units"]
    health: HealthLog = {
        "critical_warning": _warning(ssdlab, spare_percent),
        "temperature": None,
        "available_spare": spare_percent,
        "available_spare_threshold": SPARE_THRESHOLD_PERCENT,
        "percentage_used": _percentage_used(ssdlab, drive),
        "data_units_read": _data_units(ssdlab["host"]["read_bytes"]),
        "data_units_written": _data_units(ssdlab["host"]["written_bytes"]),
        "host_reads": sum(job["read"]["total_ios"] or 0 for job in jobs),
        "host_writes": sum(job["write"]["total_ios"] or 0 for job in jobs),
        "controller_busy_time": None,
        "power_cycles": None if power_cycles is None else power_cycles + 1,
        "power_on_hours": int((ssdlab["simulated_seconds"] or 0) // 3600),
        "unsafe_shutdowns": power_cycles,
        "media_errors": events["lost_units"] if events else None,
        "num_err_log_entries": _failures(events) if events else None,
        "warning_temp_time": 0,
        "critical_comp_time": 0,
    }
    return {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "device": {"name": drive["name"], "type": "nvme", "protocol": "NVMe"},
        "model_name": f"ssdlab simulated drive {drive['name']}",
        "user_capacity": {"bytes": ssdlab["capacity"]["user_bytes"]},
        "nvme_namespaces": _namespaces(ssdlab, device, live_units, drive),
        "smart_status": {"passed": health["critical_warning"] == 0, "nvme": {"value": health["critical_warning"]}},
        "nvme_smart_health_information_log": health,
        "power_cycle_count": health["power_cycles"],
        "power_on_time": {"hours": health["power_on_hours"]},
        "ocp_smart_log": _ocp(ssdlab, live_units, drive, device),
    }


def _failures(events: Events) -> int:
    return events["uncorrectable_reads"] + events["program_failures"] + events["erase_failures"]


def _namespaces(
    ssdlab: SsdlabJson, device: DeviceState | None, live_units: int, drive: plain.Drive
) -> list[NamespaceSize]:
    """Each namespace, or the drive as one if it has none, or is not served."""
    used, sizes = [live_units], [ssdlab["capacity"]["user_bytes"]]
    if device and "live_units" in device:
        used, sizes = device["live_units"], [each.size_bytes for each in namespaces_of(drive)]
    block_bytes = drive["ftl"]["mapping_unit_bytes"]
    return [
        _namespace(number, size, blocks, block_bytes)
        for number, (size, blocks) in enumerate(zip(sizes, used, strict=True), start=1)
    ]


def _namespace(number: int, size_bytes: int, used_blocks: int, block_bytes: int) -> NamespaceSize:
    """A namespace with its utilization, the blocks that are not deallocated (NVM Express Base Specification 2.0)."""
    size: Size = {"blocks": size_bytes // block_bytes, "bytes": size_bytes}
    return {
        "id": number,
        "size": size,
        "capacity": size,
        "utilization": {"blocks": used_blocks, "bytes": used_blocks * block_bytes},
        "formatted_lba_size": block_bytes,
    }


def _ocp(ssdlab: SsdlabJson, live_units: int, drive: plain.Drive, device: DeviceState | None) -> OcpLog:
    events, wear, nand = device["events"] if device else None, ssdlab["wear"], ssdlab["nand"]
    erase_counts = wear["erase_count"]
    spare_percent = _available_spare_percent(device) if device else None
    return {
        "physical_media_units_written_bytes": nand["programmed_bytes"]["total"],
        "physical_media_units_read_bytes": nand["read_bytes"],
        "bad_user_nand_blocks": {"raw": wear["bad_blocks_grown"], "normalized": spare_percent},
        "bad_system_nand_blocks": None,
        "xor_recovery_count": events["reads_rebuilt_from_parity"] if events else None,
        "uncorrectable_read_error_count": events["uncorrectable_reads"] if events else None,
        "soft_ecc_error_count": None,
        "end_to_end_correction_counts": None,
        "system_data_percent_used": _percentage_used(ssdlab, drive),
        "refresh_counts": None,
        "user_data_erase_counts": {"min": erase_counts["min"], "max": erase_counts["max"]},
        "thermal_throttling": None,
        "pcie_correctable_error_count": None,
        "incomplete_shutdowns": device["power_cycles"] if device else None,
        "percent_free_blocks": _percent_free_blocks(device) if device else None,
        "capacitor_health": None,
        "unaligned_io": None,
        "security_version_number": None,
        "total_nuse": live_units,
        "plp_start_count": None,
    }


def _warning(ssdlab: SsdlabJson, spare_percent: int | None) -> int:
    is_low = spare_percent is not None and spare_percent < SPARE_THRESHOLD_PERCENT
    return (_SPARE_IS_LOW if is_low else 0) | (_IS_READ_ONLY if ssdlab["failure"] else 0)


def _available_spare_percent(device: DeviceState) -> int:
    """Erase units that can still be lost, in percent of those that the drive could lose when it was new."""
    needed = device["erase_units_needed"]
    new = device["erase_units_when_new"] - needed
    left = device["outcome"]["capacity"]["erase_units"] - needed
    return 100 if new <= 0 else max(0, 100 * left // new)


def _percentage_used(ssdlab: SsdlabJson, drive: plain.Drive) -> int:
    """The mean erase count in percent of the rated one. It can exceed 100 and is limited to 255, as in NVMe."""
    return min(255, int(100 * ssdlab["wear"]["erase_count"]["mean"] / drive["nand"]["endurance_cycles"]))


def _percent_free_blocks(device: DeviceState) -> int:
    capacity = device["outcome"]["capacity"]
    return int(100 * device["free_erase_units"] // max(1, capacity["erase_units"]))


def _data_units(size: int) -> int:
    return -(-size // _DATA_UNIT_BYTES)
