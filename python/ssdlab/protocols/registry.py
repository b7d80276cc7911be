"""The list of protocols, in the order in which they are shown. A new one is a file and a line."""

from importlib import import_module

from ssdlab.errors import InputError, near
from ssdlab.protocols.contract import Protocol

NAMES = (
    "purge-precondition",
    "snia-iops",
    "snia-throughput",
    "snia-latency",
    "write-saturation",
    "over-provisioning-sweep",
    "free-space-sweep",
    "trim-effect",
    "fragmentation",
    "idle-recovery",
    "slc-cache-size",
    "read-tails",
)


def protocol(name: str) -> Protocol:
    """The protocol of that name. Raises InputError with the names there are."""
    if name not in NAMES:
        raise InputError(f"no protocol {name!r}{near(name, NAMES)} (known: {', '.join(NAMES)})")
    found: Protocol = import_module(f"ssdlab.protocols.catalogue.{name.replace('-', '_')}").PROTOCOL
    return found


def protocols() -> list[Protocol]:
    """All of them."""
    return [protocol(name) for name in NAMES]
