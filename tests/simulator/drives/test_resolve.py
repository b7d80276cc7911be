"""`--op`, `--set` and `--scale` change a drive file exactly as stated, or are rejected with the limit."""

import warnings
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssdlab
from ssdlab.errors import InputError, Note
from ssdlab.simulator.drives import load, names, resolve
from ssdlab.simulator.workloads.jobs import parse


@pytest.mark.parametrize("name", [name for name in names() if name != "tiny"])
@pytest.mark.parametrize(
    ("share", "exact"), [(0.6, Fraction(3, 5)), (0.07, Fraction(7, 100)), (0.28, Fraction(28, 100))]
)
def test_over_provisioning_sets_u_to_the_last_whole_unit(name: str, share: float, exact: Fraction) -> None:
    full = resolve(load(name)).capacity
    capacity = resolve(load(name), over_provisioning=share).capacity
    assert capacity.physical_bytes == full.physical_bytes
    assert capacity.user_units * (1 + exact) <= capacity.physical_units < (capacity.user_units + 1) * (1 + exact)
    # The advertised capacity is independent of the space that the host leaves empty.
    assert capacity.hidden_over_provisioning == full.hidden_over_provisioning


@pytest.mark.parametrize("name", names())
def test_the_least_over_provisioning_that_a_refusal_names_works_and_less_does_not(name: str) -> None:
    drive = load(name)
    least = resolve(drive).over_provisioning_min
    with pytest.raises(InputError, match="leaves too little spare area") as caught:
        resolve(drive, over_provisioning=0.0)
    assert f"{least * 100:.2f}".rstrip("0").rstrip(".") + " %" in str(caught.value)
    resolved = resolve(drive, over_provisioning=least)
    capacity = resolved.capacity
    live_erase_units = -(-capacity.user_units // capacity.data_units_per_erase_unit)
    held_back = drive.ftl.reserve_erase_units + capacity.open_erase_units
    # The engine's requirement; one more erase unit is left for garbage collection.
    assert live_erase_units + held_back + 1 <= capacity.erase_units
    units_more = capacity.user_units_max + 1
    with pytest.raises(InputError, match="leaves too little spare area"):
        resolve(drive, settings={"ftl.user_bytes": str(units_more * capacity.mapping_unit_bytes)})


@pytest.mark.parametrize(
    ("placement", "open_erase_units"),
    [
        ("single", 1),
        ("host-gc-split", 2),
        ("frequency-frontiers", 4),
        ('{ name = "frequency-frontiers", frontiers = 7 }', 7),
        ("class-spare", 2),
        ('{ name = "class-spare", borders = [0.1, 0.5] }', 3),
    ],
)
def test_more_open_erase_units_need_more_spare_area(placement: str, open_erase_units: int) -> None:
    capacity = resolve(load("textbook"), settings={"ftl.placement": placement}).capacity
    assert capacity.open_erase_units == open_erase_units
    assert capacity.user_units_max == (1024 - 1 - open_erase_units - 1) * 256


@pytest.mark.parametrize("share", [1e9, float("inf"), float("nan"), -0.1])
def test_an_over_provisioning_without_sense_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="--op"):
        resolve(load("tiny"), over_provisioning=share)


def test_parity_and_bad_blocks_take_from_what_gc_has() -> None:
    plain = resolve(load("textbook")).capacity
    parity = resolve(load("textbook"), settings={"parity.units_per_stripe": "16"}).capacity
    assert parity.data_units_per_erase_unit == 256 - 16
    assert parity.over_provisioning == plain.over_provisioning
    bad = resolve(load("textbook"), settings={"faults.factory_bad_blocks": "0.05"}).capacity
    assert bad.data_units < plain.data_units
    with pytest.raises(InputError, match="least"):
        resolve(load("textbook"), settings={"faults.factory_bad_blocks": "0.2"})


