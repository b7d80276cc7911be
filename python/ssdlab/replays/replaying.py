"""`ssdlab.replay`: a recorded trace on drives, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from ssdlab.comparison.comparing import (
    Comparison,
    Names,
    Settings,
    SpareAreas,
    names_of,
    planned_variants,
    stems_of,
)
from ssdlab.comparison.variant import check_dwpd
from ssdlab.errors import InputError, check_word, notify
from ssdlab.quantities import parse_bytes, parse_share
from ssdlab.replays.plan import Choices, notes, parse_amount, replays, volumes_of
from ssdlab.replays.variant import ReplayedVariant
from ssdlab.runs import ShowProgress, run_all, silent
from ssdlab.targets.preconditioning import saved_state
from ssdlab.workloads.specifying import Beginning
from ssdlab.workloads.traces.recording import Arrival, Map, opened

Until = Literal["trace", "steady"]

_ARRIVALS = {"trace": "at the recorded times", "closed": "as fast as the drive"}


@dataclass(frozen=True, repr=False)
class Replays(Comparison):
    """Replays side by side: each volume on each drive."""


def replay(
    traces: Names,
    drives: Names,
    *,
    op: SpareAreas = None,
    settings: Settings = None,
    format_name: str | None = None,
    skip_bad: int = 0,
    volumes: Sequence[str] = (),
    each_volume: bool = False,
    merge_volumes: bool = False,
    address_map: Map = "fold",
    loop_until: str | None = None,
    until: Until = "trace",
    round_share: float | str | None = None,
    precondition: Beginning = "fill",
    from_state: str | Path | None = None,
    arrival: Arrival = "trace",
    time_scale: float = 1.0,
    iodepth: int | None = None,
    sample: str | None = None,
    shuffle: bool = False,
    dwpd: float = 1.0,
    scale: Fraction | str | None = None,
    seed: int = 1,
    timed: bool = True,
    workers: int | None = None,
    show_progress: ShowProgress = silent,
) -> Replays:
    """Replays a block trace on simulated drives, as `ssdlab replay`.

    `traces` are files, read one after the other; plain, gzip, bzip2 or zstd; "-" is standard input. `format_name`: by
    default recognised; `skip_bad`: malformed lines that may be skipped. `volumes` are replayed each on its own drive,
    as all are with `each_volume`; `merge_volumes`: all on one drive. `address_map`: addresses modulo the drive's size
    ("fold"), in the order of first access ("compact"), or unchanged ("strict").

    The trace is replayed once (`until="trace"`), until "2x" the drive or "100GB" are written (`loop_until`), or until
    SNIA's steady state (`until="steady"`), in rounds that write `round_share` ("50%" or 0.5) of the drive, by default
    all of it; with `shuffle` in pieces in changing order. `precondition="steady"`: the state that the trace settles in.
    `from_state`: a file that `ssdlab run --save-state` left. `arrival="trace"`: requests arrive at the recorded times,
    multiplied by `time_scale`; "closed": each when another is done. `iodepth`: outstanding requests at most, by default
    256, closed 32. `sample`, with a `scale` of 1/n: one region of this size ("4KiB") in n. The other parameters are
    those of `ssdlab.compare`.

    Raises InputError for arguments and files, naming the option of the command and the line of the trace; RunFailed
    when a run broke.

        ssdlab.replay("trace.csv.gz", "generic-tlc-480", op=[0.07, 0.28], scale="1/64", loop_until="2x").frame()
    """
    _check(volumes, each_volume=each_volume, merge_volumes=merge_volumes, loop_until=loop_until, until=until)
    check_word("--map", address_map, get_args(Map))
    check_word("--arrival", arrival, get_args(Arrival))
    check_word("--precondition", precondition, get_args(Beginning))
    check_dwpd(dwpd)
    if shuffle and not loop_until and until != "steady":
        raise InputError("--shuffle requires --loop-until or --until steady")
    if from_state is not None and precondition != "fill":
        raise InputError("--from-state and --precondition both set the initial state; give one of them")
    _check_times(arrival, time_scale, iodepth, timed=timed)
    choices = Choices(
        address_map=address_map,
        seed=seed,
        until_steady=until == "steady",
        round_share=_round_share(round_share, until),
        precondition="fill" if precondition == "fill" else "none",
        loop_until=parse_amount(loop_until) if loop_until else None,
        timed=timed,
        arrival=arrival,
        time_scale=time_scale,
        iodepth=iodepth,
        initial_state=saved_state(from_state) if from_state is not None else None,
        sample_region_bytes=_region_bytes(sample, is_scaled=scale is not None),
        shuffled=shuffle,
    )
    planned = planned_variants(drives, op, settings, scale)
    with opened(names_of(traces), format_name, skip_bad) as recording, TemporaryDirectory(prefix="ssdlab-") as folder:
        if precondition == "steady":
            choices = replace(choices, steady_in=Path(folder))
        wanted = [None] if merge_volumes else volumes_of(recording, volumes, each=each_volume)
        runs = replays(recording, wanted, planned, choices)
        said = notes(recording, wanted, planned, choices)
        notify(said)
        labels = [variant.label for variant, _ in runs]
        results = run_all(labels, [specification for _, specification in runs], workers, show_progress)
        title = recording.title
    variants = [ReplayedVariant(variant, result, dwpd) for (variant, _), result in zip(runs, results, strict=True)]
    return Replays(
        title if len(variants) == 1 else f"{title}: {len(variants)} replays compared",
        _subtitle(drives, choices, loop_until, "state" if from_state is not None else precondition),
        variants,
        said,
        facts_of(variants),
    )


def facts_of(variants: Sequence[ReplayedVariant]) -> list[str]:
    """What became of the requests, a sentence each; what holds for all variants is said once."""
    of_each = [variant.facts() for variant in variants]
    common = [fact for fact in of_each[0] if all(fact in facts for facts in of_each)]
    own = zip(variants, of_each, strict=True)
    return common + [f"{variant.label}: {fact}" for variant, facts in own for fact in facts if fact not in common]


def _check(
    volumes: Sequence[str], *, each_volume: bool, merge_volumes: bool, loop_until: str | None, until: Until
) -> None:
    check_word("--until", until, get_args(Until))
    if sum((bool(volumes), each_volume, merge_volumes)) > 1:
        raise InputError("--volume, --each-volume and --merge-volumes exclude each other")
    if loop_until and until == "steady":
        raise InputError("--loop-until and --until steady exclude each other: each sets the end of the repetition")


def _check_times(arrival: Arrival, time_scale: float, iodepth: int | None, *, timed: bool) -> None:
    if not 0 < time_scale <= 1e6:
        raise InputError(f"--time-scale is {time_scale:g}; allowed: a number above 0, at most 10^6")
    if not timed and (time_scale != 1 or iodepth):
        raise InputError("--untimed has no clock; leave out --time-scale and --iodepth")
    if arrival == "closed" and time_scale != 1:
        raise InputError("--time-scale changes the recorded times, which --arrival closed does not use")


def _round_share(given: float | str | None, until: Until) -> float | None:
    if given is None:
        return None
    if until != "steady":
        raise InputError("--round requires --until steady")
    try:
        share = parse_share(given) if isinstance(given, str) else given
    except InputError as error:
        raise InputError(f"--round: {error}") from None
    if not 0 < share <= 1:
        raise InputError(f"--round is {given!r}; allowed: above 0%, at most 100%")
    return share


def _region_bytes(sample: str | None, *, is_scaled: bool) -> int | None:
    if sample is None:
        return None
    if not is_scaled:
        raise InputError("--sample requires --scale, such as 1/96: drive and sample have the same scale")
    try:
        region_bytes = parse_bytes(sample)
    except InputError as error:
        raise InputError(f"--sample: {error}") from None
    if region_bytes % 4096 or not 0 < region_bytes < 2**32:
        raise InputError(f"--sample is {sample!r}; allowed: a multiple of 4KiB, below 4 GiB")
    return region_bytes


def _subtitle(drives: Names, choices: Choices, loop_until: str | None, beginning: str) -> str:
    start = {
        "fill": "filled sequentially first",
        "none": "from a fresh drive",
        "steady": "from the steady state of the trace",
        "state": "from a saved state",
    }[beginning]
    end = "repeated until the steady state by SNIA's rule" if choices.until_steady else "once through"
    end = f"repeated until {loop_until} is written" if loop_until else end
    whole = f"{stems_of(drives)}; {start}, the trace {end}; addresses: {choices.address_map}; seed {choices.seed}"
    return f"{whole}; requests {_ARRIVALS[choices.arrival]}" if choices.timed else whole
