"""Measures what depends on `--scale`, for docs/simulate/scale.md and for the table that the package ships.

    tools/scale_trial.py waf [DRIVE ...]             WAF by the size of erase units: the bias of a scale
    tools/scale_trial.py tails FILE.json [DRIVE ...]   percentiles at a scale and at one four times larger

`tails` adds one entry a drive to the file (python/ssdlab/evidence/tails_by_scale.json) as soon as it is measured, and
skips drives that the file has. `waf` takes some drives of each kind, `tails` the whole catalogue unless drives are
named: about an hour of a processor. Run by hand; not part of the tests.
"""

import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab.errors import InputError, Note
from ssdlab.simulator.drives import ResolvedDrive, names
from ssdlab.simulator.results.fio_schema import Direction

DRIVES = (
    "generic-tlc-480", "generic-sata-tlc-500", "samsung-pm883-1920gb", "samsung-pm981-1tb", "generic-nvme-tlc-1000",
    "intel-s3510-480gb", "micron-5200-eco-960gb", "wd-dc-960gb", "samsung-pm9a3-960gb", "generic-nvme-dc-3840",
)  # fmt: skip
"""Those of `waf` unless others are named: of each kind that is in use today."""
_COMMON = "bs=4k\niodepth=32\ndirect=1\nsize=100%\nnorandommap=1\nrw=randwrite\n"
LAWS = {"uniform": "", "zipf": "random_distribution=zipf:1.1\n"}
RANKS = (50.0, 99.0, 99.9)
LOADS: dict[str, tuple[str, tuple[Direction, ...]]] = {
    "uniform": ("", ("write",)),
    "zipf": ("random_distribution=zipf:1.1\n", ("write",)),
    "mixed": ("rw=randrw\nrwmixread=70\nio_size=50%\n", ("read", "write")),
    "reads": ("rw=randread\nio_size=20%\n", ("read",)),
}
"""The measured stage of each load, after a sequential fill and one drive write of its own law, and the directions of
which percentiles are taken."""
UNITS_OF_TAILS = 2_500_000
"""The most mapping units of the smaller scale: as `--scale auto` chooses for a steady state."""
TIMES = 4
UNITS_OF_WAF = 12_000_000


def main(words: Sequence[str]) -> None:
    warnings.simplefilter("ignore", Note)
    with tempfile.TemporaryDirectory() as folder:
        if words[0] == "waf":
            for line in waf_lines(words[1:] or DRIVES, Path(folder)):
                print(line, flush=True)
        else:
            tails_of(words[2:] or names(), Path(words[1]), Path(folder))


def waf_lines(drives: Sequence[str], folder: Path) -> Iterator[str]:
    """A line for each drive, law and scale: the units of an erase unit, WAF and its interval."""
    for name in drives:
        whole = ssdlab.drive(name)
        for law, words in {**LAWS, "zipf:0.8": "random_distribution=zipf:0.8\n"}.items():
            job = folder / "waf.fio"
            job.write_text(f"[waf]\n{_COMMON}{words}")
            for halvings in range(0, 12, 2):
                drive = _at(whole, Fraction(1, 2**halvings))
                if drive is None or drive.capacity.user_units > UNITS_OF_WAF:
                    continue
                compared = ssdlab.compare(job, name, scale=drive.scale, timed=False, workers=1)
                found = next(iter(compared)).result.waf_estimate
                assert found
                yield (
                    f"{name:24} {law:8} {drive.scale!s:7} {drive.capacity.units_per_erase_unit:7} units "
                    f"{drive.capacity.erase_units:5} erase units  WAF {found.value:.4f} [{found.low:.4f}, "
                    f"{found.high:.4f}]"
                )


def tails_of(drives: Sequence[str], path: Path, folder: Path) -> None:
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for name in drives:
        whole = ssdlab.drive(name)
        halvings = next(each for each in range(20) if whole.capacity.user_units / 2**each <= UNITS_OF_TAILS)
        small, large = (_at(whole, Fraction(times, 2**halvings)) for times in (1, TIMES))
        if name in found or small is None or large is None or large.scale != TIMES * small.scale:
            print(f"{name}: left out", flush=True)
            continue
        at = [_percentiles_ns(folder / "tails.fio", drive) for drive in (small, large)]
        found[name] = {"scale": str(small.scale), "larger": str(large.scale)} | {
            load: {rank: round(at[1][load][rank] / ns, 3) for rank, ns in ranks.items()}
            for load, ranks in at[0].items()
        }
        print(name, found[name], flush=True)
        path.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")


def _at(whole: ResolvedDrive, scale: Fraction) -> ResolvedDrive | None:
    try:
        return whole.at(scale)
    except InputError:
        return None


def _percentiles_ns(job: Path, drive: ResolvedDrive) -> dict[str, dict[str, float]]:
    """The percentiles of each load; those of a mixed one by direction, as `mixed reads` and `mixed writes`."""
    found: dict[str, dict[str, float]] = {}
    # Loads on the state that uniform writes leave share a run.
    for loads in (("uniform", "mixed", "reads"), ("zipf",)):
        words = {load: LOADS[load][0] for load in loads}
        stages = "".join(f"[{load}]\nstonewall\n{lines}" for load, lines in words.items())
        job.write_text(f"[global]\n{_COMMON}[warm]\n{words[loads[0]]}{stages}")
        results = {each.name: each for each in ssdlab.run(job, drive, precondition="fill").jobs}
        for load in loads:
            for direction in LOADS[load][1]:
                latency = results[load].direction(direction).latency
                ranks = {f"p{rank:g}": latency.percentile_ns(rank) if latency else None for rank in RANKS}
                name = f"{load} {direction}s" if len(LOADS[load][1]) > 1 else load
                found[name] = {rank: ns for rank, ns in ranks.items() if ns is not None}
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
