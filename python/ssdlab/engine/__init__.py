"""The one place that calls the native module: text in, text out, errors in the words of the user.

Worker processes import this and little else, so it stays free of everything heavy.
"""

import errno
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ssdlab.engine import memory
from ssdlab.errors import InputError, RunFailed

if TYPE_CHECKING:
    from ssdlab._engine import Device, HeldTrace, LiveDrive

Progress = Callable[[float, int], None]
"""Called at most ten times a second with the share that is done, 0 to 1, and the host bytes written so far."""

_SECONDS_BETWEEN_PROGRESS = 0.1
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def native() -> ModuleType:
    """The native module. Raises RunFailed where it is not built."""
    try:
        from ssdlab import _engine
    except ImportError as error:
        raise RunFailed(
            f"the native module ssdlab._engine cannot be loaded ({error}); build it with `make build`"
        ) from None
    return _engine


@dataclass(frozen=True)
class Work:
    """A run as given to the native module; plain values, for it travels to worker processes."""

    specification_json: str
    scale: str = "1"
    """That of the drive, which says only what scale to try instead."""
    trace_json: str | None = None
    from_state: tuple[str, int] | None = None
    """A file, and how many times larger the drive's erase units are than those of the drive that was saved."""
    save_state: str | None = None
    held: "HeldTrace | None" = None
    """The trace's requests in memory; None in another process, where the files are read."""


def simulate(work: Work, on_progress: Progress | None = None) -> tuple[str, float]:
    """Runs a specification, and after its jobs the trace, if there is one; from a saved state, or to one.

    Gives the outcome as JSON and the seconds that it took. Raises InputError when the drive, the jobs or the trace
    cannot be run or do not fit into memory, RunFailed when the engine broke. What `on_progress` raises ends the run and
    passes through, so that Ctrl-C works.
    """
    memory.check([needed(work.specification_json, work.scale)])
    engine = native()
    tell = on_progress and _seldom(on_progress)
    started = time.perf_counter()
    with in_words_of_the_user(engine):
        outcome: str = (
            engine.run(work.specification_json, tell, work.from_state, work.save_state)
            if work.trace_json is None
            else engine.replay(
                work.specification_json, work.trace_json, tell, work.from_state, work.save_state, work.held
            )
        )
    return outcome, time.perf_counter() - started


def needed(specification_json: str, scale: str) -> memory.Needed:
    """The memory that a run takes. Raises InputError when it cannot be run."""
    engine = native()
    with in_words_of_the_user(engine):
        text = engine.memory(specification_json)
    return memory.needed(text, json.loads(specification_json)["drive"], scale)


def survey(trace_json: str) -> str:
    """The volumes of a trace with their requests, as JSON. Raises InputError when it cannot be read."""
    engine = native()
    with in_words_of_the_user(engine):
        text: str = engine.survey(trace_json)
    return text


def profile(trace_json: str, *, hold: bool = False, region_bytes: int = 4096) -> "tuple[str, HeldTrace | None]":
    """What the requests of a trace are like, as JSON, and if so asked the requests, unless they are too many.

    Its hottest regions are of that size, in whole units of 4096 bytes. Raises InputError when it cannot be read.
    """
    engine = native()
    with in_words_of_the_user(engine):
        found: tuple[str, HeldTrace | None] = engine.profile(trace_json, hold, region_bytes)
    return found


def trace_formats() -> str:
    """The formats of traces as a JSON list of name, aliases and description."""
    text: str = native().trace_formats()
    return text


def open_device(drive_json: str, options_json: str, scale: str = "1", store: Path | None = None) -> "Device":
    """A drive that keeps what is written to it, in the file `store` if `options_json` names one.

    Raises InputError when it cannot be, its tables do not fit into memory, or the file holds something else; RunFailed
    when the file finds no room.
    """
    engine = native()
    with in_words_of_the_user(engine):
        text = engine.Device.memory(drive_json, options_json)
        memory.check([memory.needed(text, json.loads(drive_json), scale)])
        try:
            device: Device = engine.Device(drive_json, options_json)
        except OSError as error:
            kind = RunFailed if error.errno in _NO_ROOM else InputError
            raise kind(f"--store {store}: {error.strerror or error}") from None
    return device


def live_drive(specification_json: str, scale: str = "1") -> "LiveDrive":
    """A run that is advanced step by step. Raises InputError when the drive or its jobs cannot be run, or do not fit
    into memory.

    What its methods raise becomes an InputError or a RunFailed within `in_words_of_the_user`.
    """
    memory.check([needed(specification_json, scale)])
    engine = native()
    with in_words_of_the_user(engine):
        live: LiveDrive = engine.LiveDrive(specification_json)
    return live


@contextmanager
def in_words_of_the_user(engine: ModuleType | None = None) -> Iterator[None]:
    """Errors of the native module, raised within, as InputError and RunFailed."""
    engine = engine or native()
    try:
        yield
    except engine.SpecificationError as error:
        raise InputError(_specification_message(error)) from None
    except OSError as error:
        raise RunFailed(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from None
    except MemoryError:
        raise RunFailed("out of memory: try a smaller drive with --scale, or fewer --workers") from None
    except BaseException as error:
        # A panic of the engine is no Exception on the Python side, so that nothing swallows it by chance.
        if type(error).__name__ == "PanicException":
            raise RunFailed(f"internal error of the engine: {error}") from None
        if type(error).__name__ == "TraceError":
            raise InputError(_trace_message(*error.args)) from None
        raise


def _seldom(on_progress: Progress) -> Progress:
    """The engine reports progress after a number of requests, perhaps hundreds of times a second: more than is read."""
    told_at = time.perf_counter()

    def tell(share: float, host_bytes: int) -> None:
        nonlocal told_at
        now = time.perf_counter()
        if now - told_at >= _SECONDS_BETWEEN_PROGRESS:
            told_at = now
            on_progress(share, host_bytes)

    return tell


_TRACE_ADVICE = {
    "malformed": "; --skip-bad N skips up to N malformed ones and counts them",
    "past-the-end": "; use a larger drive, or --map fold or compact",
    "full": "; use a larger drive, or --map fold",
    "writes-nothing": ", so repeating it has no effect",
}


def _trace_message(kind: str, name: str | None, message: str) -> str:
    return f"{f'{name}: ' if name else ''}{message}{_TRACE_ADVICE.get(kind, '')}"


def _specification_message(error: Exception) -> str:
    if len(error.args) == 3:
        key, value, allowed = error.args
        if key == "state":
            # The value says which file, and what is wrong with it.
            return str(value)
        return f"{key} = {value}: allowed is {allowed}"
    return str(error)
