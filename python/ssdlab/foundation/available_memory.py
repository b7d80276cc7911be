"""The memory that this process can still allocate, limited by the machine, its control groups and its address space.

Only Linux reports these limits; on other systems they are unknown.
"""

import resource
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_PAGE_BYTES = resource.getpagesize()


def available_bytes() -> int | None:
    """The smallest amount that machine, control groups and address space leave; None if the system reports none."""
    return min((max(0, left) for left in _all_left()), default=None)


def address_space_bytes() -> int | None:
    """The bytes that `ulimit -v` leaves; None without this limit, or if the system does not report it."""
    try:
        return next(_of_address_space(), None)
    except (OSError, ValueError, IndexError):
        return None


def _all_left() -> Iterator[int]:
    try:
        yield _of_machine()
        yield from _of_control_groups()
        yield from _of_address_space()
    except (OSError, ValueError, KeyError, IndexError):
        # Files of /proc and /sys are missing or have an unexpected format.
        return


def _of_machine() -> int:
    return _numbers(_PROC / "meminfo")["MemAvailable:"] * 1024


def _of_control_groups() -> Iterator[int]:
    """What each control group of the process leaves, from its own up to the root: the limits of all of them apply."""
    for line in (_PROC / "self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        is_unified = not controllers
        if not is_unified and "memory" not in controllers.split(","):
            continue
        root = _CONTROL_GROUPS if is_unified else _CONTROL_GROUPS / "memory"
        # In a container, the path can be the path outside the container; the root is then the group itself.
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(root):
                yield from _of_unified_group(folder) if is_unified else _of_group(folder)


def _of_unified_group(folder: Path) -> Iterator[int]:
    limit = folder / "memory.max"
    if limit.exists() and (text := limit.read_text().strip()) != "max":
        statistics = _numbers(folder / "memory.stat")
        cached_bytes = statistics["inactive_file"] + statistics["active_file"]
        yield int(text) - int((folder / "memory.current").read_text()) + cached_bytes


def _of_group(folder: Path) -> Iterator[int]:
    """What a group of control groups version 1 leaves. Without a limit, its limit is larger than any memory."""
    limit = folder / "memory.limit_in_bytes"
    if limit.exists():
        statistics = _numbers(folder / "memory.stat")
        cached_bytes = statistics["total_inactive_file"] + statistics["total_active_file"]
        yield int(limit.read_text()) - int((folder / "memory.usage_in_bytes").read_text()) + cached_bytes


def _of_address_space() -> Iterator[int]:
    """What `ulimit -v` leaves. It counts reserved memory, used or not."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit - int((_PROC / "self/statm").read_text().split()[0]) * _PAGE_BYTES


def _numbers(file: Path) -> dict[str, int]:
    """Reads lines of a name and a number."""
    lines = (line.split() for line in file.read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}
