"""Runs until the steady state: what ends them, and what is reported of them."""

from pathlib import Path

import pytest

import ssdlab
from ssdlab.errors import Note
from ssdlab.simulator.results.text import normal

UNIFORM = "[j]\nrw=randwrite\nbs=4k\nnorandommap\niodepth=32\n"
DRIVE = "generic-tlc-480"


def test_a_runtime_does_not_end_a_run_until_the_steady_state(tmp_path: Path) -> None:
    # A job of a minute wrote 1.1 times the drive: `compare` said that the variants wrote nothing, beside terabytes of
    # host writes, because no round was complete.
    job = tmp_path / "minute.fio"
    job.write_text(f"{UNIFORM}time_based\nruntime=60\n")
    with pytest.warns(Note, match="the runtime of j does not end the run, the steady state does; --until job"):
        compared = ssdlab.compare(job, DRIVE, scale="1/384")
    (variant,) = compared
    assert variant.result.steady_state is not None and variant.result.steady_state.reached
    assert variant.expectation.value is not None
    assert variant.result.settled_waf == pytest.approx(variant.expectation.value, rel=0.05)


def test_a_run_until_the_end_of_its_job_keeps_the_runtime(tmp_path: Path) -> None:
    job = tmp_path / "minute.fio"
    job.write_text(f"{UNIFORM}time_based\nruntime=60\n")
    result = ssdlab.run(job, ssdlab.drive(DRIVE, scale="1/384"))
    assert result.jobs[0].write.seconds == pytest.approx(60 / 384, rel=1e-3)


def test_a_job_that_only_writes_is_not_told_how_reads_depend_on_the_scale(tmp_path: Path) -> None:
    """A regression: each job had latencies of reads, of no reads, and the changes of "reads beside 30 % writes"."""
    job = tmp_path / "writes.fio"
    job.write_text(f"{UNIFORM}io_size=1%\n")
    text = normal(ssdlab.run(job, ssdlab.drive(DRIVE, scale="1/64")))
    assert "(uniform writes)" in text and "reads beside" not in text
