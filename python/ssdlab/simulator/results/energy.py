"""The energy of a run, by cause: the drive file's `[power]` times the ledger's counters and the simulated time.

Not for measured drives, and not for drives without `[power]`, whose energy is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from ssdlab.simulator.results.ledger import Ledger, Part, ReadCause
from ssdlab.simulator.specification import PowerJson

Cause = Literal["host", "gc", "other", "idle"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
"""Requests of the host, garbage collection, other work of the drive (wear levelling, map, parity, padding, folds), and
the power without requests over the whole time."""
Figure = Literal["host", "gc", "other", "idle", "total"]
FIGURES: tuple[Figure, ...] = get_args(Figure)
BYTES_PER_GIB = 2**30
JOULES_PER_KWH = 3.6e6
_PARTS: dict[Part, Cause] = {"host": "host", "gc": "gc"}
_READS: dict[ReadCause, Cause] = {"host": "host", "read_modify_write": "host", "gc": "gc"}


class EnergyJson(TypedDict):
    """The key `energy` of a result."""

    watts_mean: float | None
    joules: dict[Cause, float | None]
    joules_per_host_gib: dict[Figure, float | None]


@dataclass(frozen=True)
class Flash:
    """What turns counters into operations of the flash."""

    page_bytes: int
    blocks_per_erase_unit: int


@dataclass(frozen=True)
class Energy:
    """Joules by cause, the bytes that the host wrote and read, and the time. `idle` and `seconds` are None without a
    clock."""

    joules: Mapping[Cause, float | None]
    host_bytes: int
    seconds: float | None

    @property
    def total_joules(self) -> float | None:
        """The sum; None if a part is not known."""
        known = [joules for joules in self.joules.values() if joules is not None]
        return sum(known) if len(known) == len(self.joules) else None

    @property
    def watts_mean(self) -> float | None:
        """Mean power; None without a clock, and of no time."""
        return self.total_joules / self.seconds if self.total_joules is not None and self.seconds else None

    def per_host_gib(self, cause: Figure) -> float | None:
        """Joules for each GiB that the host wrote or read; None if it did neither."""
        joules = self.total_joules if cause == "total" else self.joules[cause]
        return None if joules is None or not self.host_bytes else joules * BYTES_PER_GIB / self.host_bytes

    def to_dict(self) -> EnergyJson:
        return {
            "watts_mean": self.watts_mean,
            "joules": {cause: self.joules[cause] for cause in CAUSES},
            "joules_per_host_gib": {figure: self.per_host_gib(figure) for figure in FIGURES},
        }


def energy(power: PowerJson, flash: Flash, ledger: Ledger, commands: int, seconds: float | None) -> Energy:
    """The energy of what the ledger counts, `commands` of the host and `seconds` of simulated time.

    A unit that is read takes its share of a page. Erases belong to the causes in the ratio of their programs, which
    they make room for.
    """
    page = ledger.counted_unit_bytes / flash.page_bytes
    joules = dict.fromkeys(CAUSES, 0.0)
    for read, units in ledger.read_units.items():
        joules[_READS.get(read, "other")] += units * page * power["read_uj"] / 1e6
    programmed = sum(ledger.programmed_units.values())
    erased = ledger.erased_erase_units * flash.blocks_per_erase_unit * power["erase_uj"] / 1e6
    for part, units in ledger.programmed_units.items():
        share = units / programmed if programmed else 0.0
        joules[_PARTS.get(part, "other")] += units * page * power["program_uj"] / 1e6 + share * erased
    host_bytes = ledger.host_written_bytes + ledger.host_read_bytes
    joules["host"] += host_bytes * power["transfer_nj_per_byte"] / 1e9 + commands * power["command_uj"] / 1e6
    idle = None if seconds is None else seconds * power["idle_watts"]
    return Energy({**joules, "idle": idle}, host_bytes, seconds)
