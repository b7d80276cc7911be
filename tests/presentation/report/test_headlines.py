"""Does a page's headline state the result?"""

import pytest

from made_up import within
from ssdlab.evidence import Estimate
from ssdlab.presentation.report import headlines
from ssdlab.presentation.report.headlines import Cell, Outcome


def _plain(sentence: str) -> str:
    return sentence.replace("\u00a0", " ")


def _of(
    label: str, waf: float | None, iops: float | None = None, failed: str | None = None, share: float = 0.005
) -> Outcome:
    def known(value: float | None) -> Estimate | None:
        return None if value is None else within(value, share)

    return Outcome(label, known(waf), known(iops), failed)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([_of("7 %", 4.6)], "7 % spare area writes 4.60 bytes to flash per host byte"),
        (
            [_of("a", 4.6, 12345.0)],
            "a writes 4.60 bytes to flash per host byte and serves 12,300 requests per second",
        ),
        ([_of("a", None, 900.0)], "a serves 900 requests per second"),
        ([_of("a", None)], "a: nothing was written"),
        (
            [_of("7 %", 6.8), _of("28 %", 2.0)],
            "28 % spare area writes 3.4 times less to flash than 7 %",
        ),
        (
            [_of("fifo", 2.2), _of("greedy", 2.0), _of("random", 2.1)],
            "greedy writes 1.10 times less to flash than fifo",
        ),
        ([_of("a", 2.0), _of("b", 2.01)], "a and b write the same amount to flash within 1 %"),
        (
            [_of("a", 1.0, 100.0), _of("b", 1.0, 300.0)],
            "a and b write the same amount to flash within 1 %; b is 3.0 times as fast as a",
        ),
        (
            [
                _of("a", 1.0, 100.0),
                _of("b", 1.0, 100.5),
                _of("c", 1.001, 100.2),
            ],
            "All 3 write the same amount to flash within 1 %; b and a are equally fast within 1 %",
        ),
        ([_of("a", None, 100.0), _of("b", None, 300.0)], "b is 3.0 times as fast as a"),
        (
            [_of("a", 2.0, share=0.3), _of("b", 3.0, share=0.3)],
            "a and b cannot be told apart: a difference below 75 % would not show",
        ),
        (
            [_of("a", 2.0, share=0.05), _of("b", 3.0, share=0.05)],
            "a writes 1.4 to 1.6 times less to flash than b",
        ),
        ([_of("a", 2.0), _of("b", None)], "Only a wrote, 2.00 bytes to flash per host byte"),
        ([_of("a", None), _of("b", None)], "The variants wrote nothing to compare"),
    ],
)
def test_variants(outcomes: list[Outcome], expected: str) -> None:
    assert _plain(headlines.of_variants(outcomes)) == expected


def test_equal_rates_that_are_known_very_well() -> None:
    """A regression: two drives at a rate limit were "equally fast within below 0.01 %"."""
    at_limit = Estimate(3000.0, 2999.99, 3000.01, 9, "rounds")
    assert headlines.faster_and_slower("a", at_limit, "b", at_limit) == "a and b are equally fast"


def test_a_variant_that_failed_is_named_and_not_compared() -> None:
    failed = _of("0 %", 40.0, failed="became read-only")
    whole = [_of("7 %", 6.8), _of("28 %", 2.0)]
    effect = "28 % spare area writes 3.4 times less to flash than 7 %"
    assert _plain(headlines.of_variants([failed, *whole])) == f"0 % spare area became read-only; {effect}"
    assert _plain(headlines.of_variants([failed, failed, *whole])) == f"2 of 4 became read-only; {effect}"
    assert headlines.of_variants([failed, failed]) == "All 2 became read-only"
    other = _of("b", 1.0, failed="stopped")
    assert headlines.of_variants([failed, other]) == "All 2 failed"


def test_an_advice_says_how_much_is_enough() -> None:
    assert _plain(headlines.of_advice(0.125, 0.07, ["WAF at most 3"])) == (
        "12.5 % spare area meets WAF at most 3; the drive as sold has 7 %"
    )
    assert _plain(headlines.of_advice(0.07, 0.07, ["a", "b"])) == (
        "The drive as sold, with 7 % spare area, meets a and b"
    )
    assert headlines.of_advice(None, 0.07, ["a", "b", "c"]) == "No amount of spare area meets every limit"


