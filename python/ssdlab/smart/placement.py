"""What a drive with flexible data placement reports of it, read through nvme-cli.

The log pages are those of NVM Express 2.1, 5.1.12.1.28 to 5.1.12.1.31, in the shapes of `nvme fdp ...
--output-format=json`: configurations (20h), usage of the handles (21h), statistics (22h), events (23h). They belong to
an endurance group, which the namespace names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.foreign import JsonObject
from ssdlab.smart.attributes import whole

_COUNTERS = ("hbmw", "mbmw", "mbe")

Ask = Callable[..., Mapping[str, Any] | None]
"""Calls nvme-cli with arguments; None where it printed no JSON object."""


@dataclass(frozen=True)
class PlacementLogs:
    """The logs of one endurance group; a log that the drive or nvme-cli does not give is None."""

    stats: Mapping[str, int]
    """Bytes since the group was configured: written by the host (`hbmw`), programmed (`mbmw`), erased (`mbe`)."""
    configs: Mapping[str, Any] | None
    usage: Mapping[str, Any] | None
    events: Mapping[str, Any] | None

    def since(self, before: "PlacementLogs | None") -> JsonObject | None:
        """What was counted since an earlier reading, in the form of a simulated result's `ssdlab.fdp`. None where the
        group was reconfigured in between, which resets its counters."""
        if before is None or self.stats.keys() != before.stats.keys():
            return None
        counted = {name: count - before.stats[name] for name, count in self.stats.items()}
        if min(counted.values()) < 0:
            return None
        return {"configs": self.configs, "usage": self.usage, "stats": counted, "events": self.events}


def read(ask: Ask, where: str) -> PlacementLogs | None:
    """The logs of a namespace's device, such as `/dev/nvme0n1`. None where flexible data placement is off, or nvme-cli
    older than 2.3, which does not have them."""
    namespace = ask("id-ns", where, "--output-format=json")
    group = whole(namespace.get("endgid")) if namespace else None
    if not group:
        return None

    def log(name: str) -> Mapping[str, Any] | None:
        return ask("fdp", name, where, f"--endgrp-id={group}", "--output-format=json")

    stats = log("stats") or {}
    counted = {name: count for name in _COUNTERS if (count := whole(stats.get(name))) is not None}
    if not {"hbmw", "mbmw"} <= counted.keys():
        return None
    return PlacementLogs(counted, log("configs"), log("usage"), log("events"))
