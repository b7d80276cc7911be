"""The newcomer's path in `tools/first_minutes`, with the environment of the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_from_a_trace_and_a_drive_of_ones_own_to_an_advice(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("ssdlab")
    ended = subprocess.run(
        [ROOT / "tools/first_minutes", "--with", program],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    said = re.search(r"(\d+) commands, (\d+) s of processor time, \d+ s; the advice: (.+)", ended.stdout)
    assert said
    assert int(said[2]) > 0
    assert int(said[1]) + len(("venv", "pip")) <= 10
    assert Path(said[3]).stat().st_size > 10_000
