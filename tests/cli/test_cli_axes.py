"""Do lists expand to the variants that they name?"""

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.comparison.axes import plan, split_list
from ssdlab.simulator.drives import left_empty_sentences

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


def test_left_empty_is_a_share_of_the_drive_and_op_of_the_rest() -> None:
    """20 % of a drive with an OP of 9.93 % left empty is an OP of 37.4 %; an OP of 20 % leaves only 8.4 % of it empty.
    Both are said."""
    variants = plan(["generic-nvme-tlc-1000"], "20%,7%", [], left_empty="0%,20%")
    assert [each.label for each in variants] == ["20 %", "7 %", "0 % left empty", "20 % left empty"]
    own = plan(["generic-nvme-tlc-1000"], None, [])[0].drive.capacity.user_bytes
    assert variants[2].drive.capacity.user_bytes == own
    assert variants[3].drive.capacity.user_bytes == pytest.approx(0.8 * own, abs=4096)
    assert left_empty_sentences([each.drive for each in variants]) == [
        "generic-nvme-tlc-1000: OP 20 % leaves 8.39 % of it empty; OP 7 % leaves nothing empty and gives the host "
        "2.74 % more than as sold; OP 9.93 % is as sold; OP 37.41 % leaves 20 % of it empty"
    ]
    (own,) = plan(["generic-tlc-480"], "7.35%", [])
    assert left_empty_sentences([own.drive]) == ["generic-tlc-480: OP 7.35 % is as sold"], "not below 0.01 % more"
    assert [each.label for each in plan(["tiny"], None, [], left_empty="20%")] == ["tiny, 20 % left empty"]
    for wrong, said in (("100%", "100%' is out of range"), ("20", "'20' is ambiguous"), ("7%,7%", "listed twice")):
        with pytest.raises(InputError, match=f"^--left-empty.*{said}"):
            plan(["generic-nvme-tlc-1000"], None, [], left_empty=wrong)
