"""Does an advice compare its answer with that of another scale, and say so if the two disagree?"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from small_drives import drive_file
from ssdlab.evidence import scale
from ssdlab.experiments.advice import words
from ssdlab.experiments.advice.confirmation import at_second_scale, confirmed, disagreeing
from ssdlab.experiments.advice.described import of_numbers
from ssdlab.experiments.advice.limits import latency, write_amplification
from ssdlab.experiments.advice.search import Found, least, tidy
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.trials import Demand, Trials
from ssdlab.simulator.drives import load

SMALL, LARGE = Fraction(1, 32), Fraction(1, 8)


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    path = tmp_path_factory.mktemp("drive") / "four-gib.toml"
    path.write_text(drive_file("four-gib", blocks=256, pages=8192, user_bytes=8 * 2**30 * 94 // 100 // 4096 * 4096))
    setting = Setting(load(str(path)), {})
    yield Trials(
        of_numbers(None, 4096, "uniform", 0), setting, Demand(None, None), [write_amplification(3.0)], workers=1
    )


@pytest.fixture(scope="module")
def found(trials: Trials) -> Found:
    return confirmed(trials, least(trials, SMALL), LARGE)


def test_the_answer_is_run_at_both_scales(trials: Trials, found: Found) -> None:
    both = at_second_scale(trials, found, SMALL)
    assert {trial.scale for trial in both.evidence} == {LARGE} and {trial.scale for trial in both.second} == {SMALL}
    assert all(
        trial.over_provisioning == pytest.approx(found.over_provisioning, rel=1e-4)
        for trial in (*both.evidence, *both.second)
    )
    said = [str(each) for each in words.sentences(trials, both, [])]
    agree = any("Runs of 1/8 of the drive and of 1/32 of the drive agree about the limits." in each for each in said)
    assert agree != ("Two scales disagree" in str(words.headline(trials, both)))
    assert agree == (not disagreeing(both, trials.limits))


def test_an_answer_of_the_miniatures_is_compared_with_smaller_ones(trials: Trials, found: Found) -> None:
    """Where the search already had large drives, the verification runs have other seeds and the same scale."""
    same = at_second_scale(trials, found, LARGE)
    assert all(trial.scale is not None and trial.scale < LARGE for trial in same.second) and same.second


def test_a_second_scale_that_breaks_the_limit_is_part_of_the_answer(trials: Trials, found: Found) -> None:
    both = at_second_scale(trials, found, SMALL)
    broken = [replace(trial, figures={**trial.figures, "waf": 3.4}) for trial in both.second]
    said = words.headline(trials, replace(both, second=broken))
    assert "Two scales disagree: runs of 1/32 of the drive do not meet the limit (" in said.text
    assert "WAF 3.40" in said.text and broken[0].name in said.runs
    agreeing = [replace(trial, figures={**trial.figures, "waf": 2.9}) for trial in both.second]
    assert "disagree" not in words.headline(trials, replace(both, second=agreeing)).text


def test_whole_drives_have_no_second_scale(trials: Trials, found: Found) -> None:
    assert at_second_scale(trials, found, None).second == ()


def test_the_command_of_a_whole_run_repeats_it_with_the_whole_drive(trials: Trials) -> None:
    """Without --scale, `ssdlab compare` chooses one."""
    commands = [
        trials.workload.command("four-gib.toml", {}, 0.2, scale, 1, False, trials.setting.at(0.2, scale))
        for scale in (None, SMALL)
    ]
    assert ["--scale 1 " in command for command in commands] == [True, False] and "--scale 1/32 " in commands[1]


@pytest.mark.parametrize(("share", "said"), [(0.07354, 0.073536), (0.0735, 0.073536), (0.083912, 0.0839)])
def test_a_rounded_spare_area_is_not_below_that_of_the_drive_as_sold(share: float, said: float) -> None:
    """A regression: a drive of 7.3536 % met a limit at 7.354 %, which was rounded to 7.35 %: "Leave -3145728 B
    unpartitioned"."""
    assert tidy(share, 0.073536) == said


def test_a_percentile_that_the_scale_is_known_to_lengthen_past_its_limit_is_open(
    trials: Trials, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: 1.94 ms at 1/64 met a limit of 2 ms "surely", for a drive whose 99th percentile is known to be 58 %
    longer at 1/16."""
    drive = trials.setting.file.name
    ratios = {"p50": 1.0, "p99": 1.5, "p99.9": 1.0}
    entry: scale.Entry = {"scale": "1/64", "larger": "1/16"} | dict.fromkeys(scale.WORDS, ratios)
    monkeypatch.setattr(scale, "measured", lambda: {drive: entry})
    for value, is_open in ((1.9e6, True), (1.2e6, False)):
        runs = [replace(each, figures={**each.figures, "write.p99": value}) for each in found.evidence]
        asked = replace(trials, limits=[latency("write.p99=2ms")])
        said = words.headline(asked, replace(found, evidence=runs, second=())).text
        assert ("up to 1.50 times as long" in said) == is_open
