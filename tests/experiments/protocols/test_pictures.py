"""The pictures of protocols: rounds with their window, speed over bytes, rates over time, latency over rates; several
drives in one picture, and several tests of one drive as a band."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ssdlab as lab
from in_process import call
from running_drives import DRIVE
from ssdlab.errors import InputError
from ssdlab.experiments.protocols import drawing, kept, page, registry
from ssdlab.experiments.protocols.catalogue import latency_against_load
from ssdlab.experiments.protocols.contract import DriveTests
from ssdlab.experiments.protocols.figures import SAMPLES_MAX, Figures, Rates, Round, Sample, thinned
from ssdlab.experiments.protocols.steady import window_of
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.wording import NO_BREAK_SPACE
from ssdlab.simulator.drives import ResolvedDrive

GB = 10**9


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> ResolvedDrive:
    file = tmp_path_factory.mktemp("drive") / "drive.toml"
    file.write_text(DRIVE)
    return lab.drive(file)


def rows_of(figure: Figure, *columns: str) -> list[dict[str, Any]]:
    """The distinct rows of all layers of a picture that have these columns."""
    found: dict[str, dict[str, Any]] = {}

    def walk(node: object) -> None:
        if isinstance(node, Mapping):
            if set(columns) <= set(node):
                found[json.dumps(node, sort_keys=True)] = dict(node)
            for each in node.values():
                walk(each)
        elif isinstance(node, Sequence) and not isinstance(node, str):
            for each in node:
                walk(each)

    figure.plot().to_dict(validate=True)
    walk(figure.specification()["datasets"])
    return list(found.values())


def settled(iops: Sequence[float], waf: Sequence[float]) -> Figures:
    rounds = [Round(*each) for each in zip(waf, iops, strict=True)]
    return Figures("", "random writes", True, waf[-1], None, GB, 0, 1.0, None, None, len(rounds), True, by_round=rounds)


def said(text: str) -> str:
    return text.replace(NO_BREAK_SPACE, " ")


def test_the_window_has_its_mean_the_allowed_range_and_the_fitted_line() -> None:
    iops = [900.0, 300.0, 96.0, 98.0, 100.0, 102.0, 104.0]
    (figure,) = drawing.rounds([DriveTests("a", [[settled(iops, [1.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0])]])])
    assert figure.title == "Random writes: steady after 7 rounds"
    # The values range over 8 % of their mean, and the line rises by the same.
    expected = "mean of the window 100, data excursion 8 % of it (allowed 20 %), slope excursion 8 % (allowed 10 %)"
    assert f"IOPS: {expected}" in said(figure.caption)
    lines = rows_of(figure, "variant", "x", "y")
    slope = sorted((row["x"], row["y"]) for row in lines if row["variant"] == "fitted line (slope)" and row["y"] > 50)
    assert slope == [(3.0, pytest.approx(96.0)), (7.0, pytest.approx(104.0))]
    band = [row for row in rows_of(figure, "low", "high") if row["high"] > 50]
    assert {(row["x"], round(row["low"]), round(row["high"])) for row in band} == {(3.0, 90, 110), (7.0, 90, 110)}
    assert window_of(iops[:4]) is None


def slices(rates: Sequence[float], size: int = GB) -> list[Figures]:
    made = [Rates(1000, size, None, rate, None, None, None) for rate in rates]
    return [Figures("", f"slice {at}", True, 1.0, None, size, 0, 1.0, None, each) for at, each in enumerate(made)]


@pytest.mark.parametrize(
    ("rates", "title"),
    [
        ([5000.0] * 3 + [1500.0] * 9, "SLC cache of 3 GB, 25 % of the drive, measured in slices of 1 GB"),
        ([500.0, 510.0] * 6, "No SLC cache shows"),
        # A file on a busy machine: the mean drops, and single slices after it are as fast as before.
        ([900.0, 500.0, 900.0, 850.0, 400.0, 300.0, 860.0, 300.0], "rates vary too much to tell an SLC cache"),
    ],
)
def test_the_size_of_the_cache_is_in_the_title(rates: list[float], title: str) -> None:
    run = slices(rates)
    protocol = registry.protocol("slc-cache-size")
    (figure,) = page.pictures(protocol, [DriveTests("a", [run])])
    assert said(figure.title) == title
    corners = sorted((row["x"], -row["y"]) for row in rows_of(figure, "x", "y"))
    assert corners[0] == (0.0, -rates[0]) and corners[-1][0] == len(rates)
    if "too much" in title:
        assert "too uneven to tell" in str(protocol.conclude(run))


def test_two_real_drives_and_a_simulated_one_are_lines_with_bands() -> None:
    drives = [
        DriveTests("Real A", [slices([rate] * 2 + [1000.0] * 8) for rate in (2000.0, 2100.0, 2200.0)]),
        DriveTests("Real B", [slices([rate] * 10) for rate in (700.0, 710.0, 720.0)]),
        DriveTests("simulated", [slices([3000.0] * 5 + [900.0] * 5)]),
    ]
    (figure,) = page.pictures(registry.protocol("slc-cache-size"), drives)
    assert said(figure.title) == (
        "Real A: SLC cache of 2 GB, 20 % of the drive, measured in slices of 1 GB; Real B: no SLC cache shows; "
        "simulated: SLC cache of 5 GB, 50 % of the drive, measured in slices of 1 GB"
    )
    assert "tests: Real A 3, Real B 3, simulated 1" in figure.caption
    first = next(row for row in rows_of(figure, "variant", "y") if row["variant"] == "Real A" and row["x"] == 0)
    assert first["y"] == pytest.approx(2100.0)
    bands = [row for row in rows_of(figure, "low", "high") if row["x"] == 0]
    assert {(row["variant"], row["low"], row["high"]) for row in bands} == {
        ("Real A", 2000.0, 2200.0),
        ("Real B", 700.0, 720.0),
    }
    assert [entry.value for entry in figure.keys[0].entries] == ["Real A", "Real B", "simulated"]


def test_bars_of_a_drive_tested_three_times_have_its_spread() -> None:
    def tested(label: str, *rates: float) -> DriveTests:
        return DriveTests(label, [slices([rate, 2 * rate]) for rate in rates])

    made = page.pictures(registry.protocol("snia-throughput"), [tested("a", 10, 20, 30), tested("b", 5)])
    figure = next(each for each in made if each.name == "write-mb-s")
    bars = {row["name"]: (row["value"], row["low"], row["high"]) for row in rows_of(figure, "name", "low")}
    assert bars["slice 0, a"] == (20.0, 10.0, 30.0) and bars["slice 1, b"] == (10.0, None, None)


def moved_bytes(step: Figures) -> float:
    begin = moved = 0.0
    for each in step.over_time:
        moved += each.write_mb_s * 1e6 * (each.seconds - begin)
        begin = each.seconds
    return moved


def test_saturation_is_drawn_over_time_and_over_bytes(drive: ResolvedDrive) -> None:
    carried = lab.protocol("write-saturation", drive, quick=True)
    first, *_, last = carried.steps
    assert 10 < len(first.over_time) <= SAMPLES_MAX
    # The samples add up to what was written; an interval between two steps is in one of them.
    moved = sum(map(moved_bytes, carried.steps))
    assert moved == pytest.approx(sum(each.written_bytes for each in carried.steps), rel=0.01)
    over_time, over_writes = carried.figures()[:2]
    rows = sorted((row["x"], row["y"]) for row in rows_of(over_time, "x", "y"))
    assert rows[0][1] > 2 * rows[-1][1], "the drive does not become slower"
    assert last.write is not None and last.write.iops is not None
    assert rows[-1][1] == pytest.approx(last.write.iops, rel=0.5)
    written = 3 * first.written_bytes / 1e6
    assert max(row["x"] for row in rows_of(over_writes, "x", "y")) == pytest.approx(written, rel=0.01)
    assert str(carried.conclusion).startswith("Random writes begin at ")


def test_latency_grows_with_the_load(drive: ResolvedDrive) -> None:
    carried = lab.protocol("latency-against-load", drive, quick=True)
    mean = next(each for each in carried.figures() if each.name == "latency-against-load-mean")
    reads = sorted(
        (row["place"], row["x"], row["y"]) for row in rows_of(mean, "x", "y", "place") if "100" in row["variant"]
    )
    assert len(reads) == 4 and reads[-1][2] > 2 * reads[0][2]
    # Depth, rate and latency agree (Little's law).
    assert [rate * latency / 1e6 for _, rate, latency in reads] == pytest.approx([1, 4, 16, 64], rel=0.02)
    rates, latencies = carried.protocol.tabulate(carried.steps)
    assert [name for name, _ in rates.rows] == ["1", "4", "16", "64"] and rates.columns == latencies.columns


def test_several_drives_have_a_picture_for_each_mix_and_one_colour_in_all(drive: ResolvedDrive) -> None:
    """A regression: each line of a mix and a drive had a colour of its own, and 24 labels lay on each other."""
    steps = lab.protocol("latency-against-load", drive, quick=True).steps
    several = [DriveTests(name, [steps]) for name in ("a", "b", "c")]
    drawn = [each for each in page.pictures(latency_against_load.PROTOCOL, several) if "load" in each.name]
    assert [each.name.removeprefix("latency-against-load-") for each in drawn] == [
        "mean-100", "mean-0", "p99-100", "p99-0",
    ]  # fmt: skip
    assert drawn[1].title.replace("\u00a0", " ") == "Latency against load, mean, 0 % reads"
    colours = [[(entry.value, entry.colour) for entry in key.entries] for each in drawn for key in each.keys]
    assert [label for label, _ in colours[0]] == ["a", "b", "c"] and all(each == colours[0] for each in colours)


def test_iops_are_a_line_for_each_mix_and_a_table_of_sizes(drive: ResolvedDrive) -> None:
    carried = lab.protocol("snia-iops", drive, quick=True)
    (table,) = carried.protocol.tabulate(carried.steps)
    assert list(table.columns) == ["0 % reads", "65 % reads", "100 % reads"]
    assert [name for name, _ in table.rows] == ["4 KiB", "64 KiB"]
    figure = carried.figures()[0]
    drawn = {(row["variant"], row["x"]): row["y"] for row in rows_of(figure, "x", "y")}
    for size, (_, values) in zip((4.0, 64.0), table.rows, strict=True):
        assert [drawn[mix, size] for mix in table.columns] == values


def test_samples_are_averaged_over_their_time() -> None:
    fine = [Sample(0.5 * at, 2.0, float(at % 2)) for at in range(1, 1001)]
    coarse = thinned(fine)
    assert len(coarse) <= SAMPLES_MAX and coarse[-1].seconds == 500.0
    begin, moved = 0.0, 0.0
    for each in coarse:
        moved += each.write_mb_s * (each.seconds - begin)
        begin = each.seconds
    assert moved == pytest.approx(sum(each.write_mb_s * 0.5 for each in fine))


def test_results_of_other_seeds_become_one_line_with_a_band(drive: ResolvedDrive, tmp_path: Path) -> None:
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE)
    words = ("--protocol", "write-saturation", "--quick", "--drive", file)
    call("measure", *words, "--seed", 1, "--output", tmp_path / "one")
    call("measure", *words, "--seed", 2, "--output", tmp_path / "two")
    other = ("--op", "28%", "--with", tmp_path / "one", "--with", tmp_path / "two" / "result.json")
    call("measure", *words, *other, "--output", tmp_path / "both")
    html = (tmp_path / "both" / "report.html").read_text()
    assert "Tests shown" in html and "2 of 2" in html
    # The spare area differs, the name does not.
    assert f"small ({tmp_path / 'one'})" in html or f"({tmp_path / 'one'})" in html
    protocol = registry.protocol("write-saturation")
    results = [kept.kept(tmp_path / name, protocol, quick=True) for name in ("one", "two", "both")]
    assert [len(each.runs) for each in kept.tested(results)] == [2, 1]
    carried = lab.protocol("write-saturation", drive, quick=True).laid_beside(tmp_path / "both")
    assert rows_of(carried.figures()[0], "x", "y")


def test_a_page_of_two_drives_says_what_stands_behind_each_and_whose_the_tables_are(
    drive: ResolvedDrive, tmp_path: Path
) -> None:
    """Only the new drive's limits were said, and its table had the heading of the pictures, which show both drives."""
    lab.protocol("fsync", lab.drive("tiny", op=1.0), quick=True).write(tmp_path / "tiny")
    lab.protocol("fsync", drive, quick=True).laid_beside(tmp_path / "tiny").write(tmp_path / "both")
    html = (tmp_path / "both" / "report.html").read_text()
    assert f"{drive.name}: a drive file of your own" in html and "tiny: " in html and "stands for no product" in html
    assert f"Every step of {drive.name}" in html and ">Every step<" not in html


