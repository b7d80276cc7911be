"""How a job's requests reach the drive: fio's I/O engine, and how many of them are outstanding.

A simulated drive needs no engine; what remains of it is the depth of synchronous ones, and a note on it as fio gives.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.workloads.jobs.option import Effect, Option
from ssdlab.workloads.jobs.values import any_text, whole_number, words

if TYPE_CHECKING:
    from ssdlab.workloads.jobs.jobfile import Section, Setting

SYNCHRONOUS = (
    "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libpmem", "ftruncate", "falloc",
    "filecreate", "filestat", "filedelete",
)  # fmt: skip
"""Engines with one outstanding request at most: those at which fio 3.33 notes that it caps the depth."""

IOENGINE = Option(
    "ioengine", any_text, "how requests reach the device; with a synchronous engine the depth is 1", Effect.ACTS, ""
)
IODEPTH = Option("iodepth", whole_number(1, 2**32 - 1), "requests outstanding at a time", Effect.ACTS, 1)
SUBMIT_MODE = Option(
    "io_submit_mode", words("inline", "offload"), "which thread submits requests; offload keeps the depth of a "
    "synchronous engine", Effect.TIMING, "inline",
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (IODEPTH, IOENGINE, SUBMIT_MODE)


def depth(section: "Section") -> int:
    """The requests that the job has outstanding at a time."""
    return 1 if _is_synchronous(section) else section.get(IODEPTH)


def notes(sections: Sequence["Section"]) -> list[str]:
    """Where the depth is not what the file says, or not what fio would make of it, one sentence each."""
    return list(dict.fromkeys(note for section in sections if (note := _capped(section))))


def _capped(section: "Section") -> str:
    engine, given = section.setting(IOENGINE), section.setting(IODEPTH)
    if given is None or given.value == 1:
        return ""
    if engine is None:
        return (
            f"{_at(given)} acts as with an asynchronous engine such as libaio; without ioengine, fio on Linux uses "
            "psync, which is synchronous and caps the depth at 1"
        )
    if _is_synchronous(section):
        return f"{_at(engine)} is a synchronous engine, so {_at(given)} is capped at 1, as in fio"
    return ""


def _is_synchronous(section: "Section") -> bool:
    return section.get(IOENGINE) in SYNCHRONOUS and section.get(SUBMIT_MODE) != "offload"


def _at(setting: "Setting") -> str:
    return f"{setting.written} (line {setting.raw.line})"
