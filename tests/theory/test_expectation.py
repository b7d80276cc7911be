"""The closed form that a run gets, and the reason why a run has none."""

from typing import Any

import pytest

from ssdlab.theory import closed_forms, expectation
from ssdlab.theory.expectation import expected

UNIT = 4096
# So large that open erase units have no effect; the test of their effect uses a smaller drive.
USER_BYTES = 10**11 * UNIT


def job(**changes: Any) -> dict[str, Any]:
    """A resolved job of the engine: independent uniform writes of one mapping unit over the whole drive."""
    sizes = [{"bytes": UNIT, "percent": 100.0}]
    whole = {
        "name": "writes",
        "clone": 0,
        "stage": 1,
        "direction": "write",
        "sequential": False,
        "read_percent": 0.0,
        "offset_bytes": 0,
        "size_bytes": USER_BYTES,
        "io_bytes": USER_BYTES,
        "number_ios": None,
        "loops": 1,
        "block_sizes": {"read": sizes, "write": sizes, "trim": sizes},
        "block_align_bytes": {"read": UNIT, "write": UNIT, "trim": UNIT},
        "distribution": {"name": "random"},
        "random_map": False,
        "seed": 1,
        "iodepth": 1,
    }
    return whole | changes


def fill(**changes: Any) -> dict[str, Any]:
    return job(**({"name": "precondition", "stage": 0, "sequential": True} | changes))


def zones(*pairs: tuple[float, float]) -> dict[str, Any]:
    return {"name": "zoned", "zones": [{"access_percent": a, "span_percent": s} for a, s in pairs]}


def drive(victim: dict[str, Any] | str = "greedy", placement: Any = "host-gc-split", stripe: int = 0) -> dict[str, Any]:
    def choice(policy: Any) -> dict[str, Any]:
        return policy if isinstance(policy, dict) else {"name": policy}

    return {
        "name": "test",
        "nand": {
            "channels": 2,
            "dies_per_channel": 1,
            "planes_per_die": 2,
            "blocks_per_plane": 1024,
            "pages_per_block": 16,
            "page_bytes": 16384,
        },
        "ftl": {
            "user_bytes": USER_BYTES,
            "mapping_unit_bytes": UNIT,
            "erase_unit": "superblock",
            "victim": choice(victim),
            "placement": choice(placement),
            "wear_leveling": {"name": "none"},
            "reserve_erase_units": 1,
            "spare_area": "dynamic",
        },
        "parity": {"units_per_stripe": stripe},
    }


@pytest.mark.parametrize(
    ("victim", "value"),
    [
        ("greedy", closed_forms.greedy(0.1, 256)),
        ("fifo", closed_forms.fifo(0.1)),
        ("random", closed_forms.random_victim(0.1)),
        ({"name": "d-choices", "d": 4}, closed_forms.d_choices(0.1, 256, 4)),
        ("d-choices", closed_forms.d_choices(0.1, 256, 10)),
    ],
)
def test_uniform_writes_get_their_victim_policy_s_form(victim: Any, value: float) -> None:
    answer = expected([fill(), job()], drive(victim), 0.1)
    assert answer.value == pytest.approx(value)
    assert answer.formula is not None and answer.reason is None


def test_an_erase_unit_of_one_block_has_its_own_count_of_units() -> None:
    of_block = drive()
    of_block["ftl"]["erase_unit"] = "block"
    assert expected([job()], of_block, 0.1).value == pytest.approx(closed_forms.greedy(0.1, 64))


@pytest.mark.parametrize("placement", ["single", "host-gc-split"])
def test_open_erase_units_cost_less_than_their_halves(placement: str) -> None:
    small = drive(placement=placement)
    small["ftl"]["user_bytes"] = 200_000 * UNIT
    answer = expected([job(size_bytes=200_000 * UNIT)], small, 0.1)
    assert answer.value is not None
    effective = 0.1 + (0.5 - 0.5 / answer.value) * 256 / 200_000
    assert answer.value == pytest.approx(closed_forms.greedy(effective, 256), rel=1e-7)
    assert answer.value < closed_forms.greedy(0.1, 256) * 0.997


