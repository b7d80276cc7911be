"""Traces: arrival times, address mapping, repetition, and malformed records."""

from collections.abc import Iterator

from case import Case, Replay
from parts import KIB, MIB, UNIT, USER_BYTES, Json, drive, fill, numbers, specification

_TRACE: dict[str, Json] = {
    "format": "fio-iolog-v3",
    "skip_bad_max": 0,
    "volume": None,
    "map": "fold",
    "loop_until_written_bytes": None,
    "arrival": "closed",
    "time_scale": 1.0,
    "iodepth": 8,
}


def _recorded(count: int, *, span_bytes: int = 2 * USER_BYTES) -> str:
    """This many requests of two volumes; three in four are writes, half of them to a tenth of the addresses."""
    draw = numbers(3)
    lines = ["fio version 3 iolog"]
    lines += [f"0 /dev/{volume} {word}" for volume in ("sda", "sdb") for word in ("add", "open")]
    at_us = 0
    for _ in range(count):
        at_us += draw(400)
        what = ("read", "write", "write", "write", "trim")[draw(5)]
        units = span_bytes // UNIT // (10 if draw(2) else 1)
        volume = ("sda", "sda", "sdb")[draw(3)]
        lines.append(f"{at_us} /dev/{volume} {what} {draw(units) * UNIT + draw(2) * 512} {(1 + draw(8)) * 2 * KIB}")
    return "\n".join([*lines, ""])


def _options() -> dict[str, Json]:
    hot = [[1, 0, 0.5], [2, 1, 0.25]]
    return {
        "closed": {},
        "times": {"arrival": "trace"},
        "times-faster": {"arrival": "trace", "time_scale": 0.1, "iodepth": 4},
        "compact": {"map": "compact"},
        "strict": {"map": "strict"},
        "one-volume": {"volume": "/dev/sdb"},
        "no-volume": {"volume": "/dev/sdz"},
        "repeated": {"loop_until_written_bytes": USER_BYTES},
        "repeated-times": {"loop_until_written_bytes": USER_BYTES, "arrival": "trace"},
        "shuffled": {"loop_until_written_bytes": USER_BYTES, "shuffle": {"piece_bytes": MIB, "seed": 3}},
        "sampled": {"sample": {"region_bytes": 16 * KIB, "one_in": 4, "seed": 9, "hot": []}},
        "sampled-hot": {"sample": {"region_bytes": 4 * KIB, "one_in": 8, "seed": 9, "hot": hot}, "map": "compact"},
    }


def traces() -> Iterator[tuple[str, Case]]:
    text, inside = _recorded(2500), _recorded(2500, span_bytes=USER_BYTES - MIB)
    for name, options in _options().items():
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            run = specification([fill()] if name != "times" else [], timed=timed)
            yield f"{clock}/{name}", Replay(run, _TRACE | options, inside if name == "strict" else text)
    for timed in (True, False):
        clock = "timed" if timed else "untimed"
        until = {"kind": "steady-state", "round_bytes": USER_BYTES // 8, "host_bytes_max": 2 * USER_BYTES}
        run = specification([fill()], timed=timed, until=until)
        yield f"{clock}/until-steady", Replay(run, _TRACE, text)
        background = drive({"background.idle_after_ms": 0.2, "background.erased_pool_bytes": 4 * MIB})
        run = specification([fill()], background, timed=timed)
        yield f"{clock}/idle", Replay(run, _TRACE | {"arrival": "trace", "time_scale": 3.0}, text)
        bad = text.replace(" write ", " scribble ", 5)
        yield f"{clock}/bad-lines", Replay(specification([], timed=timed), _TRACE, bad)
        yield f"{clock}/bad-lines-skipped", Replay(specification([], timed=timed), _TRACE | {"skip_bad_max": 5}, bad)
