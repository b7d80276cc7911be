"""The workload of an advice from files: a fio job file, a database, or the files of a trace."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.experiments.advice.described import Described, of_job_file, of_log, of_store
from ssdlab.experiments.advice.recorded import Trace, of_trace
from ssdlab.foundation.quantities import format_bytes, parse_bytes_per_day
from ssdlab.simulator.workloads.rates.reading import is_log
from ssdlab.simulator.workloads.stores import is_store
from ssdlab.simulator.workloads.traces.recording import opened

_JOB_SUFFIXES = (".fio", ".job")
# Enough of a file to find out whether it begins with a section.
_HEAD_BYTES = 65_536
# The fastest links transfer 14 GB/s, 1.2 PB per day.
_BYTES_PER_DAY_MAX = 10 * 10**15


def is_job_file(path: str) -> bool:
    """Whether the name has the suffix of a job file, or its first line that is no comment begins a section."""
    if Path(path).suffix in _JOB_SUFFIXES:
        return True
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    lines = (line.strip() for line in head.splitlines())
    return next((line for line in lines if line and not line.startswith((b"#", b";"))), b"").startswith(b"[")


@dataclass(frozen=True)
class Reading:
    """How the files of a trace are read, and which of its volumes are used."""

    format_name: str | None = None
    """None: detected."""
    volume: str | None = None
    merge_volumes: bool = False
    """All volumes on one drive, at their recorded addresses."""
    skip_bad: int = 0
    """The number of malformed lines that can be skipped."""
    columns: str | None = None
    """The names of the columns of a trace in no known format."""
    device: str | None = None
    """The device of a log of rates that has several."""

    def __post_init__(self) -> None:
        if self.volume is not None and self.merge_volumes:
            raise InputError("--volume and --merge-volumes exclude each other")


def workload_of(files: Sequence[str], room_bytes: int, reading: Reading, stack: ExitStack) -> Described | Trace:
    """The workload in the files, for drives of at least `room_bytes`.

    `stack` holds the temporary file of a trace from standard input. Raises InputError.
    """
    if reading.format_name is None and reading.columns is None and len(files) == 1 and is_log(files[0]):
        return of_log(files[0], reading.device)
    is_stored = any(is_store(file) for file in files)
    if (
        reading.format_name is None
        and reading.columns is None
        and (is_stored or any(is_job_file(file) for file in files))
    ):
        if len(files) > 1:
            raise InputError(f"{', '.join(files)}: one job file or database, or the files of one trace")
        if reading.volume is not None or reading.device is not None or reading.merge_volumes or reading.skip_bad:
            raise InputError(
                f"{files[0]} is a job file; --volume, --merge-volumes, --device and --skip-bad are for traces"
            )
        return of_store(files[0]) if is_stored else of_job_file(files[0])
    recording = stack.enter_context(
        opened(files, reading.format_name, reading.skip_bad, reading.columns, device=reading.device)
    )
    if recording.drawn_from:
        raise InputError(f"{recording.names[0]}: a log of rates; give it as a file, one at a time")
    return of_trace(recording, reading.volume, room_bytes, merged=reading.merge_volumes)


def asked_writes(said: str) -> int:
    """The host's bytes per day from the option ("2TB"). Raises InputError for an invalid size."""
    try:
        daily_bytes = parse_bytes_per_day(said)
    except InputError as error:
        raise InputError(f"--writes-per-day: {error}") from None
    if daily_bytes == 0:
        raise InputError("--writes-per-day is 0: the flash does not wear; allowed: above 0")
    if daily_bytes > _BYTES_PER_DAY_MAX:
        raise InputError(
            f"--writes-per-day is {said}; allowed: up to {format_bytes(_BYTES_PER_DAY_MAX)}, the maximum rate of "
            "any link"
        )
    return daily_bytes


def daily_writes(
    said: str | None, workload: Described | Trace, *, needed: bool = True
) -> tuple[float | None, list[str]]:
    """The host's bytes per day, from the option ("2TB") or the recorded rate of a trace or a log; and notes.

    Raises InputError for an invalid size, or if `needed` and neither is available.
    """
    if said is not None:
        return asked_writes(said), []
    pace = workload.writes_bytes_per_day
    if pace is None and needed:
        raise InputError("--writes-per-day is missing: the host writes per day, such as 2TB")
    return pace, [f"at the recorded rate the host writes {format_bytes(round(pace))} a day"] if pace else []
