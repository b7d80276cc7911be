"""Options of a command whose workload is a job file, or a trace in any format that `ssdlab replay` reads."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from ssdlab.experiments.advice import workload

Files = Annotated[
    Sequence[str],
    typer.Argument(
        metavar="[JOB.fio|TRACE...]",
        help="The workload: a fio job file, a database ('lsm-tree ...'), trace files, or a log of iostat -x 1, sar -d, "
        "collectl, zpool iostat, nmon, /proc/diskstats, vmstat -d 1, pg_stat_io.",
        show_default=False,
    ),
]


Device = Annotated[
    str | None, typer.Option("--device", metavar="NAME", help="The device of a log of iostat or sar that has several.")
]


Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="The columns of a text in no known format: time,op,sector,sectors; as for ssdlab replay.",
    ),
]


@dataclass(frozen=True)
class Reading:
    """How the files of a trace are read, as options; with their format in `FormOrTraces`."""

    volume: Annotated[
        str | None, typer.Option("--volume", metavar="NAME", help="Volume of a trace that has several.")
    ] = None
    merge_volumes: Annotated[
        bool, typer.Option("--merge-volumes", help="All volumes of a trace on one drive, at their recorded addresses.")
    ] = False
    skip_bad: Annotated[
        int, typer.Option("--skip-bad", min=0, metavar="N", help="Skip up to N malformed lines of a trace.")
    ] = 0
    columns: Columns = None
    device: Device = None

    def with_format(self, format_name: str | None) -> workload.Reading:
        """The same with the format of the files; None: detected."""
        return workload.Reading(format_name, **asdict(self))
