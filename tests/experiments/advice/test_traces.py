"""Traces as the workload: scaled-down runs agree with complete runs, and the command states the limits of a trace."""

import json
import pickle
import re
import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean

import pytest

from compared_results import variants_of
from program import Program, program_in
from small_drives import drive_file
from ssdlab.experiments.advice.recorded import of_trace
from ssdlab.experiments.advice.setting import Setting
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads.traces.miniature import sample_of
from ssdlab.simulator.workloads.traces.profile import profile_of
from ssdlab.simulator.workloads.traces.recording import opened
from ssdlab.simulator.workloads.traces.specification import specify
from synthetic_traces import made, write

# 8 GiB in erase units of 16,384 units; those of the scaled-down drives have 2,048, 1,024 and 512.
USER_UNITS = 24 * 2**16
ONE_IN = 16
WITHIN = {8: 0.03, 16: 0.03, 32: 0.06}
"""How near a scaled-down drive comes, by the scale: what docs/simulate/advice.md says."""


@pytest.mark.parametrize("kind", ["zipf", "journal", "files"])
def test_the_miniature_is_within_a_few_percent_of_the_whole_run(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "drive.toml"
    path.write_text(drive_file("eight-gib", blocks=128, pages=16384, user_bytes=USER_UNITS * 4096))
    file = load(str(path))
    trace = made(kind, tmp_path, USER_UNITS, 1_000_000)
    with opened([str(trace)], "mqsim", 0) as recording:
        workload = of_trace(recording, None, resolve(file).capacity.user_bytes, merged=False)
        assert workload.address_map == "strict"

        def settled(scale: Fraction | None, seed: int) -> tuple[float, int]:
            specification = workload.specify(resolve(file, scale=scale), seed=seed, timed=False)
            result = simulated.run(specification)
            assert result.settled_waf is not None
            return result.settled_waf, result.ledger.host_written_bytes

        whole, whole_bytes = settled(None, 1)
        for one_in, within in WITHIN.items():
            # Two seeds, as in an advice.
            small = [settled(Fraction(1, one_in), seed) for seed in (1, 2)]
            assert fmean(waf for waf, _ in small) == pytest.approx(whole, rel=within), one_in
            # The rounds of a small drive differ more, so that it takes more of them to know the mean.
            assert all(written_bytes < whole_bytes / one_in * 2 for _, written_bytes in small), one_in


def test_regions_as_large_as_a_request_keep_their_share_of_the_writes(tmp_path: Path) -> None:
    """A regression: one hot region more or less, by chance, changed the writes of a scaled-down run by a tenth, and WAF
    with them."""
    import numpy as np

    path = tmp_path / "drive.toml"
    path.write_text(drive_file("eight-gib", blocks=128, pages=16384, user_bytes=USER_UNITS * 4096))
    random, units_per_request = np.random.default_rng(7), 32
    regions = USER_UNITS // 256
    weights = np.cumsum(1 / np.arange(1, regions + 1) ** 0.9)
    places = random.permutation(regions)[np.searchsorted(weights / weights[-1], random.random(40_000))] * 256
    trace = write(tmp_path / "regions.trace", places + random.integers(0, 8, 40_000) * units_per_request, 32)
    drive = resolve(load(str(path)), scale=Fraction(1, ONE_IN))
    with opened([str(trace)], "mqsim", 0) as recording:
        profile = profile_of(recording, None, region_bytes=units_per_request * 4096)
        for seed in range(1, 6):
            sample = sample_of(profile, ONE_IN, region_bytes=profile.region_bytes, seed=seed)
            once = specify(
                recording, drive, volume=None, address_map="strict", seed=seed, until_steady=False, timed=False,
                sample=sample,
            )  # fmt: skip
            written_bytes = simulated.run(once).jobs[-1].write.io_bytes
            assert written_bytes * ONE_IN == pytest.approx(profile.write.bytes, rel=0.03)


@pytest.fixture
def ssdlab(tmp_path: Path) -> Program:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=128, pages=2048, user_bytes=920 << 20))
    made("zipf", tmp_path, 170_000, 60_000)
    return program_in(tmp_path)


def test_a_trace_is_advised_on(ssdlab: Program, tmp_path: Path) -> None:
    words = "zipf.trace --trace-format mqsim --drive small.toml --waf 2 --output o"
    ended = ssdlab("advise", "space", *words.split())
    assert ended.returncode == 0, ended.stderr
    said = " ".join(ended.stdout.split())
    assert said.startswith("Leave ")
    assert "shorter than one drive write" in said
    # A regression: the sentence contained the expression instead of its value.
    assert re.search(r"it does not cover later writes to the other [\d.]+ \w?B or changes of the workload", said)
    assert "a day" in ended.stderr, "its own pace"
    runs = json.loads((tmp_path / "o/result.json").read_text())["runs"]
    again = runs[-1]["command"] if "fifo" not in runs[-1]["command"] else runs[0]["command"]
    # The printed command line gives the same figure.
    repeated = ssdlab(*again.split()[1:], "--output", "again")
    assert repeated.returncode == 0, repeated.stderr
    waf = next(run["figures"]["waf"] for run in runs if run["command"] == again)
    assert f"{waf:.2f}" in repeated.stdout


