"""`ssdlab fleet simulate`: many volumes, each on its own drive or packed on shared drives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ssdlab.cli import fleet, options, workload_options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.fleet import print_rows
from ssdlab.cli.form import FormOrTraces, Rows
from ssdlab.errors import InputError
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.fleet.volumes import found
from ssdlab.foundation.quantities import format_share, parse_spare_areas
from ssdlab.presentation.terminal import wrapped
from ssdlab.theory import endurance_class
from ssdlab.theory.field_inference import more

_HEAVIEST_PRINTED = 8


@dataclass(frozen=True)
class Reading:
    """How the traces are read."""

    skip_bad: Annotated[
        int, typer.Option("--skip-bad", min=0, metavar="N", help="Skip up to N malformed lines of a trace.")
    ] = 0
    columns: workload_options.Columns = None


@dataclass(frozen=True)
class Drives(fleet.Drive):
    """The drives on which the volumes are placed."""

    op: options.OpList = None
    left_empty: options.LeftEmptyOfFleet = None
    pack: Annotated[
        Literal["each", "first-fit"],
        typer.Option(
            help="Each volume on its own drive; or in order on the first drive with enough address space.",
        ),
    ] = "each"

    def spare_areas(self, setting: Setting, say: Callable[[str], None]) -> list[float]:
        """Those of --op, and those of --left-empty, which are told. Raises InputError for invalid ones."""
        try:
            shares = list(parse_spare_areas(self.op)) if self.op else []
        except InputError as error:
            raise InputError(f"--op: {error}") from None
        own = setting.at(None, None).capacity.over_provisioning
        for share in self.left_empty or ():
            shares.append(more(own, share))
            say(f"{format_share(share)} of {setting.file.name} left empty: OP {format_share(shares[-1])}")
        return shares


def fleet_simulate(
    context: typer.Context,
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACES...",
            help="Trace files of one volume or many, folders of them, or Parquet data sets of requests.",
            show_default=False,
        ),
    ],
    *,
    drives: Drives,
    reading: Reading,
    life: fleet.Years,
    runs: fleet.Runs,
    form: FormOrTraces,
    output: fleet.Output = None,
) -> None:
    """Report the spread of write amplification, life and cost over many volumes, and the most important ones.

    Each trace is repeated until its drive is steady, as in `ssdlab advise space`, without a clock. Drives that last
    between half and twice --life are run at a second scale; where the two disagree, the drive is undecided. Results are
    stored under the hash of their specification, so the same command resumes an interrupted run. On a cluster all
    workers need access to the traces and to --output.
    """
    from ssdlab.experiments.fleet import page
    from ssdlab.experiments.fleet.plan import plan, second_runs
    from ssdlab.experiments.fleet.summary import near, summarised

    if reading.columns is not None and form.trace_format is not None:
        raise InputError("--columns and --trace-format exclude each other: each says how the traces are read")
    directory = Path(output) if output else Path("out") / f"fleet-{Path(traces[0]).stem}"
    check_folder(directory, "fleet")
    setting = drives.setting
    file = setting.file
    if file.namespaces:
        raise InputError(
            f"drive {drives.drive} has [[namespace]], on which traces do not run; its tenants: ssdlab fleet tenants "
            "JOBS.fio"
        )
    shares = drives.spare_areas(setting, form.say)
    volumes = found(traces, form.trace_format, reading.skip_bad, directory / "requests", columns=reading.columns)
    made = plan(volumes, setting, shares or [None], drives.pack, runs.scale, runs.seed)
    planned = [each for _, _, each in made.runs]
    fleet = f"{page.counted(len(volumes), 'volume')} on {page.counted(len(made.drives), 'drive')}"
    kept = runs.stored(planned, directory, form, fleet)
    again = second_runs(made, near(summarised(made, kept, setting, drives.price), life), setting, runs.seed)
    if again:
        kept |= runs.stored(list(again.values()), directory, form, f"near {life:g} years again, at a second scale")
    second = {key: each.key for key, each in again.items()}
    wholes = summarised(made, kept, setting, drives.price, second)
    notices = [setting.standing, *_notices(kept)]
    second_scale = page.second_note(wholes, life)
    if second_scale:
        notices.append(second_scale)
    enough = endurance_class.sentence_of_drives(wholes[0].drive_writes_per_day(_user_bytes(setting, shares)))
    notices += [enough] if enough else []

    def print_all() -> None:
        if second_scale:
            typer.echo(f"\n{wrapped(second_scale)}")
        typer.echo(f"\n{wrapped(page.sentence(wholes, made, life))}\n{wrapped(setting.standing)}")
        if enough:
            typer.echo(wrapped(enough))
        print_rows(page.spread_rows(wholes, life))
        for note in page.price_notes(wholes):
            typer.echo(wrapped(note))
        print_rows(page.heaviest_rows(wholes[0], _HEAVIEST_PRINTED))
        for name, reason in made.left_out[:_HEAVIEST_PRINTED]:
            typer.echo(wrapped(f"not run: {name}: {reason}"))
        if len(made.left_out) > _HEAVIEST_PRINTED:
            typer.echo(f"not run: {len(made.left_out) - _HEAVIEST_PRINTED} more, in result.json")

    form.give(Rows([{**row.to_dict()} for whole in wholes for row in whole.rows]), print_all)
    names = page.write(
        wholes,
        made,
        directory,
        title=page.title(wholes, file.name, life),
        subtitle=f"{fleet} of the model {file.name}, {_subtitle(drives.pack)}",
        notices=notices,
        years=life,
        line=command_line(context),
    )
    form.say_files(directory, names)


def _user_bytes(setting: Setting, shares: Sequence[float]) -> int:
    """The capacity for the host at the first spare area."""
    return setting.at(shares[0] if shares else None, None).capacity.user_bytes


def _subtitle(pack: str) -> str:
    placed = "each on its own drive" if pack == "each" else "in order on the first drive with enough space"
    return f"{placed}; traces repeated in changing order until the drive is steady; drives are full and never trimmed"


def _notices(kept: Mapping[str, Mapping[str, Any]]) -> list[str]:
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
