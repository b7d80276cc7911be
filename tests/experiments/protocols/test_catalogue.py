"""Every protocol: its steps are jobs that fio and the simulation accept, and a simulated drive executes them."""

from pathlib import Path

import pytest

import ssdlab as lab
from running_drives import DRIVE
from ssdlab.errors import InputError
from ssdlab.experiments.protocols import registry, simulated
from ssdlab.experiments.protocols.contract import Point, Setting, Step, fill, random_writes
from ssdlab.experiments.protocols.figures import COLUMNS
from ssdlab.experiments.protocols.steady import is_steady
from ssdlab.experiments.protocols.steps import job_file, script
from ssdlab.hardware.device import jobtext
from ssdlab.simulator.drives import ResolvedDrive


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> ResolvedDrive:
    file = tmp_path_factory.mktemp("drive") / "drive.toml"
    file.write_text(DRIVE)
    return lab.drive(file)


@pytest.mark.parametrize("name", registry.NAMES)
def test_a_simulated_drive_goes_through_the_quick_form(name: str, drive: ResolvedDrive) -> None:
    protocol = registry.protocol(name)
    figures = simulated.run(protocol, drive, quick=True)
    points = protocol.points(Setting(256 << 20, quick=True))
    assert [(each.point, each.step) for each in figures] == [(p.label, s.name) for p in points for s in p.steps]
    assert all(COLUMNS[column][1](each) is not None for column in ("waf",) for each in figures if each.written_bytes)
    assert protocol.quick_gives_up and protocol.source and protocol.title


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
@pytest.mark.parametrize("name", registry.NAMES)
def test_the_steps_are_a_job_file_or_a_script(name: str, quick: bool) -> None:
    for point in registry.protocol(name).points(Setting(1 << 30, quick)):
        if point.is_script:
            assert len(script(point).commands) == len(point.steps)
            continue
        stages = jobtext.stages(job_file(point), lambda _: Path("/place"))
        # A step of several jobs has the name of the first.
        assert [stage.name.split("+")[0] for stage in stages] == [step.name for step in point.steps]


def test_quick_does_less() -> None:
    for name in registry.NAMES:
        quick, full = (registry.protocol(name).points(Setting(1 << 30, short)) for short in (True, False))
        steady = sum(step.end == "steady" for point in full for step in point.steps)
        assert sum(len(point.steps) for point in quick) < sum(len(point.steps) for point in full) + 5 * steady, name


def test_a_step_in_the_middle_runs_until_it_is_steady(drive: ResolvedDrive) -> None:
    burst = Step("burst", random_writes().text)
    figures = simulated.run_point(Point("", [fill(), random_writes("saturate"), burst]), drive)
    _, saturated, after = figures
    assert saturated.steady and saturated.rounds and saturated.rounds >= 5
    # Later steps are in steady state too.
    assert saturated.waf is not None and after.waf == pytest.approx(saturated.waf, rel=0.03)
    fresh = simulated.run_point(Point("", [fill("50%"), burst]), drive)[1]
    assert fresh.waf is not None and 1.5 * fresh.waf < saturated.waf


@pytest.mark.parametrize(
    ("values", "steady"),
    [
        ([1, 2, 100, 100, 100, 100], False),
        ([100, 100, 100, 100], False),
        ([9, 100, 100, 100, 100, 100], True),
        # A range of 20 % of the mean passes, slightly more does not.
        ([90, 110, 100, 110, 90], True),
        ([89, 111, 100, 111, 89], False),
        # The line rises by 10 % over the window; 12 % is too much.
        ([95, 97.5, 100, 102.5, 105], True),
        ([94, 97, 100, 103, 106], False),
    ],
)
def test_the_rule_of_the_steady_state(values: list[float], steady: bool) -> None:
    assert is_steady(values) is steady


def test_an_unknown_name_is_an_error_with_the_near_ones() -> None:
    with pytest.raises(InputError, match=r"did you mean 'snia-iops'"):
        registry.protocol("snia-iop")
