"""Loads by their names, one run of any drive, and the reasons for loads that cannot be run."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from in_process import call
from ssdlab.errors import InputError
from ssdlab.experiments.studies import page, registry
from ssdlab.experiments.studies.contract import published
from ssdlab.experiments.studies.real import real
from ssdlab.experiments.studies.real_drives import asked, comparison, fitted, loads, measuring, zones
from ssdlab.experiments.studies.real_drives.loads import FOLDER
from ssdlab.simulator.drives import load, names, resolve
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.targets import simulated


@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        ("uniform", "random"),
        ("zipf 0.8", "zipf:0.8"),
        ("20% of the addresses written once, the rest uniformly", "zoned:0/20:100/80"),
        ("20 % of the addresses written once , the rest uniformly", "zoned:0/20:100/80"),
        ("95% of the writes to 5% of the addresses", "zoned:95/5:5/95"),
    ],
)
def test_words_become_distributions(text: str, distribution: str) -> None:
    assert loads.parse(text).variables["DISTRIBUTION"] == distribution


def test_the_fill_is_in_sequence_or_shuffled() -> None:
    assert loads.parse("zipf 0.8").variables["FILL_RW"] == "write"
    shuffled = loads.parse("zipf 0.8 after a shuffled fill")
    assert (shuffled.text, shuffled.variables["FILL_RW"]) == ("zipf 0.8 after a shuffled fill", "randwrite")
    assert shuffled.variables["DISTRIBUTION"] == "zipf:0.8"


def test_an_empty_drive_is_written_without_a_fill() -> None:
    load_asked = loads.parse("uniform without a fill")
    assert load_asked.text == "uniform without a fill"
    jobs = measuring.specify(load("tiny"), load_asked, 1 << 17, seed=1, scale=None).jobs
    assert {job["name"] for job in jobs} == {"write"}


@pytest.mark.parametrize(
    ("text", "kind"), [("95% of the writes to 5% of the addresses", "steady-state"), ("uniform", "job")]
)
def test_skewed_writes_go_on_until_they_are_steady(text: str, kind: str) -> None:
    """A regression: 95 % of the writes to 5 % of the addresses were measured after six drive writes, in a transient."""
    specification = measuring.specify(load("tiny"), loads.parse(text), 1 << 17, seed=1, scale=None)
    assert specification.engine["until"]["kind"] == kind


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("zipff 0.8", "zipf X"),
        ("zipf 0", "above 0"),
        ("zipf 11", "at most 10"),
        ("100% of the addresses written once, the rest uniformly", "from 1 to 99"),
        ("2.5% of the writes to 5% of the addresses", "whole number"),
        ("latency 4000", "above 5,000"),
        ("zones 0 x 8 GiB", "above 0"),
        ("ACT 50", "at least 100"),
    ],
)
def test_other_words_are_refused_with_what_is_allowed(text: str, allowed: str) -> None:
    with pytest.raises(InputError, match=allowed):
        loads.parse(text)


def test_every_published_figure_has_a_drive_and_a_load() -> None:
    figures = published(FOLDER / "figures.csv")
    assert {figure["drive"] for figure in figures} <= set(names())
    for figure in figures:
        loads.parse(figure["workload"])
        assert float(figure["tolerance"]) > 0 and float(figure["value"]) > 0
    marked = {figure["drive"] for figure in figures if figure["fitted"] == "yes"}
    parameters = fitted.THROUGHPUT | fitted.LATENCY
    assert marked == {name for name in parameters if fitted.THROUGHPUT.get(name) or fitted.LATENCY.get(name)}


def test_sequential_writes_are_as_fast_as_the_flash_less_parity(tmp_path: Path) -> None:
    row = asked.run("generic-nvme-960", "sequential", "100GiB", seed=1, scale=None, output=tmp_path)
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["rows"] == [row]
    nand = load("generic-nvme-960").nand
    program_us = mean_us(nand.program_us) + nand.planes_per_die * nand.page_bytes / nand.channel_mb_s
    dies = nand.channels * nand.dies_per_channel
    flash_mib_s = dies * nand.planes_per_die * nand.page_bytes / program_us * 1e6 / (1 << 20)
    assert row["waf"] == pytest.approx(64 / 63, abs=0.002)
    assert row["host_write_mib_s"] == pytest.approx(flash_mib_s * 63 / 64, rel=0.03)


def test_the_smallest_drive_can_be_asked(tmp_path: Path) -> None:
    row = asked.run("tiny", "uniform", "128KiB", seed=1, scale=None, output=tmp_path)
    assert (row["waf"] or 0) > 1 and (row["host_write_mib_s"] or 0) > 0 and row["read_us"]["p50"] is None


def test_more_open_zones_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="more than 4 are needed"):
        zones.workload(loads.parse("zones 4 x 8 GiB"), 32 << 30, 1)


def test_many_zones_are_written_fewer_times_or_refused() -> None:
    """A regression: 186 zones were refused as 4,097 jobs of a job file that nobody had written."""
    many = zones.workload(loads.parse("zones 32 x 4 GiB"), 745 << 30, 1).resolve(800 << 30, seed=1)
    assert len(many) <= 4096
    assert sum(job["name"].startswith("write-") for job in many) == 10 * 186
    with pytest.raises(InputError, match="hold 745 such zones; allowed are up to 338, of which 6 drive writes fit"):
        zones.workload(loads.parse("zones 32 x 1 GiB"), 745 << 30, 1)


def test_zones_are_trimmed_whole_before_they_are_written_anew() -> None:
    jobs = zones.workload(loads.parse("zones 2 x 1 GiB"), 5 << 30, 1).resolve(6 << 30, seed=1)
    visits = [job for job in jobs if job["name"].startswith(("trim-", "write-"))]
    assert len(visits) == 2 * zones.DRIVE_WRITES * 5
    for trim, write in zip(visits[::2], visits[1::2], strict=True):
        assert (trim["direction"], write["direction"]) == ("trim", "write")
        assert trim["offset_bytes"] == write["offset_bytes"] and trim["size_bytes"] == write["size_bytes"] == 1 << 30
        assert write.get("wait_for") == trim["name"]


def test_the_page_leaves_out_the_generated_jobs_of_zones() -> None:
    """A regression: the page had 35 MB, since each of six runs lists 3,000 jobs."""
    drive, load_asked = load("micron-7450-max-800gb"), loads.parse("zones 4 x 8 GiB")
    specification = measuring.specify(drive, load_asked, 745 << 30, seed=1, scale=Fraction(1, 128))
    shown = page._json(specification)
    assert len(shown) < 200_000 < len(json.dumps(specification.to_dict()))
    jobs = json.loads(shown)["engine"]["jobs"]
    assert jobs[0] == specification.jobs[0] and jobs[-1] == f"{len(specification.jobs) - page.JOBS_MAX:,} more; " + (
        "result.json has all"
    )


def test_act_reads_records_and_moves_as_many_blocks_as_it_writes() -> None:
    drive = load("samsung-845dc-pro-400gb")
    act = loads.parse("act 6000")
    jobs = measuring.specify(drive, act, 372 << 30, seed=1, scale=measuring.scale_of(drive, act)).jobs
    rates = {job["name"]: job["rate_iops"]["read"] for job in jobs if "rate_iops" in job}
    # 23.5 blocks a second for 1,000 records written and 2,000 read, as in ACT's documentation.
    assert rates == {"records": 12000, "block-reads": 141, "block-writes": 141}
    with pytest.raises(InputError, match="blocks of"):
        measuring.specify(load("tiny"), loads.parse("ACT 1000"), 8192, seed=1, scale=None)


def test_more_spare_area_leaves_fewer_slow_reads_beside_act() -> None:
    drive = load("samsung-845dc-pro-400gb")
    act = loads.parse("ACT 6000")
    scale = measuring.scale_of(drive, act)
    measured = {}
    for gib in (372, 294):
        specification = measuring.specify(drive, act, gib << 30, seed=1, scale=scale)
        measured[drive.name, str(gib), "ACT 6000"] = measuring.measured(simulated.run(specification), act)
    figures = [figure for figure in comparison.FIGURES if comparison._key(figure) in measured]
    rows = {
        figure["figure"]: comparison._value(figure, measured) for figure in figures if figure["in_use_gib"] == "294"
    }
    shares = [measured[drive.name, gib, "ACT 6000"].reads_over_us for gib in ("372", "294")]
    assert shares[0] is not None and shares[1] is not None
    assert 0 < (shares[1]["512"] or 0) < (shares[0]["512"] or 0)
    assert rows["reads_over_512_us"] == shares[1]["512"]
    assert rows["ratio_of_reads_over_512_us"] == pytest.approx((shares[1]["512"] or 0) / (shares[0]["512"] or 1))
    nothing = dict.fromkeys(measured, measuring.Measured(None, None, reads_over_us={"4000": 0.0}))
    ratio = next(figure for figure in figures if figure["figure"] == "ratio_of_reads_over_4000_us")
    assert comparison._value(ratio, nothing) is None


@pytest.mark.parametrize("name", list(fitted.LATENCY))
def test_latencies_are_measured_with_the_batches_of_the_full_drive(name: str) -> None:
    drive, load_asked = load(name), loads.parse("latency 20000")
    small = resolve(drive, scale=measuring.scale_of(drive, load_asked)).file
    assert small.ftl.gc_throttling == drive.ftl.gc_throttling
    assert small.capacity.flash_units <= max(measuring.UNITS_MAX * 2, drive.capacity.flash_units // 16)


def test_in_use_beyond_the_drive_and_half_a_request_are_refused() -> None:
    with pytest.raises(InputError, match="offers"):
        measuring.specify(load("tiny"), loads.parse("uniform"), 1 << 40, seed=1, scale=None)
    with pytest.raises(InputError, match="--workload"):
        call("study", "real-drives", "--drive", "tiny")
    with pytest.raises(InputError, match="real-drives"):
        call("study", *["pny-over-provisioning", "--drive", "tiny", "--workload", "uniform"])
    with pytest.raises(InputError, match="cannot run on another drive"):
        real(registry.study("real-drives"))
