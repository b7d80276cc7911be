"""Traces as tracers, collections and scripts have them, in `cases/pasted-traces.toml`: what is made of each."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.traces.recording import opened

TRACES = tomllib.loads((Path(__file__).parent / "cases/pasted-traces.toml").read_text())["case"]


@pytest.mark.parametrize("case", TRACES, ids=lambda case: case["name"])
def test_a_trace(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(case["text"])
    with opened([str(path)], None, 0, case.get("columns")) as recording:
        if "refused" in case:
            with pytest.raises(InputError, match=re.escape(case["refused"])):
                _ = recording.survey
            return
        survey = recording.survey
        found = [
            [each.name, each.reads, each.writes, each.trims, each.flushes, each.written_bytes, each.end_bytes_max]
            for each in survey.volumes
        ]
        assert (survey.formats[0], survey.has_times, found) == (case["format"], case["has_times"], case["volumes"])
