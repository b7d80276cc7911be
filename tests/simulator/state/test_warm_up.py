"""Are the latencies of a drive that begins in its steady state those of the steady state, from the first request on?"""

from pathlib import Path

import pytest

import ssdlab
from ssdlab.experiments.comparison.comparing import Comparison
from ssdlab.simulator.results import Result, drive_state
from ssdlab.simulator.targets import preconditioning
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse


def begun_steady(text: str, drive_name: str, folder: Path, *, scale: str) -> Result:
    job = folder / "job.fio"
    job.write_text(text)
    drive = ssdlab.drive(drive_name, scale=scale)
    return ssdlab.run(job, drive, precondition="steady")


def p99_ns(result: Result, name: str) -> float:
    (job,) = (each for each in result.jobs if each.name == name)
    assert job.write.latency is not None
    found = job.write.latency.percentile_ns(99)
    assert found is not None
    return found


def test_the_first_tenth_has_the_latencies_of_the_third_drive_write(tmp_path: Path) -> None:
    """A regression: 99 % of the first writes took 15 to 22 ms, of later ones 7 ms: a state in which no clock has run
    has its free space on the wrong dies."""
    stages = (("first", "io_size=10%"), ("between", "loops=2"), ("third", "loops=1"))
    text = "[global]\nrw=randwrite\nbs=4k\niodepth=32\nnorandommap\n" + "".join(
        f"[{name}]\nstonewall\n{amount}\n" for name, amount in stages
    )
    result = begun_steady(text, "pny-120gb", tmp_path, scale="1/64")
    assert p99_ns(result, "first") == pytest.approx(p99_ns(result, "third"), rel=0.1)
    first, _, third = result.jobs
    assert first.waf == pytest.approx(third.waf, rel=0.02)


def test_what_warms_the_drive_up_is_said_and_not_counted(tmp_path: Path) -> None:
    text = "[writes]\nrw=randwrite\nnorandommap\nloops=2\niodepth=8\n"
    result = begun_steady(text, "generic-tlc-480", tmp_path, scale="1/384")
    (job,) = result.jobs
    assert job.name == "writes" and job.write.io_bytes == 2 * result.capacity.user_bytes
    assert drive_state.sentence(result, "steady").startswith(
        "the drive began in the steady state of a smaller drive, was written once more, not measured and ended "
        "near steady"
    )


def test_readers_and_further_writers_end_with_the_first_that_has_written_its_part(tmp_path: Path) -> None:
    """Readers have no end of their own there, and pacing, limits and logs of the jobs must not decide it."""
    text = (
        "[global]\nnorandommap\niodepth=4\ntime_based\nruntime=1\n"
        "[reads]\nrw=randread\nstartdelay=5\n[mix]\nrw=randrw\nrwmixread=75\nmax_latency=1s\n[writes]\nrw=randwrite\n"
    )
    result = begun_steady(text, "generic-tlc-480", tmp_path, scale="1/384")
    assert [job.name for job in result.jobs] == ["reads", "mix", "writes"] and not result.failure
    written = result.stages[0]["host_written_bytes_end"] - result.stages[0]["host_written_bytes_start"]
    assert 0.5 <= written / result.capacity.user_bytes <= 1


def test_what_could_not_be_warmed_up_says_so(tmp_path: Path) -> None:
    """A state that another run saved is taken as it is; its latencies are at first those of a drive that was idle."""
    drive = ssdlab.drive("generic-tlc-480", scale="1/384")
    state = preconditioning.steady_state(parse("[a]\nrw=randwrite\nnorandommap\n"), drive, tmp_path)
    cold = specifying.specify(parse("[a]\nrw=randwrite\nloops=2\n"), drive, initial_state=state)
    (result,) = (each for _, each in ssdlab.run_many([cold]))
    assert "leave them out with ramp_time" in drive_state.sentence(result, "saved")


def test_a_comparison_says_whether_its_drives_were_written_before_anything_was_counted(tmp_path: Path) -> None:
    """A regression: "with a clock after one more drive write" stood on the page of every comparison."""
    writes = tmp_path / "writes.fio"
    writes.write_text("[writes]\nrw=randwrite\nnorandommap\nio_size=10%\n")

    def compared(job: str | Path, *, timed: bool = True) -> Comparison:
        return ssdlab.compare(
            job, "generic-tlc-480", scale="1/384", precondition="steady", until="job", timed=timed, workers=1
        )

    warm, untimed = compared(writes), compared(writes, timed=False)
    cold, settled = (compared(f"b-plus-tree data=20% settle={settle}x writes=0.1x") for settle in (0.1, 1))
    assert "from the steady state of a smaller drive, after one more drive write," in warm.subtitle
    assert "from the steady state of a smaller drive, until" in untimed.subtitle
    assert "from the steady state of a smaller drive with empty buffer and queues," in cold.subtitle
    found = [drive_state.is_cold(next(iter(each)).result) for each in (warm, settled, cold, untimed)]
    assert found == [False, False, True, False]
