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


def test_a_trace_that_powershell_wrote(tmp_path: Path) -> None:
    """A regression: `program > trace.txt` writes UTF-16, which was an unknown format."""
    path = tmp_path / "trace.csv"
    path.write_text("".join(f"{128166372000000000 + at},h,0,Write,{4096 * at},4096,0\n" for at in range(300)), "utf-16")
    with opened([str(path)], None, 0) as recording:
        assert (recording.survey.formats, recording.names) == (["msr"], (str(path),))
        assert recording.survey.volumes[0].writes == 300
