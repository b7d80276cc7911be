"""The additional SMART log of Intel's and Solidigm's NVMe drives (CAh), as printed by nvme-cli's plugins for them.

It counts NAND and host writes in steps of 32 MiB. NVMe's health log also has the host writes, in a known unit. The unit
is accepted only if the two counts of host writes agree, checked for each drive.
"""

import json
from collections.abc import Mapping
from typing import Any

from ssdlab.smart.counts import NVME_DATA_UNIT_BYTES, Count

_UNIT_BYTES = 32 << 20
_SHARE_MAX = 0.02
"""Largest relative difference of the two counts of host writes. One can start before formatting, and both are
rounded."""
_TICKS_MIN = 100

MODELS = {"INTEL ": "intel", "SOLIDIGM ": "solidigm"}
"""Prefixes of model names, and the nvme-cli plugin for each."""


def command(model: str, path: str) -> tuple[str, ...] | None:
    """The command line that prints the log as JSON, or None for models of other makers."""
    plugin = next((plugin for start, plugin in MODELS.items() if model.upper().startswith(start)), None)
    if plugin is None:
        return None
    # The older plugin has a different switch for JSON.
    form = "--json" if plugin == "intel" else "--output-format=json"
    return ("nvme", plugin, "smart-log-add", path, form)


def first_object(text: str) -> Any:
    """The first JSON value of a text; some nvme-cli versions print a stray `/n` after it. Raises ValueError if there is
    none."""
    value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    return value


def nand_writes(log: Mapping[str, Any], data_units_written: int | None) -> Count | str:
    """The count of NAND writes, or the reason why it is not known."""
    try:
        statistics = log["Device stats"]
        nand, host = int(statistics["nand_bytes_written"]["raw"]), int(statistics["host_bytes_written"]["raw"])
    except (TypeError, KeyError, ValueError):
        return "the vendor log has no counts of NAND and host writes"
    if data_units_written is None or host < _TICKS_MIN:
        return "too little was written to determine the unit of the vendor log"
    share = host * _UNIT_BYTES / (data_units_written * NVME_DATA_UNIT_BYTES) if data_units_written else 0.0
    if abs(share - 1) > _SHARE_MAX:
        return (
            f"the maker's additional log counts {share:.2f} times the host writes of NVMe's health log, in steps of "
            "32 MiB: its unit on this model is unknown"
        )
    return Count(nand, _UNIT_BYTES, "CAh, nand_bytes_written")
