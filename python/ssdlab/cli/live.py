"""`ssdlab live`: shows a running drive as a page in the browser of this machine."""

import threading
import webbrowser
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import options
from ssdlab.cli.groups import Parsed, given
from ssdlab.errors import InputError, RunFailed
from ssdlab.foundation.quantities import parse_scale
from ssdlab.live.names import EVERYWHERE


@dataclass(frozen=True)
class Started(options.Changes):
    """The initial settings of the drives."""

    scale: Annotated[
        Fraction | None,
        typer.Option(
            "--scale",
            metavar="1/N",
            help="Scale of the drive.  [default: small enough to watch]",
        ),
        Parsed(parse_scale),
    ] = None
    untimed: options.Untimed = False
    tour: Annotated[
        str | None, typer.Option("--tour", metavar="NAME", help="Start with a guided tour; 'list' lists them.")
    ] = None
    paused: Annotated[bool, typer.Option("--paused", help="Start paused.")] = False

    def op_of(self, drive: str) -> float | None:
        """The over-provisioning that the page shows and can change: as given, or that of `--left-empty`."""
        return self.op if self.left_empty is None else self.of(drive).capacity.over_provisioning


def live(
    drives: Annotated[
        list[str] | None,
        typer.Option(
            "--drive",
            metavar="NAME|FILE",
            help="A drive of the catalogue or a .toml file; two run side by side.  [default: generic-tlc-480]",
        ),
    ] = None,
    *,
    started: Started,
    seed: options.Seed = 1,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="Port to listen on; 0: a free one.")
    ] = 0,
    watch: Annotated[
        str | None,
        typer.Option(
            "--watch",
            metavar="PLACE",
            help="Watch the drive that ssdlab mount or serve has open at this path or address; 'any': the only one.",
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep",
            metavar="FILE.toml",
            help="Watch this sweep; --output as for ssdlab sweep.",
        ),
    ] = None,
    share: Annotated[
        bool, typer.Option("--share", help="Let other machines look, but change nothing, with a second address.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the address in the browser.")] = True,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="Folder for reports saved on the page.  [default: out/live]",
        ),
    ] = None,
) -> None:
    """Show a running drive in the browser, with controls to change it, until Ctrl-C.

    Each erase unit is a cell; charts show write amplification, speed and wear over time. Workload, spare area,
    policies and drives can be changed. Each session can be exported as a command line for ssdlab run. Nothing is
    simulated while no page is open. Only this machine can open the page, and only with the printed address;
    with --share others can look at it.
    """
    from ssdlab.live.choices import DRIVES_MAX, DriveChoice
    from ssdlab.live.tours import tour_named, tours

    tour = started.tour
    if tour == "list":
        for known in tours().values():
            typer.echo(f"{known.name:28} {known.title}")
        return
    place = EVERYWHERE if share else None
    steering = bool(drives or given(started))
    if sweep is not None:
        if steering or watch or share:
            raise InputError("--sweep can be combined only with --output, --port and --browser")
        from ssdlab.live.serving import sweep_server

        serve_until_interrupted(sweep_server(sweep, output, port=port), browser)
        return
    if watch is not None:
        if steering or output:
            raise InputError("--watch can be combined only with --port, --share and --browser")
        from ssdlab.live.serving import watching_server

        serve_until_interrupted(watching_server(None if watch == "any" else watch, port=port, share=place), browser)
        return
    if drives and len(drives) > DRIVES_MAX:
        raise InputError(f"--drive is given {len(drives)} times; {DRIVES_MAX} drives run side by side at most")
    if tour is not None:
        tour_named(tours(), tour)

    from ssdlab.live.measured import measurable
    from ssdlab.live.serving import live_server
    from ssdlab.live.workbench import Start, Workbench

    start = Start(
        drives=tuple(DriveChoice(name=name, op=started.op_of(name)) for name in drives or ["generic-tlc-480"]),
        settings=started.settings or {},
        scale=started.scale,
        seed=seed,
        timed=not started.untimed,
    )
    server = live_server(
        start,
        Path(output or "out/live"),
        port=port,
        tour=tour,
        is_running=not started.paused,
        on_rest=_say_rest,
        share=place,
    )
    assert isinstance(server.shown, Workbench)
    with measurable(server.shown) as unseen:
        if unseen:
            typer.echo(f"note: ssdlab export cannot read it: {unseen}", err=True)
        serve_until_interrupted(server, browser)


def serve_until_interrupted(server: object, browser: bool) -> None:
    """Prints the address and serves the page until Ctrl-C. Raises RunFailed if the server failed."""
    from ssdlab.live.server import LiveServer

    assert isinstance(server, LiveServer)
    typer.echo(server.address)
    if server.shared_addresses:
        typer.echo(f"for others, to look only: {' or '.join(server.shared_addresses)}")
        typer.echo(
            "warning: whoever has this address and reaches this machine can see the drive, its workload and its "
            "figures, until Ctrl-C; they can change nothing, and cannot open reports; the connection is not encrypted",
            err=True,
        )
    else:
        typer.echo("only this machine can open the page; press Ctrl-C to end", err=True)
    try:
        server.run(lambda: _open(server.address) if browser else None)
    except KeyboardInterrupt:
        typer.echo("stopping", err=True)
    finally:
        server.close()
    if server.failure is not None:
        raise RunFailed(f"the live page ended: {server.failure}")


def _say_rest() -> None:
    typer.echo("no page is open: the drive stands still until one is", err=True)


def _open(address: str) -> None:
    """Opens the address in a thread, because with some browsers the call returns only when the browser is closed."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
