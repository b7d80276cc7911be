"""`ssdlab replay`: a recorded block trace on one simulated drive or several; `--profile` describes the trace alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.traces.recording import Arrival, Map, Recording
    from ssdlab.traces.variant import ReplayedVariant

MAPS = ("fold", "compact", "strict")
UNTIL = ("trace", "steady")
PRECONDITIONS = ("fill", "none", "steady")
ARRIVALS = ("trace", "closed")
_ARRIVAL_SAID = {"trace": "at their recorded times", "closed": "as fast as the drive"}
PROFILE_OP = "7%,14%,28%"


def replay(
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
        str | None, typer.Option("--format", metavar="F", help="The traces' format.  [default: recognised]")
    ] = None,
    skip_bad: Annotated[
        int, typer.Option("--skip-bad", min=0, metavar="N", help="Pass over up to N malformed lines, and count them.")
    ] = 0,
    volumes: Annotated[
        list[str] | None,
        typer.Option("--volume", metavar="NAME", help="The volume to replay, each on its own drive. Repeatable."),
    ] = None,
    each_volume: Annotated[bool, typer.Option("--each-volume", help="Every volume on its own drive.")] = False,
    merge_volumes: Annotated[
        bool, typer.Option("--merge-volumes", help="All volumes on one drive, at the same addresses.")
    ] = False,
    address_map: Annotated[
        str,
        typer.Option(
            "--map",
            metavar="fold|compact|strict",
            help="Addresses modulo the drive's size; packed in the order of first touch, which needs memory for every "
            "unit that is touched; or as they are, none past the end.",
        ),
    ] = "fold",
    loop_until: Annotated[
        str | None,
        typer.Option(
            "--loop-until", metavar="AMOUNT", help="Repeat the trace until 2x the drive, or 100GB, are written."
        ),
    ] = None,
    until: Annotated[
        str, typer.Option(metavar="trace|steady", help="To the trace's end, or repeated until SNIA's steady state.")
    ] = "trace",
    round_share: Annotated[
        str | None,
        typer.Option(
            "--round", metavar="SHARE", help="Of the drive, for a round of the steady state.  [default: 100%]"
        ),
    ] = None,
    precondition: Annotated[
        str,
        typer.Option(
            metavar="fill|none|steady",
            help="Write the whole drive in sequence first; start it fresh; or in the state that the trace settles in, "
            "found by repeating it without a clock.",
        ),
    ] = "fill",
    from_state: Annotated[
        str | None,
        typer.Option("--from-state", metavar="FILE", help="Begin with the drive as `ssdlab run --save-state` left it."),
    ] = None,
    arrival: Annotated[
        str,
        typer.Option(metavar="trace|closed", help="Requests come at the recorded times, or each when another is done."),
    ] = "trace",
    time_scale: Annotated[
        float, typer.Option("--time-scale", metavar="X", help="Multiply the recorded times: 0.5 is twice as fast.")
    ] = 1.0,
    iodepth: Annotated[
        int | None,
        typer.Option(min=1, max=65536, metavar="N", help="Most requests outstanding.  [default: 256; closed: 32]"),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="SIZE",
            help="With --scale 1/n: replay one region of such a size in n, chosen by hash and --seed. 4KiB for write "
            "amplification, a request's size for times.",
        ),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Repeat a trace of up to 2 million requests in pieces, in changing order."),
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help=f"Describe the trace, without a drive; --op as said, or {PROFILE_OP}.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --profile: print JSON for scripts.")] = False,
    dwpd: options.Dwpd = 1.0,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    workers: options.Workers = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where the files go.  [default: out/replay-TRACE]")
    ] = None,
) -> None:
    """Replay a recorded block trace on simulated drives: a table, pictures, report.html and all figures.

    Requests arrive at the recorded times, and one that finds the drive busy waits, which counts as its latency; with
    --arrival closed each follows when another is complete. What comes through standard input is put aside into a
    temporary file first, because a trace is read once to check it and once a drive.
    """
    from ssdlab.cli import comparing
    from ssdlab.errors import InputError
    from ssdlab.traces.recording import opened

    for option, value, allowed in (
        ("--map", address_map, MAPS),
        ("--until", until, UNTIL),
        ("--arrival", arrival, ARRIVALS),
        ("--precondition", precondition, PRECONDITIONS),
    ):
        options.check_word(option, value, allowed)
    options.check_dwpd(dwpd)
    _check_together(profile, drives or [], as_json, (bool(volumes), each_volume, merge_volumes))
    _check_ending(loop_until, until)
    _check_beginning(precondition, from_state)
    if shuffle and not loop_until and until != "steady":
        raise InputError("--shuffle is of a trace that is repeated: with --loop-until or --until steady")
    _check_times(arrival, time_scale, iodepth, untimed=untimed)

    if profile:
        shares = _profile_shares(op or PROFILE_OP)
        with opened(traces, format_name, skip_bad) as recording:
            _print_profiles(recording, volumes or [], each_volume, shares, as_json)
        return

    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from ssdlab.comparison.axes import plan
    from ssdlab.results.files import check_writable
    from ssdlab.targets.preconditioning import saved_state
    from ssdlab.traces.plan import Choices, notes, parse_amount, replays, volumes_of

    if output:
        check_writable(Path(output))
    choices = Choices(
        address_map=cast("Map", address_map),
        seed=seed,
        until_steady=until == "steady",
        round_share=_round_share(round_share, until),
        precondition="fill" if precondition == "fill" else "none",
        loop_until=parse_amount(loop_until) if loop_until else None,
        timed=not untimed,
        arrival=cast("Arrival", arrival),
        time_scale=time_scale,
        iodepth=iodepth,
        initial_state=saved_state(from_state) if from_state else None,
        sample_region_bytes=_region_bytes(sample, scale),
        shuffled=shuffle,
    )
    planned = plan(drives or [], op, settings or [], scale=options.scale_of(scale))
    with opened(traces, format_name, skip_bad) as recording, TemporaryDirectory(prefix="ssdlab-") as folder:
        if precondition == "steady":
            choices = replace(choices, steady_in=Path(folder))
        directory = Path(output) if output else Path("out") / f"replay-{recording.title}"
        check_writable(directory)
        wanted = [None] if merge_volumes else volumes_of(recording, volumes or [], each=each_volume)
        runs = replays(recording, wanted, planned, choices)
        said = notes(recording, wanted, planned, choices)
        options.print_notes(said)
        results = comparing.run_all([variant.label for variant, _ in runs], [each for _, each in runs], workers)

    from ssdlab.traces.variant import ReplayedVariant

    said_options: dict[str, comparing.Said] = {
        **{"--drive": drives, "--op": op, "--set": settings, "--scale": scale},
        **{"--format": format_name, "--skip-bad": str(skip_bad), "--volume": volumes},
        **{"--each-volume": each_volume, "--merge-volumes": merge_volumes, "--map": address_map},
        **{"--loop-until": loop_until, "--until": until, "--round": round_share},
        **({"--from-state": from_state} if from_state else {"--precondition": precondition}),
        **{"--arrival": None if untimed else arrival, "--time-scale": None if time_scale == 1 else f"{time_scale:g}"},
        **{"--iodepth": str(iodepth) if iodepth else None, "--untimed": untimed},
        **{"--sample": sample, "--shuffle": shuffle},
        **{"--dwpd": f"{dwpd:g}", "--seed": str(seed)},
    }
    variants = [ReplayedVariant(variant, result, dwpd) for (variant, _), result in zip(runs, results, strict=True)]
    comparing.report(
        variants,
        directory,
        title=f"{recording.title}: {len(variants)} replays compared" if len(variants) > 1 else recording.title,
        subtitle=_subtitle(drives or [], address_map, until, loop_until, "state" if from_state else precondition, seed)
        + ("" if untimed else f"; requests {_ARRIVAL_SAID[arrival]}"),
        command_line=comparing.command_line(["ssdlab", "replay", *traces], said_options),
        notes=said,
        facts=_facts(variants),
    )


def _facts(variants: "Sequence[ReplayedVariant]") -> list[str]:
    """What became of the requests; what holds for all variants is said once."""
    of_each = [variant.facts() for variant in variants]
    common = [fact for fact in of_each[0] if all(fact in facts for facts in of_each)]
    own = zip(variants, of_each, strict=True)
    return common + [f"{variant.label}: {fact}" for variant, facts in own for fact in facts if fact not in common]


def _print_profiles(
    recording: "Recording", volumes: list[str], each_volume: bool, shares: list[float], as_json: bool
) -> None:
    """One of all volumes together, or one of each that is asked for."""
    from rich.console import Console

    from ssdlab.traces.plan import volumes_of
    from ssdlab.traces.profile import profile_of
    from ssdlab.traces.profile_text import as_json as json_of
    from ssdlab.traces.profile_text import print_profile
    from ssdlab.traces.theory import expectations

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
    from ssdlab.errors import InputError
    from ssdlab.quantities import parse_shares

    try:
        shares = parse_shares(text)
    except InputError as error:
        raise InputError(f"--op: {error}") from None
    if not all(shares):
        raise InputError(f"--op is {text!r}; allowed with --profile: above 0%, as cleaning needs spare area")
    return shares


def _check_together(profile: bool, drives: list[str], as_json: bool, volume_options: tuple[bool, bool, bool]) -> None:
    from ssdlab.errors import InputError

    if not profile and not drives:
        raise InputError("--drive is missing: name a drive to replay on (ssdlab drives lists them), or say --profile")
    if profile and drives:
        raise InputError("--profile describes the trace alone; leave --drive out")
    if as_json and not profile:
        raise InputError("--json goes with --profile; a replay writes result.json")
    if sum(volume_options) > 1:
        raise InputError("--volume, --each-volume and --merge-volumes exclude each other")


def _region_bytes(sample: str | None, scale: str | None) -> int | None:
    from ssdlab.errors import InputError
    from ssdlab.quantities import parse_bytes

    if sample is None:
        return None
    if not scale:
        raise InputError("--sample goes with --scale, such as 1/96: the drive is as much smaller as the sample")
    try:
        region_bytes = parse_bytes(sample)
    except InputError as error:
        raise InputError(f"--sample: {error}") from None
    if region_bytes % 4096 or not 0 < region_bytes < 2**32:
        raise InputError(f"--sample is {sample!r}; allowed: a multiple of 4KiB, below 4 GiB")
    return region_bytes


def _check_ending(loop_until: str | None, until: str) -> None:
    from ssdlab.errors import InputError

    if loop_until and until == "steady":
        raise InputError("--loop-until and --until steady exclude each other: each says when the repeating ends")


def _round_share(text: str | None, until: str) -> float | None:
    from ssdlab.errors import InputError
    from ssdlab.quantities import parse_share

    if text is None:
        return None
    if until != "steady":
        raise InputError("--round is of the steady state: with --until steady")
    try:
        share = parse_share(text)
    except InputError as error:
        raise InputError(f"--round: {error}") from None
    if not 0 < share <= 1:
        raise InputError(f"--round is {text!r}; allowed: above 0%, at most 100%")
    return share


def _check_beginning(precondition: str, from_state: str | None) -> None:
    from ssdlab.errors import InputError

    if from_state and precondition != "fill":
        raise InputError("--from-state and --precondition both say what the drive is like at first; give one of them")


def _check_times(arrival: str, time_scale: float, iodepth: int | None, *, untimed: bool) -> None:
    from ssdlab.errors import InputError

    if not 0 < time_scale <= 1e6:
        raise InputError(f"--time-scale is {time_scale:g}; allowed: a number above 0, at most 10^6")
    if untimed and (time_scale != 1 or iodepth):
        raise InputError("--untimed has no clock; leave --time-scale and --iodepth out")
    if arrival == "closed" and time_scale != 1:
        raise InputError("--time-scale changes the recorded times, which --arrival closed does not use")


def _subtitle(
    drives: list[str], address_map: str, until: str, loop_until: str | None, precondition: str, seed: int
) -> str:
    start = {
        "fill": "filled in sequence first",
        "none": "from a fresh drive",
        "steady": "from the state that the trace settles in",
        "state": "from a saved state",
    }[precondition]
    end = "repeated until the steady state by SNIA's rule" if until == "steady" else "once through"
    end = f"repeated until {loop_until} is written" if loop_until else end
    names = ", ".join(Path(drive).stem for drive in drives)
    return f"{names}; {start}, the trace {end}; addresses: {address_map}; seed {seed}"
