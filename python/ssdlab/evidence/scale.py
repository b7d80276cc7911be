"""How percentiles of latency depend on the scale: measured once for drives of the catalogue, and shipped as a table.

`tails_by_scale.json` is made by `tools/scale_trial.py tails`: for each drive the percentiles of 4 KiB requests at a
larger scale over those at a smaller one: writes, uniform and under zipf 1.1, reads, and 70 % reads beside 30 % writes.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, cast

Direction = Literal["read", "write"]
Load = Literal["uniform", "zipf", "mixed reads", "mixed writes", "reads"]
Entry = Mapping[str, str | Mapping[str, float]]
"""The entry of a drive: two scales as `scale` and `larger`, and of each load the ratios of percentiles between them.
A percentile with too few requests above it is absent."""
WORDS: Mapping[Load, str] = {
    "uniform": "uniform writes",
    "zipf": "writes under zipf 1.1",
    "mixed reads": "reads beside 30 % writes",
    "mixed writes": "writes beside 70 % reads",
    "reads": "reads alone",
}
_RANKS = ("p50", "p99", "p99.9")
CHANGE_MAX = 0.1
"""From this change on a percentile counts as one that depends on the scale."""


def tails_said(drives: Iterable[str], stages: Iterable[Iterable[Direction]] = (("write",),)) -> str:
    """How the percentiles of scaled drives change with the scale, as sentences; for the others, that it is unknown.

    `stages` are the directions of the requests of each stage: of reads and writes together, the loads that have both.
    """
    names, table = list(dict.fromkeys(drives)), measured()
    loads: list[Load] = list(dict.fromkeys(load for directions in stages for load in loads_of(directions)))
    said = ["Percentiles depend on the scale."]
    said += [_changes(name, table[name], loads) for name in names if name in table]
    if unknown := [name for name in names if name not in table]:
        changes = [ratio for entry in table.values() for load in loads for ratio in _tails(entry, load)]
        said.append(
            f"For {' and '.join(unknown)} this was not measured; of {len(table)} drives the 99th and 99.9th changed by "
            f"{_percent(min(changes))} to {_percent(max(changes))} % at a scale four times larger."
        )
    return " ".join(said)


def loads_of(directions: Iterable[Direction]) -> tuple[Load, ...]:
    """The measured loads that are most like requests of these directions."""
    found = set(directions)
    if found == {"read"}:
        return ("reads",)
    return ("mixed reads", "mixed writes") if "read" in found else ("uniform", "zipf")


def longest(drive: str, direction: Direction, rank: float) -> float | None:
    """The largest measured ratio of a percentile between a scale and one four times larger, over all loads of the
    direction: of the lowest measured rank that is not below `rank`. None if the drive was not measured."""
    entry = measured().get(drive)
    at = next((each for each in _RANKS if float(each[1:]) >= rank), _RANKS[-1])
    loads: tuple[Load, ...] = ("mixed reads", "reads") if direction == "read" else ("uniform", "zipf", "mixed writes")
    ratios = [ratios[at] for load in loads if entry and at in (ratios := _ratios(entry, load))]
    return max(ratios, default=None)


def _changes(name: str, entry: Entry, loads: Iterable[Load]) -> str:
    by_load: dict[Load, Mapping[str, float]] = {load: _ratios(entry, load) for load in loads}
    parts = [
        f"{' / '.join(_percent(ratios[rank]) if rank in ratios else '-' for rank in _RANKS)} % ({WORDS[load]})"
        for load, ratios in by_load.items()
    ]
    said = (
        f"From {entry['scale']} to {entry['larger']} of {name} median, 99 % and 99.9 % of the latency "
        f"of 4 KiB requests, as many as the drive takes, change by {', '.join(parts)}"
    )
    moved = any(abs(ratio - 1) >= CHANGE_MAX for ratios in by_load.values() for ratio in ratios.values())
    return f"{said}{'' if moved else ': they hardly depend on it'}."


def _ratios(entry: Entry, load: Load) -> Mapping[str, float]:
    found = entry[load]
    assert not isinstance(found, str)
    return found


def _tails(entry: Entry, load: Load) -> list[float]:
    return [ratio for rank, ratio in _ratios(entry, load).items() if rank != "p50"]


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f}"


@cache
def measured() -> Mapping[str, Entry]:
    """The table, by drive."""
    text = Path(__file__).with_name("tails_by_scale.json").read_text(encoding="utf-8")
    return cast("Mapping[str, Entry]", json.loads(text))
