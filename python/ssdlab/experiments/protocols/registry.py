"""The list of protocols, in the order in which they are listed. A new one needs a file and a line here."""

from ssdlab.experiments.protocols.contract import Protocol
from ssdlab.foundation.by_name import by_name

NAMES = (
    "purge-precondition",
    "snia-iops",
    "snia-throughput",
    "snia-latency",
    "latency-against-load",
    "write-saturation",
    "over-provisioning-sweep",
    "free-space-sweep",
    "trim-effect",
    "fragmentation",
    "idle-recovery",
    "slc-cache-size",
    "read-tails",
    "fsync",
    "ocp",
)


def protocol(name: str) -> Protocol:
    """The protocol of that name. Raises InputError, with the known names, if there is none."""
    found: Protocol = by_name("protocol", name, NAMES, "ssdlab.experiments.protocols.catalogue.{}")
    return found


def protocols() -> list[Protocol]:
    """All protocols, in order."""
    return [protocol(name) for name in NAMES]
