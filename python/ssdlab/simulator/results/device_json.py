"""The additional keys in the result of a served drive: its state as a device, and its SMART logs.

The native module returns the state (`State` in `crates/python/src/device.rs`); `ssdlab.serving.smart` makes the logs.
"""

from typing import Literal, NotRequired, TypedDict

from ssdlab.simulator.engine import plain


class Events(TypedDict):
    """Faults of the flash so far."""

    program_failures: int
    erase_failures: int
    uncorrectable_reads: int
    reads_rebuilt_from_parity: int
    lost_units: int
    """Units whose contents are permanently lost."""
    early_programs: int


class Recovery(TypedDict):
    """The work of the last recovery from a power loss."""

    torn_units: int
    checkpoint_units: int
    scanned_pages: int
    duration_ns: int


class RealPace(TypedDict):
    """How closely this machine met the drive's intended latencies, until an answer is made; sending it comes on top."""

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
    """None when the drive runs in virtual time."""
    what_if: NotRequired[list["WhatIfJson"]]
    """At the end, with `--what-if`."""


class HostEvent(TypedDict):
    """An event that the host caused on a drive with placement handles."""

    kind: Literal["not-fully-written", "invalid-identifier"]
    namespace: int
    identifier: int
    """The placement identifier, as the host gave it."""
    handle: int | None
    """None if the identifier does not exist."""
    host_written_bytes: int


class HostEvents(TypedDict):
    """The latest events of the host, the oldest first."""

    events: list[HostEvent]
    lost: int


class DeviceState(DeviceJson):
    """The state of a running drive from the native module."""

    outcome: plain.Outcome
    erase_units_needed: int
    erase_units_when_new: int
    free_erase_units: int
    live_units: NotRequired[list[int]]
    """By namespace, on a drive with namespaces."""
    host_events: NotRequired[HostEvents]
    """If there were any."""


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
    """NVMe log 02h with smartctl's names; null for values that a simulation does not have."""

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
    """OCP log C0h."""

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
    """The key `smart`: the object of `smartctl -j`, and the OCP log."""

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


class WhatIfJson(TypedDict):
    """What the same requests would have given with another spare area, as `mount` and `serve` say it at their end."""

    over_provisioning: float
    """Of the drive that was asked: the nearest that whole blocks allow."""
    waf: float | None
    phases: list["WhatIfPhaseJson"]
    failure: NotRequired[str]
    """Why the drive stopped writing, if it did."""


class WhatIfPhaseJson(TypedDict):
    """A phase of the served time."""

    name: str
    waf: float | None
    read_p99_ns: int | None
    """None below ten requests above it."""
    write_p99_ns: int | None
