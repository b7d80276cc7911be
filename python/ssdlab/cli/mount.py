"""`ssdlab mount`: a simulated drive as a file that real programs can use."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import drive_options, options
from ssdlab.cli.drive_options import give_end
from ssdlab.cli.form import Form
from ssdlab.foundation.quantities import format_bytes
from ssdlab.serving.mounting import mounted
from ssdlab.serving.watching import watchable
from ssdlab.serving.what_if import WhatIf


def mount(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="An empty folder; created if missing.", show_default=False)
    ],
    drive: drive_options.Drive,
    changes: options.Changes,
    serving: drive_options.Served,
    loop: Annotated[
        bool, typer.Option("--loop", help="As root: also attach a loop device, for mkfs and mount, and print its name.")
    ] = False,
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            min=1,
            metavar="N",
            help="Concurrent requests; real pace needs as many as the queue depth.",
        ),
    ] = 4,
    seed: options.Seed = 1,
    *,
    form: Form,
    output: drive_options.Output = None,
) -> None:
    """Mount a simulated drive until DIR is unmounted or Ctrl-C.

    DIR/drive is the drive: direct I/O and mmap work; fsync is a flush, punching a hole is a trim. DIR/stats.json has
    the result so far, with write amplification and SMART. DIR/control accepts lines: mark NAME starts a phase with
    its own counters, reset resets the counters, idle 1h advances simulated time, power-cut cuts the power and
    restores it.

    Requests are served as fast as this machine can, and the simulated clock advances by the time that the drive would
    have taken. With --pace real they are served at the speed of the drive; the statistics report intended and
    achieved times.
    """
    write = drive_options.writer_of(output)
    resolved = changes.of(drive)
    served = serving.drive(resolved, seed)
    asked = WhatIf(served, resolved, serving.what_if)
    with (
        mounted(served, Path(folder), threads=threads, with_loop=loop) as place,
        watchable(served, str(place.folder)) as unseen,
    ):
        what = f"{resolved.name}, {format_bytes(served.size_bytes)}"
        typer.echo(f"{place.file}: {what}; contents in {serving.place}", err=True)
        if unseen:
            typer.echo(f"note: ssdlab live cannot watch it: {unseen}", err=True)
        if place.loop:
            form.say(place.loop)
        typer.echo("unmount it or press Ctrl-C to end", err=True)
        try:
            place.wait()
        except KeyboardInterrupt:
            typer.echo("unmounting", err=True)
    give_end(served, asked, write, form)
