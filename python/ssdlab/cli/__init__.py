"""The command line: the overview, and how a run ends (exit codes, messages).

What a command does is in its own file, which `commands` loads when it is called. This file is loaded for every call,
`--help` included.
"""

import contextlib
import os
import sys
import traceback
import warnings
from importlib.metadata import version
from typing import Annotated

import typer

from ssdlab import extras
from ssdlab.cli.commands import Commands, Interrupted
from ssdlab.cli.ending import Ending
from ssdlab.errors import NO_ROOM, InputError, Note, RunFailed

EXIT_FAILED = 1
EXIT_INPUT = 2
EXIT_BROKEN_PIPE = 141

_TRACEBACK_VARIABLE = "SSDLAB_TRACEBACK"

_OVERVIEW = """A laboratory for solid-state drives: it measures how spare area, free space, TRIM and fragmentation
change a drive's speed, write amplification, life and cost under a workload.

\b
Examples:
  ssdlab compare jobs/randwrite.fio --drive generic-tlc-480 --op 7%,28% --scale 1/64
  ssdlab run jobs/randwrite.fio --drive generic-tlc-480 --op 7% --output-format json
  ssdlab study pny-over-provisioning
  ssdlab drives generic-tlc-480
  ssdlab policies greedy
  ssdlab model --op 7% --victim greedy --units-per-erase-unit 256

\b
Exit codes: 0 done, 1 the run failed, 2 the input was wrong, 130 interrupted, 129 and 143 ended by SIGHUP and SIGTERM.
"""

app = typer.Typer(
    name="ssdlab",
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
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
    warnings.showwarning = _say_note
    ending = Ending()
    ending.listen()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        code = _say(str(error), EXIT_INPUT)
    except RunFailed as error:
        code = _say(str(error), EXIT_FAILED)
    except Interrupted as interrupted:
        code = _say(f"{ending.in_words}: {interrupted}", ending.exit_code)
    except BrokenPipeError:
        # The reader has had enough (`| head`). Python would complain once more while closing the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_BROKEN_PIPE
    except Exception as error:
        missing = extras.in_words(error) if isinstance(error, ImportError) else None
        if ending.has_come:
            # An extension module whose loading is interrupted raises an ImportError of its own.
            code = _say(ending.in_words, ending.exit_code)
        else:
            code = _say(missing, EXIT_INPUT) if missing else _unforeseen(error)
    sys.exit(code or 0)


def _is_stdout_full() -> bool:
    """Tried with an end of line, as the error itself does not say. What could not be printed is given up, or Python
    would try again at its end, and complain."""
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _say_note(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Notes alone: what libraries warn their callers of is none of a user's business."""
    if issubclass(category, Note):
        print(f"note: {message}", file=sys.stderr)


def _say(message: str, code: int) -> int:
    """One message on stderr, its first word in red on a terminal; gives back the exit code."""
    label = "error:"
    if sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        label = f"\x1b[1;31m{label}\x1b[0m"
    # A terminal that was closed takes no message, and the exit code says the same.
    with contextlib.suppress(OSError):
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
    if isinstance(error, OSError) and error.errno in NO_ROOM and _is_stdout_full():
        return _say(f"standard output: {error.strerror}", EXIT_FAILED)
    if isinstance(error, OSError):
        return _say(str(error), EXIT_FAILED)
    return _say(
        f"{type(error).__name__}: {error}\nThis is a bug in ssdlab. {_TRACEBACK_VARIABLE}=1 shows where it happened.",
        EXIT_FAILED,
    )
