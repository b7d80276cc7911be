"""Do the sentences agree with the figures?"""

from dataclasses import replace
from typing import Any

import pytest

from made_up import USER_BYTES, made_up_speed, made_up_variant, within
from ssdlab.presentation.report import ComparedVariant, VariantSpeed, WearStatistics, findings, wording
from ssdlab.presentation.report.charts.latency_parts import listed_kinds
from ssdlab.presentation.report.charts.parts import parts_of_nand_writes
from ssdlab.presentation.report.table import variants_table
from ssdlab.presentation.report.variant import LATENCY_PARTS


def _variant(label: str, waf: float | None, **changes: Any) -> ComparedVariant:
    defaults: dict[str, Any] = {
        "waf": waf,
        "waf_estimate": None if waf is None else within(waf),
        "theory": None,
        "theory_formula": None,
    }
    return made_up_variant(label, 0.1, **(defaults | changes))


def _plain(sentence: str) -> str:
    return sentence.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("wafs", "expected"),
    [
        ({0.28: 2.0, 0.07: 4.6}, "WAF 4.60 at 7 % of over-provisioning, 2.00 at 28 %"),
        ({0.07: 4.6}, "WAF 4.60 at 7 % of over-provisioning"),
    ],
)
def test_effect_of_spare_area(wafs: dict[float, float], expected: str) -> None:
    variants = [replace(_variant(f"{op}", waf), over_provisioning=op) for op, waf in wafs.items()]
    assert _plain(findings.spare_area_effect(variants)) == expected


def test_the_summary_can_be_read_alone_and_does_not_repeat_the_title() -> None:
    """A regression: the first sentence of the page was its title, which was the title of a chart too."""
    variants = [_variant("7 %", 4.6, theory=4.6), _variant("28 %", 2.0, theory=2.0)]
    said = _plain(findings.summary(variants))
    assert said.startswith("Per host byte, 4.60 bytes are programmed to NAND with 7 % spare area and 2.00 with 28 %")
    assert "theory agrees within 0.1 %" in said
    assert "times less to flash" not in said + _plain(findings.spare_area_effect(variants))


def test_a_page_of_reads_does_not_say_that_the_host_wrote_nothing_before_them() -> None:
    """A regression: "the host wrote nothing" stood below 462 GB of host writes, those of the fill."""
    read = _variant("a", None, waf_parts={}, steady_reached=None, host_written_bytes=462 * 10**9)
    assert findings.summary([read]).startswith("The last stage wrote nothing")
    table = str(variants_table([read]))
    assert "462" in table and "the last stage wrote nothing" in table and "host wrote nothing" not in table


def test_theory_agrees_or_differs_and_only_where_it_applies() -> None:
    close = _variant("7 %", 4.0, theory=4.1)
    far = _variant("28 %", 2.0, theory=1.6)
    none = _variant("50 %", 1.3)
    assert _plain(findings.spare_area_effect([close])).endswith("; theory agrees within 2.4 %")
    assert _plain(findings.spare_area_effect([close, far])).endswith("; theory differs by up to 25 %")
    assert _plain(findings.spare_area_effect([close, none])).endswith(
        "; the closed form, where it applies, agrees within 2.4 %"
    )
    moving = _variant("7 %", 2.0, theory=4.1, steady_reached=False)
    assert "theory" not in findings.spare_area_effect([moving]), "a transient is not compared with a steady state"
    assert findings.theory_deviation(far) == pytest.approx(0.25)


def test_a_short_trace_on_a_fresh_drive_says_nothing_of_its_spare_area() -> None:
    """A regression: 23 MB of a trace gave "33,474 times of effective spare area; 7 % is built in"."""
    written = 0.00003 * _variant("a", 2.0).user_bytes
    short = _variant(
        "a",
        1.4,
        steady_reached=None,
        stages=[(0, 0, int(written))],
        effective_over_provisioning=33_474.0,
    )
    assert "nearly all of the drive was never written" in findings.spare_room([short]).lower()
    enough = replace(short, stages=[(0, 0, short.user_bytes)], effective_over_provisioning=0.06)
    assert "built in" in findings.spare_room([enough])


def test_years_of_runs_that_are_not_steady_say_so() -> None:
    years = {"years": 2.0, "dwpd": 1.0}
    steady, short = _variant("a", 2.0, **years), _variant("b", 2.0, **years, steady_reached=None)
    assert "At 1 drive write per day the flash lasts" in findings.summary([steady])
    assert "per day, if write amplification stays as in these runs, the flash lasts" in findings.summary([short])


