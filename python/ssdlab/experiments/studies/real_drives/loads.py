"""The workloads of the real drives' figures, and their names as text."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import parse_bytes

FOLDER = Path(__file__).parent
WORDS = (
    "sequential",
    "uniform",
    "zipf X",
    "uniform after a shuffled fill",
    "zipf X after a shuffled fill",
    "uniform without a fill",
    "zipf X without a fill",
    "P % of the addresses written once, the rest uniformly",
    "P % of the writes to Q % of the addresses",
    "latency R",
    "zones N x S GiB",
    "ACT R",
)
"""The allowed texts. X is a number above 0, P and Q whole percents, R writes per second, N zones open at a time, S GiB
per zone."""

Kind = Literal["writes", "latency", "zones", "act"]
WITHOUT_FILL = "without a fill"
DRIVE_WRITES_WITHOUT_FILL = 10
"""Drive writes to an empty drive. Write amplification still rises then, as long as addresses are written for the first
time. The source does not say how many it wrote; with 10 the mean over its whole run is as published."""
ACT_WRITES_MIN = 100
"""Records that ACT writes per second, at least: below, it writes a large block every few seconds."""


@dataclass(frozen=True)
class Load:
    """A workload. `variables` are substituted in the job file; zones have none, because their jobs are generated."""

    text: str
    """The name of the workload, in the form of `WORDS`."""
    kind: Kind
    variables: Mapping[str, str]
    until_steady: bool = False
    """Whether the writes go on until SNIA's steady state. Few writes go to the cold addresses, which settle late: with
    95 % of the writes to 5 % of the addresses write amplification of a 7450 PRO rises to 1.3 times its final value and
    is level after seven drive writes."""
    writes_per_second: float = 0.0
    open_zones: int = 0
    zone_bytes: int = 0


def parse(text: str) -> Load:
    """The workload of a text. Raises InputError, with the allowed texts, if it is unknown."""
    folded = " ".join(text.replace("%", " % ").replace(",", " , ").split()).replace(" ,", ",")
    for pattern, made in _FORMS:
        match = re.fullmatch(pattern, folded, re.IGNORECASE)
        if match:
            return made(text, match)
    raise InputError(f"workload {text!r} is unknown (known: {'; '.join(WORDS)})")


def _sequential(_text: str, _match: re.Match[str]) -> Load:
    return _writes("sequential", "random", rw="write", drive_writes=2)


def _uniform(_text: str, match: re.Match[str]) -> Load:
    return _writes("uniform", "random", fill=match[1])


def _zipf(text: str, match: re.Match[str]) -> Load:
    theta = float(match[1])
    if not 0 < theta <= 10:
        raise InputError(f"workload {text!r}: X should be above 0 and at most 10")
    # fio rejects a theta of exactly 1, where it would divide by 0; the distribution is continuous there.
    distribution = f"zipf:{theta:g}" if theta != 1 else "zipf:1.00000001"
    return _writes(f"zipf {theta:g}", distribution, fill=match[2])


def _written_once(text: str, match: re.Match[str]) -> Load:
    once = _percent(text, "P", match[1], high=99)
    return _writes(f"{once}% of the addresses written once, the rest uniformly", f"zoned:0/{once}:100/{100 - once}")


def _hot(text: str, match: re.Match[str]) -> Load:
    writes, addresses = _percent(text, "P", match[1]), _percent(text, "Q", match[2], high=99)
    rest = f":{100 - writes}/{100 - addresses}"
    found = _writes(f"{writes}% of the writes to {addresses}% of the addresses", f"zoned:{writes}/{addresses}{rest}")
    return replace(found, until_steady=True)


def _percent(text: str, name: str, digits: str, *, high: int = 100) -> int:
    if not digits.isdigit() or not 1 <= int(digits) <= high:
        raise InputError(f"workload {text!r}: {name} should be a whole number from 1 to {high}")
    return int(digits)


def _writes(
    text: str, distribution: str, *, rw: str = "randwrite", drive_writes: int = 6, fill: str | None = None
) -> Load:
    variables = {"DISTRIBUTION": distribution, "RW": rw, "DRIVE_WRITES": str(drive_writes)}
    # A fill is sequential unless the text says otherwise.
    if fill is None:
        return Load(text, "writes", variables | {"FILL_RW": "write"})
    fill = fill.strip().lower()
    if fill == WITHOUT_FILL:
        return Load(f"{text} {fill}", "writes", variables | {"DRIVE_WRITES": str(DRIVE_WRITES_WITHOUT_FILL)})
    return Load(f"{text} {fill}", "writes", variables | {"FILL_RW": "randwrite"})


def _latency(text: str, match: re.Match[str]) -> Load:
    rate = float(match[1])
    # The probe writes 5,000 per second of these.
    if not 5000 < rate <= 10**7:
        raise InputError(f"workload {text!r}: R should be above 5,000 writes a second (the probe's) and at most 10^7")
    return Load(f"latency {rate:g}", "latency", {}, writes_per_second=rate)


def _act(text: str, match: re.Match[str]) -> Load:
    rate = float(match[1])
    if not ACT_WRITES_MIN <= rate <= 10**7:
        raise InputError(f"workload {text!r}: R should be at least {ACT_WRITES_MIN} and at most 10^7 records a second")
    return Load(f"ACT {rate:g}", "act", {}, writes_per_second=rate)


def _zones(text: str, match: re.Match[str]) -> Load:
    count, size = int(match[1]), parse_bytes(f"{match[2]}GiB")
    if count < 1 or size < 1:
        raise InputError(f"workload {text!r}: N and S should be above 0")
    return Load(f"zones {count} x {match[2]} GiB", "zones", {}, open_zones=count, zone_bytes=size)


_NUMBER = r"(\d+(?:\.\d+)?(?:e\d+)?)"
_FILL = rf"( after a shuffled fill| {WITHOUT_FILL})?"
_FORMS: tuple[tuple[str, Callable[[str, re.Match[str]], Load]], ...] = (
    ("sequential", _sequential),
    (rf"uniform{_FILL}", _uniform),
    (rf"zipf {_NUMBER}{_FILL}", _zipf),
    (rf"{_NUMBER} % of the addresses written once, the rest uniformly", _written_once),
    (rf"{_NUMBER} % of the writes to {_NUMBER} % of the addresses", _hot),
    (rf"latency {_NUMBER}", _latency),
    (rf"ACT {_NUMBER}", _act),
    (r"zones (\d+) x (\d+(?:\.\d+)?) ?GiB", _zones),
)
