"""`ssdlab mount`: a simulated drive as a file that real programs can use."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import drive_options, options


def mount(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="An empty folder; made if missing.", show_default=False)],
    drive: drive_options.Drive,
    op: options.Op = None,
    settings: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    store: drive_options.Store = None,
    loop: Annotated[
        bool, typer.Option("--loop", help="As root: attach a loop device too, for mkfs and mount, and print its name.")
    ] = False,
    queue_depth: drive_options.QueueDepth = None,
    pace: drive_options.Pace = "virtual",
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            min=1,
            metavar="N",
            help="Requests served side by side; real pace wants as many as the queue is deep.",
        ),
    ] = 4,
    faults: drive_options.Faults = None,
    does_nothing: drive_options.DoesNothing = False,
    output: drive_options.Output = None,
) -> None:
    """Mount a simulated drive, until DIR is unmounted or Ctrl-C.

    DIR/drive is the drive: direct I/O, mmap; fsync flushes, punching a hole trims. DIR/stats.json has the result so
    far, with its write amplification and SMART. DIR/control takes lines: mark NAME begins a phase with counters of its
    own, reset starts the counters anew, idle 1h lets simulated time pass, power-cut takes the power away and back.

    The simulated clock advances by what the drive would have taken; programs are served as fast as this machine can, or
    with --pace real when the drive would: what was intended and achieved is in the statistics.
    """
    from ssdlab.quantities import format_bytes
    from ssdlab.serving.mounting import mounted
    from ssdlab.serving.watching import watchable

    write = drive_options.writer_of(output)
    resolved = drive_options.resolved(drive, op, settings, scale)
    served = drive_options.served(
        resolved,
        seed=seed,
        store=store,
        queue_depth=queue_depth,
        does_nothing=does_nothing,
        pace=pace,
        faults=faults,
    )
    drive_options.end_politely()
    with (
        mounted(served, Path(folder), threads=threads, with_loop=loop) as place,
        watchable(served, str(place.folder)) as unseen,
    ):
        what = f"{resolved.name}, {format_bytes(served.size_bytes)}"
        typer.echo(f"{place.file}: {what}; contents in {store or 'memory'}", err=True)
        if unseen:
            typer.echo(f"note: ssdlab live cannot watch it: {unseen}", err=True)
        if place.loop:
            typer.echo(place.loop)
        typer.echo("unmount it or press Ctrl-C to end", err=True)
        try:
            place.wait()
        except KeyboardInterrupt:
            typer.echo("unmounting", err=True)
    write(served.render(served.device.state()))
