"""The conclusion at the top of a protocol's page, from comparable steps."""

from dataclasses import replace

import pytest

from ssdlab.experiments.protocols.catalogue import trim_effect
from ssdlab.experiments.protocols.figures import Figures, Rates
from ssdlab.presentation.report.wording import NO_BREAK_SPACE


def step(point: str, name: str, waf: float | None, iops: float, *, shown: bool = True) -> Figures:
    write = Rates(1000, 4_096_000, iops, iops * 4096 / 1e6, None, None, None)
    return Figures(point, name, shown, waf, None, 4_096_000, 0, 1.0, None, write)


@pytest.mark.parametrize(
    ("waf", "iops", "said"),
    [
        (3.0, 40_000, "write 2.0 times as much to flash and reach 40 % of the speed"),
        (1.51, 99_000, "write as much to flash and are as fast"),
        (None, 25_000, "reach 25 % of the speed"),
    ],
)
def test_trimming_is_judged_by_the_last_pass_of_both(waf: float | None, iops: float, said: str) -> None:
    first = [step("deleted, not trimmed", "pass 1", 9.0, 1.0), step("deleted, not trimmed", "pass 3", waf, iops)]
    second = [step("deleted and trimmed", "fstrim", 1.0, 1.0, shown=False)]
    second += [step("deleted and trimmed", "pass 3", 1.5, 100_000)]
    whole = f"Where deleted files are not trimmed, random writes {said}"
    found = trim_effect.PROTOCOL.conclude([*first, *second])
    assert found is not None and found.replace(NO_BREAK_SPACE, " ") == whole


def test_passes_that_differ_are_not_compared() -> None:
    without, trimmed = step("deleted, not trimmed", "pass 1", 9.0, 1.0), step("deleted and trimmed", "pass 3", 1.5, 9.0)
    assert trim_effect.conclude([without, trimmed]) is None
    assert trim_effect.conclude([without]) is None
    assert trim_effect.conclude([replace(without, step="pass 3"), trimmed]) is not None
