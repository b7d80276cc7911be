"""The acceptance of catalogue drives: what is judged, what a failing request waited for, and which drives are meant."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ssdlab.experiments.protocols.catalogue.ocp import limits, workloads
from ssdlab.experiments.protocols.catalogue.ocp.workloads import WORKLOADS, Place
from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.ocp_acceptance import comparison
from ssdlab.experiments.studies.ocp_acceptance.comparison import Judged
from ssdlab.simulator.drives import drive, load, names
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads.specifying import specify


def test_the_drives_are_those_for_data_centres_on_pcie() -> None:
    meant = {name for name in names() if comparison.is_meant(load(name))}
    assert len(meant) >= 9
    assert {"samsung-pm9a3-960gb", "kioxia-cm7-r-3840gb"} <= meant
    assert not {"samsung-pm981-1tb", "samsung-pm883-1920gb", "generic-nvme-tlc-1000"} & meant


def test_only_what_is_known_fails() -> None:
    rate, p99 = limits.of(WORKLOADS[0].name)[0], limits.of(WORKLOADS[0].name)[3]
    assert Judged(p99, 2021.0, 2000.0, "").is_kept is False
    assert Judged(p99, 2000.0, 2000.0, "").is_kept
    assert Judged(p99, None, 2000.0, "").is_kept is None
    assert Judged(rate, 130.0, 136.0, "").is_kept is False and Judged(rate, 136.0, 136.0, "").is_kept
    assert Judged(rate, 255.0, 256.0, "").is_kept is None, "a regression: failed, from one run"
    (beyond,) = (each for each in limits.LIMITS if each.checked == "beyond-demand")
    assert Judged(beyond, 1.0, beyond.value, "").is_kept is None


def test_a_percentile_of_too_few_requests_is_not_judged_and_a_cause_adds_up() -> None:
    """20 s of a server's reads on a drive of 1/512: some 20,000 requests."""
    resolved = drive("samsung-pm9a3-960gb", scale="1/512")
    (leaf, *_) = WORKLOADS
    place = Place(resolved.capacity.user_bytes, resolved.scale)
    point = workloads.point(leaf, place)
    runtime = workloads.variables(leaf, place, 720, "measure")["RUNTIME"]
    steps = [*point.steps[:-1], type(point.steps[0])(leaf.name, point.steps[-1].text.replace(runtime, "20s"))]
    workload = comparison.Engine(type(point)("", steps), len(steps), {})
    tested = comparison.judge("it", leaf, place, simulated.run(specify(workload, resolved, seed=1)))
    values = {(each.limit.direction, each.limit.quantity): each for each in tested.judged}
    assert values["read", "p99"].value is not None and values["read", "p99.99"].value is None
    assert values["trim", "rate"].bound == pytest.approx(117)
    assert values["trim", "rate"].value is None, "trims of a scaled drive wait as long as long ones"
    shares = [float(part.split()[-2]) for part in values["read", "p99"].cause.split(", ")]
    assert sum(shares) == pytest.approx(100, abs=4)
    assert tested.waf is not None and 1 < tested.waf < 5


def test_the_scale_leaves_whole_pages_in_an_erase_unit() -> None:
    file = load("samsung-pm9a3-960gb")
    scale = comparison.scale_of(file)
    assert Fraction(1, 128) <= scale <= Fraction(1, 32)
    assert comparison.resolved(file, full=False).scale == scale
    assert comparison.scale_of(file, comparison.WAF_UNITS_MAX) == 4 * scale
    assert Context().full is False


def test_runs_for_write_amplification_are_of_larger_drives_and_have_labels_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: set[str] = set()

    def simulate(_context: Context, specifications: dict[str, Specification]) -> dict[str, None]:
        assert not made & specifications.keys(), "labels of runs must differ"
        made.update(specifications)
        return dict.fromkeys(specifications)

    monkeypatch.setattr(Context, "simulate", simulate)
    monkeypatch.setattr(
        comparison, "judge", lambda drive, workload, place, _result: (drive, workload.name, place.scale)
    )
    files = {name: load(name) for name in ("samsung-pm9a3-960gb", "generic-nvme-960")}
    context = Context()
    small = comparison.test(context, files, WORKLOADS[:2])
    larger = comparison.test(context, files, WORKLOADS[:2], units_max=comparison.WAF_UNITS_MAX)
    assert len(made) == 8
    assert [each[2] for each in larger] == [4 * each[2] for each in small]  # type: ignore[index]


def test_the_finding_counts_what_would_pass() -> None:
    p99 = limits.of(WORKLOADS[0].name)[3]

    def tested(value: float) -> comparison.DriveTests:
        return comparison.DriveTests("it", WORKLOADS[0].name, [Judged(p99, value, p99.value, "")], 1.5)

    found = [tested(2500.0)]
    names_of_remedies = list(comparison.REMEDIES)
    again = {("it", WORKLOADS[0].name, names_of_remedies[0]): tested(2100.0)}
    said = comparison._finding(found, again)
    assert said.startswith("it keeps 0 of 1 limits that can be judged.")
    assert "Of 1 limit that fails, none passes with what was tried." in said
    again["it", WORKLOADS[0].name, names_of_remedies[1]] = tested(1900.0)
    said = comparison._finding(found, again)
    assert f"1 with {names_of_remedies[1]} would pass, each alone; 0 with none of those tried." in said
    assert "It fails in 4K_L2R6DWPD_wTRIM." in said
    two = comparison._finding([*found, replace(found[0], drive="other")], {})
    assert "Drives that fail, by workload: 4K_L2R6DWPD_wTRIM (2)." in two
    # In the order of the runs, not of a set's hashes, which differ from process to process.
    several = [replace(found[0], workload=name) for name in "dbeac"]
    assert comparison._finding(several, {}).endswith("It fails in d, b, e, a and c.")


def test_a_remedy_that_changes_nothing_is_not_tried() -> None:
    suspends, waits = load("samsung-fdp-3840gb"), load("generic-nvme-960")
    applied = {name: [each.applies(file) for file in (suspends, waits)] for name, each in comparison.REMEDIES.items()}
    assert applied["reads that suspend programs and erases"] == [False, True]
    assert applied["60 % of spare area"] == [True, True]
    assert not comparison.REMEDIES["28 % of spare area"].applies(load("micron-7450-max-800gb"))
