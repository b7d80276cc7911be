"""`ssdlab replay`: replays a recorded block trace on simulated drives; `--profile` only describes the trace."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import comparing, options, workload_options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrTraces, Rows
from ssdlab.errors import InputError, notify
from ssdlab.experiments.replays import request
from ssdlab.experiments.replays.plan import volumes_of
from ssdlab.experiments.replays.profile_text import plain, print_profile
from ssdlab.experiments.replays.request import Until
from ssdlab.experiments.replays.theory import expectations
from ssdlab.foundation.quantities import parse_spare_areas
from ssdlab.presentation.terminal import wrapped
from ssdlab.simulator.workloads.specifying import Beginning
from ssdlab.simulator.workloads.traces.profile import profile_of
from ssdlab.simulator.workloads.traces.recording import Arrival, Map, opened, title_of

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.traces.recording import Recording

PROFILE_OP = "7%,14%,28%"


@dataclass(frozen=True)
class Reading:
    """The part of the traces to replay, as options; with their format in `FormOrTraces`."""

    skip_bad: Annotated[
        int, typer.Option("--skip-bad", min=0, metavar="N", help="Skip up to N malformed lines and count them.")
    ] = 0
    volumes: Annotated[
        Sequence[str],
        typer.Option("--volume", metavar="NAME", help="A volume to replay, each on its own drive. Repeatable."),
    ] = ()
    each_volume: Annotated[bool, typer.Option("--each-volume", help="Replay each volume on its own drive.")] = False
    merge_volumes: Annotated[
        bool, typer.Option("--merge-volumes", help="Replay all volumes on one drive, at their recorded addresses.")
    ] = False
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="The columns of a text in no known format: time,op,sector,sectors; also time_ms, time_us, time_ns, "
            "offset, bytes, volume, write=1 (a column in which 1 is a write), and - for any other; op=write or "
            "bytes=4096 for what all requests share.",
        ),
    ] = None
    device: workload_options.Device = None

    def with_format(self, format_name: str | None) -> request.Reading:
        """The same with the format of the files; None: detected."""
        return request.Reading(format_name, **asdict(self))


@dataclass(frozen=True)
class Repeating(request.Repeating):
    """The number of times a trace is replayed, as options."""

    until: Annotated[
        Until, typer.Option(help="Replay to the end of the trace, or repeat it until SNIA's steady state.")
    ] = "trace"
    loop_until: Annotated[
        str | None,
        typer.Option(
            "--loop-until",
            metavar="AMOUNT",
            help="Repeat the trace until this much is written: 2x (the drive's size), or 100GB.",
        ),
    ] = None
    round_share: Annotated[
        str | None,
        typer.Option(
            "--round",
            metavar="SHARE",
            help="Share of the drive that a round of the steady state writes.  [default: 100%]",
        ),
    ] = None
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Repeat a trace (up to 2 million requests) in pieces in changing order."),
    ] = False


@dataclass(frozen=True)
class Start(request.Start):
    """The state of the drive before the trace, as options."""

    precondition: Annotated[
        Beginning,
        typer.Option(
            help="State of the drive at the start: none: fresh; fill: written once sequentially; steady: the steady "
            "state of the trace, found by repeating it without a clock.",
        ),
    ] = "fill"
    from_state: Annotated[
        str | None,
        typer.Option(
            "--from-state", metavar="FILE", help="Start from a drive state saved with `ssdlab run --save-state`."
        ),
    ] = None


@dataclass(frozen=True)
class Requests(request.Requests):
    """The addresses and times of requests, as options."""

    address_map: Annotated[
        Map,
        typer.Option(
            "--map",
            help="fold: modulo the drive's size; compact: in the order of first access, which needs memory per "
            "accessed unit; strict: unchanged, an error past the end.",
        ),
    ] = "fold"
    arrival: Annotated[
        Arrival, typer.Option(help="Requests arrive at the recorded times, or each when another completes.")
    ] = "trace"
    time_scale: Annotated[
        float, typer.Option("--time-scale", metavar="X", help="Factor for the recorded times: 0.5 is twice as fast.")
    ] = 1.0
    iodepth: Annotated[
        int | None,
        typer.Option(min=1, max=65536, metavar="N", help="Maximum outstanding requests.  [default: 256; closed: 32]"),
    ] = None
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="SIZE",
            help="With --scale 1/n: replay one region of this size in n, selected by hash and --seed. Use 4KiB for "
            "write amplification, a request's size for latencies.",
        ),
    ] = None


@dataclass(frozen=True)
class Profiling(FormOrTraces):
    """Options for describing a trace without a replay, and the format of what is printed."""

    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            help=f"Describe the trace without a drive, and its expected write amplification at --op, or {PROFILE_OP}.",
        ),
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Older form of --format json.", hidden=True)] = False


def replay(
    context: typer.Context,
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE...",
            help="Trace files, read one after the other; plain, gzip, bzip2 or zstd; - is standard input. Or a log of "
            "rates: iostat -x 1, sar -d, collectl, zpool iostat, nmon, /proc/diskstats, vmstat -d, pg_stat_io.",
            show_default=False,
        ),
    ],
    variants: comparing.Variants,
    reading: Reading,
    requests: Requests,
    repeating: Repeating,
    start: Start,
    form: Profiling,
    running: comparing.Running,
    output: Annotated[str | None, options.folder("out/replay-TRACE")] = None,
) -> None:
    """Replay a recorded block trace on simulated drives: a table, charts, report.html and all figures.

    Requests arrive at the recorded times; a request that arrives while the drive is busy waits, which counts as
    latency. With --arrival closed each request follows the completion of another. Standard input is first copied to a
    temporary file, because a trace is read once to validate it and once per drive.
    """
    from ssdlab.experiments.replays.replaying import replayed

    if form.as_json:
        if not form.profile:
            raise InputError("--json requires --profile; use --format json")
        notify(["--json is now --format json; it is accepted for one more release"])
        form = replace(form, asked="json", read_as=form.trace_format)
    chosen = reading.with_format(form.trace_format)
    if form.profile:
        if variants.drives:
            raise InputError("--profile needs no drive; leave out --drive")
        shares = _profile_shares(variants.op or PROFILE_OP)
        with opened(traces, chosen.format_name, chosen.skip_bad, chosen.columns, device=chosen.device) as recording:
            if recording.drawn_from:
                sentences = [f"{sentence}." for sentence in recording.drawn_from]
                shown = "\n".join(map(wrapped, sentences))
                form.give(Rows([{"finding": each} for each in sentences]), lambda: typer.echo(shown))
                return
            _print_profiles(recording, chosen, shares, form)
        return
    if not variants.drives:
        raise InputError("--drive is missing: name a drive to replay on (ssdlab drives lists them), or use --profile")
    directory = Path(output) if output else Path("out") / f"replay-{title_of(traces[0])}"
    check_folder(directory, "replay")
    replays = replayed(traces, variants, chosen, repeating, start, requests, running.chosen)
    comparing.report(replays, directory, command_line(context), form)


def _print_profiles(recording: "Recording", reading: request.Reading, shares: list[float], form: FormOrTraces) -> None:
    """Prints one profile of all volumes together, or one of each selected volume."""
    chosen: list[str | None] = [None]
    if reading.volumes or reading.each_volume:
        chosen = volumes_of(recording, reading.volumes, each=reading.each_volume)
    profiles = []
    for volume in chosen:
        profile = profile_of(recording, volume)
        profiles.append((volume, profile, expectations(profile, shares)))

    def print_all() -> None:
        console = Console()
        for volume, profile, theory in profiles:
            name = ", ".join(recording.names) + (f", volume {volume}" if volume is not None else "")
            print_profile(name, profile, theory, shares, console)

    form.give(Rows(plain(profiles, shares)), print_all)


def _profile_shares(text: str) -> list[float]:
    try:
        shares = parse_spare_areas(text)
    except InputError as error:
        raise InputError(f"--op: {error}") from None
    if not all(shares):
        raise InputError(
            f"--op is {text!r}; allowed with --profile: above 0%, because garbage collection needs spare area"
        )
    return shares
