"""Are the properties of a drive inferred correctly from completed requests alone, even after an interruption?"""

import ast
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import blind
import ssdlab
from in_process import call
from own_devices import needs
from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.identification import choices, output
from ssdlab.hardware.identification.bench import Limits
from ssdlab.hardware.identification.box import Box, Completed, Counters
from ssdlab.hardware.identification.boxes.simulated import SimulatedBox
from ssdlab.hardware.identification.drive import DERIVED, model_of
from ssdlab.hardware.identification.estimate import beginning
from ssdlab.hardware.identification.experiments import fill, overwrite, random_writes
from ssdlab.hardware.identification.identify import Found, identify, plan
from ssdlab.hardware.identification.store import Store
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.drives.resolve import ResolvedDrive
from ssdlab.simulator.workloads import jobs
from waiting import SECONDS_MAX, wait_for

LIBRARY = Path(__file__).parents[3] / "python/ssdlab"
SMALL = {
    "nand.channels": "2",
    "nand.dies_per_channel": "2",
    "nand.planes_per_die": "2",
    "nand.blocks_per_plane": "120",
    "nand.pages_per_block": "24",
    "nand.read_us": "45",
    "nand.program_us": "500",
    "write_buffer.bytes": "2097152",
    "host_link.interface": "pcie3x4",
}
TRUE = {
    "ftl.mapping_unit_bytes": 4096,
    "nand.page_bytes": 16384,
    "nand.planes_per_die": 2,
    "nand.channels": 2,
    "nand.dies_per_channel": 2,
    "parallel_units": 4,
    "nand.read_us": 45.0,
    "nand.program_us": 500.0,
    "nand.erase_us": 5000.0,
    "nand.channel_mb_s": 800.0,
    "host_link.mb_s": 3602.0,
    "erase_unit_bytes": 2 * 2 * 2 * 24 * 16384,
    "nand.pages_per_block": 24,
    "buffer_bytes": 2097152,
}


def small(op: float = 0.15) -> ResolvedDrive:
    return resolve(load("generic-tlc-480"), settings=SMALL, over_provisioning=op)


class Sealed:
    """A box that hides the wrapped box: none of its other attributes is accessible."""

    __slots__ = ("_counters", "_run", "capacity_bytes", "draws_as_simulated", "sector_bytes")

    def __init__(self, box: Box) -> None:
        self.capacity_bytes = box.capacity_bytes
        self.sector_bytes = box.sector_bytes
        self.draws_as_simulated = box.draws_as_simulated
        self._run = lambda sections: box.run(sections)
        self._counters = lambda: box.counters()

    def run(self, sections: Sequence[str]) -> list[Completed]:
        return self._run(sections)

    def counters(self) -> Counters | None:
        return self._counters()


class Delayed(Sealed):
    """A box behind a host that delays each request by up to some times `mean_us`, as a virtual machine does."""

    __slots__ = ()

    def __init__(self, box: Box, shape: float, mean_us: float) -> None:
        super().__init__(box)
        random = np.random.default_rng(1)

        def delayed(done: Completed) -> Completed:
            added = random.gamma(shape, mean_us / shape, len(done.latency_us))
            return replace(done, latency_us=done.latency_us + added)

        self._run = lambda sections: [delayed(each) for each in box.run(sections)]


class Failing:
    """A box that is interrupted at one of its calls."""

    def __init__(self, box: SimulatedBox, at: int) -> None:
        self._box = box
        self._left = at

    @property
    def capacity_bytes(self) -> int:
        return self._box.capacity_bytes

    @property
    def sector_bytes(self) -> int:
        return self._box.sector_bytes

    @property
    def draws_as_simulated(self) -> bool:
        return self._box.draws_as_simulated

    def run(self, sections: Sequence[str]) -> list[Completed]:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return self._box.run(sections)

    def counters(self) -> Counters | None:
        return self._box.counters()


def found_of(box: Box, share: float = 2.0) -> Found:
    return identify(box, plan(box.capacity_bytes, Limits(int(share * box.capacity_bytes))), blind.Nowhere())


