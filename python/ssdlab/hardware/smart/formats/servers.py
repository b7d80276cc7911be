"""What servers' management says of their drives: HPE's `ssacli ... pd all show detail`, Dell's `racadm storage get
pdisks -o` and `omreport storage pdisk`, and the Drive resource of Redfish (DMTF DSP2046), which most of them serve.

All give the share of the rated life that is left. HPE's goes below 0 on drives that are past it (`-49.95%`); Dell's is
"Not Available", or 255, on drives that do not report it.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_LEFT_NAMES = ("Usage remaining", "RemainingRatedWriteEndurance", "Remaining Rated Write Endurance")
_LEFT_LINE = re.compile(rf"^[ \t]*(?:{'|'.join(_LEFT_NAMES)})[ \t]*[:=]", re.MULTILINE)
_BEGIN = re.compile(
    r"^[ \t]*(?:physicaldrive \S+[ \t]*$|(?:Disk|PCIeSSD)\.[^\s=]+[ \t]*$|ID[ \t]*:[ \t]*\d+:\d+)", re.MULTILINE
)
_LINE = re.compile(r"^[ \t]*([A-Za-z][^:=\n]*?)[ \t]*[:=][ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_LEFT_JSON = "PredictedMediaLifeLeftPercent"
_USED_JSON = "SSDEnduranceUtilizationPercentage"
"""HPE's iLO 4 and 5 below SmartStorage: the share that is used, unlike in Redfish."""
_SIZES = {"HPE": {"GB": 10**9, "TB": 10**12}, "Dell": {"GB": 1 << 30, "TB": 1 << 40}}
"""Dell's GB is a GiB: a drive of 960 GB has 959,656,755,200 bytes behind its controllers, shown as 893.750 GB."""
_LEFT_MAX = 100


def is_text(text: str) -> bool:
    """Whether a text has the share of life left as one of the programs says it."""
    return _LEFT_LINE.search(text) is not None


def is_object(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a Drive of Redfish."""
    return (
        _LEFT_JSON in value
        or _USED_JSON in value
        or ("MediaType" in value and "CapacityBytes" in value and "FailurePredicted" in value)
    )


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive; a part without a drive's name is one."""
    starts = [match.start() for match in _BEGIN.finditer(text)]
    for start, end in pairwise([*(starts or [0]), len(text)]):
        said = dict(reversed(_LINE.findall(text[start:end])))
        left = _first(said, *_LEFT_NAMES) or ""
        units = _SIZES["HPE" if _LEFT_NAMES[0] in said else "Dell"]
        number = re.match(r"-?\d{1,4}(?:\.\d{1,4})?", left)
        size = re.match(r"(\d{1,9}(?:\.\d{1,4})?) (GB|TB)", said.get("Size", ""))
        yield _report(
            None if number is None else float(number[0]),
            said,
            model=_first(said, "Model", "ProductId", "Product ID"),
            serial=_first(said, "Serial Number", "SerialNumber", "Serial No."),
            size_bytes=round(float(size[1]) * units[size[2]]) if size else None,
            media=_first(said, "Interface Type", "MediaType", "Media") or "",
        )


def report_of(value: Mapping[str, Any]) -> JsonObject:
    """The report of a Drive of Redfish."""
    left, used, size, mebibytes = (value.get(name) for name in (_LEFT_JSON, _USED_JSON, "CapacityBytes", "CapacityMiB"))
    if left is None and isinstance(used, int | float):
        left = 100 - used
    if size is None and isinstance(mebibytes, int):
        size = mebibytes << 20
    said = {str(key): str(entry) for key, entry in value.items() if isinstance(entry, str | int | float | bool)}
    return _report(
        float(left) if isinstance(left, int | float) and not isinstance(left, bool) else None,
        said,
        model=said.get("Model"),
        serial=said.get("SerialNumber"),
        size_bytes=size if isinstance(size, int) else None,
        media=said.get("MediaType", ""),
    )


def _report(
    left_percent: float | None,
    said: Mapping[str, str],
    *,
    model: str | None,
    serial: str | None,
    size_bytes: int | None,
    media: str,
) -> JsonObject:
    is_known = left_percent is not None and left_percent <= _LEFT_MAX
    predicted = _first(said, "FailurePredicted", "Failure Predicted", "SSD Smart Trip Wearout") or ""
    is_failing = predicted.lower() in ("yes", "true")
    plain = Plain(
        used_percent=round(100 - left_percent) if left_percent is not None and is_known else None,
        used_source="what the server's management says is left" if is_known else None,
        reported="The server's management predicts a failure of the drive." if is_failing else None,
        is_urgent=is_failing,
    )
    temperature = _first(said, "Current Temperature (C)", "CurrentTemperatureCelsius") or ""
    hours = _first(said, "Power On Hours", "PowerOnHours") or ""
    return plain.report(
        "",
        model_name=" ".join(model.split()) if model else None,
        serial_number=serial,
        temperature={"current": int(temperature)} if temperature.isdecimal() else None,
        power_on_time={"hours": int(hours)} if hours.isdecimal() else None,
        user_capacity={"bytes": size_bytes} if size_bytes else None,
        smart_status={"passed": not is_failing} if predicted else None,
        rotation_rate=1 if "HDD" in media.upper() or media in ("SAS", "SATA") else None,
    )


def _first(said: Mapping[str, str], *names: str) -> str | None:
    return next((said[name] for name in names if name in said), None)
