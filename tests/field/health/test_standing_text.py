"""What is said of a drive's write amplification beside that of other drives."""

from typing import Any

import pytest

from ssdlab.field.health.table import standing_text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "WAF 3.2: more than 91 % of 710 drives of this model."),
        # A regression: "more than 91 % of 20 drives", and without the doubt that the table shows as a question mark.
        ({"waf_compared_with": 20}, "WAF 3.2: more than about 18 of 20 drives of this model."),
        (
            {"waf_doubt": "two counts differ"},
            "WAF 3.2 (two counts differ): more than 91 % of 710 drives of this model.",
        ),
        ({"waf_share_below": 1.0, "waf_compared_with": 20}, "WAF 3.2: more than all of 20 drives of this model."),
    ],
)
def test_digits_are_those_that_the_number_of_drives_allows(changes: dict[str, Any], said: str) -> None:
    row: dict[str, Any] = {
        "waf": 3.16,
        "waf_doubt": None,
        "waf_share_below": 0.91,
        "waf_compared_with": 710,
        "waf_compared_what": "drives of this model",
    }
    assert standing_text(row | changes).replace("\N{NO-BREAK SPACE}", " ") == said  # type: ignore[arg-type]