def test_settling_says_when_and_whether() -> None:
    slow = _variant("7 %", 4.6, steady_at_host_bytes=5 * USER_BYTES)
    fast = _variant("28 %", 1.9, steady_at_host_bytes=3 * USER_BYTES)
    assert findings.settling([fast, slow]) == (
        "7 % spare area settles at a WAF of 4.60 after 5.0 drive writes, 28 % at 1.90 after 3.0"
    )
    moving = _variant("7 %", 4.6, steady_reached=False, steady_at_host_bytes=None, host_written_bytes=40 * USER_BYTES)
    assert findings.settling([moving, fast]) == (
        "7 % spare area stands at a WAF of 4.60 after 40 drive writes and is not steady; "
        "28 % settles at a WAF of 1.90 after 3.0 drive writes"
    )
    assert "may still change" in findings.summary([moving, fast])


def test_causes_name_the_largest_part() -> None:
    worst = _variant("a", 4.0, waf_parts={"host": 1.0, "gc": 1.0, "parity": 2.0})
    best = _variant("b", 2.0, waf_parts={"host": 1.0, "gc": 0.5, "parity": 0.5})
    assert _plain(findings.causes([best, worst])) == "Parity causes 50 % of the flash writes with a, 25 % with b"
    assert "are host writes" in findings.causes([_variant("c", 1.0, waf_parts={"host": 1.0, "gc": 0.0})])


def test_a_share_of_few_writes_is_not_told() -> None:
    """A regression: of two writes "SLC fold causes 33 % of the flash writes", whose WAF was 1.5 ±0.7."""
    few = {"waf_parts": {"host": 1.0, "slc_fold": 0.5}, "steady_reached": None}
    wide = _variant("few", 1.5, waf_estimate=within(1.5, 0.46), **few)
    assert findings.causes([wide]) == "Flash writes by cause"
    assert "in too few requests to tell what else the flash got" in findings.summary([wide])
    table = str(variants_table([wide]))
    assert parts_of_nand_writes([wide]) is not None
    ends = _variant("few", 1.5, waf_estimate=within(1.5, 0.6), missing={"waf_parts": "too few"}, **few)
    assert parts_of_nand_writes([ends]) is None
    assert ">0.5<" in table and ">0.5<" not in str(variants_table([ends])) and "too few" in str(variants_table([ends]))
    known = _variant("many", 1.4, waf_parts={"host": 1.0, "slc_fold": 0.4}, steady_reached=None)
    assert _plain(findings.causes([ends, known])) == "Flash writes by cause"
    assert "29 % of what the flash got was SLC fold" in _plain(findings.summary([known]))
    hardly = _variant("hardly", 1.01, waf_parts={"host": 1.0, "gc": 0.01}, waf_estimate=within(1.01, 0.01))
    assert "causes 0.99 %" in _plain(findings.causes([hardly]))


def _at(iops: float, p999_ns: float | None = 2_340_000) -> VariantSpeed:
    return made_up_speed(iops, 1e9 * 32 / iops, p999_ns)


def test_speed_and_tails_name_the_ends() -> None:
    slow = replace(_variant("7 %", 4.0, speed=_at(10_000, 5_020_000)), over_provisioning=0.07)
    fast = replace(_variant("28 %", 2.0, speed=_at(24_000)), over_provisioning=0.28)
    pair = [slow, fast]
    assert _plain(findings.speed(pair)) == "28 % spare area is 2.4 times as fast in the steady state as 7 %"
    assert _plain(findings.speed([slow])) == "7 % spare area serves 10,000 requests per second in the steady state"
    mixed = replace(slow, speed=replace(_at(10_000), direction_iops=2_500))
    assert ", 2,500 of them writes in the steady state" in findings.speed([mixed])
    moving = _variant("7 %", 4.0, speed=_at(10_000), steady_reached=False)
    assert "steady state" not in findings.speed([moving, fast])
    assert findings.speed([_variant("a", 2.0, speed=_at(1000)), _variant("b", 2.0, speed=_at(1001))]).startswith(
        "b and a are equally fast in the steady state within"
    )
    assert _plain(findings.tails(pair)) == (
        "The 99.9th percentile of write latency is 5.0 \N{PLUS-MINUS SIGN}0.3 ms with 7 % spare area, "
        "2.3 \N{PLUS-MINUS SIGN}0.1 ms with 28 %"
    )
    assert _plain(findings.speed_against_over_provisioning(pair)) == (
        "10,000 requests per second at 7 % of over-provisioning, 24,000 at 28 %"
    )


def test_of_several_policies_at_each_end_the_title_names_one() -> None:
    """A regression: "WAF 2.61 at 7 % of over-provisioning" was that of greedy; fifo's was 16.3 there."""
    found = {("greedy", 0.07): 2.61, ("fifo", 0.07): 16.3, ("greedy", 0.28): 1.51, ("fifo", 0.28): 4.53}
    variants = [
        replace(_variant(f"{policy}, {op:.0%}", waf, speed=_at(10_000)), over_provisioning=op)
        for (policy, op), waf in found.items()
    ]
    assert _plain(findings.spare_area_effect(variants)) == "WAF 2.61 with greedy, 7%; 1.51 with greedy, 28%"
    assert "with greedy, 7%; " in findings.speed_against_over_provisioning(variants)
    assert "with greedy, 7%; " in findings.latency_against_over_provisioning(variants)


