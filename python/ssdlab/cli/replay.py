"""`ssdlab replay`: a recorded block trace on one simulated drive or several; `--profile` describes the trace alone."""

import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.comparison.axes import Planned
    from ssdlab.results import Result
    from ssdlab.traces.recording import Map, Recording
    from ssdlab.traces.specification import TraceSpecification
    from ssdlab.traces.variant import ReplayedVariant

MAPS = ("fold", "compact", "strict")
UNTIL = ("trace", "steady")
PRECONDITIONS = ("fill", "none")
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
    op: Annotated[
        str | None,
        typer.Option("--op", metavar="LIST", help="Spare areas, such as 7%,28%.  [default: each drive's own]"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=LIST", help="A key of the drive file; several values with commas vary it. Repeatable."
        ),
    ] = None,
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
    precondition: Annotated[
        str, typer.Option(metavar="fill|none", help="Write the whole drive in sequence first, or start it fresh.")
    ] = "fill",
    profile: Annotated[
        bool, typer.Option("--profile", help=f"Describe the trace, without a drive; --op as said, or {PROFILE_OP}.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --profile: print JSON for scripts.")] = False,
    dwpd: Annotated[float, typer.Option(metavar="N", help="Drive writes a day, for the years of life.")] = 1.0,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    workers: options.Workers = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where the files go.  [default: out/replay-TRACE]")
    ] = None,
) -> None:
    """Replay a recorded block trace on simulated drives: a table, pictures, report.html and all figures.

    Requests follow each other at once; arrival times wait for a clock. What comes through standard input is put aside
    into a temporary file first, because a trace is read once to check it and once a drive.
    """
    from ssdlab.errors import RunFailed
    from ssdlab.traces.recording import opened

    for option, value, allowed in (
        ("--map", address_map, MAPS),
        ("--until", until, UNTIL),
        ("--precondition", precondition, PRECONDITIONS),
    ):
        _check(option, value, allowed)
    _check_together(profile, drives or [], as_json, (bool(volumes), each_volume, merge_volumes))
    _check_ending(loop_until, until, dwpd)

    if profile:
        shares = _profile_shares(op or PROFILE_OP)
        with opened(traces, format_name, skip_bad) as recording:
            _print_profiles(recording, volumes or [], each_volume, shares, as_json)
        return

    from ssdlab.comparison.axes import plan
    from ssdlab.results.files import check_writable
    from ssdlab.traces.plan import Choices, notes, parse_amount, replays, volumes_of

    if output:
        check_writable(Path(output))
    choices = Choices(
        address_map=cast("Map", address_map),
        seed=seed,
        until_steady=until == "steady",
        precondition="fill" if precondition == "fill" else "none",
        loop_until=parse_amount(loop_until) if loop_until else None,
    )
    planned = plan(drives or [], op, settings or [], scale=options.scale_of(scale))
    with opened(traces, format_name, skip_bad) as recording:
        directory = Path(output) if output else Path("out") / f"replay-{recording.title}"
        check_writable(directory)
        wanted = [None] if merge_volumes else volumes_of(recording, volumes or [], each=each_volume)
        runs = replays(recording, wanted, planned, choices)
        said = notes(recording, wanted, planned, choices)
        options.print_notes(said)
        results = _run(runs, workers)

    from rich.console import Console

    from ssdlab.comparison import output as files
    from ssdlab.comparison.table import print_table
    from ssdlab.traces.variant import ReplayedVariant

    said_options: dict[str, str | list[str] | bool | None] = {
        **{"--drive": drives, "--op": op, "--set": settings, "--scale": scale},
        **{"--format": format_name, "--skip-bad": str(skip_bad), "--volume": volumes},
        **{"--each-volume": each_volume, "--merge-volumes": merge_volumes, "--map": address_map},
        **{"--loop-until": loop_until, "--until": until, "--precondition": precondition},
        **{"--dwpd": f"{dwpd:g}", "--seed": str(seed)},
    }
    variants = [ReplayedVariant(variant, result, dwpd) for (variant, _), result in zip(runs, results, strict=True)]
    facts = _facts(variants)
    print_table(variants, Console())
    for fact in facts:
        typer.echo(f"{fact}.")
    names = files.write(
        variants,
        directory,
        title=f"{recording.title}: {len(variants)} replays compared" if len(variants) > 1 else recording.title,
        subtitle=_subtitle(drives or [], address_map, until, loop_until, precondition, seed),
        command_line=_command_line(traces, said_options),
        notes=[*said, *facts],
    )
    typer.echo(f"\nreport: {directory / names[-1]}\nfiles:  {len(names)} in {directory}")
    failures = [f"{variant.label}: {variant.result.failure}" for variant in variants if variant.result.failure]
    if failures:
        raise RunFailed("; ".join(failures))


def _run(runs: "Sequence[tuple[Planned, TraceSpecification]]", workers: int | None) -> "list[Result]":
    """The results in the order of the runs."""
    from ssdlab.cli.progress import shown
    from ssdlab.runs import run_many

    results = {}
    with (
        shown([variant.label for variant, _ in runs]) as tell,
        closing(run_many([specification for _, specification in runs], workers, tell)) as finished,
    ):
        for index, result in finished:
            results[index] = result
            if tell:
                tell(index, 1.0, result.ledger.host_written_bytes)
    return [results[index] for index in range(len(runs))]


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


def _check(option: str, value: str, allowed: tuple[str, ...]) -> None:
    from ssdlab.errors import InputError, near

    if value not in allowed:
        raise InputError(f"{option} is {value!r}{near(value, allowed)}; allowed: {', '.join(allowed)}")


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


def _check_ending(loop_until: str | None, until: str, dwpd: float) -> None:
    import math

    from ssdlab.errors import InputError

    if loop_until and until == "steady":
        raise InputError("--loop-until and --until steady exclude each other: each says when the repeating ends")
    if not (dwpd > 0 and math.isfinite(dwpd)):
        raise InputError(f"--dwpd is {dwpd:g}; allowed: a number above 0")


def _subtitle(
    drives: list[str], address_map: str, until: str, loop_until: str | None, precondition: str, seed: int
) -> str:
    start = "filled in sequence first" if precondition == "fill" else "from a fresh drive"
    end = "repeated until the steady state by SNIA's rule" if until == "steady" else "once through"
    end = f"repeated until {loop_until} is written" if loop_until else end
    names = ", ".join(Path(drive).stem for drive in drives)
    return f"{names}; {start}, the trace {end}; addresses: {address_map}; seed {seed}"


def _command_line(traces: list[str], said: "dict[str, str | list[str] | bool | None]") -> str:
    """What makes the same files again, wherever they go and however many processes there are."""
    words = ["ssdlab", "replay", *traces]
    for option, value in said.items():
        if isinstance(value, bool):
            words += [option] if value else []
        elif isinstance(value, list):
            words += [word for entry in value for word in (option, entry)]
        elif value:
            words += [option, value]
    return shlex.join(words)
