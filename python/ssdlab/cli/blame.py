"""`ssdlab blame`: which program wears the drive, by which of its writes, and what would help."""

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrOutputFormat, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import described
from ssdlab.errors import InputError, notify
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.blame import blaming, calls, watching, words
from ssdlab.foundation.quantities import parse_terabytes
from ssdlab.hardware.safety.place import check_platform
from ssdlab.presentation.terminal import text_columns
from ssdlab.simulator.drives import load
from ssdlab.simulator.workloads.traces.recording import opened

if TYPE_CHECKING:
    from ssdlab.experiments.blame.blaming import Blamed, Drive
    from ssdlab.experiments.blame.watching import Tell, Watched

_MINUTES_OF_PROCESS = 1.0
_SECONDS_A_MINUTE = 60


@dataclass(frozen=True)
class Watching:
    """What to watch, as options."""

    command: Annotated[
        str | None,
        typer.Option("--command", metavar="COMMAND", help="A command to run and watch; or all that stands behind --."),
    ] = None
    pid: Annotated[int | None, typer.Option("--pid", min=1, metavar="N", help="A running process to watch.")] = None
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            min=0.01,
            metavar="M",
            help="How long to watch; without --pid and a command, all programs.  [default: --pid: 1]",
        ),
    ] = None
    counters_only: Annotated[
        bool, typer.Option("--counters-only", help="Run the command without strace, which slows its calls.")
    ] = False

    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="With --pid: record its calls with strace, which slows them; without a recording causes are guessed.",
        ),
    ] = False

    @property
    def seconds(self) -> float | None:
        return None if self.minutes is None else self.minutes * _SECONDS_A_MINUTE


@dataclass(frozen=True)
class OnDrive:
    """The drive, as options."""

    drive: Annotated[
        str | None,
        typer.Option("--drive", metavar="NAME|FILE", help="The drive.  [default: guessed from the disk of the files]"),
    ] = None
    settings: options.Set = None
    rated_tbw: Annotated[
        float | None,
        typer.Option("--rated-tbw", metavar="TB", help="The drive's rated TBW, such as 150TB."),
        Parsed(parse_terabytes),
    ] = None

    def of(self, watched: "Watched | None") -> "Drive":
        """The named drive, or one guessed from what was watched."""
        name, guess = (self.drive, None) if self.drive else watching.guessed_drive(watched.disk if watched else None)
        return blaming.Drive(Setting(load(name), self.settings or {}, name), self.rated_tbw, guess)


def blame(
    context: typer.Context,
    recordings: Annotated[
        Sequence[str],
        typer.Argument(
            metavar="[RECORDING]",
            help="What strace -f -ttt wrote of a program, or a block trace in a format that ssdlab replay reads.",
            show_default=False,
        ),
    ] = (),
    *,
    watch: Watching,
    on_drive: OnDrive,
    form: FormOrOutputFormat,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Folder for report.html and result.json.")
    ] = None,
    workers: options.Workers = None,
) -> None:
    """Say which program wears a drive, by which of its writes, and what would help.

    Watches a command (behind --), a process, or all programs, or reads a recording. Prints the bytes asked, to the
    drive and to the flash, drive writes a day, TB a year and years, the causes (small synced writes, rewriting whole
    files, journal) and the change that helps most, each by a run. A command is recorded with strace if that is
    installed, a process with --record; from counters alone causes are guessed. Without root, a user's own processes
    can be watched. Every figure says whether it was counted, simulated or guessed; Ctrl-C ends watching and reports
    what was seen.
    """
    given = [bool(recordings), watch.command is not None, watch.pid is not None]
    if sum(given) > 1:
        raise InputError("a recording, --pid and a command exclude each other; give one")
    if not any(given) and watch.minutes is None:
        raise InputError(
            "nothing to blame: give a recording, a command behind --, --pid N, or --minutes M to watch all programs"
        )
    if recordings and watch.minutes is not None:
        raise InputError(f"--minutes {watch.minutes:g} is for watching; {recordings[0]} is a recording")
    if watch.record and watch.pid is None:
        raise InputError("--record is for a process that runs; allowed: with --pid (a command is recorded anyway)")
    directory = Path(output) if output else None
    if directory is not None:
        check_folder(directory, "blame")
    if recordings:
        with described() as shown:
            found = _of_recording(recordings, on_drive.of(None), workers, shown)
    else:
        check_platform()
        found = _watched(watch, on_drive, workers)
    _report(found, form, directory, command_line(context))


def _report(found: "Blamed", form: FormOrOutputFormat, directory: Path | None, line: str) -> None:
    figures = [{"figure": name, **figure.to_dict()} for name, figure in found.figures.items()]
    form.give(Rows(figures, found.to_dict()), lambda: typer.echo(words.text(found, text_columns())))
    if directory is not None:
        from ssdlab.experiments.blame import page

        page.write(found, directory, line)
        form.say(f"report: {directory / 'report.html'}")
    if found.interrupted:
        raise KeyboardInterrupt(f"what was seen in {found.seconds:.0f} s is reported")


def _of_recording(recordings: Sequence[str], drive: "Drive", workers: int | None, tell: "Tell | None") -> "Blamed":
    path = Path(recordings[0])
    if recordings[0] != "-" and not path.exists():
        raise InputError(
            f"{path}: does not exist; allowed is a recording: what strace wrote, or a block trace. A command to watch "
            "stands behind --"
        )
    if len(recordings) == 1 and calls.are_calls(path):
        return blaming.of_calls(calls.read(path), drive, workers=workers, tell=tell)
    with opened(recordings, None, 0) as recording:
        if recording.drawn_from:
            raise InputError(
                f"{recordings[0]}: a log of rates has no requests; ssdlab lifetime {recordings[0]} answers for it"
            )
        return blaming.of_requests(recording, drive, workers=workers, tell=tell)


def _watched(watch: Watching, on_drive: OnDrive, workers: int | None) -> "Blamed":
    with ExitStack() as stack:
        # An unknown drive is said before anything is watched.
        drive = on_drive.of(None) if on_drive.drive else None
        with described() as tell:
            if watch.command is not None:
                program = shlex.split(watch.command)
                if not program:
                    raise InputError("--command is empty; allowed: a program with its arguments")
                recording = None if watch.counters_only else stack.enter_context(watching.room_for_recording())
                seen = watching.command(program, seconds_max=watch.seconds, recording=recording, tell=tell)
            elif watch.pid is not None:
                seconds = watch.seconds or _MINUTES_OF_PROCESS * _SECONDS_A_MINUTE
                recording = stack.enter_context(watching.room_for_recording()) if watch.record else None
                seen = watching.process(watch.pid, seconds, tell, recording)
            else:
                assert watch.seconds is not None, "checked before"
                seen = watching.everything(watch.seconds, tell)
        if seen.exit_code:
            notify([f"{seen.title}: ended with exit code {seen.exit_code}"])
        drive = drive or on_drive.of(seen)
        with described() as tell:
            if seen.recording is not None and seen.io.calls:
                recorded = calls.read(seen.recording, seen.title)
                return blaming.of_calls(recorded, drive, watched=seen, workers=workers, tell=tell)
            return blaming.of_counters(seen, drive, workers=workers, tell=tell)