def test_sentences_have_the_digits_of_the_table() -> None:
    """A regression: the table said 16.3, what the interval allows, and title, lede and charts 16.26."""
    one, other = (
        replace(_variant(name, waf, waf_estimate=within(waf, 0.01)), over_provisioning=op)
        for name, waf, op in (("a", 16.26, 0.07), ("b", 4.531, 0.28))
    )
    for said in (findings.summary, findings.spare_area_effect, findings.settling):
        assert "16.3" in said([one, other]) and "16.26" not in said([one, other])


def test_tails_are_compared_only_where_their_intervals_are_apart() -> None:
    one, other = (_variant(label, 2.0, speed=_at(1000, ns)) for label, ns in (("a", 2_000_000), ("b", 2_150_000)))
    assert _plain(findings.tails([one, other])) == (
        "The 99.9th percentile of write latency is 2.1 \N{PLUS-MINUS SIGN}0.1 ms with b; that with a cannot be "
        "told from it"
    )
    none = _variant("c", 2.0, speed=_at(1000, None))
    assert not any(character.isdigit() for character in findings.tails([none])), "of too few requests"


def test_no_wait_for_garbage_collection_is_no_finding_of_zero_percent() -> None:
    parts = dict.fromkeys(LATENCY_PARTS, 0.0) | {"flash": 900.0, "link": 100.0}
    variant = _variant("a", 1.0, latency_parts={"mean": parts, "p99_9": parts})
    said = "Writes hardly wait for garbage collection: below 0.5 % of their mean latency"
    assert _plain(findings.waits([variant])) == said


def test_the_slowest_thousandth_needs_ten_requests() -> None:
    """A regression: the page of a trace of 3,000 requests broke down the latency of its three slowest."""
    parts = dict.fromkeys(LATENCY_PARTS, 0.0) | {"flash": 900.0, "gc": 100.0}
    many = _variant("a", 2.0, latency_parts={"mean": parts, "p99_9": parts}, speed=_at(1000, 2e6))
    few = _variant("b", 2.0, latency_parts={"mean": parts}, speed=_at(1000, None))
    said = "With {}, 10 % of the mean write latency is waiting for garbage collection"
    assert _plain(findings.waits([many])) == f"{said.format('a')}, 10 % of that of the slowest 0.1 %"
    assert _plain(findings.waits([few])) == said.format("b")
    assert listed_kinds([few]) == "the mean"


def test_no_clock_no_finding_of_speed() -> None:
    untimed = [_variant("a", 2.0, timed=False), _variant("b", 2.0, timed=False)]
    for finding in (findings.speed, findings.tails, findings.speed_against_over_provisioning):
        assert not any(character.isdigit() for character in finding(untimed))


def test_wear_is_even_or_not() -> None:
    even = _variant("a", 2.0, wear=WearStatistics(9, 10.0, 12, 1.0))
    uneven = _variant("b", 2.0, wear=WearStatistics(0, 10.0, 40, 9.0))
    assert findings.wear([even]) == "Wear is even: the maximum erase count is 1.20 times the mean"
    assert findings.wear([even, uneven]) == "Wear is uneven: the maximum erase count is 4.0 times the mean with b"


def test_wear_of_a_few_erases_says_nothing() -> None:
    """A regression: three erases of a block against 0.5 on average was uneven wear."""
    few = _variant("a", 2.0, wear=WearStatistics(0, 0.5, 3, 0.7))
    assert findings.wear([few]) == "Blocks were erased 0.50 times on average: too few to tell how even their wear is"


def test_nothing_written_invents_nothing() -> None:
    silent = _variant("a", None, waf_parts={}, wear=None, effective_over_provisioning=None)
    assert "no write amplification" in findings.summary([silent])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (wording.size(480103981056), "480 GB"),
        (wording.size(999_900_000), "1.00 GB"),
        (wording.size(512), "512 B"),
        (wording.duration(5_020_000), "5.02 ms"),
        (wording.duration(999_900), "1.00 ms"),
        (wording.duration(5_024), "5.02 \u00b5s"),
        (wording.duration(640), "640 ns"),
        (wording.share(0.127), "12.7 %"),
        (wording.share(0.07), "7 %"),
        (wording.share(1.0), "100 %"),
        (wording.significant(12345.6), "12,346"),
        (wording.significant(4.6012), "4.60"),
        (wording.listed(["a", "b", "c"]), "a, b and c"),
        (wording.times(2.31), "2.3 times"),
        (wording.times(1.04), "1.04 times"),
        # A regression: of two policies whose intervals are apart, "1.00 times as fast".
        (wording.times(1.0041), "1.004 times"),
    ],
)
def test_wording(said: str, expected: str) -> None:
    assert _plain(said) == expected
