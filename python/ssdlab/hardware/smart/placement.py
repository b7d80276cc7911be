"""Reads the logs of flexible data placement through nvme-cli.

The log pages are those of NVM Express 2.1, 5.1.12.1.28 to 5.1.12.1.31, with the structure of `nvme fdp ...
--output-format=json`: configurations (20h), usage of the handles (21h), statistics (22h), events (23h) of the
controller and of the host, which are two readings of one log. They belong to the endurance group of the namespace; the
status of the handles belongs to the namespace.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.attributes import whole

_COUNTERS = ("hbmw", "mbmw", "mbe")

Ask = Callable[..., Mapping[str, Any] | None]
"""Calls nvme-cli with arguments. Returns None if it printed no JSON object."""


@dataclass(frozen=True)
class PlacementLogs:
    """The logs of one endurance group; None for a log that the drive or nvme-cli does not provide."""

    stats: Mapping[str, int]
    """Bytes since the group was configured: written by the host (`hbmw`), programmed (`mbmw`), erased (`mbe`)."""
    configs: Mapping[str, Any] | None
    usage: Mapping[str, Any] | None
    events: Mapping[str, Any] | None
    """The events of the controller that the drive still has, also those before the run."""
    host_events: Mapping[str, Any] | None = None
    status: Mapping[str, Any] | None = None
    """By handle: what can still be written to its reclaim unit."""

    def since(self, before: "PlacementLogs | None") -> JsonObject | None:
        """The difference from an earlier reading, with the structure of a simulated result's `ssdlab.fdp`. None if a
        counter fell, because the group was reconfigured in between."""
        if before is None or self.stats.keys() != before.stats.keys():
            return None
        counted = {name: count - before.stats[name] for name, count in self.stats.items()}
        if min(counted.values()) < 0:
            return None
        return {
            "configs": self.configs,
            "usage": self.usage,
            "stats": counted,
            "status": self.status,
            "events": self.events,
            "host_events": self.host_events,
        }


def read(ask: Ask, where: str) -> PlacementLogs | None:
    """Reads the logs of a namespace's device, for example `/dev/nvme0n1`. Returns None if flexible data placement is
    disabled or nvme-cli is older than 2.3, which lacks these logs."""
    namespace = ask("id-ns", where, "--output-format=json")
    group = whole(namespace.get("endgid")) if namespace else None
    if not group:
        return None

    def log(name: str, *options: str) -> Mapping[str, Any] | None:
        return ask("fdp", name, where, f"--endgrp-id={group}", *options, "--output-format=json")

    stats = log("stats") or {}
    counted = {name: count for name in _COUNTERS if (count := whole(stats.get(name))) is not None}
    if not {"hbmw", "mbmw"} <= counted.keys():
        return None
    return PlacementLogs(
        counted,
        log("configs"),
        log("usage"),
        events=log("events"),
        host_events=log("events", "--host-events"),
        status=ask("fdp", "status", where, "--output-format=json"),
    )