@pytest.mark.parametrize(
    ("settings", "path", "value"),
    [
        ({"nand.read_us": "45"}, ("nand", "read_us"), 45.0),
        ({"nand.read_us": "[45, 60]"}, ("nand", "read_us"), [45.0, 60.0]),
        ({"nand.channels": "4"}, ("nand", "channels"), 4),
        ({"nand.cell": "mlc"}, ("nand", "cell"), "mlc"),
        ({"nand.cell": '"mlc"'}, ("nand", "cell"), "mlc"),
        ({"faults.wear_out": "true"}, ("faults", "wear_out"), True),
        ({"ftl.user_bytes": "102400MB"}, ("ftl", "user_bytes"), 102_400_000_000),
        ({"ftl.user_bytes": "100GiB"}, ("ftl", "user_bytes"), 100 * 2**30),
        ({"ftl.victim": "fifo"}, ("ftl", "victim"), {"name": "fifo"}),
        ({"ftl.victim": "d-choices"}, ("ftl", "victim"), {"name": "d-choices", "d": 10}),
        ({"ftl.victim": '{ name = "d-choices", d = 3 }'}, ("ftl", "victim"), {"name": "d-choices", "d": 3}),
        ({"ftl.victim": "d-choices", "ftl.victim.d": "5"}, ("ftl", "victim"), {"name": "d-choices", "d": 5}),
        (
            {"ftl.victim": '{ name = "windowed-greedy", window = 1 }'},
            ("ftl", "victim"),
            {"name": "windowed-greedy", "window": 1.0},
        ),
    ],
)
def test_settings_are_typed_by_the_schema(settings: dict[str, str], path: tuple[str, str], value: object) -> None:
    drive = load("competitor-128gb")
    if "nand.channels" in settings:
        settings = settings | {"ftl.user_bytes": "100GiB", "nand.blocks_per_plane": "4096"}
    resolved = resolve(drive, settings=settings)
    found = resolved.specification()[path[0]][path[1]]
    assert found == value
    assert type(found) is type(value)
    assert "command line" in resolved.file.source_of(".".join(path)).source
    # The original drive is unchanged.
    assert drive == load("competitor-128gb")


def test_names_and_market_values_can_be_set() -> None:
    resolved = resolve(load("tiny"), settings={"name": "480", "market.price_usd": "49.90"})
    assert resolved.name == "480"
    assert resolved.file.market.price_usd == 49.9


