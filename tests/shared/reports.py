"""Reports with the structure of `smartctl -j -x`, reduced to the values that are read; the numbers are invented."""

from typing import Any

DAY_S = 86400


def ata(
    family: str | None, attributes: dict[tuple[int, str], int], *, day: float = 0, serial: str = "S1"
) -> dict[str, Any]:
    """A SATA drive; `attributes` maps (number, smartctl's name) to the raw value."""
    table = [{"id": number, "name": name, "raw": {"value": raw}} for (number, name), raw in attributes.items()]
    return {
        "smartctl": {"version": [7, 3]},
        "model_name": "MODEL",
        **({"model_family": family} if family else {}),
        "serial_number": serial,
        "local_time": {"time_t": round(1_700_000_000 + day * DAY_S)},
        "power_on_time": {"hours": round(1000 + day * 24)},
        "user_capacity": {"bytes": 480103981056},
        "smart_status": {"passed": True},
        "temperature": {"current": 31},
        "ata_smart_attributes": {"table": table},
    }


def nvme(units_written: int, *, used: int = 3, day: float = 0, warning: int = 0) -> dict[str, Any]:
    """An NVMe drive."""
    return {
        "smartctl": {"version": [7, 3]},
        "model_name": "NVME",
        "serial_number": "N1",
        "local_time": {"time_t": round(1_700_000_000 + day * DAY_S)},
        "nvme_smart_health_information_log": {
            "critical_warning": warning,
            "temperature": 40,
            "available_spare": 100,
            "percentage_used": used,
            "data_units_written": units_written,
        },
    }
