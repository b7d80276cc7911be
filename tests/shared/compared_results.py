"""The results of a comparison, one for each variant, from the one object of its `result.json`."""

import json
from pathlib import Path
from typing import Any


def variants_of(file: Path) -> list[dict[str, Any]]:
    """Each variant as `ssdlab run` would write it: its key `ssdlab` and its jobs."""
    whole = json.loads(file.read_text())
    found = [
        {
            "ssdlab": part,
            "jobs": [job for job in whole["jobs"] if job["ssdlab"]["variant"] == part["variant"]["label"]],
        }
        for part in whole["ssdlab"]["variants"]
    ]
    assert sum(len(each["jobs"]) for each in found) == len(whole["jobs"])
    return found
