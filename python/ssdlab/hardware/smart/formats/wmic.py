"""Windows' `wmic diskdrive get Model,SerialNumber,Size,Status`, as a list (`/format:list`) or a table: whether SMART
predicts a failure, and nothing of wear.

`Status` is that of Microsoft's Win32_DiskDrive: `OK`, or `Pred Fail` when a failure is predicted.
"""

import re
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_STATUS = {"OK": True, "Pred Fail": False}
_REMARK = "Windows' Status only says whether SMART predicts a failure; Get-StorageReliabilityCounter has the wear"
_NAMED = re.compile(r"^(Caption|Model|SerialNumber|Size|Status)=(.*?)\s*$", re.MULTILINE)
_HEAD = re.compile(r"^(?=.*\bStatus\b)(?=.*\b(?:Model|Caption)\b)(?:\w+\s{2,})+\w+\s*$", re.MULTILINE)


def is_text(text: str) -> bool:
    """Whether a text has the state and the name of a drive as this program prints them."""
    named = dict(_NAMED.findall(text))
    return ("Status" in named and ("Model" in named or "Caption" in named)) or _HEAD.search(text) is not None


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive."""
    for said in _listed(text) if _NAMED.search(text) else _tabled(text):
        size = said.get("Size", "")
        yield Plain(remark=_REMARK).report(
            "",
            model_name=said.get("Model") or said.get("Caption"),
            serial_number=said.get("SerialNumber"),
            user_capacity={"bytes": int(size)} if re.fullmatch(r"\d{1,18}", size) else None,
            smart_status={"passed": _STATUS[said["Status"]]} if said.get("Status") in _STATUS else None,
        )


def _listed(text: str) -> Iterator[dict[str, str]]:
    drive: dict[str, str] = {}
    for name, value in _NAMED.findall(text):
        if name in drive:
            yield drive
            drive = {}
        drive[name] = value
    yield drive


def _tabled(text: str) -> Iterator[dict[str, str]]:
    """The rows below the head, whose names begin where their columns do."""
    head = _HEAD.search(text)
    assert head is not None, "asked by is_text before"
    starts = [(match.group(), match.start()) for match in re.finditer(r"\w+", head[0])]
    ends = [start for _, start in starts[1:]] + [None]
    for line in text[head.end() :].splitlines():
        if line.strip():
            yield {name: line[start:end].strip() for (name, start), end in zip(starts, ends, strict=True)}
