"""Parsers of the options that define a job's files and the order in which it accesses them.

`layout.py` places the files on the drive.
"""

import re
from dataclasses import dataclass

from ssdlab.simulator.workloads.jobs.distributions import law
from ssdlab.simulator.workloads.jobs.values import Refused, byte_count, required

FILES_MAX = 4096


@dataclass(frozen=True)
class FileSizes:
    """The range of the files' sizes; both bounds are equal for a single size."""

    least_bytes: int
    most_bytes: int


@dataclass(frozen=True)
class Service:
    """Which of a job's files is next, and for how many requests. `parameter` and `center` are for skewed choices."""

    name: str = "roundrobin"
    ios: int = 1
    parameter: float = 0.0
    center: float | None = None


def file_sizes(text: str | None, kilobyte: int) -> FileSizes:
    """Parses `filesize`: `1g`, or a range such as `1m-2m` from which each file's size is drawn."""
    bounds = [byte_count(bound.strip(), kilobyte) for bound in re.split(r"[-:]", required(text))]
    if len(bounds) > 2 or not min(bounds) or max(bounds) > 1 << 62:
        raise Refused("a size above 0, or two with a dash between, such as 1m-2m")
    return FileSizes(min(bounds), max(bounds))


def filenames(text: str | None, _kilobyte: int) -> tuple[str, ...]:
    """Parses `filename`: names separated by colons. A colon within a name follows a backslash."""
    names = [name.strip().replace("\\:", ":") for name in re.split(r"(?<!\\):", required(text))]
    if not all(names) or len(names) > FILES_MAX:
        raise Refused(f"names with single colons between, {FILES_MAX:,} at most")
    # fio opens a file once, even if it is named several times.
    return tuple(dict.fromkeys(names))


def service(text: str | None, _kilobyte: int) -> Service:
    """Parses `file_service_type`: a word, and after a colon the number of requests for each file, or the skew."""
    name, _, rest = required(text).partition(":")
    if name in ("roundrobin", "random", "sequential"):
        if rest and (not re.fullmatch(r"[0-9]{1,9}", rest) or int(rest) < 1):
            raise Refused(f"{name}:N for N requests to a file at a time, N a whole number from 1")
        return Service(name, int(rest or 1))
    name = "normal" if name == "gauss" else name
    if name not in ("zipf", "pareto", "normal"):
        raise Refused("one of roundrobin, random, sequential, zipf, pareto, normal")
    parameter, center = law(name, rest)
    return Service(name, 1, parameter, center)
