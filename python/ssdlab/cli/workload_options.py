"""The options of a command whose workload is a job file, or a trace in any format that `ssdlab replay` reads."""

from typing import Annotated

import typer

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOB.fio|TRACE...]", help="The workload: a fio job file, or trace files.", show_default=False
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="F", help="Format of a trace (as for ssdlab replay).  [default: detected]"),
]
Volume = Annotated[str | None, typer.Option("--volume", metavar="NAME", help="Volume of a trace that has several.")]
MergeVolumes = Annotated[
    bool, typer.Option("--merge-volumes", help="All volumes of a trace on one drive, at their recorded addresses.")
]
SkipBad = Annotated[
    int, typer.Option("--skip-bad", min=0, metavar="N", help="Skip up to N malformed lines of a trace.")
]
