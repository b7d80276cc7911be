"""Does any text give jobs or a user error, and nothing else?"""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import OPTIONS, load, parse

GIB = 1 << 30

NAMES = st.sampled_from([name for option in OPTIONS for name in option.names] + ["bss", "", "include", "stonewal"])
VALUES = st.one_of(
    st.text(max_size=12),
    st.text("0123456789kmgib%/:,.-+x ${}", max_size=16),
    st.sampled_from(
        [
            "0",
            "1",
            "50%",
            "100%",
            "4k",
            "4k,8k,16k",
            "1g",
            "999999t",
            "randwrite",
            "randtrimwrite",
            "zipf:1.2",
            "zipf:0.9:0.5",
            "a:b",
            "randread:8",
            "write:4k",
            "4k-64k",
            "zoned_abs:60/20m:40/1g",
            "zoned:50/5:30/15:20/",
            "4k/50:8k/",
        ]
    ),
)
LINES = st.one_of(
    st.builds("{}={}".format, NAMES, VALUES),
    NAMES,
    st.just("[a]"),
    st.just("[global]"),
    st.just("[b"),
    st.text(max_size=9),
)


def outcome_is_jobs_or_input_error(text: str) -> None:
    try:
        parse(text).resolve(GIB, seed=1)
    except InputError as error:
        assert str(error)


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_gives_jobs_or_an_input_error(text: str) -> None:
    outcome_is_jobs_or_input_error(text)


@given(st.lists(LINES, max_size=8))
@settings(max_examples=800, deadline=None)
def test_any_lines_of_the_language_give_jobs_or_an_input_error(lines: list[str]) -> None:
    outcome_is_jobs_or_input_error("[first]\n" + "\n".join(lines))


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_file_gives_jobs_or_an_input_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "any.fio"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        assert load(path).sections
