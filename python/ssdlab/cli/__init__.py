"""The command line: the overview, the exit codes and the messages at the end of a call.

Each command is in a file of its own, which `commands` imports when the command is called. This file is imported for
every call, `--help` included.

Promise: a wrong input ends with exit code 2 and a message that names it, a failed run with 1, never with a traceback.
Users get `ssdlab`.

Imports from: foundation, evidence, presentation, simulator, theory, hardware, serving, field, experiments, live.
"""

import contextlib
import gc
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import slips
from ssdlab.cli.commands import Commands, Interrupted
from ssdlab.cli.ending import Ending
from ssdlab.errors import NO_ROOM, InputError, Note, RunFailed
from ssdlab.foundation import extras
from ssdlab.presentation.terminal import for_reader, guard, raw

EXIT_FAILED = 1
EXIT_INPUT = 2
EXIT_BROKEN_PIPE = 141

# The calls of the last ones are not read, but answered with a call of fio.
_CALLED = ("fio", "sudo", "sysbench", "dd", "diskspd", "ioping", "bonnie++", "iozone", "elbencho", "vdbench")
_TRACEBACK_VARIABLE = "SSDLAB_TRACEBACK"
_UNDECODED = re.compile(r'[^\s"]*[\udc80-\udcff][^\s"]*')
"""A name with the characters by which Python represents bytes that are not UTF-8."""

_OVERVIEW = """A laboratory for solid-state drives: it measures how spare area, free space, TRIM and fragmentation
change a drive's speed, write amplification, life and cost under a workload.

\b
Examples:
  ssdlab compare jobs/randwrite.fio --drive generic-tlc-480 --op 7%,28% --scale 1/64
  ssdlab run jobs/randwrite.fio --drive generic-tlc-480 --op 7% --format json
  ssdlab study pny-over-provisioning
  ssdlab drives generic-tlc-480
  ssdlab policies greedy
  ssdlab model --op 7% --victim greedy --units-per-erase-unit 256

`ssdlab questions` lists questions such as "How long will it last?" with the command that answers each.

\b
--output names a file or folder; one that is called none or - is written ./none or ./-.

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
        # It takes longer to import than `--help` may take, and so do the results.
        from importlib.metadata import version

        # It loads all of the results.
        from ssdlab.simulator.results.fio_schema import FIO_VERSION

        typer.echo(f"ssdlab {version('ssdlab')}, results in the JSON schema of {FIO_VERSION}")
        raise typer.Exit


@app.callback(help=_OVERVIEW)
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version, and that of the schema of results.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the program `ssdlab` and ends the process with an exit code, without a traceback."""
    _open_closed()
    guard()
    warnings.showwarning = note_sayer()
    ending = Ending()
    ending.listen()
    try:
        # With `color`, click leaves escape sequences to the guard, which shows them, instead of removing them.
        code = app(_arguments(slips.in_place_of_words(sys.argv[1:])), standalone_mode=False, color=True)
        sys.stdout.flush()
    except InputError as error:
        code = _say(str(error), EXIT_INPUT)
    except RunFailed as error:
        code = _say(str(error), EXIT_FAILED)
    except Interrupted as interrupted:
        code = _say(f"{ending.in_words}: {interrupted}", ending.exit_code)
    except BrokenPipeError:
        # The reader closed the pipe (`| head`). Without the redirection Python reports the error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_BROKEN_PIPE
    except Exception as error:
        missing = extras.in_words(error) if isinstance(error, ImportError) else None
        if ending.has_come:
            # An extension module raises an ImportError if a signal interrupts its import.
            code = _say(ending.in_words, ending.exit_code)
        else:
            code = _say(missing, EXIT_INPUT) if missing else _unforeseen(error)
    # At its end Python looks for cycles among all objects that are not frozen.
    gc.freeze()
    sys.exit(code or 0)


def _arguments(given: list[str]) -> list[str]:
    """The arguments, with a command line of fio or sysbench behind `--` as one, the workload; for `blame`, of any."""
    at = given.index("--") if "--" in given else len(given)
    called = given[at + 1 :]
    if given[:1] == ["blame"] and called:
        return [*given[:at], "--command", shlex.join(called)]
    begins = bool(called) and Path(called[0]).name.removesuffix(".exe") in _CALLED
    # Behind numactl, ionice and the like.
    if len(called) > 1 and (begins or any(Path(a).name == "fio" and b[0] == "-" for a, b in pairwise(called) if b)):
        return [*given[:at], shlex.join(called)]
    return given


def _open_closed() -> None:
    """Opens the null device for a closed stdout or stderr (`>&-`), where Python has None and the next file that is
    opened would have the descriptor."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _is_stdout_full() -> bool:
    """Writes a newline to stdout and returns True if that fails. Stdout is then redirected to the null device, because
    Python would flush it again at exit and report a second error."""
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def note_sayer() -> Callable[..., None]:
    """Prints warnings of the class Note to stderr, each once although several runs of one command may issue it, and
    drops all others: warnings of libraries are for developers."""
    said = set()

    def say(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, Note) and str(message) not in said:
            said.add(str(message))
            print(for_reader(f"note: {message}"), file=sys.stderr)

    return say


def _say(message: str, code: int) -> int:
    """Prints an error message to stderr, with a red label on a terminal, and returns the exit code."""
    label = "error:"
    first, *others = f"{label} {message}".splitlines()
    message = "\n".join([for_reader(first).removeprefix(f"{label} "), *others])
    if sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        label = f"\x1b[1;31m{label}\x1b[0m"
    # Writing to a closed terminal fails; the exit code still reports the error.
    with contextlib.suppress(OSError):
        print(label, end=" ", file=raw(sys.stderr))
        print(message, file=sys.stderr)
    return code


def _unforeseen(error: Exception) -> int:
    """Reports an exception that `main` does not handle and returns the exit code. Usage errors print themselves."""
    usage_code = getattr(error, "exit_code", None)
    if usage_code is not None and hasattr(error, "format_message"):
        error.show()  # type: ignore[attr-defined]
        if hint := slips.hint(error, _arguments(sys.argv[1:])):
            print(hint, file=sys.stderr)
        return int(usage_code)
    if isinstance(error, UnicodeEncodeError) and (name := _UNDECODED.search(error.object)):
        return _say(f"{name[0]!r} is not UTF-8; allowed: names in UTF-8", EXIT_INPUT)
    if os.environ.get(_TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    if isinstance(error, OSError) and error.errno in NO_ROOM and _is_stdout_full():
        return _say(f"standard output: {error.strerror}", EXIT_FAILED)
    if isinstance(error, OSError):
        named = error.strerror and error.filename is not None
        return _say(f"{error.filename}: {error.strerror}" if named else str(error), EXIT_FAILED)
    return _say(
        f"{type(error).__name__}: {error}\nThis is a bug in ssdlab. {_TRACEBACK_VARIABLE}=1 shows where it happened.",
        EXIT_FAILED,
    )
