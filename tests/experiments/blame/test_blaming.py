"""The answer for small recordings: levels that add up, what is claimed, and what is said to be unknown."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ssdlab.evidence import Estimate
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.blame import blaming, calls, flash, page, reconstruction, words
from ssdlab.experiments.blame.calls import Call
from ssdlab.experiments.blame.file_system import Options, requests_of
from ssdlab.experiments.blame.watching import Grown, Io, Watched
from ssdlab.simulator.drives import load
from ssdlab.simulator.results import Result
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets import side_by_side
from ssdlab.simulator.workloads.traces.recording import opened
from ssdlab.theory import endurance

ROOT = Path(__file__).parents[3]
DRIVE = "generic-sata-tlc-500"


@pytest.fixture(scope="module")
def drive() -> blaming.Drive:
    return blaming.Drive(Setting(load(DRIVE), {}, DRIVE), rated_tbw=150)


@pytest.fixture(scope="module")
def blamed(drive: blaming.Drive) -> blaming.Blamed:
    return blaming.of_calls(calls.read(ROOT / "examples/commits.strace"), drive, workers=1)


def test_each_level_is_what_the_next_one_gets(blamed: blaming.Blamed) -> None:
    device, flash = blamed.figures["device_bytes"].value, blamed.figures["flash_bytes"].value
    assert device is not None and flash is not None
    assert sum(blamed.levels["file system"].values()) == device
    assert blamed.levels["drive"]["host"] == pytest.approx(device)
    assert sum(blamed.levels["drive"].values()) == pytest.approx(flash)
    totals = [sum(parts.values()) for parts in blamed.levels.values()]
    assert all(above < below for above, below in pairwise(totals))


def test_rates_and_years_are_arithmetic_of_the_bytes(blamed: blaming.Blamed, drive: blaming.Drive) -> None:
    device = blamed.figures["device_bytes"].value
    assert device is not None
    user_bytes = drive.setting.at(None, None).capacity.user_bytes
    daily = device / blamed.seconds * 86_400
    assert blamed.figures["drive_writes_per_day"].value == pytest.approx(daily / user_bytes)
    assert blamed.figures["years"].value == pytest.approx(150e12 / daily / endurance.DAYS_PER_YEAR)


def test_a_rate_needs_a_second(drive: blaming.Drive) -> None:
    """A regression: 8 kB in 0.6 ms were 4,307 TB a year."""
    lines = (f'7 1700000000.000{at} pwrite64(3</srv/a>, "x"..., 4096, {4096 * at}) = 4096' for at in range(7))
    found = blaming.of_calls(calls.parsed(lines, "rec"), drive, workers=1)
    assert found.figures["flash_bytes"].value
    for name in ("drive_writes_per_day", "tb_per_year", "years"):
        assert found.figures[name].value is None and "too short a time" in found.figures[name].note


def test_what_is_claimed_has_intervals_apart(blamed: blaming.Blamed) -> None:
    effects = {each.name: each for each in (*blamed.causes, *blamed.changes)}
    # A log that is synced with each commit, on a drive that loses its buffer with the power.
    assert effects["small synced writes"].is_claimed and effects["small synced writes"].share > 0.9
    assert blamed.helps_most is not None and blamed.helps_most.name == "synchronous=NORMAL"
    for each in effects.values():
        if not each.is_claimed:
            recorded = blamed.figures["flash_bytes"].value
            assert recorded is not None and each.flash.low <= recorded * 1.01
    # The recording has one pass of the log and replaces no file.
    assert not {"wal_autocheckpoint x 10", "rewriting whole files"} & effects.keys()


@pytest.mark.parametrize(("bytes_with_discard", "is_claimed"), [(995.0, False), (985.0, True)])
def test_a_difference_below_a_percent_is_not_claimed(bytes_with_discard: float, is_claimed: bool) -> None:
    """Seeds that agree by chance, in other modes than those of the recorded run, made 0.4 % a change that helps."""

    class Runs(blaming._Runs):
        def __init__(self) -> None:
            pass

        def flash(
            self, what: str, calls: Sequence[Call], options: Options | None = None, *, longer_logs: bool = False
        ) -> blaming._Flashed:
            value = bytes_with_discard if what == "discard" else 1000.0
            return blaming._Flashed(Estimate(value, value - 0.1, value + 0.1, 3, "seeds"), {})

    runs = Runs()
    given = calls.read(ROOT / "examples/commits.strace")
    _, changes = blaming._effects(runs, given, runs.flash("as recorded", given.calls))
    [discard] = [each for each in changes if each.name == "discard"]
    assert discard.is_claimed is is_claimed


def test_the_fill_takes_few_requests_on_a_drive_of_any_size(
    drive: blaming.Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size of a smaller drive divides by little: its fill in requests of 4 KiB took as long as what followed."""
    seen: list[Specification] = []

    def run(given: Sequence[Specification], *rest: Any) -> list[Result]:
        seen.extend(given)
        return side_by_side.all_side_by_side(given, *rest)

    monkeypatch.setattr(flash, "all_side_by_side", run)
    blaming.of_counters(Watched("p", 10.0, Io(400, 4, 400), 1, None), drive, workers=1)
    user_bytes = drive.setting.at(None, Fraction(1, 128)).capacity.user_bytes
    assert user_bytes % (128 << 10), "the case is none"
    for each in seen:
        [fill] = each.engine["jobs"]
        assert fill["block_sizes"]["write"] == [{"bytes": 128 << 10, "percent": 100.0}]
        assert user_bytes - (128 << 10) < fill["size_bytes"] <= user_bytes


