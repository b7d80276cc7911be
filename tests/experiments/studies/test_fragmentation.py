"""The study of internal fragmentation: its fitted values are fitted, and its drives read as published."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.internal_fragmentation import comparison, database_table
from ssdlab.experiments.studies.internal_fragmentation.drives import CELLS, DRIVES, OF_THE_READER, Fragmented
from ssdlab.experiments.studies.internal_fragmentation.pictures import scattered_percent
from ssdlab.experiments.studies.internal_fragmentation.reading import (
    FILE_BYTES,
    SCALE,
    Readings,
    readings,
    specification,
)
from ssdlab.simulator.drives import load, resolve


def read(each: Fragmented, settings: dict[str, str] | None = None) -> Readings:
    pytest.importorskip("ssdlab._engine", reason="the native module is not built")
    from ssdlab.simulator.targets import simulated

    drive = resolve(load(each.drive), settings={**each.as_read, **(settings or {})}, scale=Fraction(SCALE))
    return readings(simulated.run(specification(drive)))


def by_name(name: str) -> Fragmented:
    (found,) = (each for each in DRIVES if each.drive == name)
    return found


def test_drives_that_repair_themselves_are_counted() -> None:
    still = Readings((1.0, 1.2, 1.2, 1.2, 1.2), an_hour_later=1.16, remedied=1.0, touched=())
    taken = dict.fromkeys((each.drive for each in DRIVES), still)
    assert comparison._repairs_row(taken).simulated == 0, "less than the tolerance of the times"
    taken[DRIVES[0].drive] = replace(still, an_hour_later=1.1)
    assert comparison._repairs_row(taken).simulated == 1


@pytest.mark.parametrize("each", DRIVES, ids=lambda each: each.drive)
def test_what_is_fitted_is_recorded_with_its_points_and_counted(each: Fragmented) -> None:
    drive = load(each.drive)
    of_kind = {key for key, source in drive.sources.items() if source.kind == "fitted"}
    of_kind -= {key for row in drive.data_sheet for key in row.fitted}
    free = {parameter.name for parameter in each.free}
    of_reader = {key for key in free if key.startswith(OF_THE_READER)}
    assert of_reader <= set(each.as_read) and free - of_reader <= of_kind
    assert of_kind == set(each.fitted.parameters) - of_reader and each.fitted.points == len(each.cells)
    for key in free - of_reader:
        source = drive.sources[key].source
        assert all(f"{cell} {each.seconds[CELLS.index(cell)]:g} s" in source for cell in each.cells)
    assert set(each.before) == free
    assert set(each.unfitted()) >= free


@pytest.mark.parametrize("name", ["toshiba-xg5-512gb", "samsung-pm981-1tb", "intel-s3510-480gb"])
def test_a_drive_reads_as_published(name: str) -> None:
    each = by_name(name)
    taken = read(each)
    for cell, published, simulated in zip(CELLS, each.seconds, taken.cells, strict=True):
        assert simulated == pytest.approx(published, rel=each.tolerance), cell
    # Rewritten in sequence it is as before; an hour changes nothing on a drive without background work.
    assert taken.remedied == pytest.approx(taken.cells[0], rel=0.05)
    assert taken.an_hour_later == pytest.approx(taken.cells[-1], rel=0.01)


def test_the_drive_itself_has_its_rated_link() -> None:
    """The catalogue's links were once those of a reader with one request, and bounded every other figure."""
    for each in DRIVES:
        link = load(each.drive).host_link
        assert link.command_us == 0 and link.mb_s is not None, each.drive
        assert link.mb_s > float(each.as_read.get("host_link.mb_s", 0)), each.drive
    rated = next(row.value for row in load("intel-p4500-2tb").data_sheet if row.quantity == "sequential read")
    assert load("intel-p4500-2tb").host_link.mb_s == rated


def test_a_time_that_is_left_out_is_predicted_from_the_others() -> None:
    """One parameter that changes all five times equally: the prediction is the mean of the four others."""
    each = by_name("intel-p3520-2tb")
    mean = math.fsum(math.log(seconds) for seconds in each.seconds) / 5
    fitted = Readings((math.exp(mean),) * 5, 0.0, 0.0, ())
    moved = replace(fitted, cells=tuple(cell / 1.05 for cell in fitted.cells))
    deviations = comparison._left_out(each, {each.drive: fitted, comparison._moved(each, "host_link.mb_s"): moved})
    for index, deviation in enumerate(deviations):
        others = [math.log(seconds) for at, seconds in enumerate(each.seconds) if at != index]
        assert deviation == pytest.approx(math.exp(math.fsum(others) / 4) / each.seconds[index] - 1)


def test_fits_without_a_degree_of_freedom_leave_nothing_out() -> None:
    left = {each.drive for each in DRIVES if not comparison._free_to_leave_out(each)}
    assert left == {"samsung-pm963-960gb", "samsung-pm983-960gb"}


def test_what_a_reading_touches_is_what_one_counts() -> None:
    taken = read(by_name("toshiba-xg5-512gb"))
    fresh, last = taken.touched[0], taken.touched[-1]
    # 1 MiB is 64 pages of 16 KiB in four segments; read-ahead continues slightly beyond the file.
    assert fresh["pages"] == pytest.approx(64, rel=0.01)
    assert fresh["segments"] == pytest.approx(4, rel=0.01)
    assert fresh["map_pages"] == 0
    assert last["map_pages"] == pytest.approx(4, rel=0.01)
    # Almost every one of the 256 units is on a page of its own.
    assert 240 < last["pages"] <= 257


def test_without_extents_a_map_in_memory_misses_the_first_rewrites() -> None:
    each = by_name("toshiba-xg5-512gb")
    taken = read(each, {"map_cache.bytes": "0"})
    assert taken.cells[1] < 0.75 * each.seconds[1]


def test_scattered_shares_add_up_over_passes() -> None:
    # 50 of 4096 MiB, then 200 of 4096 among all: 1 - (1 - 50/4096) (1 - 200/4096).
    assert FILE_BYTES == 4096 * 2**20
    assert scattered_percent()[:3] == pytest.approx(
        [0, 100 * 50 / 4096, 100 * (1 - (1 - 50 / 4096) * (1 - 200 / 4096))]
    )


def test_updates_slow_a_table_down_until_it_is_rebuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_table, "SCALE", "1/64")
    rows = database_table.run(Context(workers=1)).rows
    for loaded, updated, rebuilt in (rows[:3], rows[3:]):
        assert loaded.simulated == pytest.approx(rebuilt.simulated, rel=0.1)
        assert (updated.simulated or 0.0) < 0.85 * (rebuilt.simulated or 0.0)
        assert rebuilt.verdict is Verdict.MET and loaded.verdict is None


def test_a_drive_that_one_link_rate_explains_is_input() -> None:
    flat = [each.drive for each in DRIVES if each.is_flat]
    assert flat == ["intel-s3510-480gb", "samsung-pm883-1920gb", "intel-p3520-2tb", "intel-p4500-2tb"]
