"""Does a session do what it is told, at the speed that it is told; and does what it says of itself, run from the start,
give the same bytes?"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from small_drives import drive_file
from ssdlab.drives import load, resolve
from ssdlab.errors import InputError
from ssdlab.jobs import parse
from ssdlab.live.session import Session
from ssdlab.results.result import Result
from ssdlab.targets import simulated
from ssdlab.targets.specification import Reporting, Specification

USER_BYTES = 32 << 20
ENDLESS = "norandommap\nio_size=1p\n"


@pytest.fixture
def specify(tmp_path: Path) -> Callable[..., Specification]:
    """A specification of a job file on a small drive; `settings` are those of `--set`."""
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=160, pages=64, user_bytes=USER_BYTES))

    def make(text: str, *, timed: bool, settings: dict[str, str] | None = None) -> Specification:
        drive = resolve(load(str(tmp_path / "small.toml")), settings=settings or {})
        return simulated.specify(parse(text), drive, timed=timed)

    return make


@contextmanager
def session_of(*specifications: Specification) -> Iterator[Session]:
    session = Session(specifications)
    try:
        yield session
    finally:
        session.close()


def jobs_of(text: str, stage: int) -> list[dict[str, Any]]:
    return [{**job, "stage": stage} for job in parse(text).resolve(USER_BYTES, seed=7)]


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not true():
        assert time.monotonic() < until
        time.sleep(0.005)


def result_json(specification: Specification, outcome: dict[str, Any]) -> str:
    return Result(specification, outcome, version="test").to_json()


@pytest.mark.parametrize("timed", [False, True])
def test_a_session_is_the_run_of_what_it_says_to_the_byte(specify: Callable[..., Specification], timed: bool) -> None:
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=timed)) as session:
        session.run()
        wait_for(lambda: session.figures(0)["requests"] > 40_000)
        session.end_jobs()
        assert session.is_finished
        session.append([jobs_of(f"[b]\nrw=randtrimwrite\nnumjobs=2\n{ENDLESS}", 1)])
        session.append([jobs_of("[never]\nrw=randwrite\n", 2)])
        session.pause()
        session.step(3001)
        session.end_jobs()
        session.append([jobs_of(f"[c]\nrw=randrw\nrate_iops=9000\n{ENDLESS}", 2)])
        session.step(77)
        session.end_jobs()
        said, outcome = session.specification(0), session.outcome(0)
    assert [job["name"] for job in said.jobs] == ["a", "b", "b", "c"]
    assert all(job["number_ios"] for job in said.jobs)
    specification = Specification(
        engine=said.engine, reporting=tuple(Reporting({}, group=job["stage"]) for job in said.jobs)
    )
    again = simulated.run(specification)
    assert again.ledger.programmed_units["gc"] > 10_000
    assert result_json(specification, outcome) == Result(specification, again._outcome, version="test").to_json()
    assert json.dumps(outcome) == json.dumps(again._outcome)


def test_what_is_paused_stands_still_and_a_step_is_exact(specify: Callable[..., Specification]) -> None:
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=False)) as session:
        assert not session.is_running
        for requests in (1, 2, 700, 1):
            before = session.figures(0)["requests"]
            session.step(requests)
            assert session.figures(0)["requests"] == before + requests
        session.run()
        assert session.is_running
        wait_for(lambda: session.figures(0)["requests"] > 100_000)
        session.pause()
        before = session.figures(0)["requests"]
        time.sleep(0.1)
        assert not session.is_running and session.figures(0)["requests"] == before


@pytest.mark.parametrize("requests_per_second", [40, 5000, 200_000])
def test_the_speed_is_what_was_asked_for(specify: Callable[..., Specification], requests_per_second: int) -> None:
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=False)) as session:
        session.set_speed(requests_per_second)
        session.run()
        started = time.monotonic()
        time.sleep(0.5)
        session.pause()
        seconds = time.monotonic() - started
        requests = session.figures(0)["requests"]
    assert 0.5 * 0.5 * requests_per_second <= requests <= 1.05 * seconds * requests_per_second


@pytest.mark.parametrize("timed", [False, True])
def test_two_drives_get_the_same_requests(specify: Callable[..., Specification], timed: bool) -> None:
    text = f"[a]\nrw=randwrite\niodepth=8\n{ENDLESS}"
    greedy = specify(text, timed=timed)
    fifo = specify(text, timed=timed, settings={"ftl.victim": "fifo"})
    with session_of(greedy, fifo) as session:
        session.run()
        wait_for(lambda: session.figures(1)["requests"] > 30_000)
        session.pause()
        near = [session.figures(drive)["requests"] for drive in (0, 1)]
        assert abs(near[0] - near[1]) <= (8 if timed else 0)
        session.end_jobs()
        outcomes = [session.outcome(drive) for drive in (0, 1)]
        assert outcomes[0]["jobs"][0]["write"] == outcomes[1]["jobs"][0]["write"]
        assert outcomes[0]["ledger"]["programmed_units"]["gc"] < outcomes[1]["ledger"]["programmed_units"]["gc"]


def test_a_smaller_partition_is_a_trim_and_jobs_of_its_size(specify: Callable[..., Specification]) -> None:
    """What a user does who repartitions a drive: trim what is behind, then use less."""
    uniform = "rw=randwrite\nnorandommap\nio_size=320m\n"
    with session_of(specify(f"[fill]\nrw=write\nbs=128k\n[a]\nstonewall\n{uniform}", timed=False)) as session:
        session.run()
        wait_for(lambda: session.is_finished)
        whole = session.figures(0)
        session.append([jobs_of("[behind]\nrw=trim\nbs=128k\noffset=75%\nsize=25%\n", 2)])
        session.append([jobs_of(f"[less]\n{uniform}size=75%\n", 3)])
        session.run()
        wait_for(lambda: session.is_finished)
        session.figures(0)
        session.append([jobs_of(f"[settled]\n{uniform}size=75%\n", 4)])
        session.run()
        wait_for(lambda: session.is_finished)
        less = session.figures(0)
    erase_unit_units = whole["capacity"]["units_per_erase_unit"]
    # One erase unit is the reserve, half of the open one is not full on average: as docs/theory.md counts.
    usable_units = whole["capacity"]["physical_units"] - 1.5 * erase_unit_units
    for figures, live_bytes in ((whole, USER_BYTES), (less, USER_BYTES * 3 // 4)):
        assert figures["capacity"]["live_units"] == live_bytes / 4096
        expected = usable_units / figures["capacity"]["live_units"] - 1
        assert figures["capacity"]["effective_over_provisioning"] == pytest.approx(expected, abs=1e-9)
    assert less["since"]["waf"] < 0.75 * whole["waf"]


def test_what_cannot_be_is_refused_and_leaves_the_session_as_it_was(specify: Callable[..., Specification]) -> None:
    with pytest.raises(InputError):
        Session([])
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=True)) as session:
        session.step(100)
        too_large = {**jobs_of("[b]\nrw=randwrite\n", 1)[0], "size_bytes": 2 * USER_BYTES}
        with pytest.raises(InputError, match="size_bytes"):
            session.append([[too_large]])
        with pytest.raises(InputError, match="no erase unit 160"):
            session.erase_unit(0, 160)
        with pytest.raises(InputError, match="speed"):
            session.set_speed(0)
        assert session.failure is None and not session.is_finished
        session.step(100)
        assert len(session.issued(0)) == 1


def test_a_drive_that_wears_out_says_so(specify: Callable[..., Specification]) -> None:
    weak = {"faults.wear_out": "true", "nand.endurance_cycles": "3"}
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=False, settings=weak)) as session:
        session.run()
        wait_for(lambda: session.is_finished)
        assert session.failure is not None and "spare" in session.failure
        assert not session.is_running


def test_any_thread_may_ask_while_the_drive_is_at_work(specify: Callable[..., Specification]) -> None:
    """And none waits for long, nor is one answered with what another asked."""
    waited: list[float] = []
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=True)) as session:
        session.run()
        stop = time.monotonic() + 1.0

        def ask(number: int) -> None:
            while time.monotonic() < stop:
                asked_at = time.monotonic()
                states, figures = session.cells(0, "state"), session.figures(0)
                assert len(states) == 160 and set(states) <= {0, 1, 2, 3} and figures["requests"] >= 0
                assert session.erase_unit(0, number)["units"].count("v") <= 64
                waited.append(time.monotonic() - asked_at)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        with pytest.raises(InputError, match="stage"):
            session.append([jobs_of("[late]\nrw=randwrite\n", 0)])
        for thread in threads:
            thread.join()
        assert session.is_running and session.failure is None
    # A heap of requests is a millisecond; machines that are busy with other things take longer to come back.
    assert len(waited) > 30 and sorted(waited)[len(waited) // 2] < 0.25


def test_sessions_leave_no_thread(specify: Callable[..., Specification]) -> None:
    before = threading.active_count()
    specification = specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=False)
    for _ in range(20):
        with session_of(specification) as session:
            session.run()
    assert threading.active_count() == before
