"""The workload of a command that plans: a job file, or a trace in any format that `ssdlab replay` reads."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from ssdlab.planning.advice.recorded import Trace
    from ssdlab.planning.advice.workload import Workload

_JOB_SUFFIXES = (".fio", ".job")
# Enough of a file to see whether it opens with a section.
_HEAD_BYTES = 65_536

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOB.fio|TRACE...]", help="The workload: a fio job file, or trace files.", show_default=False
    ),
]
Format = Annotated[
    str | None, typer.Option("--format", metavar="F", help="Of a trace (ssdlab replay).  [default: recognised]")
]
Volume = Annotated[str | None, typer.Option("--volume", metavar="NAME", help="Of a trace that has several.")]
MergeVolumes = Annotated[
    bool, typer.Option("--merge-volumes", help="All volumes of a trace on one drive, at the same addresses.")
]
SkipBad = Annotated[
    int, typer.Option("--skip-bad", min=0, metavar="N", help="Of a trace: pass over up to N malformed lines.")
]


def is_job_file(path: str) -> bool:
    """By its name, or because its first line that says something opens a section."""
    if Path(path).suffix in _JOB_SUFFIXES:
        return True
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    lines = (line.strip() for line in head.splitlines())
    return next((line for line in lines if line and not line.startswith((b"#", b";"))), b"").startswith(b"[")


def workload_of(
    files: list[str],
    room_bytes: int,
    *,
    format_name: str | None,
    volume: str | None,
    merge_volumes: bool,
    skip_bad: int,
    stack: ExitStack,
) -> "Workload | Trace":
    """What the files hold, for drives of at least `room_bytes`.

    `stack` keeps a trace that came through standard input. Raises InputError.
    """
    from ssdlab.errors import InputError
    from ssdlab.planning.advice.recorded import of_trace
    from ssdlab.planning.advice.workload import of_job_file

    if volume is not None and merge_volumes:
        raise InputError("--volume and --merge-volumes exclude each other")
    if format_name is None and any(is_job_file(file) for file in files):
        if len(files) > 1:
            raise InputError(f"{', '.join(files)}: one job file, or the files of one trace")
        if volume is not None or merge_volumes or skip_bad:
            raise InputError(f"{files[0]} is a job file; --volume, --merge-volumes and --skip-bad are for traces")
        return of_job_file(files[0])
    from ssdlab.traces.recording import opened

    return of_trace(stack.enter_context(opened(files, format_name, skip_bad)), volume, room_bytes, merged=merge_volumes)


def daily(said: str | None, workload: "Workload | Trace", *, needed: bool = True) -> tuple[float | None, list[str]]:
    """What the host writes a day, as said or at a trace's own pace; and what is to be told of that.

    Raises InputError where it is needed and nothing says it.
    """
    from ssdlab.errors import InputError
    from ssdlab.planning.advice.recorded import Trace
    from ssdlab.quantities import format_bytes

    daily_bytes = options.bytes_of("--writes-per-day", said)
    if daily_bytes == 0:
        raise InputError("--writes-per-day is 0: such a drive lasts as long as its electronics")
    if daily_bytes is not None:
        return daily_bytes, []
    pace = workload.writes_bytes_per_day if isinstance(workload, Trace) else None
    if pace is None and needed:
        raise InputError("--writes-per-day is missing: how much the host writes, such as 2TB")
    return pace, [f"at the trace's own pace the host writes {format_bytes(round(pace))} a day"] if pace else []