@pytest.mark.parametrize("columns", [60, 79])
def test_the_text_fits(blamed: blaming.Blamed, columns: int) -> None:
    lines = words.text(blamed, columns).splitlines()
    assert max(map(len, lines)) <= columns
    assert "disk, all programs: unknown" in " ".join(line.strip() for line in lines)


def test_the_page_has_the_picture_and_the_json(blamed: blaming.Blamed, tmp_path: Path) -> None:
    names = page.write(blamed, tmp_path, "ssdlab blame examples/commits.strace")
    assert {"report.html", "result.json"} <= set(names)
    html = (tmp_path / "report.html").read_text()
    assert "synchronous=NORMAL" in html and 'data-figure="levels"' in html and "unknown" in html
    assert words.MEANINGS.keys() == words.PARTS.keys() and words.MEANINGS["padding"] in html


def test_counters_alone_are_a_guess_that_says_so(drive: blaming.Drive) -> None:
    # 1,000 writes of 100 bytes, each of which made a page dirty again: each was synced.
    watched = Watched("p", 10.0, Io(100_000, 1000, 100_000 + 1000 * 4096), 1, None)
    found = blaming.of_counters(watched, drive, workers=1)
    assert found.figures["asked_bytes"].basis == "counted"
    assert found.figures["flash_bytes"].basis == found.figures["years"].basis == "guessed"
    assert any("1,000 writes of 100 bytes" in each and "1,000 syncs" in each for each in found.guesses)


def test_counters_alone_name_the_causes_as_far_as_they_carry(drive: blaming.Drive) -> None:
    """A regression: a process that was watched got no cause, although its counters show its syncs."""
    found = blaming.of_counters(Watched("p", 10.0, Io(100_000, 1000, 100_000 + 1000 * 4096), 1, None), drive, workers=1)
    assert [each.name for each in found.causes] == [blaming.SMALL_SYNCED, blaming.JOURNAL]
    assert [each.name for each in found.unknown_causes] == [blaming.REWRITING]
    assert {each.basis for each in (*found.causes, *found.changes)} == {"guessed"}
    assert found.causes[0].is_claimed and found.causes[0].share > 0.9
    assert found.helps_most is not None and found.helps_most.name == "10 commits in one"
    said = words.text(found, 200)
    assert "% fewer flash bytes (guessed)" in said and "only a recording tells" in said
    assert found.to_dict()["unknown_causes"][0]["name"] == blaming.REWRITING


def test_counters_without_a_trace_of_syncs_do_not_clear_them(drive: blaming.Drive) -> None:
    # Whole pages, each of which became dirty once: the same with a sync after each and without any.
    found = blaming.of_counters(Watched("p", 10.0, Io(4_096_000, 1000, 4_096_000), 1, None), drive, workers=1)
    assert [each.name for each in found.unknown_causes] == [blaming.SMALL_SYNCED, blaming.REWRITING]
    assert "leave no trace" in words.text(found, 200)


