"""`ssdlab live`: a drive at work as a page in the browser of this machine."""

from typing import Annotated

import typer

from ssdlab.cli import options


def live(
    drives: Annotated[
        list[str] | None,
        typer.Option(
            "--drive",
            metavar="NAME|FILE",
            help="A drive of the catalogue or a .toml file; two stand side by side.  [default: generic-tlc-480]",
        ),
    ] = None,
    op: options.Op = None,
    settings: options.Set = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale",
            metavar="1/N",
            help="A smaller drive of the same ratios.  [default: as small as is quick to watch]",
        ),
    ] = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    tour: Annotated[
        str | None, typer.Option("--tour", metavar="NAME", help="Begin with a guided tour; 'list' lists them.")
    ] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Begin standing still.")] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="Where to listen.  [default: a free one]")
    ] = 0,
    watch: Annotated[
        str | None,
        typer.Option(
            "--watch",
            metavar="PLACE",
            help="Look at the drive that ssdlab mount or serve has open there; 'any' takes the only one.",
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep",
            metavar="FILE.toml",
            help="Look at this sweep while ssdlab sweep runs it; --output as it was told.",
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the address in the browser.")] = True,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="Where reports that are saved on the page go.  [default: out/live]",
        ),
    ] = None,
) -> None:
    """Show a drive at work in the browser, and change it while it runs, until Ctrl-C.

    Every erase unit is a cell; beside them what it costs, over time. Workload, spare area, policies and drives can be
    changed; each session can be had as a command line for ssdlab run. Only this machine can reach the page, and only by
    the address that is printed.
    """
    from pathlib import Path

    from ssdlab.errors import InputError
    from ssdlab.live.choices import DRIVES_MAX, DriveChoice
    from ssdlab.live.tours import tour_named, tours

    if tour == "list":
        for known in tours().values():
            typer.echo(f"{known.name:28} {known.title}")
        return
    steering = bool(drives or op or settings or scale or untimed or tour or paused)
    if sweep is not None:
        if steering or watch:
            raise InputError("--sweep looks at a sweep as it is; it goes with --output, --port and --browser alone")
        from ssdlab.live.serving import sweep_server

        serve_until_interrupted(sweep_server(sweep, output, port=port), browser)
        return
    if watch is not None:
        if steering or output:
            raise InputError("--watch looks at a drive as it is; it goes with --port, --browser and nothing else")
        from ssdlab.live.serving import watching_server

        serve_until_interrupted(watching_server(None if watch == "any" else watch, port=port), browser)
        return
    if drives and len(drives) > DRIVES_MAX:
        raise InputError(f"--drive is given {len(drives)} times; {DRIVES_MAX} drives stand side by side")
    if tour is not None:
        tour_named(tours(), tour)

    from ssdlab.live.serving import live_server
    from ssdlab.live.workbench import Start

    share = options.op_of(op)
    start = Start(
        drives=tuple(DriveChoice(name=name, op=share) for name in drives or ["generic-tlc-480"]),
        settings=options.settings_of(settings),
        scale=options.scale_of(scale),
        seed=seed,
        timed=not untimed,
    )
    server = live_server(start, Path(output or "out/live"), port=port, tour=tour, is_running=not paused)
    serve_until_interrupted(server, browser)


def serve_until_interrupted(server: "object", browser: bool) -> None:
    """Says the address and answers until Ctrl-C."""
    from ssdlab.cli import drive_options
    from ssdlab.errors import RunFailed
    from ssdlab.live.server import LiveServer

    assert isinstance(server, LiveServer)
    drive_options.end_politely()
    typer.echo(server.address)
    typer.echo("the page is for this machine alone; press Ctrl-C to end", err=True)
    try:
        server.run(lambda: _open(server.address) if browser else None)
    except KeyboardInterrupt:
        typer.echo("stopping", err=True)
    finally:
        server.close()
    if server.failure is not None:
        raise RunFailed(f"the live page ended: {server.failure}")


def _open(address: str) -> None:
    """In a thread: some browsers do not come back before they are closed."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
