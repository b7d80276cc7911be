"""The JSON report that fio itself wrote (`--output-format=json`, `json+`), of version 2 or 3. Not for what its figures
mean: `targets.py` compares them, `advice/fit_fio.py` fits to them.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import TypeGuard

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject

_BEGINNING = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
_KIB = 1024


def is_report(content: object) -> TypeGuard[JsonObject]:
    """Whether a JSON value is a report of fio itself."""
    return (
        isinstance(content, dict) and "fio version" in content and "ssdlab" not in content and bool(content.get("jobs"))
    )


def content_of(text: str, file: str) -> object:
    """The JSON value in a file, without what fio prints before and behind it; None if there is none.

    Raises InputError, with the line, for one that is damaged, and for reports of fio that cannot be used as a whole.
    """
    values = list(_values(text, file))
    reports = [value for value in values if is_report(value)]
    if len(reports) > 1:
        raise InputError(
            f"{file}: holds {len(reports)} reports of fio, one behind another, as of several runs or of "
            "--status-interval; keep one of them in a file"
        )
    chosen = (reports or values or [None])[0]
    if isinstance(chosen, dict) and "client_stats" in chosen:
        raise InputError(
            f"{file}: is a report of fio --client, whose jobs of all hosts are in client_stats; give the report of a "
            "run without --client"
        )
    if is_report(chosen):
        _check_directions(chosen, file)
    return chosen


def _values(text: str, file: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at = 0
    while found := _BEGINNING.search(text, at):
        try:
            value, at = decoder.raw_decode(text, found.end())
        except json.JSONDecodeError as error:
            if '"' not in text[found.end() : found.end() + 20]:
                # A line that happens to begin with a brace.
                at = found.end() + 1
                continue
            cut = "is cut off" if not text[error.pos :].strip() or "Unterminated" in error.msg else "is damaged"
            raise InputError(f"{file}, line {error.lineno}: the JSON {cut} ({error.msg})") from None
        yield value


def _check_directions(report: JsonObject, file: str) -> None:
    for job in report["jobs"]:
        if "mixed" in job and "read" not in job:
            raise InputError(
                f"{file}: job {job.get('jobname')} has reads and writes in one sum (unified_rw_reporting=mixed); give "
                "the report of a run without that option"
            )


def bytes_per_second(direction: JsonObject) -> float:
    """The bandwidth of a direction. fio 2 reports KiB per second only."""
    return float(direction["bw_bytes"] if "bw_bytes" in direction else direction["bw"] * _KIB)


def failures(report: JsonObject) -> dict[str, str]:
    """Why jobs failed, by their names."""
    return {
        str(job.get("jobname")): f"fio reports error {job['error']} ({os.strerror(int(job['error']))})"
        for job in report["jobs"]
        if job.get("error")
    }
