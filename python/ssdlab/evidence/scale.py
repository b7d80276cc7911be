"""How percentiles of latency depend on the scale: measured once for drives of the catalogue, and shipped as a table.

`tails_by_scale.json` is made by `tools/scale_trial.py tails`: for each drive the percentiles of saturated 4 KiB writes
at a larger scale over those at a smaller one, uniform and under zipf 1.1.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypedDict, cast

_LAWS: tuple[tuple[Literal["uniform", "zipf"], str], ...] = (("uniform", "if uniform"), ("zipf", "under zipf 1.1"))
_RANKS = (("p50", "50"), ("p99", "99"), ("p99.9", "99.9"))


class TailsJson(TypedDict):
    """The entry of a drive: two scales, and the ratio of each percentile between them."""

    scale: str
    larger: str
    uniform: dict[str, float]
    zipf: dict[str, float]


def tails_said(drives: Iterable[str]) -> str:
    """How the percentiles of scaled drives change with the scale, as sentences; for the others, that it is unknown."""
    names, table = list(dict.fromkeys(drives)), measured()
    said = ["Percentiles depend on the scale."]
    said += [_changes(name, table[name]) for name in names if name in table]
    if unknown := [name for name in names if name not in table]:
        changes = [entry[law][rank] for entry in table.values() for law, _ in _LAWS for rank in ("p99", "p99.9")]
        said.append(
            f"For {' and '.join(unknown)} this was not measured; of {len(table)} drives the 99th and 99.9th changed by "
            f"{_percent(min(changes))} to {_percent(max(changes))} % at a scale four times larger."
        )
    return " ".join(said)


def _changes(name: str, entry: TailsJson) -> str:
    parts = [f"{' / '.join(_percent(entry[law][rank]) for rank, _ in _RANKS)} % {words}" for law, words in _LAWS]
    ranks = " / ".join(rank for _, rank in _RANKS)
    return (
        f"From {entry['scale']} to {entry['larger']} of {name} the {ranks} % of saturated 4 KiB writes change by "
        f"{', '.join(parts)}."
    )


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f}"


@cache
def measured() -> Mapping[str, TailsJson]:
    """The table, by drive."""
    text = Path(__file__).with_name("tails_by_scale.json").read_text(encoding="utf-8")
    return cast("Mapping[str, TailsJson]", json.loads(text))