def test_a_sealed_drive_comes_out_as_it_is(tmp_path: Path) -> None:
    drive = small()
    found = found_of(Sealed(SimulatedBox(drive, tmp_path)))
    for key, true in TRUE.items():
        assert found.inferred[key].value == pytest.approx(true, rel=0.1), key
    true = drive.capacity.physical_units / drive.capacity.user_units - 1
    spare = found.inferred["over_provisioning"]
    assert isinstance(spare.low, float) and isinstance(spare.high, float)
    assert spare.low <= true <= spare.high
    times = [found.inferred[key] for key in ("nand.read_us", "nand.channel_mb_s", "controller.command_us")]
    assert all(float(each.low) < float(each.high) for each in times), "a time of equal measurements had no interval"
    assert found.inferred["write_buffer.power_loss_protection"].value is True
    assert found.written_bytes <= 2 * found.capacity_bytes
    assert "slc_cache_bytes" not in found.inferred


def test_a_drive_that_no_arrangement_fits_has_no_pages(tmp_path: Path) -> None:
    """A regression: pages of three mapping units were taken for pages of four with parity, "exactly", and the spare
    area that followed from them was 64 % instead of 22 %."""
    drive = resolve(load("generic-tlc-480"), settings=SMALL | {"nand.page_bytes": "12288"}, over_provisioning=0.22)
    found = found_of(Sealed(SimulatedBox(drive, tmp_path)))
    reasons = {each.key: each.reason for each in found.undetermined}
    for key in ("parallel_units", "nand.page_bytes", "nand.planes_per_die", "parity.units_per_stripe"):
        assert key not in found.inferred
        assert "fit no arrangement of dies and pages" in reasons[key]
    spare = found.inferred["over_provisioning"]
    assert float(spare.low) <= drive.capacity.physical_units / drive.capacity.user_units - 1 <= float(spare.high)


@pytest.mark.parametrize(("shape", "mean_us", "tells"), [(1, 5, True), (1, 10, False), (8, 80, False)])
def test_a_host_whose_delays_hide_the_steps_leaves_them_open(
    tmp_path: Path, shape: float, mean_us: float, tells: bool
) -> None:
    """A regression: a host that delays by 10 us made units of 16 KiB of 4, one by 80 us a page of 4 KiB and 506 dies of
    4, all certain."""
    drive = small()
    found = found_of(Delayed(SimulatedBox(drive, tmp_path), shape, mean_us))
    for key in ("ftl.mapping_unit_bytes", "parallel_units", "nand.read_us", "nand.channel_mb_s", "buffer_bytes"):
        assert (key in found.inferred) == tells, key
    if not tells:
        assert len({each.reason for each in found.undetermined if "scatter too much" in each.reason}) == 1
    true = TRUE | {"over_provisioning": drive.capacity.physical_units / drive.capacity.user_units - 1}
    del true["nand.erase_us"]
    for key in true.keys() & found.inferred.keys():
        each = found.inferred[key]
        assert float(each.low) <= true[key] <= float(each.high), key


def test_nothing_inferred_is_no_empty_table(tmp_path: Path) -> None:
    found = found_of(Delayed(SimulatedBox(small(), tmp_path), 8, 80), share=0.5)
    stream = io.StringIO()
    output.print_table(found, Console(file=stream, width=80))
    assert found.inferred == {}
    assert stream.getvalue().startswith("No value could be inferred from completed requests.\n\nnot determined:")


def test_policies_are_told_by_simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only a few, because each takes a run.
    monkeypatch.setattr(choices, "_VICTIMS", ("greedy", "fifo"))
    monkeypatch.setattr(choices, "_PLACEMENTS", ("host-gc-split",))
    monkeypatch.setattr(choices, "_FITTED", 1)
    found = found_of(SimulatedBox(small(), tmp_path))
    counts: list[int] = []
    found.tell_simulations = counts.append
    outcome = choices.choose(found)
    assert counts == list(range(1, found.simulations + 1)) and len(counts) >= 2
    assert {each.key: each.value for each in outcome.inferred}.get("ftl.victim", "greedy") == "greedy"
    assert outcome.facts["error"] < 0.15
    found.facts["random-writes"]["points"] = []
    assert {each.key for each in choices.choose(found).undetermined} == {"ftl.victim", "ftl.placement"}


