"""`ssdlab fleet`: many volumes, each on its own drive or packed on shared drives."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import typer

from ssdlab.cli import options, workload_options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.fleet_smart import from_reports
from ssdlab.cli.fleet_table import print_rows
from ssdlab.cli.fleet_tenants import Tenants, from_tenants
from ssdlab.cli.form import FormOrTraces, Rows
from ssdlab.cli.groups import Parsed, given
from ssdlab.cli.sweep import carry_out_shown
from ssdlab.errors import InputError
from ssdlab.experiments.advice import limits
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.fleet.volumes import found
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.field.health.what_if import LEFT_EMPTY
from ssdlab.foundation.quantities import format_share, parse_scale, parse_spare_areas
from ssdlab.simulator.drives import load
from ssdlab.theory import endurance_class
from ssdlab.theory.field_inference import more

_HEAVIEST_PRINTED = 8


@dataclass(frozen=True)
class Reports:
    """SMART reports of drives in place of traces."""

    smart: Annotated[
        Sequence[str],
        typer.Option(
            metavar="PLACE", help="SMART reports of drives (as for ssdlab health) instead of traces. Repeatable."
        ),
    ] = ()
    left_empty: options.LeftEmptyOfFleet = None


@dataclass(frozen=True)
class Reading:
    """How the traces are read."""

    skip_bad: Annotated[
        int, typer.Option("--skip-bad", min=0, metavar="N", help="Skip up to N malformed lines of a trace.")
    ] = 0
    columns: workload_options.Columns = None


@dataclass(frozen=True)
class Runs:
    """The scale of the drives, and where the simulations run."""

    scale: Annotated[
        Fraction | None,
        typer.Option(
            "--scale",
            metavar="1/N",
            help="Scale of the miniatures, with a sample of each trace.  [default: chosen to fit]",
        ),
        Parsed(parse_scale),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, metavar="N", help="Number of processes.  [default: limited by memory]"),
    ] = None
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://scheduler:8786.")
    ] = None
    seed: options.Seed = 1

    def __post_init__(self) -> None:
        if self.cluster and self.jobs:
            raise InputError("--jobs counts processes of this machine; with --cluster the workers' own threads count")


@dataclass(frozen=True)
class Drives:
    """The drives on which the volumes are placed."""

    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file.")
    ] = None
    op: options.OpList = None
    pack: Annotated[
        Literal["each", "first-fit"],
        typer.Option(
            help="Each volume on its own drive; or in order on the first drive with enough address space.",
        ),
    ] = "each"
    drive_price: Annotated[
        float | None,
        typer.Option(metavar="N", help="Price of a drive.  [default: the drive file's price]"),
        options.PRICE,
    ] = None
    settings: options.Set = None


def fleet(
    context: typer.Context,
    traces: Annotated[
        Sequence[str],
        typer.Argument(
            metavar="[TRACES...|JOBS.fio...]",
            help="Trace files of one volume or many, folders of them, or Parquet data sets of requests. For a drive "
            "with [[namespace]]: fio job files of its tenants.",
            show_default=False,
        ),
    ] = (),
    *,
    drives: Drives,
    reports: Reports,
    reading: Reading,
    tenants: Tenants,
    life: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Count the drives with a shorter life; for tenants: the time for which drives are needed.",
        ),
    ] = "5y",
    runs: Runs,
    form: FormOrTraces,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/fleet-NAME]")
    ] = None,
) -> None:
    """Report the spread of write amplification, life and cost over many volumes, and the most important ones.

    Each trace is repeated until its drive is steady, as in `ssdlab advise`, without a clock. Drives that last between
    half and twice --life are run at a second scale; where the two disagree, the drive is undecided. Results are stored
    under the hash of their specification, so the same command resumes an interrupted run. On a cluster all workers need
    access to the traces and to --output.

    For a drive with [[namespace]], the drives that its tenants need within --life are compared: sharing a drive, with
    and without a placement handle each, and each on a drive of its share.

    With --smart, the write amplification and write rate of real drives give the effect of leaving a part of each
    unpartitioned, as a range.
    """
    from ssdlab.experiments.fleet import page
    from ssdlab.experiments.fleet.plan import plan, second_runs
    from ssdlab.experiments.fleet.summary import near, summarised
    from ssdlab.experiments.sweeps.execution import Sweep

    if reading.columns is not None and form.trace_format is not None:
        raise InputError("--columns and --trace-format exclude each other: each says how the traces are read")
    years = limits.life_limit(life).bound
    if reports.smart:
        if traces or drives.drive:
            raise InputError("--smart replaces TRACES and --drive; leave them out")
        folder = Path(output) if output else None
        if folder:
            check_folder(folder, "fleet")
        from_reports(reports.smart, reports.left_empty or LEFT_EMPTY, years, folder, form, command_line(context))
        return
    if not traces or not drives.drive:
        raise InputError("give TRACES and --drive, or --smart and the paths of reports")
    directory = Path(output) if output else Path("out") / f"fleet-{Path(traces[0]).stem}"
    check_folder(directory, "fleet")
    file = load(drives.drive)
    setting = Setting(file, drives.settings or {}, drives.drive)
    if file.namespaces:
        if given(reading) or form.trace_format or drives.op or reports.left_empty or drives.pack != "each":
            raise InputError(
                f"drive {drives.drive} has [[namespace]]: its tenants are compared, shared and split; allowed are fio "
                "job files, --writes-per-day, --drives, --life, --drive-price, --set, --scale, --seed, --jobs, "
                "--cluster and --output"
            )
        from_tenants(
            traces,
            setting,
            tenants,
            price=drives.drive_price or file.market.price_usd,
            years=years,
            scale=runs.scale,
            seed=runs.seed,
            jobs=runs.jobs,
            cluster=runs.cluster,
            directory=directory,
            line=command_line(context),
            form=form,
        )
        return
    if given(tenants):
        raise InputError(f"{' and '.join(given(tenants))}: for tenants; drive {drives.drive} has no [[namespace]]")
    jobs = next((path for path in traces if Path(path).suffix == ".fio"), None)
    if jobs is not None:
        raise InputError(f"{jobs}: a fio job file needs a drive with [[namespace]], and {drives.drive} has none")
    try:
        shares = list(parse_spare_areas(drives.op)) if drives.op else []
    except InputError as error:
        raise InputError(f"--op: {error}") from None
    own = setting.at(None, None).capacity.over_provisioning
    for share in reports.left_empty or ():
        shares.append(more(own, share))
        form.say(f"{format_share(share)} of {file.name} left empty: OP {format_share(shares[-1])}")
    volumes = found(traces, form.trace_format, reading.skip_bad, directory / "requests", columns=reading.columns)
    made = plan(volumes, setting, shares or [None], drives.pack, runs.scale, runs.seed)
    whole = Sweep([planned for _, _, planned in made.runs], Dataset(str(directory)))
    missing, total = len(whole.missing()), len(whole.all_keys())
    form.say(
        f"{len(volumes)} volumes on {len(made.drives)} drives: {total} runs, {total - missing} stored in {directory}, "
        f"{missing} to run"
    )
    whole.dataset.make()
    carry_out_shown(whole, missing, runs.jobs, runs.cluster)
    keys = whole.all_keys()
    kept = dict(zip(keys, whole.dataset.frame(keys).iter_rows(named=True), strict=True))
    price = drives.drive_price or file.market.price_usd
    again = second_runs(made, near(summarised(made, kept, setting, price), years), setting, runs.seed)
    if again:
        seconds = Sweep(list(again.values()), whole.dataset)
        missing = len(seconds.missing())
        form.say(f"{len(again)} runs near {years:g} years are repeated at a second scale, {missing} to run")
        carry_out_shown(seconds, missing, runs.jobs, runs.cluster)
        frame = whole.dataset.frame(keys := seconds.all_keys())
        kept |= dict(zip(keys, frame.iter_rows(named=True), strict=True))
    second = {key: planned.key for key, planned in again.items()}
    wholes = summarised(made, kept, setting, price, second)
    notices = [setting.standing, *_notices(made.runs, kept)]
    second_scale = page.second_note(wholes, years)
    if second_scale:
        notices.append(second_scale)
    enough = endurance_class.sentence_of_drives(wholes[0].drive_writes_per_day(_user_bytes(setting, shares)))
    notices += [enough] if enough else []

    def print_all() -> None:
        if second_scale:
            typer.echo(f"\n{second_scale}")
        typer.echo(f"\n{page.sentence(wholes, made, years)}\n{setting.standing}")
        if enough:
            typer.echo(enough)
        print_rows(page.spread_rows(wholes, years))
        for note in page.price_notes(wholes):
            typer.echo(note)
        print_rows(page.heaviest_rows(wholes[0], _HEAVIEST_PRINTED))
        for name, reason in made.left_out[:_HEAVIEST_PRINTED]:
            typer.echo(f"not run: {name}: {reason}")
        if len(made.left_out) > _HEAVIEST_PRINTED:
            typer.echo(f"not run: {len(made.left_out) - _HEAVIEST_PRINTED} more, in result.json")

    form.give(Rows([{**row.to_dict()} for whole in wholes for row in whole.rows]), print_all)
    names = page.write(
        wholes,
        made,
        directory,
        title=f"{len(volumes)} volumes on {file.name}",
        subtitle=_subtitle(drives.pack),
        notices=notices,
        years=years,
        line=command_line(context),
    )
    form.say()
    form.say(f"report: {directory / 'report.html'}\nfiles:  {len(names)} in {directory}")


def _user_bytes(setting: Setting, shares: Sequence[float]) -> int:
    """The capacity for the host at the first spare area."""
    return setting.at(shares[0] if shares else None, None).capacity.user_bytes


def _subtitle(pack: str) -> str:
    placed = "each on its own drive" if pack == "each" else "in order on the first drive with enough space"
    return f"{placed}; traces repeated in changing order until the drive is steady; drives are full and never trimmed"


def _notices(runs: "Sequence[tuple[object, float, object]]", kept: dict[str, dict[str, object]]) -> list[str]:
    scales = sorted({str(row["scale"]) for row in kept.values() if row["scale"] != "1"})
    notices = []
    if scales:
        notices.append(
            f"Runs of {', '.join(scales)} of the drive, with a sample of each trace of the same scale; write "
            "amplification of such "
            "samples was within 3 % of whole runs where an erase unit kept 2,048 units, within 6 % at 512 "
            "(docs/simulate/advice.md)."
        )
    unsteady = sum(row["steady_reached"] is False for row in kept.values())
    if unsteady:
        notices.append(
            f"{unsteady} of {len(kept)} runs did not reach SNIA's steady state; their figures are less reliable."
        )
    return notices
