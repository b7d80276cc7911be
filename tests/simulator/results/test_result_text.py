"""Is the text laid out like fio's, and are sizes printed as fio prints them?"""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.presentation.report import WearStatistics
from ssdlab.presentation.report.table import variants_table
from ssdlab.simulator.results import DirectionResult, Latency
from ssdlab.simulator.results.compared import of_result
from ssdlab.simulator.results.latency import PERCENTILES
from ssdlab.simulator.results.text import fio_size, normal
from ssdlab.simulator.results.text_rates import PLAIN, direction_lines, short
from waiting import SECONDS_MAX

TWO_GROUPS = "[global]\nbs=4k\ngroup_reporting\n[a]\nrw=randwrite\nnumjobs=2\n[b]\nstonewall\nrw=read\n"


def test_layout(run: Any) -> None:
    text = normal(run(TWO_GROUPS, timed=False))
    assert "a: (groupid=0, jobs=2): err= 0\n  write: io=320KiB (328kB), ios=80;" in text
    assert "    waf: 1.5000 = host 1.0000 + gc 0.5000" in text
    assert "b: (groupid=1, jobs=1): err= 0\n  read: io=160KiB (164kB), ios=40;" in text
    assert "waf: not measured (the host wrote nothing)" in text
    assert "Run status group 1 (all jobs):\n   READ: io=160KiB (164kB)" in text


def test_layout_with_a_clock(run: Any) -> None:
    """80 requests with a mean of 152.832 us, one after another, on two parallel clones."""
    text = normal(run(TWO_GROUPS))
    assert "a: (groupid=0, jobs=2): err= 0\n  write: IOPS=13.1k, BW=51.1MiB/s (53.6MB/s)(320KiB/6msec)\n" in text
    assert "    clat (usec): min=101, max=203, avg=152.83, stdev=50.94\n     lat (usec): min=" in text
    assert "    clat percentiles (usec):\n     |  1.00th=[  102],  5.00th=[  102], 10.00th=[  102]," in text
    assert "    clat percentiles 90 to 99.99: -, fewer than 10 of 80 requests are above them\n" in text
    assert "  lat (usec)   : 250=100.00%\n" in text
    assert "Run status group 1 (all jobs):\n   READ: bw=25.6MiB/s (26.8MB/s), 25.6MiB/s-25.6MiB/s" in text


@pytest.mark.parametrize("options", ["--rw=write --bs=4k --size=1g", "--rw=randrw --bs=4k --size=2g --iodepth=4"])
def test_the_text_of_a_clock_is_fio_s_own(options: str, tmp_path: Path) -> None:
    """fio's JSON is read like an engine outcome, printed, and compared with fio's text for the same run."""
    command = ["fio", "--name=a", "--ioengine=null", "--output-format=json+,normal", *options.split()]
    printed = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=SECONDS_MAX
    ).stdout
    plain, _ = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
    for name in ("read", "write"):
        theirs = plain["jobs"][0][name]
        if not theirs["total_ios"]:
            continue
        raw = theirs["clat_ns"]
        latency = Latency(
            raw["N"],
            raw["min"],
            raw["max"],
            raw["mean"],
            raw["stddev"],
            tuple((int(middle_ns), count) for middle_ns, count in raw["bins"].items()),
        )
        assert {
            key: value for key, value in latency.to_dict(percentiles=PERCENTILES, bins=True).items() if key != "stddev"
        } == {key: value for key, value in raw.items() if key != "stddev"}
        direction = DirectionResult(theirs["total_ios"], theirs["io_bytes"], theirs["runtime"] / 1000, latency)
        lines = direction_lines(name, direction)
        ours = [line for line in lines if not line.startswith("     lat (")]
        for line in ours:
            assert line in printed


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (9_439_550, "9439.6k"),
        (4_023_968, "4024.0k"),
        (7_999_992, "8000.0k"),
        (14_182_784, "14183k"),
        (999_999, "999999"),
    ],
)
def test_digits_are_rounded_as_by_fio(count: int, expected: str) -> None:
    """As fio 3.33 printed these maxima; the first one has another digit if the quotient is rounded."""
    assert short(count, 1000, PLAIN, 6) == expected


def test_a_read_only_drive_is_told(run: Any) -> None:
    text = normal(run("[a]\nrw=write\nbs=4k\n", seed=14))
    assert "err=30" in text
    assert "READ-ONLY: the drive is out of spare blocks" in text


@pytest.mark.parametrize("size", ["512", "4k", "1000k", "4m", "12m", "100m", "1g"])
def test_sizes_are_printed_as_fio_does(size: str, tmp_path: Path) -> None:
    command = ["fio", "--name=a", "--ioengine=null", "--rw=write", "--bs=512", f"--size={size}"]
    command += ["--bs=1m"] if size.endswith(("m", "g")) else []
    printed = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=SECONDS_MAX
    ).stdout
    theirs = re.search(r"io=(\S+ \(\S+\))", printed)
    assert theirs is not None
    factor = {"k": 2**10, "m": 2**20, "g": 2**30}.get(size[-1], 1)
    assert fio_size(int(size.rstrip("kmg")) * factor) == theirs[1]


def test_erases_in_slc_mode_are_apart(tmp_path: Path) -> None:
    """A regression: "erases 0-3079" of 1,500 rated, because erases of an SLC cache's blocks stood with the others."""
    job = tmp_path / "over.fio"
    job.write_text("[over]\nrw=randwrite\nbs=64k\nsize=5%\nio_size=100%\n")
    drive = ssdlab.drive("generic-sata-tlc-500", scale="1/64", settings={"slc_cache.when_full": "fold"})
    result = ssdlab.run(job, drive, timed=False)
    rated, in_slc_mode = result.wear["erase_count"], result.wear["slc_mode"]
    assert in_slc_mode is not None
    counts = in_slc_mode["erase_count"]
    assert counts["min"] >= 1
    erased = result.ledger.erased_erase_units
    blocks = sum(each["blocks"] for each in result.wear["histogram"])
    counted = rated["mean"] * blocks + counts["mean"] * in_slc_mode["blocks"]
    assert counted / erased == pytest.approx(round(counted / erased)), "blocks of an erase unit"
    lines = normal(result).splitlines()
    (line,) = (line for line in lines if "wear in SLC mode" in line)
    assert line == (
        f"  wear in SLC mode: erase count min={counts['min']}, avg={counts['mean']:.2f}, max={counts['max']}, "
        f"stdev={counts['stddev']:.2f}, blocks={in_slc_mode['blocks']}"
    )
    shown = of_result(result, "a")
    assert shown.slc_mode_wear == WearStatistics(counts["min"], counts["mean"], counts["max"], counts["stddev"])
    assert "in SLC mode" in str(variants_table([shown]))
    assert "in SLC mode" not in str(variants_table([replace(shown, slc_mode_wear=None)]))