def test_columns_of_ones_own_and_a_log_of_rates_are_advised_on(ssdlab: Program, tmp_path: Path) -> None:
    """Regressions: --columns was an option of replay only, and a log of iostat was no workload at all."""
    with opened([str(tmp_path / "zipf.trace")], "mqsim", 0) as recording:
        assert recording.survey.volumes[0].writes > 0
    lines = [line.split() for line in (tmp_path / "zipf.trace").read_text().splitlines()]
    rows = [f"{time};{sector};{sectors};{'R' if kind == '1' else 'W'}" for time, _, sector, sectors, kind in lines]
    (tmp_path / "own.txt").write_text("\n".join(rows) + "\n")
    for call, files in (
        ("advise --waf 2 --output own", ["own.txt", "--columns", "time_ns,sector,sectors,op"]),
        ("advise --waf 2 --output known", ["zipf.trace", "--trace-format", "mqsim"]),
    ):
        ended = ssdlab(*call.split(), *files, "--drive", "small.toml")
        assert ended.returncode == 0, ended.stderr
    own, known = (json.loads((tmp_path / name / "result.json").read_text())["runs"] for name in ("own", "known"))
    assert [run["figures"] for run in own] == [run["figures"] for run in known]
    assert "--columns time_ns,sector,sectors,op" in own[0]["command"]

    (tmp_path / "iostat.txt").write_bytes((Path(__file__).parents[2] / "cli/files/iostat.txt").read_bytes())
    ended = ssdlab("advise", "space", "iostat.txt", "--drive", "small.toml", "--waf", "3", "--output", "log")
    assert ended.returncode == 0, ended.stderr
    assert "Guessed, because a log of rates has no addresses" in " ".join(ended.stdout.split())
    assert "the host writes 283.1 GB a day" in ended.stderr
    runs = json.loads((tmp_path / "log/result.json").read_text())["runs"]
    assert "Guessed" in (tmp_path / "log/report.html").read_text()
    assert runs and "rwmixread=33" in (tmp_path / "log/workload.fio").read_text()
    ended = ssdlab("replay", "iostat.txt", "--drive", "small.toml", "--output", "replayed")
    assert ended.returncode == 0 and "guessed, because a log of rates has no addresses" in ended.stderr
    (result,) = variants_of(tmp_path / "replayed/result.json")
    assert sum(result["jobs"][-1][kind]["total_ios"] for kind in ("read", "write")) == 1200


def test_a_miniature_is_repeated_by_its_command(ssdlab: Program, tmp_path: Path) -> None:
    file, scale = load(str(tmp_path / "small.toml")), Fraction(1, 4)
    with opened([str(tmp_path / "zipf.trace")], "mqsim", 0) as recording:
        workload = of_trace(recording, None, resolve(file).capacity.user_bytes, merged=False)
        result = simulated.run(workload.specify(resolve(file, scale=scale), seed=5, timed=False))
        command = workload.command("small.toml", {}, None, scale, 5, timed=False, on=resolve(file, scale=scale))
    # Of reduced data, with a write amplification below 1, it was negative.
    assert [workload.miniature_error(waf) for waf in (0.5, 1.0, 1.02, 3.0)] == pytest.approx([0, 0, 0.004, 0.01])
    assert "--sample 4096B" in command
    repeated = ssdlab(*shlex.split(command)[1:], "--output", "again")
    assert repeated.returncode == 0, repeated.stderr
    assert f"{result.settled_waf:.2f}" in repeated.stdout


def test_life_needs_no_daily_writes_where_the_trace_has_times(ssdlab: Program) -> None:
    ended = ssdlab("lifetime", "zipf.trace", "--drive", "small.toml", "--op", "20%", "--trace-format", "mqsim")
    assert ended.returncode == 0, ended.stderr
    assert "as sold" in ended.stdout
    assert "shorter than one drive write" in ended.stdout
    assert re.search(r"At its rate, .* of recording would write the drive once", " ".join(ended.stdout.split()))


def test_what_hardly_writes_and_what_does_not_fit_is_refused(ssdlab: Program, tmp_path: Path) -> None:
    import numpy as np

    write(tmp_path / "few.trace", np.arange(10))
    ended = ssdlab("advise", "space", "few.trace", "--trace-format", "mqsim", "--drive", "small.toml", "--waf", "2")
    assert ended.returncode == 2
    # A trace too short to tell says how long it should be.
    said = r"too few writes for an advice .* writes to 64 units or more, at its rate [\d.]+ seconds or longer"
    assert re.search(said, ended.stderr)
    write(tmp_path / "far.trace", np.arange(0, 300_000), 1)
    ended = ssdlab("advise", "space", "far.trace", "--trace-format", "mqsim", "--drive", "small.toml", "--waf", "2")
    assert ended.returncode == 2
    assert "take a larger one" in ended.stderr


@pytest.mark.parametrize("scale", [None, Fraction(1, 4)])
def test_what_is_in_memory_is_what_the_files_hold(ssdlab: Program, tmp_path: Path, scale: Fraction | None) -> None:
    file = load(str(tmp_path / "small.toml"))
    with opened([str(tmp_path / "zipf.trace")], "mqsim", 0) as recording:
        workload = of_trace(recording, None, resolve(file).capacity.user_bytes, merged=False)
        held = workload.specify(resolve(file, scale=scale), seed=5, timed=False)
        read = replace(held, held=None)
        assert held.held is not None
        assert pickle.loads(pickle.dumps(held)) == read, "another process reads the files"
        one, other = simulated.run(held), simulated.run(read)
        assert one.steady_state == other.steady_state
        assert (one.ledger, one.wear, one.trace_counts) == (other.ledger, other.wear, other.trace_counts)


def test_a_cache_keeps_its_share_in_a_miniature() -> None:
    """At 1/128 blocks of this drive would have 8 pages, 2 of them for its SLC cache, whose share is a third."""
    setting = Setting(load("generic-nvme-tlc-1000"), {})
    assert setting.scale_for(1_000_000, 1000) == Fraction(1, 64)
    assert setting.with_settings({"slc_cache.dynamic_bytes_max": "0"}).scale_for(1_000_000, 1000) == Fraction(1, 128)
