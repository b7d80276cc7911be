"""The slow, simple counterpart of the closed forms: a textbook drive, simulated one unit at a time.

One frontier (per pool), no free reserve: when the open erase unit is full, a victim is emptied and, with its live units
written back, becomes the open one. Its unwritten part is spare area that garbage collection does not have: units wait
Np / (2 A) positions less for it than T suggests, and `effective_over_provisioning` subtracts that.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

FREE = -1


@dataclass
class Pool:
    """Erase units that are garbage-collected among themselves."""

    erase_units: list[int]
    open_erase_unit: int = -1
    write_order: list[int] = field(default_factory=list)


class TextbookDrive:
    """Addresses 0..user_units - 1 go to pool `pool_of(address)`, pool k has `erase_units_per_pool[k]` erase units."""

    def __init__(
        self,
        erase_units_per_pool: list[int],
        units_per_erase_unit: int,
        user_units: int,
        victim: str,
        seed: int,
        d: int = 1,
        pool_of: Callable[[int], int] = lambda _: 0,
    ) -> None:
        self.random = random.Random(seed)
        self.units = units_per_erase_unit
        self.victim, self.d, self.pool_of = victim, d, pool_of
        self.pools, first = [], 0
        for count in erase_units_per_pool:
            self.pools.append(Pool(list(range(first, first + count))))
            first += count
        self.addresses: list[list[int]] = [[] for _ in range(first)]
        self.live = [0] * first
        self.place: list[int] = [FREE] * user_units
        self.user_units = user_units
        self.host_written = 0
        self.programmed = 0
        for pool in self.pools:
            pool.open_erase_unit = pool.erase_units[0]
        for address in range(user_units):
            self.write(address)

    def write(self, address: int) -> None:
        pool = self.pools[self.pool_of(address)]
        while len(self.addresses[pool.open_erase_unit]) == self.units:
            self._open_next(pool)
        self.trim(address)
        self._program(pool.open_erase_unit, address)
        self.host_written += 1

    def trim(self, address: int) -> None:
        if self.place[address] != FREE:
            self.live[self.place[address]] -= 1
            self.place[address] = FREE

    def _program(self, erase_unit: int, address: int) -> None:
        self.addresses[erase_unit].append(address)
        self.place[address] = erase_unit
        self.live[erase_unit] += 1
        self.programmed += 1

    def _open_next(self, pool: Pool) -> None:
        pool.write_order.append(pool.open_erase_unit)
        empty = [unit for unit in pool.erase_units if not self.addresses[unit]]
        if empty:
            pool.open_erase_unit = empty[0]
            return
        victim = self._choose(pool)
        pool.write_order.remove(victim)
        kept = [address for address in dict.fromkeys(self.addresses[victim]) if self.place[address] == victim]
        self.addresses[victim], self.live[victim] = [], 0
        for address in kept:
            self._program(victim, address)
        pool.open_erase_unit = victim

    def _choose(self, pool: Pool) -> int:
        if self.victim == "fifo":
            return pool.write_order[0]
        if self.victim == "greedy":
            return min(pool.write_order, key=self.live.__getitem__)
        return min((self.random.choice(pool.write_order) for _ in range(self.d)), key=self.live.__getitem__)

    def run(self, request: Callable[["TextbookDrive"], None], settle_drive_writes: int, drive_writes: int) -> float:
        """Write amplification over a number of drive writes, after settling."""
        while self.host_written < (1 + settle_drive_writes) * self.user_units:
            request(self)
        host, programmed = self.host_written, self.programmed
        while self.host_written < host + drive_writes * self.user_units:
            request(self)
        return (self.programmed - programmed) / (self.host_written - host)


def effective_over_provisioning(
    erase_units: int, units_per_erase_unit: int, live_units: float, write_amplification: float
) -> float:
    """(T - U) / U with the unwritten part of the one open erase unit subtracted from T."""
    usable = (erase_units - 0.5 / write_amplification) * units_per_erase_unit
    return usable / live_units - 1
