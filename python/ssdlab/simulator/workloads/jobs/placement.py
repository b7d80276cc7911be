"""Placement identifiers that the host sends with writes: fio's `fdp` and similar options, which fio 3.33 lacks.

Drives with the placement policy `host-streams` use them; others ignore them, as drives without flexible data placement
do. The rules follow the manual of fio 3.39: which identifiers a job has (`plids`; by default all of the drive), and
which write has which (`plid_select`).
"""

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.lines import read_text
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.pace import Complain
from ssdlab.simulator.workloads.jobs.scaling import ALIGN_BYTES, scaled_bytes
from ssdlab.simulator.workloads.jobs.values import LARGEST, Refused, any_text, required, truth, words

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section

IDENTIFIER_MAX = 255
# fio's own limit on the entries of a scheme, DP_MAX_SCHEME_ENTRIES.
SCHEME_ENTRIES_MAX = 32
_SCHEME_LINE = re.compile(r"\s*([0-9]{1,20})\s*,\s*([0-9]{1,20})\s*,\s*([0-9]{1,3})\s*")


def _identifiers(text: str | None, _kilobyte: int) -> tuple[int, ...]:
    parts = [part.strip() for part in required(text).split(",")]
    if not all(re.fullmatch(r"[0-9]{1,3}", part) and int(part) <= IDENTIFIER_MAX for part in parts):
        raise Refused(f"placement identifiers from 0 to {IDENTIFIER_MAX} with commas between, such as 2 or 0,2,5")
    return tuple(int(part) for part in parts)


FDP = Option(
    "fdp", truth, "send the identifiers of plids with writes; a drive with placement host-streams uses them",
    Effect.ACTS, False,
)  # fmt: skip
DATAPLACEMENT = Option(
    "dataplacement", words("none", "fdp", "streams"), "as fdp, for either kind of drive", Effect.ACTS, "none"
)  # fmt: skip
PLIDS = Option[tuple[int, ...]](
    "plids", _identifiers, "placement identifiers of the job's writes; default: all identifiers of the drive",
    Effect.ACTS, (), ("fdp_pli",),
)  # fmt: skip
SELECT = Option(
    "plid_select", words("roundrobin", "random", "scheme"),
    "selection of the identifier of a write: in turn, random, or by address", Effect.ACTS, "roundrobin",
    ("fdp_pli_select",),
)  # fmt: skip
SCHEME = Option(
    "dp_scheme", any_text, "a file with a line `start,end,identifier` for each range of bytes; for plid_select=scheme",
    Effect.ACTS, "",
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (FDP, DATAPLACEMENT, PLIDS, SELECT, SCHEME)


def placement(section: "Section", source: str, files: int, scale: Fraction, complain: Complain) -> plain.JobPart:
    """The engine job's `stream_id`, or `identifiers` if the job has several; empty without placement.

    `source` is the path of the job file; a scheme is also found in its folder.
    """
    if not (section.get(FDP) or section.get(DATAPLACEMENT) != "none"):
        return {}
    given, chosen = section.get(PLIDS), section.get(SELECT)
    if chosen == "scheme":
        if files > 1:
            raise complain(SELECT, "uses addresses in one file, but the job has several")
        return {"identifiers": {"choose": "by-offset", "ranges": _scheme(section, source, scale, complain)}}
    if section.get(DATAPLACEMENT) == "streams" and not given:
        raise complain(DATAPLACEMENT, "needs plids, the streams that the job writes to")
    if len(given) == 1:
        return {"stream_id": given[0]}
    if chosen == "random":
        return {"identifiers": {"choose": "random", "among": list(given)}}
    return {"identifiers": {"choose": "round-robin", "among": list(given)}}


def unused_placement(section: "Section") -> list[str]:
    """A note on identifiers that are not sent: fio, too, ignores them without a word."""
    if section.get(FDP) or section.get(DATAPLACEMENT) != "none" or not section.get(PLIDS):
        return []
    return [f"[{section.name}] sends no placement identifiers: plids acts with fdp=1 or dataplacement only"]


def scheme_file(name: str, source: str) -> Path:
    """The file of a scheme: by its name, or else in the folder of the job file `source`."""
    return Path(name) if Path(name).is_file() else Path(source).parent / name


def _scheme(section: "Section", source: str, scale: Fraction, complain: Complain) -> list[plain.IdentifierRange]:
    name = section.get(SCHEME)
    if not name:
        raise complain(SELECT, "needs dp_scheme, the file with the identifier of each address range")
    path = scheme_file(name, source)
    if not path.is_file():
        raise complain(SCHEME, f"names no file, neither here nor at {path}")
    ranges: list[plain.IdentifierRange] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        match = _SCHEME_LINE.fullmatch(line)
        start, end, identifier = map(int, match.groups()) if match else (0, 0, 0)
        if not start < end <= LARGEST or identifier > IDENTIFIER_MAX:
            raise InputError(
                f"{path}, line {number}: {line.strip()!r}: allowed is start,end,identifier: two numbers of bytes, the "
                f"second above the first, and 0 to {IDENTIFIER_MAX}, such as 0,1073741824,2"
            )
        scaled = [scaled_bytes(value, scale, ALIGN_BYTES) for value in (start, end)]
        ranges.append({"start_bytes": scaled[0], "end_bytes": scaled[1], "identifier": identifier})
    if not 0 < len(ranges) <= SCHEME_ENTRIES_MAX:
        raise InputError(f"{path}: contains {len(ranges)} ranges; allowed are 1 to {SCHEME_ENTRIES_MAX}, as in fio")
    return ranges
