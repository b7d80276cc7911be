"""The engine's policies, as far as drive files need them: which names and parameters exist.

The engine owns the list; nothing about a policy is written down here but how many erase units a placement keeps open.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ssdlab.drives.schema import POLICY_KINDS, PolicyChoice, PolicyKind
from ssdlab.errors import InputError, near

# The die choice that keeps one block open at a time.
ONE_BLOCK = "one-block"

Known = dict[PolicyKind, dict[str, "Policy"]]


@dataclass(frozen=True)
class Policy:
    """One policy as the engine describes it; `parameters` maps a name to its default."""

    kind: PolicyKind
    name: str
    summary: str
    source: str
    parameters: dict[str, Any] = field(default_factory=dict)


@cache
def known() -> Known | None:
    """All policies by kind and name, or None where the native module is not built."""
    try:
        from ssdlab import _engine
    except ImportError:
        return None
    found: Known = {kind: {} for kind in POLICY_KINDS}
    for entry in json.loads(_engine.policies()):
        policy = Policy(**entry)
        found[policy.kind][policy.name] = policy
    return found


def check(kind: PolicyKind, choice: PolicyChoice, where: str) -> None:
    """Raise InputError, opened by `where`, when the engine has no such policy or the policy no such parameter."""
    policies = known()
    if policies is None:
        return
    of_kind = policies[kind]
    policy = of_kind.get(choice.name)
    key = f"ftl.{kind}"
    if policy is None:
        nearest = near(choice.name, of_kind)
        raise InputError(f"{where}: {key} = {choice.name!r} is not a policy{nearest} (known: {', '.join(of_kind)})")
    for name, value in choice.parameters.items():
        if name not in policy.parameters:
            allowed = ", ".join(policy.parameters) or "none"
            raise InputError(
                f"{where}: {key}: {choice.name!r} has no parameter {name!r}{near(name, policy.parameters)}"
                f" (parameters: {allowed})"
            )
        default = policy.parameters[name]
        if not _same_type(value, default):
            raise InputError(
                f"{where}: {key}.{name} = {value!r}: should be {_type_name(default)}, as its default {default!r}"
            )


def with_defaults(kind: PolicyKind, choice: PolicyChoice) -> dict[str, Any]:
    """The choice as the engine's specification has it, every parameter said."""
    policies = known()
    policy = policies[kind].get(choice.name) if policies else None
    defaults = policy.parameters if policy else {}
    said = {name: value for name, value in defaults.items() if value is not None} | choice.parameters
    # A whole number is allowed where the parameter is a fraction; the specification has one form only.
    return {"name": choice.name} | {
        name: float(value) if isinstance(defaults.get(name), float) else value for name, value in said.items()
    }


def open_erase_units(placement: PolicyChoice) -> int:
    """How many erase units the placement holds open at a time, each of them partly empty."""
    parameters = with_defaults("placement", placement)
    match placement.name:
        case "single":
            return 1
        case "frequency-frontiers":
            return _whole(parameters.get("frontiers"))
        case "class-spare":
            borders = parameters.get("borders")
            return len(borders) + 1 if isinstance(borders, list) and borders else _whole(parameters.get("classes"))
        case "host-streams":
            # Cleaning has an erase unit of its own, unless it keeps the identifiers apart.
            return _whole(parameters.get("identifiers")) + (not parameters.get("persistently_isolated"))
    return 2


def open_blocks_per_stream(erase_unit: str, dies: int, die_choice: str) -> int:
    """How many erase units each stream has open: a single block on every die, unless one is filled at a time."""
    return dies if erase_unit == "block" and die_choice != ONE_BLOCK else 1


def _whole(value: object) -> int:
    """A number of open erase units; 2 where the parameter's default is not known."""
    return value if isinstance(value, int) else 2


def _same_type(value: object, default: object) -> bool:
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def _type_name(value: object) -> str:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), type(value).__name__)
