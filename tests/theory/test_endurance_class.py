"""Is the class of endurance that allows a rate said in words that hold for one drive and for many?"""

import pytest

from ssdlab.theory.endurance_class import class_of, sentence, sentence_of_drives


@pytest.mark.parametrize(("rate", "expected"), [(0.0, 0.3), (0.3, 0.3), (0.31, 1.0), (99.0, 100.0), (101.0, None)])
def test_the_lowest_class_that_is_enough(rate: float, expected: float | None) -> None:
    assert class_of(rate) == expected


def test_the_sentence_of_a_drive() -> None:
    assert sentence(0.42) == "0.42 drive writes a day, which a rating of 1 drive write a day allows."


def test_no_class_is_named_for_a_write_amplification_that_no_rating_is_for() -> None:
    """A regression: for an MX500 with 7.3 GB a day from the host and a write amplification of 177, of which 5 months
    were left, a drive of 0.3 drive writes a day was said to be enough."""
    assert class_of(0.007, 177.4) is None and class_of(0.007, 1.5) == 0.3
    assert sentence(0.1, 5.29).endswith("of up to about 5, not 5.29."), "was: up to about 5, not 5"
    assert sentence(0.007, 177.4) == (
        "less than 0.01 drive writes a day; no rating is named for it, because ratings are for a write amplification "
        "of up to about 5, not 177."
    )


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ([], ""),
        ([0.1, 0.2], "A rating of 0.3 drive writes a day allows the rate of all."),
        ([0.9] * 31 + [2.0] * 4, "A rating of 1 drive write a day allows the rate of 31 of 35, one of 3 that of all."),
        (
            [0.1, 2.0, 200.0],
            "A rating of 0.3 drive writes a day allows the rate of 1 of 3, one of 3 that of 2 of 3; 1 writes more than "
            "any class is rated for.",
        ),
        ([200.0], "All write more than any class of drives is rated for (100)."),
    ],
)
def test_the_sentence_of_many(rates: list[float], said: str) -> None:
    assert sentence_of_drives(rates) == said


@pytest.mark.parametrize(
    ("rates", "wafs", "said"),
    [
        (
            [0.1, 0.1],
            [1.5, 72.0],
            "A rating of 0.3 drive writes a day allows the rate of 1 of 2; 1 amplifies more than",
        ),
        ([0.1], [72.0], "No rating is named: 1 amplifies more than ratings are for (WAF 5)"),
        (
            [0.1, 200.0],
            [None, 9.0],
            "A rating of 0.3 drive writes a day allows the rate of 1 of 2; 1 writes more than any",
        ),
    ],
)
def test_drives_that_amplify_more_than_ratings_are_for(rates: list[float], wafs: list[float | None], said: str) -> None:
    """A regression: `fleet smart` called a class enough for all, one of which had a write amplification of 72."""
    assert sentence_of_drives(rates, wafs).startswith(said)
