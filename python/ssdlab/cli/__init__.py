"""The command line: the list of commands, and how a run ends (exit codes, messages).

What a command does is in its own file. This is loaded for every call, `--help` included, so the files of the commands
import what is heavy inside their functions.
"""

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ssdlab.cli.advise import advise
from ssdlab.cli.check import check
from ssdlab.cli.compare import compare
from ssdlab.cli.drives import drives
from ssdlab.cli.fit import fit
from ssdlab.cli.fleet import fleet
from ssdlab.cli.lifetime import lifetime
from ssdlab.cli.live import live
from ssdlab.cli.measure import measure
from ssdlab.cli.model import model
from ssdlab.cli.mount import mount
from ssdlab.cli.policies import policies
from ssdlab.cli.price import price
from ssdlab.cli.refresh import refresh
from ssdlab.cli.replay import replay
from ssdlab.cli.run import run
from ssdlab.cli.serve import serve
from ssdlab.cli.study import study
from ssdlab.cli.sweep import sweep
from ssdlab.errors import InputError, RunFailed

EXIT_FAILED = 1
EXIT_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

_TRACEBACK_VARIABLE = "SSDLAB_TRACEBACK"

_OVERVIEW = """A laboratory for solid-state drives: what do spare area, free space, TRIM and fragmentation do to a
drive under a workload?

\b
Examples:
  ssdlab compare jobs/randwrite.fio --drive generic-tlc-480 --op 7%,28% --scale 1/64
  ssdlab run jobs/randwrite.fio --drive generic-tlc-480 --op 7% --output-format json
  ssdlab study pny-over-provisioning
  ssdlab drives generic-tlc-480
  ssdlab policies greedy
  ssdlab model --op 7% --victim greedy --units-per-erase-unit 256

\b
Exit codes: 0 done, 1 the run failed, 2 the input was wrong, 130 interrupted.
"""

# Each command with its line in the overview and an example for its own help.
_COMMANDS: dict[Callable[..., None], tuple[str, str]] = {
    compare: (
        "One workload over spare areas, drives, policies.",
        "ssdlab compare jobs/randwrite.fio --drive generic-tlc-480 --scale 1/64 --set ftl.victim=greedy,fifo",
    ),
    run: (
        "A fio job on a simulated drive.",
        "ssdlab run jobs/randwrite.fio --drive generic-tlc-480 --scale 1/16 --output out/first/",
    ),
    replay: (
        "A recorded block trace on simulated drives.",
        "ssdlab replay trace.csv.gz --drive generic-tlc-480 --scale 1/64 --op 7%,28% --loop-until 2x",
    ),
    measure: (
        "A fio job on a real drive or file, with SMART.",
        "ssdlab measure jobs/mixed.fio --on . --size 1GiB --output out/measured/",
    ),
    study: ("The published experiments, repeated.", "ssdlab study pny-over-provisioning"),
    fleet: (
        "Many volumes: what they wear, how long they last.",
        "ssdlab fleet traces/ --drive generic-nvme-tlc-1000 --op 7%,28%",
    ),
    sweep: ("Many runs over a space of choices, kept and resumed.", "ssdlab sweep sweeps/spare-area.toml --jobs 2"),
    live: ("A drive at work, in the browser.", "ssdlab live --drive generic-tlc-480 --scale 1/64"),
    mount: (
        "A simulated drive as a file for real programs.",
        "ssdlab mount drive/ --drive generic-tlc-480 --op 7% --scale 1/256",
    ),
    serve: (
        "A simulated drive over NBD.",
        "ssdlab serve --drive generic-tlc-480 --op 7% --scale 1/256 --socket drive.sock",
    ),
    check: ("Is a file or drive internally fragmented, and are its trims in order?", "ssdlab check /var/lib/big.db"),
    refresh: ("A file or device rewritten in order, so that it reads fast again.", "ssdlab refresh big.db --dry-run"),
    fit: (
        "Drive values from measured points.",
        "ssdlab fit points.csv --drive textbook --free nand.program_us=100..2000 --scale 1/16",
    ),
    advise: (
        "How much of a drive should stay empty.",
        "ssdlab advise jobs/randwrite.fio --drive generic-tlc-480 --life 5y --writes-per-day 500GB",
    ),
    lifetime: (
        "How long a drive lasts.",
        "ssdlab lifetime jobs/randwrite.fio --drive generic-tlc-480 --writes-per-day 500GB",
    ),
    drives: ("The drive models, with sources.", "ssdlab drives generic-tlc-480 --op 28%"),
    price: (
        "What a usable gigabyte costs.",
        "ssdlab price --drive agility2-100gb --drive agility2-120gb",
    ),
    policies: ("The policies there are.", "ssdlab policies d-choices"),
    model: (
        "Write amplification in closed form.",
        "ssdlab model --op 7% --victim greedy --units-per-erase-unit 256",
    ),
}

app = typer.Typer(
    name="ssdlab",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class _Interrupted(Exception):
    """Ctrl-C, in a form that typer leaves alone. The message says what was written."""


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def call(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt as interrupt:
            raise _Interrupted(str(interrupt) or "nothing was written") from None

    return call


for _command, (_summary, _example) in _COMMANDS.items():
    app.command(short_help=_summary, help=f"{inspect.getdoc(_command)}\n\n\b\nExample:\n  {_example}")(
        _interruptible(_command)
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ssdlab {version('ssdlab')}")
        raise typer.Exit


@app.callback(help=_OVERVIEW)
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    """The program `ssdlab`. Ends the process with one of the exit codes; no traceback reaches a user."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        code = _say(str(error), EXIT_INPUT)
    except RunFailed as error:
        code = _say(str(error), EXIT_FAILED)
    except _Interrupted as interrupted:
        code = _say(f"interrupted: {interrupted}", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader has had enough (`| head`). Python would complain once more while closing the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_BROKEN_PIPE
    except Exception as error:
        code = _unforeseen(error)
    sys.exit(code or 0)


def _say(message: str, code: int) -> int:
    """One message on stderr, its first word in red on a terminal; gives back the exit code."""
    label = "error:"
    if sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        label = f"\x1b[1;31m{label}\x1b[0m"
    print(f"{label} {message}", file=sys.stderr)
    return code


def _unforeseen(error: Exception) -> int:
    """Usage errors of the command line carry their own form; the rest is said in a line."""
    usage_code = getattr(error, "exit_code", None)
    if usage_code is not None and hasattr(error, "format_message"):
        error.show()  # type: ignore[attr-defined]
        return int(usage_code)
    if os.environ.get(_TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    if isinstance(error, OSError):
        return _say(str(error), EXIT_FAILED)
    return _say(
        f"{type(error).__name__}: {error}\nThis is a fault of ssdlab. {_TRACEBACK_VARIABLE}=1 shows where it happened.",
        EXIT_FAILED,
    )
