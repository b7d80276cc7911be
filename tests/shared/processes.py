"""The processes that a test has started, by their group, and their CPU time."""

import os
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def of_group(group: int) -> list[int]:
    """The living processes of a process group, from /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _fields(int(entry.name))
            if fields and int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def children_of(parent: int) -> list[int]:
    """The living processes that a process has started, from /proc."""
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    found = [(number, _fields(number)) for number in numbers]
    return [number for number, fields in found if fields and int(fields[1]) == parent and fields[0] != "Z"]


def cpu_seconds(process: int) -> float:
    """CPU seconds that a process has used so far; 0 if it has ended."""
    fields = _fields(process)
    return sum(map(int, fields[11:13])) / _TICKS_PER_SECOND if fields else 0.0


def has_loaded(process: int, library: str) -> bool:
    try:
        return library in Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return False


def text_of(path: Path) -> str:
    """The text of a file that can disappear with its process; then empty."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _fields(process: int) -> list[str]:
    """The fields of `stat` after the process name, which can contain any character."""
    return text_of(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()
