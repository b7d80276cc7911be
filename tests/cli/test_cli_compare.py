"""`ssdlab compare` as a user calls it, on the real engine."""

import re
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from compared_results import variants_of

COMPARE = ("compare", "uniform.fio", "--drive", "small.toml")
LABELS = ["greedy, 20 %", "greedy, 40 %", "fifo, 20 %", "fifo, 40 %"]

Ended = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def compared(ssdlab_in: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ended, Path]:
    """The main run and its output folder. Charts take seconds, so it runs once for all tests here."""
    folder = tmp_path_factory.mktemp("compared")
    choices = ("--op", "20%,40%", "--set", "ftl.victim=greedy,fifo", "--workers", "2", "--output", "out")
    ended: Ended = ssdlab_in(folder)(*COMPARE, *choices)
    assert ended.returncode == 0, ended.stderr
    return ended, folder / "out"


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_table_fits_80_columns(compared: tuple[Ended, Path]) -> None:
    ended, _ = compared
    assert all(_plain(ended.stdout).count(label) == 3 for label in LABELS), "three tables, for 80 columns hold not one"
    assert max(len(line.rstrip()) for line in ended.stdout.splitlines()) <= 80
    assert "small: a drive file of your own" in " ".join(ended.stdout.split())
    assert all(
        heading in ended.stdout
        for heading in ("effective OP", "theory", "IOPS", "write p99.9", "host TB", "TBW", "steady at")
    )


def test_the_figures_belong_together(compared: tuple[Ended, Path]) -> None:
    results = variants_of(compared[1] / "result.json")
    assert [result["ssdlab"]["variant"]["label"] for result in results] == LABELS
    for result in results:
        ours, variant = result["ssdlab"], result["ssdlab"]["variant"]
        assert ours["steady_state"]["reached"] is True
        assert variant["waf"] == ours["steady_state"]["waf"]
        assert sum(variant["waf_parts"].values()) == pytest.approx(variant["waf"])
        flash_bytes = ours["capacity"]["physical_bytes"]
        assert variant["tbw_bytes"] == pytest.approx(3000 * flash_bytes / variant["waf"])
        assert variant["years"] == pytest.approx(variant["tbw_bytes"] / ours["capacity"]["user_bytes"] / 365)
        assert result["jobs"][0]["jobname"] == "precondition"
        assert result["jobs"][0]["ssdlab"]["waf"] == 1
    waf = {result["ssdlab"]["variant"]["label"]: result["ssdlab"]["waf"] for result in results}
    assert waf["greedy, 40 %"] < waf["greedy, 20 %"] < waf["fifo, 20 %"]


def test_the_waf_is_that_of_theory(compared: tuple[Ended, Path]) -> None:
    """Rounds of one drive write on a drive of 512 erase units scatter, hence the tolerance."""
    for result in variants_of(compared[1] / "result.json"):
        theory = result["ssdlab"]["variant"]["theory"]
        assert theory["reason"] is None
        assert abs(theory["deviation_share"]) < 0.03, theory


def test_the_tail_is_that_of_all_requests_of_the_steady_state(compared: tuple[Ended, Path]) -> None:
    """A regression: legend and page called it the median over intervals."""
    ended, folder = compared
    for result in variants_of(folder / "result.json"):
        together = result["ssdlab"]["steady_state"]["iops"]["latency_ns"]["write"]["percentile"]["99.900000"]
        assert result["ssdlab"]["variant"]["speed"]["write"]["latency_ns_p999"] == together
    assert "latencies: simulated, over all requests of the steady state, to the digits" in " ".join(
        ended.stdout.split()
    )
    page = (folder / "report.html").read_text()
    assert 'title="the 99.9th percentile of all writes in the compared window, or of the reads if there' in page
    assert "interval" not in re.search(r">IOPS<.*>99.9\u00a0% latency<", page)[0]  # type: ignore[index]


