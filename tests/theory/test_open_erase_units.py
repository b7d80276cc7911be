"""The part of the spare area that the reserve and open erase units take, by a direct simulation with few large erase
units.

Few, so that one erase unit matters: with 100 of them and OP 15 %, half of one changes write amplification by 3 %.
"""

import random

import pytest

from ssdlab.theory import closed_forms

ERASE_UNITS, UNITS, RESERVE = 100, 64, 1


class Drive:
    """FIFO garbage collection with a reserve; one frontier, or one each for host and garbage collection."""

    def __init__(self, user_units: int, split: bool) -> None:
        self.split = split
        self.erase_units: list[list[int]] = [[] for _ in range(ERASE_UNITS)]
        self.place = [-1] * user_units
        self.free = list(range(ERASE_UNITS))
        self.closed: list[int] = []
        self.open = {"host": self.free.pop()}
        if split:
            self.open["gc"] = self.free.pop()
        self.programmed = 0

    def write(self, address: int) -> None:
        while self._is_full("host"):
            if len(self.free) > RESERVE:
                self._open_next("host")
            else:
                self._clean()
        self._program("host", address)

    def _clean(self) -> None:
        victim = self.closed.pop(0)
        frontier = "gc" if self.split else "host"
        for address in dict.fromkeys(self.erase_units[victim]):
            if self.place[address] == victim:
                if self._is_full(frontier):
                    self._open_next(frontier)
                self._program(frontier, address)
        self.erase_units[victim] = []
        self.free.append(victim)

    def _is_full(self, frontier: str) -> bool:
        return len(self.erase_units[self.open[frontier]]) == UNITS

    def _open_next(self, frontier: str) -> None:
        self.closed.append(self.open[frontier])
        self.open[frontier] = self.free.pop()

    def _program(self, frontier: str, address: int) -> None:
        self.erase_units[self.open[frontier]].append(address)
        self.place[address] = self.open[frontier]
        self.programmed += 1


@pytest.mark.parametrize("split", [False, True], ids=["single", "host-gc-split"])
def test_reserve_and_open_erase_units_cost_what_the_documentation_says(split: bool) -> None:
    user_units = int(ERASE_UNITS * UNITS / 1.15)
    drive = Drive(user_units, split)
    generator = random.Random(1)
    for address in range(user_units):
        drive.write(address)
    for _ in range(4 * user_units):
        drive.write(int(generator.random() * user_units))
    before, written = drive.programmed, 24 * user_units
    for _ in range(written):
        drive.write(int(generator.random() * user_units))
    simulated = (drive.programmed - before) / written

    def expected(held_back: float) -> float:
        return closed_forms.fifo((ERASE_UNITS - held_back) * UNITS / user_units - 1)

    held_back = RESERVE + 0.5 / simulated + (0.5 if split else 0.0)
    assert simulated == pytest.approx(expected(held_back), rel=0.005)
    in_round_figures = RESERVE + (1.0 if split else 0.5)
    assert simulated < 0.985 * expected(in_round_figures), "the round figure would be told apart"