def test_writes_within_files_that_do_not_grow_change_no_size() -> None:
    """By hand: after the first commit no sync finds a changed size or block, so that none writes the journal."""
    io = Io(100_000, 1000, 100_000 + 1000 * 4096)
    commits = {}
    for name, files in (("behind", Grown(200_000, 100_000)), ("in place", Grown(200_000, 0)), ("unseen", None)):
        rebuilt, times, said = reconstruction.calls_of(Watched("p", 10.0, io, 1, None, files=files))
        assert times == 1.0 and "1,000 writes of 100 bytes" in said
        commits[name] = requests_of(rebuilt, 8 << 30, seconds=10.0).commits
    assert commits["in place"] <= 4 < 1000 <= commits["behind"] == commits["unseen"]


def test_files_that_are_replaced_leave_as_many_pages_dirty_as_were_counted(drive: blaming.Drive) -> None:
    """A file of 64 KiB, replaced a hundred times: its open files do not grow, and taken as written in place without a
    sync, one copy of it reached the drive instead of a hundred."""
    # One page more than was asked: a sync shows, those of the whole copies do not.
    io = Io(6_553_600, 100, 6_553_600 + 4096)
    found = blaming.of_counters(Watched("p", 10.0, io, 1, None, files=Grown(131_072, 65_536)), drive, workers=1)
    device_bytes = found.figures["device_bytes"].value
    assert device_bytes is not None and device_bytes >= io.written_bytes
    assert [each.name for each in found.unknown_causes] == [blaming.SMALL_SYNCED, blaming.REWRITING]
    assert "the same is written again and again" in found.unknown_causes[-1].why
    assert found.helps_most is None


def test_pages_that_were_dropped_cost_nothing(drive: blaming.Drive) -> None:
    whole, half, none = (
        blaming.of_counters(Watched("p", 10.0, Io(4_096_000, 1000, 4_096_000, dropped), 1, None), drive, workers=1)
        for dropped in (0, 2_048_000, 4_096_000)
    )
    assert half.figures["device_bytes"].value == pytest.approx((whole.figures["device_bytes"].value or 0) / 2)
    assert any("less the 2 MB that were dropped" in each for each in half.guesses)
    assert none.figures["flash_bytes"].note == "its files were removed or cut before their pages were written"


def test_a_recording_of_a_running_process_knows_the_files_that_were_open(drive: blaming.Drive) -> None:
    """A regression: SQLite's log, as long as it gets, was taken as a new file that each commit makes longer."""
    lines = []
    for index in range(200):
        lines += [
            f"7 {1_700_000_000 + index / 100:.6f} pwrite64(3</srv/log>, ..., 4096, {index * 4096}) = 4096",
            f"7 {1_700_000_000 + index / 100 + 0.001:.6f} fdatasync(3</srv/log>) = 0",
        ]
    recorded = calls.parsed(lines, "rec")
    journals = []
    for files in (None, Grown(1 << 20, 0, {"/srv/log": 1 << 20})):
        watched = Watched("p", 2.0, Io(819_200, 200, 819_200), 1, None, files=files)
        journals.append(blaming.of_calls(recorded, drive, watched=watched, workers=1).levels["file system"]["journal"])
    assert journals[0] > 200 * 2 * 4096 and journals[1] < 10 * 4096


def test_calls_that_reach_no_file(drive: blaming.Drive) -> None:
    lines = ['7 1700000000.000000 write(1<pipe:[77]>, "text", 4) = 4']
    found = blaming.of_calls(calls.parsed(lines, "rec"), drive)
    assert found.figures["asked_bytes"].value == 4
    assert found.figures["flash_bytes"].note == "the recorded calls write to no file"


def test_requests_tell_flash_and_no_causes() -> None:
    drive = blaming.Drive(Setting(load("generic-tlc-480"), {}, "generic-tlc-480"))
    with opened([str(ROOT / "examples/traces/database.csv.gz")], None, 0) as recording:
        found = blaming.of_requests(recording, drive, workers=1)
        assert found.figures["device_bytes"].value == sum(each.written_bytes for each in recording.survey.volumes)
    assert found.figures["asked_bytes"].basis == found.figures["years"].basis == "unknown"
    assert found.figures["device_bytes"].basis == "counted"
    assert found.figures["flash_bytes"].basis == "simulated"


def test_a_program_that_wrote_nothing(drive: blaming.Drive) -> None:
    found = blaming.of_counters(Watched("p", 10.0, Io(), 1, None), drive)
    assert found.figures["flash_bytes"].value is None and found.figures["flash_bytes"].basis == "unknown"
    assert "wrote nothing" in words.text(found, 60)
