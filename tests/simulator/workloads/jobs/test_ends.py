"""Do jobs end when others end, and when they are steady by SNIA's rule? Compared with times from fio 3.33."""

from typing import Any

import pytest

import ssdlab
from ssdlab.errors import InputError
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

HEAD = "[global]\nrw=randwrite\nrate_iops=100\ntime_based\n"


def run(text: str, timed: bool = True) -> list[Any]:
    drive = ssdlab.drive("textbook", scale="1/4")
    return simulated.run(specifying.specify(parse(text), drive, seed=1, timed=timed)).jobs


def runtimes(jobs: list[Any]) -> list[int]:
    return [job.to_dict(bins=False)["job_runtime"] for job in jobs]


def test_the_first_job_that_ends_ends_those_of_its_stage_or_all() -> None:
    # On a drive scaled to a quarter, a quarter of the time.
    stages = "[a]\nruntime=4\n[b]\nruntime=12\n{}[c]\nstonewall\nruntime=8\n"
    assert runtimes(run(HEAD + stages.format(""))) == pytest.approx([1000, 3000, 2000], abs=15)
    # fio: 1007, 1011, and the next stage for its full time.
    assert runtimes(run(HEAD + stages.format("exitall\n"))) == pytest.approx([1000, 1000, 2000], abs=15)
    ended = run(HEAD + "exit_what=all\n" + stages.format("exitall\n"))
    assert runtimes(ended) == pytest.approx([1000, 1000, 0], abs=15) and ended[2].write.total_ios == 0


def test_without_a_clock_too() -> None:
    short, long, later = run(
        "[global]\nrw=write\n[a]\nsize=1m\nexitall\n[b]\nsize=8m\n[c]\nstonewall\nsize=1m\n", False
    )
    # Sizes are scaled with the drive; the long job would write 512 blocks.
    assert short.write.total_ios == later.write.total_ios == 64
    assert 32 <= long.write.total_ios <= 256


def test_a_job_ends_by_snia_s_rule() -> None:
    (job,) = run(HEAD.replace("100", "1000") + "[a]\nruntime=240\nss=snia-pts:iops\nss_dur=10\nss_ramp=1\n")
    found = job.to_dict(bins=False)
    steady = found["steadystate"]
    assert (steady["ss"], steady["attained"], steady["duration"]) == ("snia-pts:iops", 1, 10)
    assert len(steady["data"]["iops"]) == 10 and steady["data"]["iops_mean"] == pytest.approx(1000, rel=0.01)
    assert float(steady["criterion"].rstrip("%")) < 20 and found["job_runtime"] == pytest.approx(11_000, abs=15)
    # A drive that is being filled and then collects garbage is not steady while its rate falls.
    (falling,) = run("[a]\nrw=randwrite\niodepth=32\nruntime=80\ntime_based\nss=snia-pts:bw\nss_dur=5\nnorandommap\n")
    assert falling.to_dict(bins=False)["steadystate"]["ss"] == "snia-pts:bw"
    with pytest.raises(InputError, match="ss_dur=7 is for five rounds of SNIA's rule: a multiple of 5 seconds"):
        parse("[a]\nss=snia-pts:iops\nss_dur=7\n").resolve(1 << 30, seed=1)
