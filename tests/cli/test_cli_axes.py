"""Do lists expand to the variants that they name?"""

import pytest

from ssdlab.comparison.axes import plan, split_list
from ssdlab.errors import InputError

LISTS = {
    "greedy": ["greedy"],
    "greedy,fifo": ["greedy", "fifo"],
    'greedy,{name="d-choices",d=10}': ["greedy", '{name="d-choices",d=10}'],
    "[0.1,0.2],[0.3]": ["[0.1,0.2]", "[0.3]"],
    "'a,b', \"c,}\"": ["'a,b'", '"c,}"'],
    "{a=[1,{b=2,c=3}],d=4},5": ["{a=[1,{b=2,c=3}],d=4}", "5"],
}


@pytest.mark.parametrize(("text", "entries"), LISTS.items(), ids=LISTS)
def test_commas_inside_do_not_split(text: str, entries: list[str]) -> None:
    assert split_list(text, "--set x") == entries


@pytest.mark.parametrize("text", ["a,,b", "a,", "{a,b", "a],b", "'a,b", "{a]", "a,a"])
def test_broken_lists_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^--set x"):
        split_list(text, "--set x")


def labels(*arguments: object) -> list[str]:
    return [variant.label for variant in plan(*arguments)]  # type: ignore[arg-type]


def test_labels_name_what_differs() -> None:
    assert labels(["generic-tlc-480"], "7%,28%", []) == ["7 %", "28 %"]
    assert labels(["generic-tlc-480"], "7%", ["ftl.victim=greedy,fifo"]) == ["greedy", "fifo"]
    assert labels(["generic-tlc-480"], None, ["ftl.victim=fifo"]) == ["generic-tlc-480"]
    assert labels(["generic-tlc-480", "generic-nvme-960"], "7%,28%", []) == [
        "generic-tlc-480, 7 %",
        "generic-tlc-480, 28 %",
        "generic-nvme-960, 7 %",
        "generic-nvme-960, 28 %",
    ]


def test_settings_multiply_and_arrive() -> None:
    variants = plan(
        ["generic-tlc-480"], None, ['ftl.victim=greedy,{name="d-choices",d=4}', "ftl.reserve_erase_units=2,3"]
    )
    assert [variant.label for variant in variants] == [
        "greedy, reserve_erase_units=2",
        "greedy, reserve_erase_units=3",
        "d-choices d=4, reserve_erase_units=2",
        "d-choices d=4, reserve_erase_units=3",
    ]
    ftl = variants[3].drive.specification()["ftl"]
    assert (ftl["victim"], ftl["reserve_erase_units"]) == ({"name": "d-choices", "d": 4}, 3)


def test_a_word_of_two_axes_is_told_apart() -> None:
    assert labels(["generic-tlc-480"], None, ["ftl.wear_leveling=none,static", "ftl.spare_area=dynamic,static"]) == [
        "none, dynamic",
        "none, spare_area=static",
        "wear_leveling=static, dynamic",
        "wear_leveling=static, spare_area=static",
    ]


def test_every_drive_takes_every_spare_area() -> None:
    variants = plan(["generic-tlc-480"], "7%,0.28", [])
    assert [variant.drive.capacity.over_provisioning for variant in variants] == pytest.approx([0.07, 0.28], abs=1e-6)