def test_experiments_import_nothing_that_knows_a_drive() -> None:
    """Only `boxes/` is allowed to access a target; `drive.py` and `output.py` write files from inferred values.

    The lines of a chart are plain points.
    """
    allowed = (
        "ssdlab.hardware.identification.",
        "ssdlab.errors",
        "ssdlab.foundation.",
        "ssdlab.presentation.report.lines",
    )
    folder = LIBRARY / "hardware/identification"
    seen = [*folder.glob("experiments/*.py"), *(folder / f"{name}.py" for name in ("bench", "box", "identify"))]
    assert len(seen) > 8
    for path in seen:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ssdlab"):
                module = node.module or ""
                assert module.startswith(allowed), (path, module)
                assert not module.startswith(
                    ("ssdlab.hardware.identification.boxes", "ssdlab.hardware.identification.drive")
                ), path


@pytest.mark.parametrize("seed", [2, 1008, 1031])
def test_a_random_drive_through_a_noisy_host(seed: int) -> None:
    """1008 has parity, which shifts pages; 1031 has an SLC cache, which mixes the data at the end of the fill.

    Both were taken for drives with mapping units of 8 KiB."""
    drive, truth = blind.drawn(seed, capacity_bytes_min=0, capacity_bytes_max=3 << 30)
    found = blind.identified(drive, seed)
    rows = {row.key: row for row in blind.judged(seed, truth, found)}
    layout = ("ftl.mapping_unit_bytes", "nand.page_bytes", "nand.planes_per_die", "parallel_units", "nand.channels")
    for key in (*layout, "nand.read_us", "nand.program_us", "nand.channel_mb_s", "erase_unit_bytes"):
        error = rows[key].error
        assert error is not None and error <= blind.TARGETS[key], rows[key]


def test_pages_programmed_in_one_shot_with_times_of_their_own(tmp_path: Path) -> None:
    """As in drives of today: no pages were found, since their times differ by more than a transfer takes."""
    shots = {"nand.pages_per_program": "3", "nand.read_us": "[51, 52, 62]", "nand.dies_per_channel": "4"}
    shots["nand.program_us"] = "1500"
    drive = resolve(load("generic-tlc-480"), settings={**SMALL, **shots}, over_provisioning=0.15)
    box = SimulatedBox(drive, tmp_path)
    found = identify(box, plan(box.capacity_bytes, Limits(int(1.1 * box.capacity_bytes))), blind.Nowhere())
    seen = {key: each.value for key, each in found.inferred.items()}
    layout = {key: seen[key] for key in ("nand.page_bytes", "nand.planes_per_die", "nand.pages_per_program")}
    assert layout == {"nand.page_bytes": 16384, "nand.planes_per_die": 2, "nand.pages_per_program": 3}
    assert (seen["nand.channels"], seen["parallel_units"]) == (2, 8)
    assert seen["nand.read_us"] == pytest.approx(55, rel=0.02)
    assert seen["nand.channel_mb_s"] == pytest.approx(800, rel=0.1)
    assert seen["nand.program_us"] == pytest.approx(1500, rel=0.05)
    assert choices.nearest(found)["nand.read_us"] == pytest.approx([51, 52, 62], rel=0.02)


@pytest.mark.parametrize("calls", [0, 2, 9])
def test_an_interrupted_run_goes_on_to_the_same_result(calls: int, tmp_path: Path) -> None:
    """The drive's state is restored from the last finished experiment."""
    drive = small(0.3)
    share = 1.2
    whole = found_of(SimulatedBox(drive, tmp_path), share)
    folder = tmp_path / "interrupted"
    planned = plan(whole.capacity_bytes, Limits(int(share * whole.capacity_bytes)))
    first = SimulatedBox(drive, make(folder / "experiments"))
    with pytest.raises(KeyboardInterrupt):
        identify(Failing(first, calls), planned, Store(folder, {}), kept=first.keep)
    store = Store(folder, {}, resume=True)
    names = [each.experiment.name for each in planned if store.finished(each.experiment.name)]
    assert len(names) == {0: 0, 2: 1, 9: 4}[calls]
    state = folder / "experiments" / f"{names[-1]}.state" if names else None
    second = SimulatedBox(drive, folder / "experiments", state=state)
    again = identify(second, planned, store, kept=second.keep)
    assert again.inferred == whole.inferred
    # Compared as JSON, where a tuple is a list.
    assert json.dumps(again.facts) == json.dumps(whole.facts)