def test_parity_is_counted_in_and_takes_its_room() -> None:
    answer = expected([job()], drive(stripe=16), 0.1)
    assert answer.value == pytest.approx(closed_forms.greedy(0.1, 240) * 16 / 15)


def test_a_part_of_the_drive_is_uniform_over_what_is_live() -> None:
    half = job(size_bytes=USER_BYTES // 2)
    assert expected([half], drive(), 1.2).value == pytest.approx(closed_forms.greedy(1.2, 256))
    none = expected([fill(), half], drive(), 0.1)
    assert none.value is None and "skewed" in str(none.reason)
    static = expected([fill(), half], drive("fifo", "single"), 0.1)
    assert static.value == pytest.approx(closed_forms.fifo_classes(0.1, (1.0, 0.0), (0.5, 0.5)))
    assert static.formula == "FIFO with 2 classes"


def test_zones_under_fifo_are_classes() -> None:
    zoned = job(distribution=zones((50, 5), (30, 15), (20, 80)))
    answer = expected([fill(), zoned], drive("fifo", "single"), 0.1)
    value = closed_forms.fifo_classes(0.1, (0.5, 0.3, 0.2), (0.05, 0.15, 0.8))
    assert answer.value == pytest.approx(value)
    assert answer.formula == "FIFO with 3 classes"


def test_two_jobs_make_classes_by_their_turns() -> None:
    jobs = [job(iodepth=3), job(size_bytes=USER_BYTES // 4, direction="read-write", read_percent=50.0, iodepth=2)]
    answer = expected(jobs, drive("fifo", "single"), 0.1)
    # Turns: 3 over all, 1 over the first quarter, which therefore gets 3/4 x 1/4 + 1/4.
    hot = 0.75 * 0.25 + 0.25
    value = closed_forms.fifo_classes(0.1, (hot, 1 - hot), (0.25, 0.75))
    assert answer.value == pytest.approx(value)


def test_zones_of_one_density_are_uniform() -> None:
    zoned = job(distribution=zones((25, 25), (75, 75)))
    assert expected([zoned], drive(), 0.1).value == pytest.approx(closed_forms.greedy(0.1, 256))


def test_clones_of_one_job_are_uniform() -> None:
    assert expected([job(), job(clone=1)], drive(), 0.1).value == pytest.approx(closed_forms.greedy(0.1, 256))


def test_classes_with_their_own_spare_area() -> None:
    own = {"name": "class-spare", "borders": [0.2]}
    zoned = job(distribution=zones((80, 20), (20, 80)))
    answer = expected([fill(), zoned], drive("greedy", own), 0.1)
    value = closed_forms.separated_pools(0.1, (0.8, 0.2), (0.2, 0.8), pool=lambda op: closed_forms.greedy(op, 256))
    assert answer.value == pytest.approx(value)
    for placement, words in (
        ({"name": "class-spare", "borders": [0.3]}, "not those of the workload"),
        ("class-spare", "learned"),
        ("frequency-frontiers", "skewed"),
    ):
        none = expected([fill(), zoned], drive("greedy", placement), 0.1)
        assert none.value is None and words in str(none.reason)


def test_pools_give_up_half_an_erase_unit_each_after_the_split() -> None:
    small = drive("fifo", {"name": "class-spare", "borders": [0.05]})
    small["ftl"]["user_bytes"] = 200_000 * UNIT
    zoned = job(size_bytes=200_000 * UNIT, distribution=zones((50, 5), (50, 95)))
    answer = expected([zoned], small, 0.1)
    # In mapping units: 20,000 of effective spare area and 128 for each of two open erase units are split.
    hot_share = closed_forms.square_root_split((0.5, 0.5), (0.05, 0.95))[0]
    hot, cold = 20_256 * hot_share - 128, 20_256 * (1 - hot_share) - 128
    value = 0.5 * closed_forms.fifo(hot / 10_000) + 0.5 * closed_forms.fifo(cold / 190_000)
    assert answer.value == pytest.approx(value)
    none = expected([zoned], small, 0.001)
    assert none.value is None and "no spare area" in str(none.reason)


def test_random_trims_beside_uniform_writes_use_what_is_live() -> None:
    jobs = [fill(), job(), job(name="trims", direction="trim")]
    assert expected(jobs, drive(), 0.5).value == pytest.approx(closed_forms.greedy(0.5, 256))
    elsewhere = expected([fill(), job(), job(direction="trim", size_bytes=USER_BYTES // 2)], drive(), 0.5)
    assert elsewhere.value is None and "trims" in str(elsewhere.reason)


MIX = [{"bytes": 512, "percent": 4.0}, {"bytes": UNIT, "percent": 96.0}]
LARGE = [{"bytes": 4 * UNIT, "percent": 100.0}]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"block_sizes": {"read": MIX, "write": MIX, "trim": MIX}}, "mixes request sizes"),
        ({"block_sizes": {"read": LARGE, "write": LARGE, "trim": LARGE}}, "not one mapping unit"),
        ({"block_align_bytes": {"read": 512, "write": 512, "trim": 512}}, "not aligned"),
        ({"offset_bytes": 512, "size_bytes": USER_BYTES - UNIT}, "not aligned"),
        ({"random_map": True}, "norandommap"),
        ({"runs": {"ios": 8, "then": "sequential"}}, "runs"),
        ({"random_percent": {"read": 50, "write": 50, "trim": 50}}, "random_percent"),
        ({"sequential": True}, "sequential"),
        ({"distribution": {"name": "zipf", "theta": 1.1}}, "zipf"),
        ({"direction": "read"}, "writes nothing"),
    ],
)
def test_no_form_no_value(changes: dict[str, Any], words: str) -> None:
    answer = expected([fill(), job(**changes)], drive(), 0.1)
    assert answer.value is None and answer.formula is None
    assert words in str(answer.reason)


def test_a_drive_without_data_is_not_said_to_lack_spare_area() -> None:
    """A fresh drive, or one that was trimmed, has nothing but spare area."""
    assert expected([job()], drive(), None).reason == expectation.NO_DATA
    assert "no spare area" in str(expected([job()], drive(), 0.0).reason)


def test_other_reasons_for_no_value() -> None:
    for drive_changed, effective, words in (
        (drive("cost-benefit"), 0.1, "cost-benefit"),
        (drive(placement="frequency-frontiers"), 0.1, "frequency-frontiers"),
        (drive(), 0.0, "spare area"),
        (drive(), None, "holds no data"),
    ):
        answer = expected([fill(), job()], drive_changed, effective)
        assert answer.value is None and words in str(answer.reason)
    leveled = drive()
    leveled["ftl"]["wear_leveling"] = {"name": "static"}
    assert "wear levelling" in str(expected([job()], leveled, 0.1).reason)
    half_random = fill(sequential=False, offset_bytes=USER_BYTES // 2, size_bytes=USER_BYTES // 2)
    first_half = job(size_bytes=USER_BYTES // 2)
    assert "does not otherwise write" in str(expected([half_random, first_half], drive("fifo"), 0.1).reason)


def test_write_amplification_is_for_curves() -> None:
    assert expectation.write_amplification(0.07, {"name": "fifo"}, 256) == closed_forms.fifo(0.07)
    assert expectation.write_amplification(0.07, {"name": "windowed-greedy", "window": 8}, 256) is None
    with pytest.raises(ValueError, match="allowed"):
        expectation.write_amplification(0.0, {"name": "fifo"}, 256)