def _sweep(wafs: dict[tuple[str, str, str], float]) -> list[Cell]:
    return [Cell({"victim": v, "workload": job, "over-provisioning": op}, waf) for (v, job, op), waf in wafs.items()]


def test_a_sweep_finds_the_policy_that_matters_under_one_workload_alone() -> None:
    cells = _sweep(
        {
            **{("fifo", "zipf", "7 %"): 40.0, ("fifo", "zipf", "28 %"): 10.0},
            **{("greedy", "zipf", "7 %"): 10.0, ("greedy", "zipf", "28 %"): 2.5},
            **{("fifo", "uniform", "7 %"): 8.0, ("fifo", "uniform", "28 %"): 2.0},
            **{("greedy", "uniform", "7 %"): 8.0, ("greedy", "uniform", "28 %"): 2.0},
        }
    )
    # The geometric means over both spare areas.
    assert headlines.of_sweep(cells, "WAF") == (
        "WAF 20.0 with fifo against 5.00 with greedy under zipf, alike under uniform, "
        "averaged over all values of over-provisioning"
    )


def test_a_sweep_says_where_the_order_turns() -> None:
    cells = [
        Cell({"victim": victim, "workload": job}, waf)
        for victim, job, waf in (("fifo", "a", 6.0), ("greedy", "a", 3.0), ("fifo", "b", 2.0), ("greedy", "b", 2.5))
    ]
    assert headlines.of_sweep(cells, "WAF") == (
        "WAF 6.00 with fifo against 3.00 with greedy under a, 2.00 against 2.50 under b"
    )


def test_a_sweep_without_interaction_names_the_axis_that_matters_most() -> None:
    product = [
        Cell({"victim": victim, "over-provisioning": op}, first * second)
        for victim, first in (("fifo", 2.2), ("greedy", 2.0))
        for op, second in (("7 %", 3.0), ("28 %", 1.0))
    ]
    # No run had these figures, which are means.
    assert _plain(headlines.of_sweep(product, "WAF")) == (
        "WAF 6.29 with 7 % spare area, 2.10 with 28 % spare area, averaged over victim"
    )
    same = [Cell({"victim": victim}, 2.0) for victim in ("fifo", "greedy")]
    assert headlines.of_sweep(same, "WAF") == "WAF is 2.00 in all runs"
    assert headlines.of_sweep(same[:1], "WAF") == "WAF 2.00"
    assert headlines.of_sweep([], "WAF") == "No WAF was measured"


def test_a_sweep_says_what_its_intervals_carry() -> None:
    """A regression: everything within 1 % was equal and everything beyond it was not, whatever was known."""

    def two(high: float, within: float) -> str:
        return headlines.of_sweep([Cell({"v": "fifo"}, high, within), Cell({"v": "greedy"}, 2.0, within)], "WAF")

    assert two(2.012, 0.001) == "WAF 2.01 with fifo, 2.00 with greedy"
    assert two(2.04, 0.015) == "WAF is 2.02 in all runs"
    assert _plain(two(2.2, 0.3)) == "WAF is 2.10 in all runs as far as they show: a difference below 63 % would not"
    # The order turns, but four runs known within a tenth do not show it.
    turned = [("fifo", "a", 2.3), ("greedy", "a", 2.0), ("fifo", "b", 2.0), ("greedy", "b", 2.1)]

    def interaction(within: float) -> str:
        return headlines.of_sweep([Cell({"v": v, "workload": w}, waf, within) for v, w, waf in turned], "WAF")

    assert interaction(0.01) == "WAF 2.30 with fifo against 2.00 with greedy under a, nearly alike under b"
    assert interaction(0.1) == "WAF is 2.10 in all runs"


def test_a_sweep_does_not_conclude_from_combinations_that_were_not_run() -> None:
    """A sample of points covers few pairs of values."""
    cells = [Cell({"a": "x", "b": "u"}, 20.0), Cell({"a": "y", "b": "u"}, 5.0), Cell({"a": "x", "b": "v"}, 5.0)]
    assert headlines.of_sweep(cells, "WAF") == "WAF 10.0 with x, 5.00 with y, averaged over b"