def make(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def test_the_plan_keeps_to_its_budget(tmp_path: Path) -> None:
    box = SimulatedBox(small(), tmp_path)
    found = found_of(box, 0.5)
    assert found.written_bytes <= 0.5 * box.capacity_bytes
    assert "nand.read_us" in found.inferred
    assert {"over_provisioning", "erase_unit_bytes"} <= {each.key for each in found.undetermined}
    read_only = plan(box.capacity_bytes, Limits(10**12, read_only=True))
    assert all(not each.write_bytes for each in read_only) and read_only


def test_the_plan_counts_rests(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--drive", "generic-tlc-480", "--scale", "1/8", "--dry-run"]
    call("identify", *words)
    whole = capsys.readouterr().out
    call("identify", *words, "--read-only")
    read_only = capsys.readouterr().out
    assert "with 11 rests of 5 s" in whole and "22 min in all" in whole
    assert "rest" not in read_only

    def minutes(said: str) -> float:
        found = re.search(r"([\d.]+) min at", said)
        assert found
        return float(found[1])

    written_min = 1.96 * 480e9 / 8 / 100e6 / 60
    assert minutes(whole) - minutes(read_only) == pytest.approx(written_min + 11 * 5 / 60, abs=0.2)


def test_what_was_told_makes_a_drive_file(tmp_path: Path) -> None:
    drive = small()
    box = SimulatedBox(drive, tmp_path)
    nothing = model_of({}, box.capacity_bytes, "x")
    assert nothing.file.ftl.user_bytes == box.capacity_bytes
    assert nothing.file.source_of("nand.read_us").kind == "assumed"
    found = found_of(box, 1.5)
    made = model_of(found.inferred, box.capacity_bytes, "x").file
    assert made.source_of("nand.read_us").source.startswith("inferred: 4")
    assert made.nand.blocks_per_plane == pytest.approx(120, abs=3)


def test_the_command_writes_a_drive_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = [f"--set={key}={value}" for key, value in SMALL.items()]
    words = ["--drive", "generic-tlc-480", *settings, "--op", "15%", "--budget", "1.52x", "--output", "out"]
    call("identify", *words)
    said = capsys.readouterr().out
    assert "total:" in said and "x the capacity" in said
    result = json.loads((tmp_path / "out/result.json").read_text())
    by_key = {each["key"]: each for each in result["inferred"]}
    assert set(by_key["parallel_units"]) == {"key", "value", "low", "high", "experiment"}
    assert DERIVED.keys() - {"slc_cache_bytes"} <= by_key.keys()
    page = (tmp_path / "out/report.html").read_text()
    assert "What could not be determined" in page and "SLC cache: no cliff within" in page
    reasons = [line.partition(": ")[2] for line in said.split("not determined:")[1].splitlines() if line[:2] == "  "]
    assert len(reasons) == len(set(reasons)) > 0
    # Figures for readers, with their units; a share is no fraction of 1.
    assert "3 MiB" in said and "16 KiB" in said and "0.15" not in said and "buffer_bytes" not in said
    lede = page.replace("\N{NO-BREAK SPACE}", " ")
    assert "Dies: 4; over-provisioning: " in lede and "write buffer: 2 MiB (1.9 to 2.1 MiB)" in lede
    assert not list(tmp_path.glob("out/experiments/*.state"))
    assert ssdlab.run(jobs.parse("[a]\nrw=randread\nbs=4k\nnumber_ios=100\n"), "out/drive.toml").failure is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "either --drive"),
        ("--drive tiny --budget 3x", "--budget is '3x'"),
        ("--drive pny-120gb --resume --output empty", "no experiments of an earlier run"),
        ("--drive tiny --size 1GiB", "apply to real drives"),
        ("--on .", "give --size"),
        ("--on . --scale 1/2", "apply to simulated drives"),
        ("--on . --size 1MiB", "MiB or more are needed"),
    ],
)
def test_wrong_options_are_said(options: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        call("identify", *options.split())
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize(("number", "seconds"), [(signal.SIGKILL, 4.0), (signal.SIGTERM, 6.0)])
def test_a_killed_run_is_resumed_and_leaves_nothing(number: signal.Signals, seconds: float, tmp_path: Path) -> None:
    settings = [f"--set={key}={value}" for key, value in SMALL.items()]
    line = [sys.executable, "-m", "ssdlab", "identify", "--drive", "generic-tlc-480", *settings, "--output", "out"]
    line += ["--op", "15%", "--budget", "1.05x"]
    temporary = make(tmp_path / "temporary")
    killed = subprocess.Popen(
        line, cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL
    )
    begun = tmp_path / "out/experiments/of.json"
    wait_for("experiments are kept", lambda: begun.exists() or killed.poll() is not None)
    time.sleep(seconds / 4)
    killed.send_signal(number)
    killed.wait(SECONDS_MAX)
    # Leftovers of an interrupted write, which the next run finds.
    make(tmp_path / "out/.writing-cut-off")
    (tmp_path / "out/experiments/.writing-cut-off").write_text("{")
    subprocess.run([*line, "--resume"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "drive.toml", "experiments", "report.html", "result.json",
    }  # fmt: skip
    assert all(path.suffix == ".json" for path in (tmp_path / "out/experiments").iterdir())
    assert not list(temporary.iterdir())


def test_a_run_killed_in_its_simulations_ends_with_the_same_drive() -> None:
    """A small run of `tools/kill_identify.py`; the first moment drawn lies in the simulations."""
    tool = Path(__file__).parents[3] / "tools/kill_identify.py"
    done = subprocess.run([sys.executable, str(tool), "1", "--seed", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "into the simulations" in done.stdout


def test_the_end_of_a_cache_shows_late_behind_a_write_buffer() -> None:
    """A buffer fills as fast as the link is faster than the flash: its size alone was taken off."""
    facts = {"direct_bytes_per_second": [300e6, 0, 0], "cached_bytes_per_second": [560e6, 0, 0]}
    assert fill.memory_per_byte(facts) == pytest.approx(560 / 260)
    assert fill.memory_per_byte({"direct_bytes_per_second": [300e6, 0, 0]}) == 1


def test_a_coarse_clock_gives_no_impossible_speed() -> None:
    """A regression: fio's times are whole milliseconds, in which a fast file takes eight requests: the picture showed
    2,000,000,000 MB/s, and its title 2,097 MB/s "throughout"."""
    count = 1024
    exact = (np.arange(1, count + 1) * (fill.BLOCK_BYTES / 1.5e9)).astype(np.float64)
    sizes = np.full(count, fill.BLOCK_BYTES)
    nothing = np.zeros(count, dtype=np.int64)
    done = Completed("a", float(exact[-1]), exact.round(3), np.full(count, 100.0), sizes, nothing, int(sizes.sum()))
    _, rate = fill.windows(done)
    assert rate.min() > 1.2e9 and rate.max() < 1.9e9
    small = Completed("a", 0.01, exact[:300].round(3), np.full(300, 100.0), sizes[:300], nothing[:300], 0)
    assert len(fill.windows(small)[1]) > 8, "the first eight are left out"
    assert "500 to 2,000 MB/s: no lasting drop" in fill._level(np.array([5e8, 2e9] * 50), 1e9)


def test_erases_are_in_the_picture_that_tells_them() -> None:
    """The picture had every 17th row and the one before each delay: the line of a drive of 60 GB was flat."""
    row = 1e6
    at, spent = np.arange(1.0, 60_001.0) * row, np.full(60_000, 0.7)
    long = np.arange(100, 60_000, 768)
    spent[long] += 5.0
    teeth, period = overwrite._teeth(at, spent, int(row))
    assert period is not None
    picture = overwrite._picture(at, spent, teeth, period)
    drawn = [y for _, y in picture.curves[0].points if y > 5000]
    assert len(drawn) == len(teeth) == len(picture.marks[0].points)
    assert all(y > 5000 for _, y in picture.marks[0].points)


def test_delays_that_recur_only_for_a_while_are_no_erases() -> None:
    """Copies of one erase unit after another were taken for erases of a fifth of it."""
    spent = np.full(2000, 1e-3)
    spent[100::40] += 3e-3
    spent[1800:1880:8] += 12e-3
    at = np.arange(1, 2001, dtype=np.float64) * (1 << 20)
    teeth, period = overwrite._teeth(at, spent, 1 << 20)
    assert period is not None
    assert period.value == pytest.approx(40 << 20, rel=0.01)
    assert len(teeth) > 30


def test_intervals_begin_where_a_host_adds_nothing() -> None:
    """Even if two causes add time, the shape that extrapolation estimates worst."""
    draw = np.random.default_rng(7)
    found = [beginning(50 + draw.exponential(0.7, 400) + np.abs(draw.normal(0, 0.25, 400))) for _ in range(200)]
    assert np.mean([each.low <= 50 <= each.high for each in found]) > 0.65
    assert max(abs(each.value - 50) for each in found) < 0.3
    assert np.mean([each.high - each.low for each in found]) < 0.5


def test_units_whose_delays_only_repeat_are_found() -> None:
    draw = np.random.default_rng(3)
    spent = 1e-3 * (1 + 0.02 * draw.random(1200))
    spent[::24] *= draw.uniform(1.5, 40, 50)
    # Delays that garbage collection adds at random places.
    spent[draw.integers(0, 1200, 60)] *= draw.uniform(1, 60, 60)
    found = overwrite._repeated(spent, 1 << 20)
    assert found is not None
    assert found.low <= 24 << 20 <= found.high
    assert overwrite._repeated(1e-3 * (1 + draw.random(1200)), 1 << 20) is None


def test_an_slc_cache_behind_a_slow_link_is_counted() -> None:
    """The link hid the cliff. Program times of the cache were then taken for those of the flash."""
    drive, truth = blind.drawn(1018)
    found = blind.identified(drive, 1018)
    assert found.inferred["slc_cache_bytes"].value == pytest.approx(truth["slc_cache_bytes"], rel=0.1)


def test_a_delay_by_the_host_is_no_full_buffer() -> None:
    """The fifth write of a burst was delayed by the host, and the buffer was taken for a quarter too small."""
    drive, truth = blind.drawn(2007)
    found = blind.identified(drive, 2007)
    assert found.inferred["buffer_bytes"].value == pytest.approx(truth["buffer_bytes"], rel=0.1)


@pytest.mark.parametrize("rate_mb_s", [20, 100])
def test_a_buffer_shows_when_garbage_collection_slows_the_flash(rate_mb_s: int) -> None:
    """Behind a link slower than the flash, a burst of sequential writes does not fill it."""
    size, link, buffer = 4096, 560.0, 6 << 20
    count = 20_000
    written = size * np.arange(1, count + 1, dtype=np.float64)
    end_us = np.maximum(written / link, (written - buffer) / rate_mb_s)
    # 32 requests are outstanding.
    latency = end_us - np.concatenate([np.zeros(32), end_us[:-32]])
    done = Completed(
        "x", float(end_us[-1]) / 1e6, end_us / 1e6, latency, np.full(count, size), np.zeros(count, int), count * size
    )
    ((accepted, taken),) = random_writes._filled(done)
    assert accepted - 1.2 * taken <= buffer <= accepted * 1.03
    quick = Completed("x", 1.0, written / link / 1e6, np.full(count, 234.0), done.size_bytes, done.offset_bytes, 0)
    assert not random_writes._filled(quick)


@pytest.mark.surroundings
@needs("fio")
def test_a_file_is_written_by_real_fio_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    # Only the first experiment starts: thousands of single reads take a while.
    call("identify", *f"--on {place} --size 64MiB --budget 1x --minutes 0.0001 --output out".split())
    assert not list(place.iterdir())
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert result["written_bytes"] == result["capacity_bytes"] == 64 << 20
    reasons = {each["key"]: each["reason"] for each in result["undetermined"]}
    assert reasons["over_provisioning"].endswith("than a file")
    assert reasons["nand.read_us"].startswith("the experiments before it took")
    assert "MB/s" in (tmp_path / "out/report.html").read_text()


def test_a_drive_that_fails_is_said(tmp_path: Path) -> None:
    worn = {**SMALL, "nand.endurance_cycles": "1", "faults.wear_out": "true"}
    drive = resolve(load("generic-tlc-480"), settings=worn, over_provisioning=0.15)
    with pytest.raises(RunFailed, match="the drive failed"):
        found_of(SimulatedBox(drive, tmp_path))
