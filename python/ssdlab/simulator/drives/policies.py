"""The names and parameters of the engine's policies, as listed by the engine."""

import json
from functools import cache

import msgspec

from ssdlab.foundation.foreign import JsonObject
from ssdlab.simulator.drives.schema import POLICY_KINDS, PolicyKind
from ssdlab.simulator.engine import native

Known = dict[PolicyKind, dict[str, "Policy"]]


class Policy(msgspec.Struct, frozen=True):
    """One policy with the engine's description. `parameters` maps names to defaults."""

    kind: PolicyKind
    name: str
    summary: str
    source: str
    parameters: JsonObject = msgspec.field(default_factory=dict)


@cache
def known() -> Known:
    """All policies by kind and name. Raises RunFailed if the native module is not built."""
    found: Known = {kind: {} for kind in POLICY_KINDS}
    for entry in json.loads(native().policies()):
        policy = Policy(**entry)
        found[policy.kind][policy.name] = policy
    return found
