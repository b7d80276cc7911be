"""The additional SMART log of Intel's and Solidigm's NVMe drives (CAh), as nvme-cli's plugins of these names give it.

It counts NAND and host writes in steps of 32 MiB. The host's are in NVMe's own health log too, in known units: that the
two agree is what proves the unit, drive by drive, so that none is assumed.
"""

import json
from collections.abc import Mapping
from typing import Any

from ssdlab.smart.counts import NVME_DATA_UNIT_BYTES, Count

_UNIT_BYTES = 32 << 20
_SHARE_MAX = 0.02
"""The two counts of host writes may differ by so much: one may begin before formatting, and neither is exact."""
_TICKS_MIN = 100

MODELS = {"INTEL ": "intel", "SOLIDIGM ": "solidigm"}
"""How a model's name begins, and the plugin of nvme-cli for it."""


def command(model: str, path: str) -> tuple[str, ...] | None:
    """The command line that prints the log as JSON; None for models of other makers."""
    plugin = next((plugin for start, plugin in MODELS.items() if model.upper().startswith(start)), None)
    if plugin is None:
        return None
    # The older plugin has a switch of its own for JSON.
    form = "--json" if plugin == "intel" else "--output-format=json"
    return ("nvme", plugin, "smart-log-add", path, form)


def first_object(text: str) -> Any:
    """The first JSON value of a text: some versions of nvme-cli print a stray `/n` behind it. Raises ValueError."""
    value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    return value


def nand_writes(log: Mapping[str, Any], data_units_written: int | None) -> Count | str:
    """The count of NAND writes, or why it is not known."""
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