def test_what_cannot_be_laid_beside_is_refused_before_the_run(drive: ResolvedDrive, tmp_path: Path) -> None:
    carried = lab.protocol("fsync", drive, quick=True)
    carried.write(tmp_path / "fsync")
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE)

    def measure(protocol: str, beside: Path, *more: str) -> None:
        out = ("--output", tmp_path / "out")
        call("measure", "--protocol", protocol, "--drive", file, "--with", beside, *more, *out)

    with pytest.raises(InputError, match="it is of the protocol fsync, not slc-cache-size"):
        measure("slc-cache-size", tmp_path / "fsync", "--quick")
    with pytest.raises(InputError, match="it is of the quick form of fsync, this run of the other; add --quick"):
        measure("fsync", tmp_path / "fsync")
    with pytest.raises(InputError, match="No such file"):
        measure("fsync", tmp_path / "none", "--quick")
    (tmp_path / "text").write_text("{}")
    with pytest.raises(InputError, match=r"not a result.json of ssdlab measure --protocol"):
        measure("fsync", tmp_path / "text", "--quick")
    content = json.loads((tmp_path / "fsync" / "result.json").read_text())
    content["ssdlab"]["failure"] = "no space"
    (tmp_path / "failed.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"the run is incomplete \(no space\)"):
        measure("fsync", tmp_path / "failed.json", "--quick")
    with pytest.raises(InputError, match="--with require --protocol"):
        call("measure", "job.fio", "--on", tmp_path, "--with", tmp_path / "fsync")
    assert not (tmp_path / "out").exists()


def test_figures_of_older_results_are_read() -> None:
    plain = dict(settled([1.0], [1.0]).to_dict())
    del plain["by_round"], plain["over_time"]
    assert Figures.from_dict(plain) == replace(
        settled([1.0], [1.0]), by_round=[], over_time=[], commands=[], job_texts=[]
    )
