"""Does a session follow its commands and its speed, and does its description, run from the start, give the same
bytes?"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from small_drives import drive_file
from ssdlab.errors import InputError
from ssdlab.live import session as session_module
from ssdlab.live.session import Session
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.specification import Reporting, Specification
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse
from waiting import SECONDS_MAX, wait_for

USER_BYTES = 32 << 20
ENDLESS = "norandommap\nio_size=1p\n"


@pytest.fixture
def specify(tmp_path: Path) -> Callable[..., Specification]:
    """A specification from a job file on a small drive; `settings` are those of `--set`."""
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=160, pages=64, user_bytes=USER_BYTES))

    def make(text: str, *, timed: bool, settings: dict[str, str] | None = None) -> Specification:
        drive = resolve(load(str(tmp_path / "small.toml")), settings=settings or {})
        return specifying.specify(parse(text), drive, timed=timed)

    return make


@contextmanager
def session_of(*specifications: Specification) -> Iterator[Session]:
    session = Session(specifications)
    try:
        yield session
    finally:
        session.close()


def jobs_of(text: str, stage: int) -> list[Any]:
    return [{**job, "stage": stage} for job in parse(text).resolve(USER_BYTES, seed=7)]


def wait_for_requests(session: Session, count: int, drive: int = 0) -> None:
    wait_for(f"{count} requests", lambda: session.figures(drive)["requests"] >= count)


def result_json(specification: Specification, outcome: Any) -> str:
    return Result(specification, outcome, version="test").to_json()


@pytest.mark.parametrize("timed", [False, True])
def test_a_session_is_the_run_of_what_it_says_to_the_byte(specify: Callable[..., Specification], timed: bool) -> None:
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=timed)) as session:
        session.run()
        wait_for_requests(session, 40_000)
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
    assert all(job["number_ios"] for job in json.loads(said.engine_json())["jobs"])
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
        wait_for_requests(session, 100_000)
        session.pause()
        before = session.figures(0)["requests"]
        time.sleep(0.1)
        assert not session.is_running and session.figures(0)["requests"] == before


@pytest.mark.parametrize("requests_per_second", [40, 5000, 200_000])
def test_the_speed_is_what_was_asked_for(
    specify: Callable[..., Specification], monkeypatch: pytest.MonkeyPatch, requests_per_second: int
) -> None:
    """With a simulated clock: requests due by then are issued, unless a heap is not full, and no more."""
    clock = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(session_module, "time", SimpleNamespace(monotonic=lambda: clock.seconds))
    heap = max(1, int(requests_per_second * session_module._HEAP_SECONDS))
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=False)) as session:
        session.set_speed(requests_per_second)
        session.run()
        for due in (requests_per_second // 4, requests_per_second // 2):
            clock.seconds = 1000.0 + due / requests_per_second
            wait_for_requests(session, due - heap + 1)
            assert session.figures(0)["requests"] <= due
        # Requests that could not be issued in time are not made up for.
        before = session.figures(0)["requests"]
        clock.seconds += 3600
        wait_for_requests(session, before + 1)
        session.pause()
        assert session.figures(0)["requests"] == before + 1


@pytest.mark.parametrize("timed", [False, True])
def test_two_drives_get_the_same_requests(specify: Callable[..., Specification], timed: bool) -> None:
    text = f"[a]\nrw=randwrite\niodepth=8\n{ENDLESS}"
    greedy = specify(text, timed=timed)
    fifo = specify(text, timed=timed, settings={"ftl.victim": "fifo"})
    with session_of(greedy, fifo) as session:
        session.run()
        wait_for_requests(session, 30_000, drive=1)
        session.pause()
        near = [session.figures(drive)["requests"] for drive in (0, 1)]
        assert abs(near[0] - near[1]) <= (8 if timed else 0)
        session.end_jobs()
        outcomes = [session.outcome(drive) for drive in (0, 1)]
        assert outcomes[0]["jobs"][0]["write"] == outcomes[1]["jobs"][0]["write"]
        assert outcomes[0]["ledger"]["programmed_units"]["gc"] < outcomes[1]["ledger"]["programmed_units"]["gc"]


def test_a_smaller_partition_is_a_trim_and_jobs_of_its_size(specify: Callable[..., Specification]) -> None:
    """Models the repartitioning of a drive: trims the end, then uses a smaller part."""
    uniform = "rw=randwrite\nnorandommap\nio_size=320m\n"
    with session_of(specify(f"[fill]\nrw=write\nbs=128k\n[a]\nstonewall\n{uniform}", timed=False)) as session:
        session.run()
        wait_for("all jobs are done", lambda: session.is_finished)
        whole = session.figures(0)
        session.append([jobs_of("[behind]\nrw=trim\nbs=128k\noffset=75%\nsize=25%\n", 2)])
        session.append([jobs_of(f"[less]\n{uniform}size=75%\n", 3)])
        session.run()
        wait_for("all jobs are done", lambda: session.is_finished)
        session.figures(0)
        session.append([jobs_of(f"[settled]\n{uniform}size=75%\n", 4)])
        session.run()
        wait_for("all jobs are done", lambda: session.is_finished)
        less = session.figures(0)
    erase_unit_units = whole["capacity"]["units_per_erase_unit"]
    # One erase unit is the reserve, and half of the open one is not full on average, as in docs/theory/theory.md.
    usable_units = whole["capacity"]["physical_units"] - 1.5 * erase_unit_units
    for figures, live_bytes in ((whole, USER_BYTES), (less, USER_BYTES * 3 // 4)):
        assert figures["capacity"]["live_units"] == live_bytes / 4096
        expected = usable_units / figures["capacity"]["live_units"] - 1
        assert figures["capacity"]["effective_over_provisioning"] == pytest.approx(expected, abs=1e-9)
    assert (less["since"]["waf"] or 0) < 0.75 * (whole["waf"] or 0)


def test_what_cannot_be_is_refused_and_leaves_the_session_as_it_was(specify: Callable[..., Specification]) -> None:
    with pytest.raises(InputError):
        Session([])
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=True)) as session:
        session.step(100)
        too_large: Any = {**jobs_of("[b]\nrw=randwrite\n", 1)[0], "size_bytes": 2 * USER_BYTES}
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
        wait_for("all jobs are done", lambda: session.is_finished)
        assert session.failure is not None and "spare" in session.failure
        assert not session.is_running


def test_any_thread_may_ask_while_the_drive_is_at_work(specify: Callable[..., Specification]) -> None:
    """No query waits forever, although the drive never rests, and none receives the answer of another."""
    answered: list[int] = []
    with session_of(specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=True)) as session:
        session.run()

        def ask(number: int) -> None:
            for _ in range(20):
                states, figures = session.cells(0, "state"), session.figures(0)
                assert len(states) == 160 and set(states) <= {0, 1, 2, 3} and figures["requests"] >= 0
                assert session.erase_unit(0, number)["units"].count("v") <= 64
            answered.append(number)

        threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(6)]
        for thread in threads:
            thread.start()
        # Before its first request, the drive accepts the job: its stage has not begun.
        wait_for("the first stage has begun", lambda: session.issued(0)[0] > 0)
        with pytest.raises(InputError, match="stage"):
            session.append([jobs_of("[late]\nrw=randwrite\n", 0)])
        for thread in threads:
            thread.join(SECONDS_MAX)
        assert sorted(answered) == list(range(6))
        assert session.is_running and session.failure is None


def test_sessions_leave_no_thread(specify: Callable[..., Specification]) -> None:
    before = set(threading.enumerate())
    specification = specify(f"[a]\nrw=randwrite\n{ENDLESS}", timed=False)
    for _ in range(20):
        with session_of(specification) as session:
            session.run()
    # Compares threads, not their number: those of other tests can end meanwhile.
    assert not set(threading.enumerate()) - before