@pytest.mark.parametrize(
    ("key", "value", "parts"),
    [
        ("ftl.vctim", "fifo", ["--set ftl.vctim=fifo", "did you mean 'ftl.victim'"]),
        ("victim", "fifo", ["unknown key 'victim'", "ftl"]),
        ("ftl", "fifo", ["unknown key 'ftl'"]),
        ("ftl.", "fifo", ["unknown key 'ftl.'"]),
        ("sources.x", "fifo", ["unknown key 'sources.x'"]),
        ("nand.channels", "four", ["--set nand.channels=four", "a whole number of 1 or more"]),
        ("nand.channels", "4.5", ["--set nand.channels=4.5", "a whole number of 1 or more"]),
        ("nand.page_bytes", "16k", ["--set nand.page_bytes=16k", "write 16kB"]),
        ("nand.cell", "plc", ["'plc'", "'qlc'"]),
        ("faults.wear_out", "yes", ["faults.wear_out = 'yes'", "true or false"]),
        ("ftl.victim", "fifi", ["'fifi'", "did you mean 'fifo'"]),
        ("ftl.victim.d", "3", ["unknown key 'ftl.victim.d'", "parameters of 'greedy': none"]),
        ("ftl.victim", "[1]", ["ftl.victim = [1]"]),
        ("nand.page_bytes", "8000", ["nand.page_bytes = 8000", "multiple"]),
        ("nand.blocks_per_plane", "4000000000", ["nand.blocks_per_plane", "fewer than 2^32 mapping units"]),
    ],
)
def test_a_wrong_setting_is_named(key: str, value: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        resolve(load("tiny"), settings={key: value})
    assert [part for part in parts if part not in str(caught.value)] == [], str(caught.value)


def test_op_and_user_bytes_contradict_each_other() -> None:
    with pytest.raises(InputError, match=r"--op and --set ftl\.user_bytes"):
        resolve(load("tiny"), over_provisioning=0.6, settings={"ftl.user_bytes": "163840"})


@pytest.mark.parametrize("name", ["generic-tlc-480", "generic-nvme-960", "pny-120gb", "textbook"])
@given(scale=st.fractions(min_value=Fraction(1, 4), max_value=1, max_denominator=10_000))
def test_a_smaller_drive_has_the_same_ratios(name: str, scale: Fraction) -> None:
    drive = load(name)
    full = resolve(drive)
    small = resolve(drive, scale=scale)
    assert small.capacity.erase_units == full.capacity.erase_units
    assert small.capacity.planes == full.capacity.planes
    # The recorded scale is the one after rounding to whole pages, and is exact for the flash.
    assert small.capacity.physical_units == full.capacity.physical_units * small.scale
    assert abs(small.scale - scale) <= Fraction(1, 2 * drive.nand.pages_per_block)
    exact = Fraction(full.capacity.user_units, full.capacity.physical_units)
    assert small.capacity.user_units == int(small.capacity.physical_units * exact)
    assert small.capacity.hidden_over_provisioning == pytest.approx(full.capacity.hidden_over_provisioning, rel=1e-3)


def test_an_erase_costs_a_page_the_same_at_any_scale() -> None:
    """A regression: a superblock of 3 pages per block took as long to erase as one of 768, so the scaled drive was a
    third as fast."""
    full, small = (resolve(load("generic-tlc-480"), scale=scale).file.nand for scale in (None, Fraction(1, 256)))
    of_a_page = small.erase_us / (small.erases_at_once * small.pages_per_block)
    assert of_a_page == pytest.approx(full.erase_us / full.pages_per_block)
    # A read that waits for an erase waits as long.
    assert (small.erase_us, small.erases_at_once, full.erases_at_once) == (pytest.approx(full.erase_us), 256, 1)
    assert (small.read_us, small.program_us) == (full.read_us, full.program_us)


def test_the_write_buffer_is_not_scaled_and_a_setting_may_have_a_unit() -> None:
    drive = load("generic-tlc-480")
    assert resolve(drive, scale=Fraction(1, 16)).specification()["write_buffer"]["bytes"] == 8 * 2**20
    settings = {"write_buffer.bytes": "1MiB", "controller.command_us": "8"}
    changed = resolve(drive, settings=settings).specification()
    assert (changed["write_buffer"]["bytes"], changed["controller"]["command_us"]) == (2**20, 8.0)


@pytest.mark.parametrize(
    ("parts", "units", "scaled"),
    [
        (1, 30_000, 30_000),
        (8, 24_576, 24_576),
        (8, 24_577, 3072),
        (64, 48, 48),
        (64, 30_000, 59 * 8),
        (64, 999_999, 1953 * 8),
    ],
)
def test_a_batch_of_garbage_collection_is_scaled_if_it_exceeds_an_erase_unit(
    parts: int, units: int, scaled: int
) -> None:
    """A regression: batches of 22,000 units on a drive of 1/256 emptied ten erase units at once, and skewed writes were
    a fifth faster than on the full drive."""
    drive = load("generic-tlc-480")
    assert drive.capacity.data_units_per_erase_unit == 8 * 24_576
    settings = {"ftl.gc_throttling": f'{{ name = "in-batches", units = {units}, catch_up = 0.5 }}'}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", Note)
        small = resolve(drive, settings=settings, scale=Fraction(1, parts)).file
    notes = [str(note.message) for note in caught]
    assert any(f"{scaled:,} of {units:,} units" in note for note in notes) == (scaled != units)
    assert small.ftl.gc_throttling.parameters == {"units": scaled, "units_at_a_time": 0, "catch_up": 0.5}
    assert (f"{units} units in the full drive" in small.source_of("ftl.gc_throttling").source) == (scaled != units)


def test_scale_and_over_provisioning_together() -> None:
    small = resolve(load("generic-tlc-480"), over_provisioning=0.07, scale=Fraction(1, 16))
    assert small.scale == Fraction(1, 16)
    assert small.file.nand.pages_per_block == 48
    assert small.capacity.over_provisioning == pytest.approx(0.07, abs=1e-6)
    assert "--scale 1/16" in small.file.source_of("nand.pages_per_block").source
    assert "--op 7%" in small.file.source_of("ftl.user_bytes").source


@pytest.mark.parametrize(
    ("name", "scale", "limit"),
    [
        ("textbook", Fraction(1, 64), "smallest scale for this drive is 1/32"),
        ("tiny", Fraction(1, 2), "cannot be made smaller"),
    ],
)
def test_a_scale_that_leaves_too_small_an_erase_unit_names_the_smallest(name: str, scale: Fraction, limit: str) -> None:
    with pytest.raises(InputError, match=limit):
        resolve(load(name), scale=scale)


def test_the_smallest_scale_works() -> None:
    smallest = resolve(load("textbook"), scale=Fraction(1, 32)).capacity
    assert (smallest.units_per_erase_unit, smallest.erase_units) == (64, 128)


@pytest.mark.parametrize(
    ("name", "pages", "blocks"),
    [("generic-sata-tlc-500", 8, 256), ("generic-nvme-qlc-2000", 8, 512), ("pny-120gb", 1, 1024)],
)
def test_blocks_are_fewer_where_a_block_would_have_too_few_pages(name: str, pages: int, blocks: int) -> None:
    """A regression: the SLC cache of a small drive left its blocks fewer pages than bits per cell, which was
    rejected."""
    full, small = resolve(load(name)), resolve(load(name), scale=Fraction(1, 512))
    assert small.scale == Fraction(1, 512)
    assert (small.file.nand.pages_per_block, small.file.nand.blocks_per_plane) == (pages, blocks)
    assert small.capacity.flash_units * 512 == full.capacity.flash_units
    # What firmware reserves is rounded up to whole erase units, of which there are fewer.
    assert small.capacity.over_provisioning == pytest.approx(full.capacity.over_provisioning, abs=1e-3)
    # An equal share of the erase units.
    in_slc_mode = [
        each.file.slc_cache.dynamic_bytes_max / each.capacity.slc_bytes_per_erase_unit for each in (full, small)
    ]
    assert in_slc_mode[1] == pytest.approx(in_slc_mode[0] * blocks / full.file.nand.blocks_per_plane, abs=1)


def test_a_drive_with_fewer_blocks_has_nearly_the_write_amplification_of_one_with_smaller_ones() -> None:
    job = "[j]\nrw=randwrite\nbs=4k\nloops=3\n"
    with pytest.warns(Note, match=r"512 of 1,024 blocks in a plane.* From 1/256 on it has all blocks"):
        drives = [ssdlab.drive("generic-sata-mlc-256", scale=scale) for scale in ("1/256", "1/512")]
    wafs = [ssdlab.run(parse(job), drive, timed=False, seed=1, precondition="fill").waf or 0 for drive in drives]
    # The reserve is twice as large a share of half as many erase units.
    assert wafs[0] < wafs[1] < 1.05 * wafs[0]


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(3, 2)])
def test_a_scale_out_of_range_is_refused(scale: Fraction) -> None:
    with pytest.raises(InputError, match=r"above 0 and at most 1|at least 64"):
        resolve(load("textbook"), scale=scale)


