"""Do replays start from a saved drive's state, and from the state in which a trace settles?"""

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.experiments.replays.plan import Choices, steady_state
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.targets.preconditioning import saved_state
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse
from ssdlab.simulator.workloads.traces.recording import opened
from ssdlab.simulator.workloads.traces.specification import DriveWrites, specify

FILL = "[fill]\nrw=write\nbs=128k\n"


@pytest.fixture
def trace(write_trace: Any) -> Path:
    chosen = random.Random(3)
    path: Path = write_trace("t.log", [("write", chosen.randrange(4096) * 4096, 4096) for _ in range(20_000)])
    return path


@pytest.mark.parametrize("timed", [False, True])
def test_a_replay_from_a_state_is_the_replay_after_what_left_it(timed: bool, folder: Path, trace: Path) -> None:
    drive = ssdlab.drive(folder / "small.toml")
    state = folder / "filled.state"
    simulated.run(specifying.specify(parse(FILL), drive, timed=timed), save_state=state)
    with opened([str(trace)], None, 0) as recording:
        how: dict[str, Any] = {"volume": None, "timed": timed, "arrival": "closed"}
        at_once = simulated.run(specify(recording, drive, **how)).jobs[-1]
        (later,) = simulated.run(specify(recording, drive, **how, initial_state=saved_state(state))).jobs
    assert later.waf is not None and later.waf > 1.3
    assert later.ledger == at_once.ledger


def test_a_trace_begins_in_the_state_that_it_settles_in(ssdlab: Any, folder: Path, trace: Path) -> None:
    drive = ("--drive", "small.toml", "--untimed", "--output", "begun")
    ended = ssdlab("replay", trace, "--precondition", "steady", *drive)
    assert ended.returncode == 0, ended.stderr
    assert "the steady state of the trace" in (folder / "begun/report.html").read_text()
    assert '"initial_state"' in (folder / "begun/result.json").read_text()


def test_what_a_trace_settles_in_does_not_drift(folder: Path, trace: Path) -> None:
    drive = ssdlab.drive(folder / "small.toml")
    with opened([str(trace)], None, 0) as recording:
        state = steady_state(recording, None, drive, Choices(), folder)
        settled = simulated.run(
            specify(recording, drive, volume=None, timed=False, loop_until=DriveWrites(Fraction(15)))
        )
        how: dict[str, Any] = {"volume": None, "timed": False, "loop_until": DriveWrites(Fraction(5))}
        (begun,) = simulated.run(specify(recording, drive, **how, initial_state=state)).jobs
    assert begun.waf is not None and begun.waf == pytest.approx(settled.jobs[-1].waf, rel=0.03)


def test_a_drive_is_in_one_state_at_first(ssdlab: Any, trace: Path) -> None:
    both = ssdlab("replay", trace, "--drive", "small.toml", "--from-state", "s", "--precondition", "none")
    assert both.returncode == 2 and "give one of them" in both.stderr
    absent = ssdlab("replay", trace, "--drive", "small.toml", "--from-state", "absent.state")
    assert absent.returncode == 2 and "absent.state: cannot be read" in absent.stderr
