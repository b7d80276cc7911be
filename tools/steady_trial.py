"""Tries rules for the end of a run until the steady state, for docs/theory/steady-state.md: each drive of the catalogue
under six workloads, without a clock, for 150 drive writes. The truth is the mean of the last 100 rounds.

usage: steady_trial.py RUNS.jsonl [FOLDER]: continues the runs in the file, prints the table, and draws the picture
into the folder.
"""

import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import ssdlab
from ssdlab.errors import InputError
from ssdlab.evidence.estimate import of_samples
from ssdlab.presentation.report.charts.published import Bar, published_bars
from ssdlab.simulator.drives import ResolvedDrive, names
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.workloads import jobs

UNITS = 60_000
ROUNDS, TRUE_FROM = 150, 50
RULE_ROUNDS, PRECISION = 40, 0.01
WORKLOADS = {
    "uniform": "bs=4k\nnorandommap\n",
    "passes": "bs=4k\n",
    "zipf 1.1": "bs=4k\nrandom_distribution=zipf:1.1\n",
    "hot and cold": "bs=4k\nrandom_distribution=zoned:90/10:10/90\n",
    "mixed sizes": "bssplit=4k/60:16k/20:64k/10:128k/10\nnorandommap\n",
    "half the drive": "bs=4k\nnorandommap\nsize=50%\n",
}


class Stopped(NamedTuple):
    """Where a rule stops, and what it reports."""

    rounds: int
    value: float
    half_width: float | None


Rule = Callable[[Sequence[float]], Stopped | None]


def main(runs: Path, folder: Path | None) -> None:
    """Runs what the file lacks, and evaluates."""
    known = [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()] if runs.exists() else []
    _run({(each["drive"], each["workload"]) for each in known}, runs)
    known = [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()]
    rounds = [each["waf"][:ROUNDS] for each in known if len(each["waf"]) >= ROUNDS]
    print(f"{len(rounds)} runs of {ROUNDS} rounds")
    rules = {"SNIA's five rounds": _snia, "MSER": _mser(0.0), "MSER and half the rise": _mser(0.5)}
    print("rule: mean bias, median, 95th percentile of bias, share under 0.5 %, coverage, half width, drive writes")
    bars = []
    for name, rule in rules.items():
        found = [(rule(each), statistics.fmean(each[TRUE_FROM:])) for each in rounds]
        stopped = [(each, truth) for each, truth in found if each is not None]
        bias = sorted(abs(each.value / truth - 1) for each, truth in stopped)
        covered = [abs(each.value - truth) <= each.half_width for each, truth in stopped if each.half_width is not None]
        widths = [each.half_width / each.value for each, _ in stopped if each.half_width is not None]
        print(
            f"{name}: {statistics.fmean(bias):.2%}, {statistics.median(bias):.2%}, {bias[int(0.95 * len(bias))]:.2%}, "
            f"{sum(each < 0.005 for each in bias) / len(bias):.1%}, {statistics.fmean(covered):.1%}, "
            f"{statistics.fmean(widths):.2%}, {statistics.fmean(each.rounds for each, _ in stopped):.1f}"
        )
        bars += [
            Bar("half of the runs below", name, 100 * statistics.median(bias)),
            Bar("95 % of the runs below", name, 100 * bias[int(0.95 * len(bias))]),
        ]
    if folder is not None:
        figure = published_bars(
            name="steady-state",
            title="The mean behind the last change of trend is two to three times nearer",
            caption=f"Deviation of the reported write amplification from that of {ROUNDS - TRUE_FROM} further drive "
            f"writes, over {len(rounds)} runs: {len({each['drive'] for each in known})} drives, {len(WORKLOADS)} "
            "workloads.",
            bars=bars,
            x_title="deviation, %",
            own_axes=False,
            said="deviation",
        )
        for name, content in figure.files():
            if isinstance(content, str):
                (folder / name).write_text(content, encoding="utf-8")


def _run(known: set[tuple[str, str]], runs: Path) -> None:
    wanted: list[tuple[str, str]] = []
    specifications: list[Specification] = []
    with TemporaryDirectory() as scratch:
        for drive_name, (name, text) in product(names(), WORKLOADS.items()):
            if (drive_name, name) in known:
                continue
            job = Path(scratch) / f"{name.replace(' ', '-')}.fio"
            job.write_text(f"[write]\nrw=randwrite\n{text}", encoding="utf-8")
            try:
                specifications.append(_specified(drive_name, job))
            except InputError as error:
                print(f"{drive_name}, {name}: {error}")
                continue
            wanted.append((drive_name, name))
    with closing(ssdlab.run_many(specifications)) as finished, runs.open("a", encoding="utf-8") as out:
        for index, result in finished:
            waf = list(result.steady_state.round_waf) if result.steady_state else []
            out.write(json.dumps({"drive": wanted[index][0], "workload": wanted[index][1], "waf": waf}) + "\n")
            out.flush()


def _specified(drive_name: str, job: Path) -> Specification:
    """A run of 150 rounds, on a drive of some 60,000 mapping units."""
    drive = _scaled(drive_name)
    specification = ssdlab.specify(jobs.load(job), drive, seed=1, until="steady", precondition="fill", timed=False)
    until = specification.engine["until"]
    assert until["kind"] == "steady-state"
    # A precision that is out of reach: the run goes on to its limit.
    until["precision"] = 1e-9
    # Rounds begin when the erased space is used.
    until["host_bytes_max"] = (ROUNDS + 2) * until["round_bytes"]
    return specification


def _scaled(drive_name: str) -> ResolvedDrive:
    """The drive at about UNITS, or at its smallest scale."""
    scale_log2 = max(0, round(math.log2(ssdlab.drive(drive_name).capacity.user_units / UNITS)))
    while True:
        try:
            return ssdlab.drive(drive_name, scale=str(Fraction(1, 2**scale_log2)))
        except InputError:
            if scale_log2 == 0:
                raise
            scale_log2 -= 1


def _is_steady(rounds: Sequence[float]) -> bool:
    last = rounds[-5:]
    mean = statistics.fmean(last)
    return max(last) - min(last) <= 0.2 * mean and 4 * abs(_slope(last)) <= 0.1 * mean


def _slope(values: Sequence[float]) -> float:
    return statistics.linear_regression(range(len(values)), values).slope


def _interval(values: Sequence[float]) -> float:
    """Half the width by batch means."""
    found = of_samples(values, "rounds")
    return (found.high - found.low) / 2


def _snia(rounds: Sequence[float]) -> Stopped | None:
    for end in range(5, RULE_ROUNDS + 1):
        if _is_steady(rounds[:end]):
            last = rounds[end - 5 : end]
            return Stopped(end, statistics.fmean(last), _interval(last))
    return None


def _mser(rise_share: float) -> Rule:
    """Goes on until the half width, with this share of the rise of the line through the rounds, is precise enough."""

    def rule(rounds: Sequence[float]) -> Stopped | None:
        stopped, was_steady = None, False
        for end in range(5, RULE_ROUNDS + 1):
            was_steady = was_steady or _is_steady(rounds[:end])
            if not was_steady:
                continue
            most = min(end - 5, end // 2)
            first = min(range(most + 1), key=lambda at: statistics.variance(rounds[at:end]) / (end - at))
            kept = rounds[first:end]
            half_width = _interval(kept) + rise_share * abs(_slope(kept)) * (len(kept) - 1)
            stopped = Stopped(end, statistics.fmean(kept), half_width)
            if half_width <= PRECISION * stopped.value:
                break
        return stopped

    return rule


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
