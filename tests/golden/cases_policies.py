"""Every policy on the engine's lists, with each policy that it is combined with."""

import json
from collections.abc import Iterator
from itertools import product

from case import Case, Run
from parts import KIB, MIB, Changes, Json, drive, fill, job, specification
from ssdlab import _engine

_LISTS = json.loads(_engine.policies())

# The capacity for which every placement has room, so that victims are rarely empty.
_TIGHT: Changes = {"ftl.user_bytes": 26 * MIB}
# The default number of open erase units, one per identifier, is more than the small drive has.
_CHOSEN = {"host-streams": {"identifiers": 3, "persistently_isolated": True}}
_PARAMETERS: dict[str, list[dict[str, Json]]] = {
    "d-choices": [{"d": 2}],
    "windowed-greedy": [{"window": 1.0}],
    "class-spare": [{"classes": 3, "borders": [0.2, 0.6]}],
    "frequency-frontiers": [{"frontiers": 2}, {"error_share": 0.2}],
    "static": [{"threshold": 1}],
    "proportional": [{"catch_up": 0.0}],
}


def kinds() -> dict[str, dict[str, dict[str, Json]]]:
    """By kind and name, the parameters with which a policy fits the small drive."""
    found: dict[str, dict[str, dict[str, Json]]] = {}
    for policy in _LISTS:
        found.setdefault(policy["kind"], {})[policy["name"]] = _CHOSEN.get(policy["name"], {})
    return found


def _chosen(name: str) -> dict[str, Json]:
    return {"name": name, **_CHOSEN.get(name, {})}


def _names(kind: str) -> list[str]:
    return [policy["name"] for policy in _LISTS if policy["kind"] == kind]


def _jobs(user_bytes: int) -> list[dict[str, Json]]:
    """Skewed writes of several clients, so that data lifetimes differ, and some trims."""
    part = {"stage": 1, "size_bytes": user_bytes}
    skewed = part | {"distribution": {"name": "zipf", "theta": 1.0, "center": 0.3}}
    return [
        fill(size_bytes=user_bytes, io_bytes=user_bytes),
        job(**skewed, name="hot", share=0.4, stream_id=1),
        job(**part, name="cold", share=0.2, stream_id=2, seed=12),
        job(**skewed, name="trims", share=0.1, direction="trim", block_bytes=32 * KIB, seed=13),
    ]


def _runs(name: str, changes: Changes) -> Iterator[tuple[str, Case]]:
    for timed in (True, False):
        clock = "timed" if timed else "untimed"
        changed = drive({**_TIGHT, **changes})
        yield f"{clock}/{name}", Run(specification(_jobs(changed["ftl"]["user_bytes"]), changed, timed=timed))


def policies() -> Iterator[tuple[str, Case]]:
    """Each victim with each placement, each of both with each wear policy; parameters; gc_throttling and die choice."""
    for victim, placement in product(_names("victim"), _names("placement")):
        changes = {"ftl.victim": {"name": victim}, "ftl.placement": _chosen(placement)}
        yield from _runs(f"victim-{victim}+{placement}", changes)
    for kind, wear in product(("victim", "placement"), _names("wear_leveling")):
        for name in _names(kind):
            changes = {f"ftl.{kind}": _chosen(name), "ftl.wear_leveling": {"name": wear}, "ftl.erase_unit": "block"}
            changes |= {"ftl.die_choice": {"name": "one-block"}}
            yield from _runs(f"{kind}-{name}+{wear}", changes)
    for choice, placement in product(_names("die_choice"), _names("placement")):
        changes = {"ftl.die_choice": {"name": choice}, "ftl.placement": _chosen(placement), "ftl.erase_unit": "block"}
        yield from _runs(f"die-choice-{choice}+{placement}", changes)
    for gc_throttling in _names("gc_throttling"):
        yield from _runs(f"gc_throttling-{gc_throttling}", {"ftl.gc_throttling": {"name": gc_throttling}})
    for policy in _LISTS:
        for parameters in _PARAMETERS.get(policy["name"], []):
            said = ",".join(f"{key}={value}" for key, value in parameters.items())
            chosen = {f"ftl.{policy['kind']}": {"name": policy["name"], **parameters}}
            yield from _runs(f"{policy['name']}({said})".replace(" ", ""), chosen)
