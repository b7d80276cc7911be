"""Drives that store written data, with a client over NBD: counters, simulated latencies, losses of power."""

from collections.abc import Iterator

from case import Case, Served
from cases_features import FEATURES
from parts import KIB, UNIT, USER_BYTES, Changes, Json, drive, numbers

_OPTIONS: dict[str, Json] = {"seed": 3, "queue_depth": 4, "journal_trims": 16}

# Small flash, because contents take memory and time.
_SMALL: Changes = {"nand.blocks_per_plane": 24, "nand.pages_per_block": 6, "ftl.user_bytes": USER_BYTES // 2}


def _requests(seed: int, count: int) -> list[list[Json]]:
    """Writes of a few units, one in eight durable, one in eight unaligned; reads, trims, zeroes and flushes."""
    draw = numbers(seed)
    units = USER_BYTES // 2 // UNIT
    requests: list[list[Json]] = []
    for index in range(count):
        unit, length = draw(units - 16), 1 + draw(8)
        at, length_bytes = unit * UNIT, length * UNIT
        match draw(16):
            case 0:
                requests.append(["trim", at, length_bytes * 4])
            case 1:
                requests.append(["zero", at, length_bytes])
            case 2:
                requests.append(["flush"])
            case 3 | 4:
                requests.append(["read", at, length_bytes])
            case 5:
                requests.append(["write", at + 512, length_bytes - 1024, index % 251, False])
            case 6:
                requests.append(["write", at, length_bytes, index % 251, True])
            case _:
                requests.append(["write", at, length_bytes, index % 7, False])
    return requests


def _steps(cut: str) -> list[list[Json]]:
    """`cut` is the event between the two halves: a loss of power, or closing and reopening the drive."""
    fill: list[list[Json]] = [
        ["write", at, 128 * KIB, at // KIB % 251, False] for at in range(0, USER_BYTES // 2, 128 * KIB)
    ]
    return [
        ["figures"],
        *fill,
        ["command", "mark filled"],
        *_requests(7, 350),
        ["figures"],
        ["marks"],
        ["cells", "valid"],
        ["erase_unit", 2],
        ["state"],
        ["command", "power-cut"] if cut == "power-cut" else ["reopen"],
        ["command", "mark after"],
        *_requests(8, 250),
        ["command", "idle 20ms"],
        *_requests(9, 50),
        ["state"],
        ["command", "reset"],
        ["command", "explode"],
        ["read", USER_BYTES, UNIT],
        ["write", USER_BYTES // 2, UNIT, 1, False],
        *([["read", at, 128 * KIB] for at in range(0, USER_BYTES // 2, 128 * KIB)]),
        ["state"],
    ]


def served() -> Iterator[tuple[str, Case]]:
    for name, changes in {"none": {}, **FEATURES}.items():
        on = drive({**changes, **_SMALL})
        yield f"{name}/power-cut", Served(on, _OPTIONS, _steps("power-cut"))
        yield f"{name}/reopened", Served(on, _OPTIONS | {"contents": "file"}, _steps("reopen"))
        if name in ("none", "volatile-buffer"):
            unprotected = _OPTIONS | {"power_loss_protection": False}
            yield f"{name}/unprotected", Served(on, unprotected, _steps("power-cut"))
    for fault in ("uncorrectable_reads", "program_failures", "erase_failures"):
        faulty = _OPTIONS | {"faults": {fault: 0.01}}
        yield f"none/{fault}", Served(drive(_SMALL), faulty, _steps("power-cut"))


def faulty(changes: Changes, **faults: float) -> Served:
    """A drive with occasional flash failures, with a loss of power and a long idle time."""
    rest: list[list[Json]] = [["command", "idle 5s"], ["command", "power-cut"], ["command", "idle 5s"], ["state"]]
    steps = _steps("power-cut")
    return Served(drive({**changes, **_SMALL}), _OPTIONS | {"faults": faults}, [*steps, *rest, *steps])
