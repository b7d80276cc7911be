"""How much write amplification with a clock differs from that without one, in the steady state, for
docs/theory/steady-state.md.

usage: clock_trial.py DRIVE ...
"""

import sys
import warnings
from fractions import Fraction

import ssdlab
from ssdlab.errors import Note
from ssdlab.evidence import Estimate
from ssdlab.simulator.workloads import jobs

UNITS_MOST = 600_000
LAWS = {"uniform": "norandommap\n", "zipf 1.1": "random_distribution=zipf:1.1\n"}


def main(drives: list[str]) -> None:
    warnings.simplefilter("ignore", Note)
    for name in drives:
        whole = ssdlab.drive(name)
        halvings = next(each for each in range(20) if whole.capacity.user_units / 2**each <= UNITS_MOST)
        drive = whole.at(Fraction(1, 2**halvings))
        for law, words in LAWS.items():
            job = jobs.parse(f"[w]\nrw=randwrite\nbs=4k\niodepth=32\n{words}")
            runs = [
                ssdlab.specify(job, drive, until="steady", precondition="fill", timed=timed) for timed in (True, False)
            ]
            results = dict(ssdlab.run_many(runs, workers=1))
            timed, untimed = (_known(results[index].waf_estimate) for index in range(2))
            print(
                f"{name} {drive.scale} {law}: {timed.value:.3f} [{timed.low:.3f}, {timed.high:.3f}] with a clock, "
                f"{untimed.value:.3f} [{untimed.low:.3f}, {untimed.high:.3f}] without: "
                f"{100 * (timed.value / untimed.value - 1):+.1f} %",
                flush=True,
            )


def _known(found: Estimate | None) -> Estimate:
    assert found is not None
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
