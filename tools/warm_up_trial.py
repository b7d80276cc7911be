"""How far the latencies of the first tenth of a drive write are from those of the third drive write, on drives that
begin in the steady state: as `--precondition steady` begins, and without its drive write beforehand. For
docs/theory/steady-state.md.

usage: warm_up_trial.py DRIVE ...
"""

import sys
import tempfile
import warnings
from fractions import Fraction
from pathlib import Path

import ssdlab
from ssdlab.errors import Note
from ssdlab.simulator.results import Result
from ssdlab.simulator.targets import preconditioning, simulated
from ssdlab.simulator.workloads import jobs, specifying

UNITS_MOST = 1_000_000
LAWS = {
    "uniform": "rw=randwrite\nnorandommap\n",
    "zipf 1.1": "rw=randwrite\nrandom_distribution=zipf:1.1\n",
    "70/30": "rw=randrw\nrwmixread=70\nnorandommap\n",
}
# A pass of a mixed job is a drive write of requests, so that it writes 30 % of one.
PASSES = {"uniform": 2, "zipf 1.1": 2, "70/30": 6}
RANKS = (50.0, 99.0, 99.9)


def main(drives: list[str]) -> None:
    warnings.simplefilter("ignore", Note)
    print("drive, law: mean, 50, 99, 99.9 % of the first tenth against the third drive write; without: without warm-up")
    for name in drives:
        whole = ssdlab.drive(name)
        halvings = next(each for each in range(20) if whole.capacity.user_units / 2**each <= UNITS_MOST)
        drive = whole.at(Fraction(1, 2**halvings))
        for law, words in LAWS.items():
            job = jobs.parse(
                f"[global]\nbs=4k\niodepth=32\n{words}[first]\nio_size=10%\n"
                f"[between]\nstonewall\nloops={PASSES[law]}\n[third]\nstonewall\n"
            )
            with tempfile.TemporaryDirectory() as folder:
                state = preconditioning.steady_state(job, drive, Path(folder))
                off = {
                    how: _off(simulated.run(specifying.specify(job, drive, initial_state=state, warms_up=warms_up)))
                    for how, warms_up in (("without", False), ("with", True))
                }
            print(f"{name} {drive.scale} {law}: without {off['without']}; with {off['with']}", flush=True)


def _off(result: Result) -> str:
    first, _, third = (job.write.latency for job in result.jobs)
    assert first and third and first.mean_ns and third.mean_ns
    ratios = [first.mean_ns / third.mean_ns]
    for rank in RANKS:
        one, other = first.percentile_ns(rank), third.percentile_ns(rank)
        assert one and other
        ratios.append(one / other)
    return " / ".join(f"{100 * (ratio - 1):+.0f}" for ratio in ratios)


if __name__ == "__main__":
    main(sys.argv[1:])
