"""`ssdlab.replay`: replays a recorded trace on drives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from ssdlab.errors import InputError, notify
from ssdlab.experiments.comparison.comparing import Comparison
from ssdlab.experiments.comparison.request import (
    Names,
    Running,
    Settings,
    SpareAreas,
    Variants,
    check_energy,
    names_of,
)
from ssdlab.experiments.replays.plan import Choices, notes, parse_amount, replays, volumes_of
from ssdlab.experiments.replays.request import Reading, Repeating, Requests, Start, Until
from ssdlab.experiments.replays.variant import ReplayedVariant
from ssdlab.foundation.quantities import AUTO
from ssdlab.simulator.drives import ResolvedDrive, left_empty_sentences
from ssdlab.simulator.results import drive_state
from ssdlab.simulator.runs import ShowProgress, run_all, silent
from ssdlab.simulator.targets.preconditioning import saved_state
from ssdlab.simulator.workloads.specifying import Beginning
from ssdlab.simulator.workloads.traces.recording import Arrival, Map, opened

_ARRIVALS = {"trace": "at the recorded times", "closed": "as fast as the drive"}


@dataclass(frozen=True, repr=False)
class Replays(Comparison):
    """A comparison of replays: each volume on each drive."""


def replay(
    traces: Names,
    drives: Names,
    *,
    op: SpareAreas = None,
    left_empty: SpareAreas = None,
    settings: Settings = None,
    format_name: str | None = None,
    skip_bad: int = 0,
    volumes: Sequence[str] = (),
    each_volume: bool = False,
    merge_volumes: bool = False,
    columns: str | None = None,
    device: str | None = None,
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
    scale: Fraction | str | None = AUTO,
    seed: int = 1,
    timed: bool = True,
    workers: int | None = None,
    show_progress: ShowProgress = silent,
) -> Replays:
    """Replays a block trace on simulated drives, as `ssdlab replay`.

    `traces` are files that are read one after the other, plain or compressed with gzip, bzip2 or zstd; "-" is standard
    input. `format_name` is detected by default; `columns` names those of a text in no known format
    ("time,op,sector,sectors"); `device` is that of a log of rates, such as of iostat, from which requests are drawn.
    `skip_bad` is the number of malformed lines that can be skipped. Each of the `volumes`
    is replayed on its own drive; `each_volume` does so for all volumes, `merge_volumes` replays all on one drive.
    `address_map`: addresses modulo the drive's size ("fold"), in the order of first access ("compact"), or
    unchanged ("strict").

    The trace is replayed once (`until="trace"`), until "2x" the drive or "100GB" are written (`loop_until`), or until
    SNIA's steady state (`until="steady"`), in rounds that write `round_share` ("50%" or 0.5) of the drive, by default
    all of it; with `shuffle`, its pieces are replayed in changing order. `precondition="steady"` starts in the steady
    state of the trace. `from_state` is a file written by `ssdlab run --save-state`. `arrival="trace"`: requests arrive
    at the recorded times, multiplied by `time_scale`; "closed": each when another completes. `iodepth` is the maximum
    number of outstanding requests, by default 256, for "closed" 32. `sample`, with a `scale` of 1/n: one region of this
    size ("4KiB") in n. `scale="auto"` is the
    whole drive, because a trace does not shrink with it. The other parameters are those of `ssdlab.compare`.

    Raises InputError for invalid arguments and files, which names the option of the command and the line of the trace,
    and RunFailed if a run fails.

        ssdlab.replay("trace.csv.gz", "generic-tlc-480", op=[0.07, 0.28], scale="1/64", loop_until="2x").frame()
    """
    return replayed(
        traces,
        Variants(drives, op, settings, scale, left_empty),
        Reading(format_name, skip_bad, volumes, each_volume, merge_volumes, columns, device),
        Repeating(until, loop_until, round_share, shuffle),
        Start(precondition, from_state),
        Requests(address_map, arrival, time_scale, iodepth, sample),
        Running(seed, timed, dwpd, workers, show_progress),
    )


def replayed(
    traces: Names,
    variants: Variants,
    reading: Reading,
    repeating: Repeating,
    start: Start,
    requests: Requests,
    running: Running,
) -> Replays:
    """`replay` with its arguments in groups."""
    if not running.timed and (requests.time_scale != 1 or requests.iodepth):
        raise InputError("--untimed has no clock; leave out --time-scale and --iodepth")
    choices = Choices(
        address_map=requests.address_map,
        seed=running.seed,
        until_steady=repeating.until == "steady",
        round_share=repeating.share_of_round,
        precondition="fill" if start.precondition == "fill" else "none",
        loop_until=parse_amount(repeating.loop_until) if repeating.loop_until else None,
        timed=running.timed,
        arrival=requests.arrival,
        time_scale=requests.time_scale,
        iodepth=requests.iodepth,
        initial_state=saved_state(start.from_state) if start.from_state is not None else None,
        sample_region_bytes=requests.region_bytes(is_scaled=variants.scale not in (None, AUTO)),
        shuffled=repeating.shuffle,
    )
    planned = variants.planned()
    check_energy(planned, running)
    with (
        opened(
            names_of(traces),
            reading.format_name,
            reading.skip_bad,
            reading.columns,
            device=reading.device,
            span_bytes=min(_span_bytes(variant.drive, requests) for variant in planned),
        ) as recording,
        TemporaryDirectory(prefix="ssdlab-") as folder,
    ):
        if start.precondition == "steady":
            choices = replace(choices, steady_in=Path(folder))
        if choices.timed and choices.arrival == "trace" and not recording.survey.has_times:
            if requests.time_scale != 1:
                raise InputError(f"--time-scale changes the recorded times, and {recording.names[0]} has none")
            choices = replace(choices, arrival="closed")
        wanted = [None] if reading.merge_volumes else volumes_of(recording, reading.volumes, each=reading.each_volume)
        runs = replays(recording, wanted, planned, choices)
        said = notes(recording, wanted, planned, choices)
        notify(said)
        labels = [variant.label for variant, _ in runs]
        specifications = [specification for _, specification in runs]
        results = run_all(labels, specifications, running.workers, running.show_progress)
        title = recording.title
    began = "saved" if start.from_state is not None else start.precondition
    done = [
        ReplayedVariant(variant, result, running.dwpd, running.co2e_per_kwh)
        for (variant, _), result in zip(runs, results, strict=True)
    ]
    return Replays(
        title if len(done) == 1 else f"{title}: {len(done)} replays compared",
        _subtitle(
            variants, choices, repeating, drive_state.beginning(results, "trace" if began == "steady" else began)
        ),
        done,
        said,
        [
            *facts_of(done),
            *drive_state.facts({each.label: each.result for each in done}, began),
            *left_empty_sentences([variant.drive for variant in planned]),
        ],
        began,
    )


def _span_bytes(drive: ResolvedDrive, requests: Requests) -> int:
    """The addresses over which requests are drawn: the drive's, or with a sample those of the full drive."""
    user_bytes = drive.capacity.user_bytes
    return user_bytes if requests.sample is None else int(user_bytes / drive.scale)


def facts_of(variants: Sequence[ReplayedVariant]) -> list[str]:
    """How the requests were handled, one sentence each; sentences that hold for all variants are listed once."""
    of_each = [variant.facts() for variant in variants]
    common = [fact for fact in of_each[0] if all(fact in facts for facts in of_each)]
    own = zip(variants, of_each, strict=True)
    return common + [f"{variant.label}: {fact}" for variant, facts in own for fact in facts if fact not in common]


def _subtitle(variants: Variants, choices: Choices, repeating: Repeating, beginning: str) -> str:
    end = "repeated until the steady state by SNIA's rule" if choices.until_steady else "once through"
    end = f"repeated until {repeating.loop_until} is written" if repeating.loop_until else end
    whole = f"{variants.stems}; {beginning}, the trace {end}; addresses: {choices.address_map}; seed {choices.seed}"
    return f"{whole}; requests {_ARRIVALS[choices.arrival]}" if choices.timed else whole
