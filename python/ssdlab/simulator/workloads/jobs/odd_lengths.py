"""Lengths that are not whole sectors, such as etcd's `bs=2300`: writes through the page cache, which writes pages.

With `direct=1` a drive refuses them, and fio fails. Without, fio writes into pages of memory, and a flush sends the
pages that were touched; sequential writes touch a page again and again. On a simulated drive each write rewrites the
mapping units that it touches.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs.access import is_cached
from ssdlab.simulator.workloads.jobs.values import SECTOR_BYTES

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section, Setting
    from ssdlab.simulator.workloads.jobs.option import Option
    from ssdlab.simulator.workloads.jobs.values import PerDirection


def check(section: "Section", lengths: "Sequence[Option[Any]]") -> None:
    """Raises InputError if a job that does not use the page cache has a length that is not whole sectors."""
    if is_cached(section):
        return
    for setting, length in _odd(section, lengths):
        text = setting.raw.text or ""
        hint = f"; {text} is {length:,} bytes to fio, see kb_base" if "ib" in text.lower() else ""
        raise InputError(
            f"{setting.raw.where}: {setting.written}: allowed: a multiple of {SECTOR_BYTES} bytes below 4 GiB{hint}; "
            "without direct=1 any length"
        )


def notes(sections: "Sequence[Section]", lengths: "Sequence[Option[Any]]") -> list[str]:
    """What becomes of such lengths on a simulated drive, one sentence for each setting."""
    found = dict.fromkeys(
        f"{setting.written} (line {setting.raw.line})" for section in sections for setting, _ in _odd(section, lengths)
    )
    return [
        f"{written} is not whole sectors: each write rewrites the drive's mapping units that it touches, as the page "
        "cache writes whole pages, and the drive first reads a unit that is written in part"
        for written in found
    ]


def _odd(section: "Section", lengths: "Sequence[Option[Any]]") -> "Iterator[tuple[Setting, int]]":
    """The settings of lengths that are not whole sectors, each with the first such length."""
    for option in lengths:
        setting = section.setting(option)
        if setting is None:
            continue
        found = [length for each in _of_directions(setting.value) for length in each if length % SECTOR_BYTES]
        if found:
            yield setting, found[0]


def _of_directions(value: "PerDirection[Any]") -> "Iterator[list[int]]":
    for given in (value.read, value.write, value.trim):
        if isinstance(given, int):
            yield [given]
        elif isinstance(given, tuple):
            yield [entry.size_bytes for entry in given]
        elif given is not None:
            yield [given.least_bytes, given.most_bytes]