def test_an_unscaled_drive_says_so() -> None:
    assert resolve(load("textbook")).scale == resolve(load("textbook"), scale=Fraction(1)).scale == 1
    assert resolve(load("textbook")).endurance_cycles == 3000


def test_flash_held_out_is_no_part_of_t_at_any_scale() -> None:
    settings = {"ftl.reserved_bytes": "20GiB"}
    plain = resolve(load("generic-tlc-480")).capacity
    drive = resolve(load("generic-tlc-480"), settings=settings)
    # 768 pages of 16 KiB in each of 64 planes are 768 MiB: 20 GiB are 26.7 erase units, rounded up.
    held_out = 27
    assert drive.capacity.erase_units == plain.erase_units - held_out
    assert drive.capacity.held_out_bytes == held_out * 768 * 2**20
    assert drive.capacity.flash_bytes == plain.physical_bytes
    assert drive.capacity.user_bytes == plain.user_bytes
    assert drive.capacity.over_provisioning < plain.over_provisioning
    scaled = resolve(load("generic-tlc-480"), settings=settings, scale=Fraction(1, 48))
    assert scaled.capacity.erase_units == drive.capacity.erase_units
    assert scaled.capacity.over_provisioning == pytest.approx(drive.capacity.over_provisioning, rel=1e-4)
    with_op = resolve(load("generic-tlc-480"), settings=settings, over_provisioning=0.05).capacity
    assert with_op.user_bytes == pytest.approx(drive.capacity.physical_bytes / 1.05, rel=1e-6)


def test_a_drive_that_keeps_all_of_its_flash_to_itself_is_refused() -> None:
    with pytest.raises(InputError, match=r"ftl\.reserved_bytes = 549755813888 should be so small that one or more of"):
        resolve(load("generic-tlc-480"), settings={"ftl.reserved_bytes": "512GiB"})


