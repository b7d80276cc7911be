"""What the result of a served drive has besides that of a run: its life as a device, and its SMART logs.

The state comes from the native module (`State` in `crates/python/src/device.rs`); the logs are made by
`ssdlab.serving.smart`.
"""

from typing import TypedDict

from ssdlab.engine import plain


class Events(TypedDict):
    """Faults of the flash so far."""

    program_failures: int
    erase_failures: int
    uncorrectable_reads: int
    reads_rebuilt_from_parity: int
    lost_units: int
    """Units whose contents are gone for good."""
    early_programs: int


class Recovery(TypedDict):
    """What the last recovery from a loss of power took."""

    torn_units: int
    checkpoint_units: int
    scanned_pages: int
    duration_ns: int


class RealPace(TypedDict):
    """How well this machine kept the drive's pace."""

    requests: int
    intended_mean_ns: float | None
    achieved_mean_ns: float | None
    intended_p99_ns: int | None
    achieved_p99_ns: int | None


class DeviceJson(TypedDict):
    """The key `device`."""

    power_cycles: int
    recovery: Recovery | None
    events: Events
    real_pace: RealPace | None
    """None at virtual pace."""


class DeviceState(DeviceJson):
    """What the native module says of a drive at work."""

    outcome: plain.Outcome
    erase_units_needed: int
    erase_units_when_new: int
    free_erase_units: int


class DeviceName(TypedDict):
    name: str
    type: str
    protocol: str


class Smartctl(TypedDict):
    version: list[int]
    exit_status: int


class Size(TypedDict):
    blocks: int
    bytes: int


class NamespaceSize(TypedDict):
    """An entry of `nvme_namespaces`."""

    id: int
    size: Size
    capacity: Size
    utilization: Size
    formatted_lba_size: int


class Bytes(TypedDict):
    bytes: int


class Hours(TypedDict):
    hours: int


class Warning(TypedDict):
    value: int


class SmartStatus(TypedDict):
    passed: bool
    nvme: Warning


class HealthLog(TypedDict):
    """NVMe's log 02h by smartctl's names; null for what a simulation does not know."""

    critical_warning: int
    temperature: None
    available_spare: int | None
    available_spare_threshold: int
    percentage_used: int
    data_units_read: int
    data_units_written: int
    host_reads: int
    host_writes: int
    controller_busy_time: None
    power_cycles: int | None
    power_on_hours: int
    unsafe_shutdowns: int | None
    media_errors: int | None
    num_err_log_entries: int | None
    warning_temp_time: int
    critical_comp_time: int


class RawAndNormalized(TypedDict):
    raw: int
    normalized: int | None


class EraseCounts(TypedDict):
    min: int
    max: int


class OcpLog(TypedDict):
    """OCP's log C0h."""

    physical_media_units_written_bytes: int
    physical_media_units_read_bytes: int
    bad_user_nand_blocks: RawAndNormalized
    bad_system_nand_blocks: None
    xor_recovery_count: int | None
    uncorrectable_read_error_count: int | None
    soft_ecc_error_count: None
    end_to_end_correction_counts: None
    system_data_percent_used: int
    refresh_counts: None
    user_data_erase_counts: EraseCounts
    thermal_throttling: None
    pcie_correctable_error_count: None
    incomplete_shutdowns: int | None
    percent_free_blocks: int | None
    capacitor_health: None
    unaligned_io: None
    security_version_number: None
    total_nuse: int
    plp_start_count: None


class SmartLogs(TypedDict):
    """The key `smart`: `smartctl -j`'s object, and OCP's log."""

    json_format_version: list[int]
    smartctl: Smartctl
    device: DeviceName
    model_name: str
    user_capacity: Bytes
    nvme_namespaces: list[NamespaceSize]
    smart_status: SmartStatus
    nvme_smart_health_information_log: HealthLog
    power_cycle_count: int | None
    power_on_time: Hours
    ocp_smart_log: OcpLog
