"""The only module that calls the native module. Passes text in and out and converts errors to InputError and RunFailed.

Worker processes import little else, so this module has no heavy imports.
"""

import errno
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, RunFailed
from ssdlab.simulator.engine import memory

if TYPE_CHECKING:
    from ssdlab._engine import Device, HeldTrace, LiveDrive

Progress = Callable[[float, int], None]
"""Called at most ten times per second with the completed share, 0 to 1, and the host bytes written so far."""

_SECONDS_BETWEEN_PROGRESS = 0.1
_NUMBER_OF_ERROR = re.compile(r" \(os error \d+\)")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def native() -> ModuleType:
    """The native module. Raises RunFailed if it is not built."""
    try:
        from ssdlab import _engine
    except ImportError as error:
        raise RunFailed(
            f"the native module ssdlab._engine cannot be loaded ({error}); build it with `make setup`"
        ) from None
    return _engine


@dataclass(frozen=True)
class Work:
    """A run as given to the native module; plain values, because it is sent to worker processes."""

    specification_json: str
    scale: str = "1"
    """The drive's scale, needed only to suggest another one."""
    trace_json: str | None = None
    from_state: tuple[str, int] | None = None
    """A file, and the factor by which the drive's erase units are larger than those of the saved drive."""
    save_state: str | None = None
    held: "HeldTrace | None" = None
    """The trace's requests in memory. None in another process, which reads the files."""


def simulate(work: Work, on_progress: Progress | None = None) -> tuple[str, float]:
    """Runs a specification, then the trace, if any; from a saved state, or saving the final state.

    Returns the outcome as JSON and the elapsed seconds. Raises InputError if the drive, the jobs or the trace cannot be
    run or do not fit into memory, and RunFailed if the engine fails. An exception raised by `on_progress` ends the run
    and is passed on, so that Ctrl-C works.
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
    """The memory that a run needs. Raises InputError if it cannot be run."""
    engine = native()
    with in_words_of_the_user(engine):
        text = engine.memory(specification_json)
    return memory.needed(text, json.loads(specification_json)["drive"], scale)


def survey(trace_json: str) -> str:
    """The volumes of a trace with their requests, as JSON. Raises InputError if the trace cannot be read."""
    engine = native()
    with in_words_of_the_user(engine):
        text: str = engine.survey(trace_json)
    return text


def profile(trace_json: str, *, hold: bool = False, region_bytes: int = 4096) -> "tuple[str, HeldTrace | None]":
    """The profile of a trace's requests as JSON, and with `hold` the requests, or None if there are too many.

    The hottest regions have `region_bytes`, in whole units of 4096 bytes. Raises InputError if the trace cannot be
    read.
    """
    engine = native()
    with in_words_of_the_user(engine):
        found: tuple[str, HeldTrace | None] = engine.profile(trace_json, hold, region_bytes)
    return found


def trace_formats() -> str:
    """The trace formats as a JSON list of name, aliases and description."""
    text: str = native().trace_formats()
    return text


def open_device(drive_json: str, options_json: str, scale: str = "1", store: Path | None = None) -> "Device":
    """A drive that stores the data written to it, in the file `store` if `options_json` names one.

    Raises InputError if the drive is not valid, its tables do not fit into memory, or the file holds something else,
    and RunFailed if there is no space for the file.
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
    """A run that is advanced step by step. Raises InputError if the drive or its jobs cannot be run or do not fit into
    memory.

    Calls of its methods belong in `in_words_of_the_user`, which converts their errors to InputError or RunFailed.
    """
    memory.check([needed(specification_json, scale)])
    engine = native()
    with in_words_of_the_user(engine):
        live: LiveDrive = engine.LiveDrive(specification_json)
    return live


@contextmanager
def in_words_of_the_user(engine: ModuleType | None = None) -> Iterator[None]:
    """Converts errors of the native module, raised in the block, to InputError and RunFailed."""
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
        # A panic of the engine is a BaseException in Python, so it needs a separate case.
        if type(error).__name__ == "PanicException":
            raise RunFailed(f"internal error of the engine: {error}") from None
        if type(error).__name__ == "TraceError":
            raise InputError(_trace_message(*error.args)) from None
        if type(error).__name__ == "RunError":
            raise RunFailed(str(error)) from None
        raise


def _seldom(on_progress: Progress) -> Progress:
    """Limits the calls of `on_progress`; the engine reports progress up to hundreds of times per second."""
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
    said = _NUMBER_OF_ERROR.sub("", message)
    return f"{f'{name}: ' if name else ''}{said}{_TRACE_ADVICE.get(kind, '')}"


def _specification_message(error: Exception) -> str:
    if len(error.args) == 3:
        key, value, allowed = error.args
        if key == "state":
            # The value contains the file and the problem.
            return str(value)
        return f"{key}{_option_of(key)} = {value}: allowed is {allowed}"
    return str(error)


# fio's options for keys of the engine's jobs with other names.
_OPTIONS = {
    "stream_id": "plids",
    "identifiers": "plids",
    "size_bytes": "size",
    "offset_bytes": "offset",
    "zoned": "zonemode",
    "zoned.zone_bytes": "zonesize",
    "zoned.capacity_bytes": "zonecapacity",
    "zoned.overwrite_percent": "zrwa_overwrite",
    "block_sizes.read": "bs",
    "block_sizes.write": "bs",
    "block_sizes.trim": "bs",
}


def _option_of(key: str) -> str:
    """The option of a job file that an error about a job's key means, in brackets; empty if it has the key's name."""
    option = next((name for end, name in _OPTIONS.items() if key.startswith("jobs.") and key.endswith(f".{end}")), None)
    return f" ({option})" if option else ""
