"""Does a job search its depth like fio 3.33, and report it with fio's words?"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.errors import InputError
from ssdlab.simulator.results import Result
from ssdlab.simulator.results.text import normal
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

GIB = 1 << 30
# A latency that nothing exceeds, so that the depth doubles up to the largest.
EASY = "rw=randread\nnorandommap\niodepth=8\nlatency_target=1s\nlatency_window=100ms\n"
KEYS = ("latency_depth", "latency_target", "latency_percentile", "latency_window")


def one(options: str) -> Any:
    return parse(f"[a]\nrw=randread\n{options}\n", "x.fio").resolve(GIB, seed=1)[-1]


def run(text: str) -> Result:
    return simulated.run(specifying.specify(parse(text), ssdlab.drive("textbook"), seed=1, timed=True))


def test_what_the_engine_is_told() -> None:
    assert one("latency_target=250")["latency_target"] == {
        "latency_ns": 250_000, "window_ns": 0, "percent": 100.0, "goes_on": False,
    }  # fmt: skip
    options = "latency_target=2ms\nlatency_window=5s\nlatency_percentile=99.5\nlatency_run=1"
    assert one(options)["latency_target"] == {
        "latency_ns": 2_000_000, "window_ns": 5 * 10**9, "percent": 99.5, "goes_on": True,
    }  # fmt: skip
    assert "latency_target" not in one("latency_window=5s\nlatency_run=1\nlatency_target=0")
    assert one("latency_target=1\nexitall_on_error")["limits"]["ends_others"] == "stage"


@pytest.mark.parametrize("value", ["0", "100.1", "99:50", "x", ""])
def test_a_percentile_is_one_share(value: str) -> None:
    with pytest.raises(InputError, match=r"line 3: latency_percentile=.*: allowed is a "):
        one(f"latency_percentile={value}")


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_what_is_found_is_told_as_fio_tells_it(tmp_path: Path) -> None:
    (tmp_path / "x.fio").write_text(f"[a]\nioengine=null\nsize=1t\ntime_based\nruntime=60\n{EASY}")
    command = ["fio", "--output-format=json,normal", "--output=out", "x.fio"]
    subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
    said = (tmp_path / "out").read_text()
    of_fio = json.JSONDecoder().raw_decode(said[said.index("{") :])[0]["jobs"][0]
    result = run(f"[a]\ntime_based\nruntime=60\n{EASY}")
    ours = result.to_dict()["jobs"][0]
    assert {key: ours[key] for key in KEYS} == {key: of_fio[key] for key in KEYS}
    line = re.search(r"^     latency   : .*$", said, re.MULTILINE)
    assert line and line[0] in normal(result).splitlines()
    # Both count only the last window.
    assert ours["job_runtime"] == pytest.approx(100, abs=3) and of_fio["job_runtime"] >= 100


def test_a_latency_that_one_request_alone_exceeds() -> None:
    result = run(f"[a]\n{EASY}".replace("=1s", "=1"))
    assert result.failure is not None and "exceeds specified max (1000 nsec): read" in result.failure
    assert result.to_dict()["jobs"][0]["error"] == 110