def test_speed_is_that_of_the_steady_state_and_follows_from_waf(compared: tuple[Ended, Path]) -> None:
    """One die: a host unit costs its program, plus WAF - 1 copies with their reads, plus WAF erases of 1/64 block."""
    for result in variants_of(compared[1] / "result.json"):
        variant = result["ssdlab"]["variant"]
        speed, waf = variant["speed"], variant["waf"]
        assert speed["window"] == "steady state"
        transfer_us = 4096 / 200
        unit_us = 200 + (waf - 1) * (25 + 200) + waf * 1500 / 64
        transfers_us = (2 * waf - 1) * transfer_us
        assert 1e6 / (unit_us + transfers_us) * 0.97 < speed["write"]["iops"] < 1e6 / unit_us * 1.03
        assert speed["write"]["iops"] * speed["write"]["latency_ns_mean"] / 1e9 == pytest.approx(1, rel=0.01)
        assert speed["write"]["latency_ns_p999"] > speed["write"]["latency_ns_mean"]
        assert speed["read"] == {
            "iops": 0,
            "mb_s": 0,
            "latency_ns_mean": None,
            "latency_ns_p99": None,
            "latency_ns_p999": None,
        }


def test_the_files(compared: tuple[Ended, Path]) -> None:
    folder = compared[1]
    series = pl.read_parquet(folder / "data/timeseries.parquet")
    assert series["variant"].unique(maintain_order=True).to_list() == LABELS
    page = (folder / "report.html").read_text()
    assert all(label in page for label in LABELS)
    (title,) = re.findall(r"<title>(.*)</title>", page)
    assert f"<h1>{title}</h1>" in page and re.search(r"writes \d+\.\d+ times less to flash than", title)
    over_time = pl.read_parquet(folder / "data/timeseries-time.parquet")
    assert over_time["variant"].unique(maintain_order=True).to_list() == LABELS
    assert {path.name for path in folder.iterdir()} == {"report.html", "result.json", "timing.json", "data"}
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_drives_with_their_own_spare_area_one_of_them_worn_out(ssdlab: Any, tmp_path: Path) -> None:
    text = (tmp_path / "small.toml").read_text().replace('"small"', '"other"').replace("104857600", "83886080")
    worn = text.replace("endurance_cycles = 3000", "endurance_cycles = 2") + "[faults]\nwear_out = true\n"
    (tmp_path / "other.toml").write_text(
        worn.replace("[sources]", '[sources]\n"faults.*" = { kind = "assumed", source = "made up for a test" }')
    )
    (tmp_path / "long.fio").write_text("[long]\nrw=randwrite\nbs=4k\nnorandommap\nloops=20\n")
    drives = ("--drive", "small.toml", "--drive", "other.toml")
    ended = ssdlab("compare", "long.fio", *drives, "--until", "job", "--precondition", "none", "--untimed")
    assert ended.returncode == 1, ended.stderr
    assert "IOPS" not in ended.stdout
    assert "other: READ-ONLY" in ended.stdout and "error: other: " in ended.stderr
    assert "the run did not search for a steady state" in ended.stdout
    folder = tmp_path / "out" / "compare-long"
    names = {path.name for path in folder.rglob("*.*")}
    assert "timeseries.parquet" in names and "timeseries-time.parquet" not in names
    page = (folder / "report.html").read_text()
    assert 'data-figure="waf-over-host-writes"' in page and "--untimed" in page
    assert 'data-figure="iops-over-time"' not in page and 'data-figure="latency-over-time"' not in page
    results = variants_of(folder / "result.json")
    assert [result["ssdlab"]["variant"]["speed"] for result in results] == [None, None]
    told = {
        result["ssdlab"]["variant"]["label"]: (
            result["ssdlab"]["capacity"]["over_provisioning"],
            result["ssdlab"]["steady_state"]["reached"],
            bool(result["ssdlab"]["failure"]),
        )
        for result in results
    }
    assert told == {"small": (pytest.approx(0.28), None, False), "other": (pytest.approx(0.6), None, True)}
