"""`ssdlab replay`: a recorded block trace on one simulated drive or several; `--profile` describes the trace alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console

from ssdlab.cli import comparing, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError
from ssdlab.quantities import parse_spare_areas
from ssdlab.replays.plan import volumes_of
from ssdlab.workloads.traces.profile import profile_of
from ssdlab.workloads.traces.recording import opened, title_of

if TYPE_CHECKING:
    from ssdlab.replays.replaying import Until
    from ssdlab.workloads.specifying import Beginning
    from ssdlab.workloads.traces.recording import Arrival, Map, Recording

PROFILE_OP = "7%,14%,28%"


def replay(
    context: typer.Context,
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE...",
            help="Trace files, read one after the other; plain, gzip, bzip2 or zstd; - is standard input.",
            show_default=False,
        ),
    ],
    drives: Annotated[
        list[str] | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file. Repeatable."),
    ] = None,
    op: options.OpList = None,
    settings: options.SetLists = None,
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="F", help="Format of the traces.  [default: detected]")
    ] = None,
    skip_bad: Annotated[
        int, typer.Option("--skip-bad", min=0, metavar="N", help="Skip up to N malformed lines and count them.")
    ] = 0,
    volumes: Annotated[
        list[str] | None,
        typer.Option("--volume", metavar="NAME", help="A volume to replay, each on its own drive. Repeatable."),
    ] = None,
    each_volume: Annotated[bool, typer.Option("--each-volume", help="Replay each volume on its own drive.")] = False,
    merge_volumes: Annotated[
        bool, typer.Option("--merge-volumes", help="Replay all volumes on one drive, at their recorded addresses.")
    ] = False,
    address_map: Annotated[
        str,
        typer.Option(
            "--map",
            metavar="fold|compact|strict",
            help="fold: modulo the drive's size; compact: in the order of first access, which needs memory per "
            "accessed unit; strict: unchanged, an error past the end.",
        ),
    ] = "fold",
    loop_until: Annotated[
        str | None,
        typer.Option(
            "--loop-until",
            metavar="AMOUNT",
            help="Repeat the trace until this much is written: 2x (the drive's size), or 100GB.",
        ),
    ] = None,
    until: Annotated[
        str,
        typer.Option(
            metavar="trace|steady", help="Replay to the end of the trace, or repeat it until SNIA's steady state."
        ),
    ] = "trace",
    round_share: Annotated[
        str | None,
        typer.Option(
            "--round",
            metavar="SHARE",
            help="Share of the drive that a round of the steady state writes.  [default: 100%]",
        ),
    ] = None,
    precondition: Annotated[
        str,
        typer.Option(
            metavar="|".join(options.PRECONDITIONS),
            help="State of the drive at the start: none: fresh; fill: written once sequentially; steady: the steady "
            "state of the trace, found by repeating it without a clock.",
        ),
    ] = "fill",
    from_state: Annotated[
        str | None,
        typer.Option(
            "--from-state", metavar="FILE", help="Start from a drive state saved with `ssdlab run --save-state`."
        ),
    ] = None,
    arrival: Annotated[
        str,
        typer.Option(
            metavar="trace|closed", help="Requests arrive at the recorded times, or each when another completes."
        ),
    ] = "trace",
    time_scale: Annotated[
        float, typer.Option("--time-scale", metavar="X", help="Factor for the recorded times: 0.5 is twice as fast.")
    ] = 1.0,
    iodepth: Annotated[
        int | None,
        typer.Option(min=1, max=65536, metavar="N", help="Maximum outstanding requests.  [default: 256; closed: 32]"),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="SIZE",
            help="With --scale 1/n: replay one region of this size in n, selected by hash and --seed. Use 4KiB for "
            "write amplification, a request's size for latencies.",
        ),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Repeat a trace (up to 2 million requests) in pieces in changing order."),
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help=f"Describe the trace without a drive; --op, or {PROFILE_OP}.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --profile: print JSON for scripts.")] = False,
    dwpd: options.Dwpd = 1.0,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    workers: options.Workers = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/replay-TRACE]")
    ] = None,
) -> None:
    """Replay a recorded block trace on simulated drives: a table, charts, report.html and all figures.

    Requests arrive at the recorded times; a request that arrives while the drive is busy waits, which counts as
    latency. With --arrival closed each request follows the completion of another. Standard input is first copied to a
    temporary file, because a trace is read once to validate it and once per drive.
    """
    from ssdlab.replays.replaying import replay as replayed

    _check_together(profile, drives or [], as_json, (bool(volumes), each_volume, merge_volumes))
    if profile:
        shares = _profile_shares(op or PROFILE_OP)
        with opened(traces, format_name, skip_bad) as recording:
            _print_profiles(recording, volumes or [], each_volume, shares, as_json)
        return
    directory = Path(output) if output else Path("out") / f"replay-{title_of(traces[0])}"
    check_folder(directory, "replay")
    replays = replayed(
        traces,
        drives or [],
        op=op,
        settings=options.settings_of(settings),
        format_name=format_name,
        skip_bad=skip_bad,
        volumes=volumes or [],
        each_volume=each_volume,
        merge_volumes=merge_volumes,
        address_map=cast("Map", address_map),
        loop_until=loop_until,
        until=cast("Until", until),
        round_share=round_share,
        precondition=cast("Beginning", precondition),
        from_state=from_state,
        arrival=cast("Arrival", arrival),
        time_scale=time_scale,
        iodepth=iodepth,
        sample=sample,
        shuffle=shuffle,
        dwpd=dwpd,
        scale=options.scale_of(scale),
        seed=seed,
        timed=not untimed,
        workers=workers,
        show_progress=shown,
    )
    comparing.report(replays, directory, command_line(context))


def _print_profiles(
    recording: "Recording", volumes: list[str], each_volume: bool, shares: list[float], as_json: bool
) -> None:
    """One of all volumes together, or one of each that is asked for."""
    from ssdlab.replays.profile_text import as_json as json_of
    from ssdlab.replays.profile_text import print_profile
    from ssdlab.replays.theory import expectations

    chosen = volumes_of(recording, volumes, each=each_volume) if volumes or each_volume else [None]
    profiles = []
    for volume in chosen:
        profile = profile_of(recording, volume)
        profiles.append((volume, profile, expectations(profile, shares)))
    if as_json:
        typer.echo(json_of(profiles, shares))
        return
    console = Console(highlight=False, markup=False)
    for volume, profile, theory in profiles:
        name = ", ".join(recording.names) + (f", volume {volume}" if volume is not None else "")
        print_profile(name, profile, theory, shares, console)


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


def _check_together(profile: bool, drives: list[str], as_json: bool, volume_options: tuple[bool, bool, bool]) -> None:
    if not profile and not drives:
        raise InputError("--drive is missing: name a drive to replay on (ssdlab drives lists them), or use --profile")
    if profile and drives:
        raise InputError("--profile needs no drive; leave out --drive")
    if as_json and not profile:
        raise InputError("--json requires --profile; a replay writes result.json")
    if sum(volume_options) > 1:
        raise InputError("--volume, --each-volume and --merge-volumes exclude each other")