def test_idle_work_keeps_its_proportion_to_a_smaller_drive() -> None:
    settings = {
        "background.erased_pool_bytes": "5GB",
        "background.read_disturb_reads": "96000",
        "background.idle_after_ms": "20",
    }
    drive = resolve(load("generic-tlc-480"), settings=settings, scale=Fraction(1, 48)).file.background
    # 5 GB are 7 erase units of 768 MiB, rounded up.
    assert drive.erased_pool_bytes == 7 * 16 * 2**20
    assert drive.read_disturb_reads == 2000
    assert drive.idle_after_ms == 20.0


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("data_reduction.packing_bytes", "500", "should be a power of two from 32 to"),
        ("data_reduction.packing_bytes", "16", "should be a power of two from 32 to"),
        ("data_reduction.index_bytes_per_unit", "200", "should be at most a quarter"),
        ("ftl.reserve_erase_units", "1", "should be 2 or more with data reduction"),
        ("background.defragment", "true", "should be false with data reduction"),
    ],
)
def test_data_reduction_that_cannot_be_done_is_refused(key: str, value: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(load("generic-tlc-480"), settings={"data_reduction.compression": "true", key: value})
    resolve(load("generic-tlc-480"), settings={key: value} if "data_reduction" in key else {})


def test_an_index_takes_its_part_of_what_the_host_may_use() -> None:
    settings = {"data_reduction.compression": "true", "data_reduction.index_bytes_per_unit": "64"}
    plain, reducing = (
        resolve(load("generic-tlc-480")).capacity,
        resolve(load("generic-tlc-480"), settings=settings).capacity,
    )
    assert reducing.user_units_max == plain.user_units_max * 4096 // (4096 + 64)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("background.wear_leveling", "true", r"with ftl\.wear_leveling = 'static'"),
        ("background.erased_pool_bytes", "600GB", r"erased_pool_bytes = 600000000000 should be less than"),
        ("background.idle_after_ms", "-1", "should be a number from 0 to 1000000000"),
    ],
)
def test_idle_work_that_cannot_be_done_is_refused(key: str, value: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(load("generic-tlc-480"), settings={key: value})


def test_a_cache_of_its_own_is_no_part_of_t_and_stays_as_many_erase_units() -> None:
    settings = {"slc_cache.static_bytes": "6GB", "slc_cache.dynamic_bytes_max": "20GB"}
    plain = resolve(load("generic-tlc-480")).capacity
    drive = resolve(load("generic-tlc-480"), settings=settings)
    # 256 of 768 pages of 16 KiB in 64 planes: 256 MiB in SLC mode. 6 GB are 22.4 erase units, 20 GB are 74.5.
    assert drive.capacity.erase_units == plain.erase_units - 23
    assert drive.capacity.open_erase_units == plain.open_erase_units + 2
    scaled = resolve(load("generic-tlc-480"), settings=settings, scale=Fraction(1, 16))
    assert scaled.capacity.erase_units == drive.capacity.erase_units
    assert scaled.file.slc_cache.static_bytes == 23 * 16 * 2**20
    assert scaled.file.slc_cache.dynamic_bytes_max == 75 * 16 * 2**20


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nand.cell": "slc"}, r"nand\.cell = 'slc' should be of more than one bit"),
        ({"ftl.placement": "single"}, r"ftl\.placement = 'single' should be 'host-gc-split'"),
        ({"nand.pages_per_block": "5"}, "should be at least 6"),
        (
            {"slc_cache.static_bytes": "160GiB"},
            r"slc_cache\.static_bytes = 171798691840 should be less than the \d+ B",
        ),
        ({"slc_cache.when_full": "wait"}, "should be 'direct' or 'fold'"),
    ],
)
def test_a_cache_that_cannot_be_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(load("generic-tlc-480"), settings={"slc_cache.static_bytes": "6GB"} | settings)


def test_a_drive_for_looks_from_outside_keeps_its_blocks() -> None:
    """A regression: `identify --scale 1/8` told 768 pages in a block of 96, eight of which are erased at once."""
    whole = load("generic-tlc-480").nand
    small = ssdlab.drive("generic-tlc-480", scale="1/8").with_whole_blocks()
    assert (small.file.nand.pages_per_block, small.file.nand.erase_us) == (whole.pages_per_block, whole.erase_us)
    assert small.file.nand.erases_at_once == whole.erases_at_once
    assert small.file.nand.blocks_per_plane == whole.blocks_per_plane / 8 and small.scale == Fraction(1, 8)
    assert small.capacity.over_provisioning == pytest.approx(ssdlab.drive("generic-tlc-480").capacity.over_provisioning)
    assert ssdlab.drive("generic-tlc-480").with_whole_blocks() == ssdlab.drive("generic-tlc-480")
    # At 1/10, which leaves 64, the spare area is too small.
    with pytest.raises(InputError, match=r"leaves 20 erase units.*64 are needed.*the smallest scale.*is 1/8"):
        ssdlab.drive("generic-tlc-480", scale="1/32").with_whole_blocks()
