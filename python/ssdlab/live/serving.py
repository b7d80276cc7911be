"""Combines the parts of the live page: what it shows, its commands, the server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.live import catalogue, choices
from ssdlab.live.commands import Commands
from ssdlab.live.messages import Hello, SweepHello
from ssdlab.live.pulse import Pulse
from ssdlab.live.reports import Reports
from ssdlab.live.samples import COLUMNS
from ssdlab.live.served import watched
from ssdlab.live.server import LOOPBACK, LiveServer
from ssdlab.live.session import Session
from ssdlab.live.tours import tours
from ssdlab.live.watching import Watching
from ssdlab.live.workbench import Start, Workbench
from ssdlab.simulator import engine
from ssdlab.simulator.results.ledger import PARTS


def live_server(
    start: Start,
    folder: Path,
    *,
    port: int,
    tour: str | None,
    is_running: bool,
    on_rest: Callable[[], None] = lambda: None,
    share: str | None = None,
) -> LiveServer:
    """A server for a session, which already listens. `folder` is for the reports; `share` as in `LiveServer`.

    While no page is open the drives stand still; `on_rest` is called when they stop. `tour` is the tour to begin with;
    without one, `is_running` starts the drives. Raises InputError for an invalid drive, or a port that is in use.
    """
    workbench = Workbench(start, Session)
    workbench.set_watched(False)
    commands = Commands(workbench, Reports(folder), tours())
    try:
        pulse = Pulse(workbench, on_rest)
        server = LiveServer(
            workbench, pulse, commands.carry_out, hello(), reports=commands.reports, port=port, share=share
        )
    except OSError as error:
        workbench.close()
        raise _taken(port, error) from None
    if tour is not None:
        commands.carry_out(choices.Tour(name=tour))
    elif is_running:
        workbench.session.run()
    return server


def watching_server(place: str | None, *, port: int, share: str | None = None) -> LiveServer:
    """A server, which already listens, for the drive that another process serves at `place`; None: the only one.

    Raises InputError if none is served there, or the port is in use.
    """
    watching = Watching(watched(place))
    try:
        return LiveServer(watching, Pulse(watching), watching.carry_out, hello(), port=port, share=share)
    except OSError as error:
        watching.close()
        raise _taken(port, error) from None


def sweep_server(file: str, place: str | None, *, port: int) -> LiveServer:
    """A server, which already listens, for the sweep of `file`, which runs elsewhere and stores its results at `place`.

    Raises InputError for an invalid sweep file, or a port that is in use.
    """
    # Imported here because it loads the pictures of sweeps, which the page of a drive does not need.
    from ssdlab.live.sweep_pulse import SweepPulse
    from ssdlab.live.sweep_state import SweepState, watched_sweep

    state = SweepState(watched_sweep(file, place))

    def refuse(_command: Any) -> None:
        raise InputError("a sweep can only be watched here, not controlled")

    try:
        said: SweepHello = {"type": "hello", "version": engine.native().version()}
        return LiveServer(state, SweepPulse(state), refuse, said, index="sweep.html", port=port)
    except OSError as error:
        raise _taken(port, error) from None


def _taken(port: int, error: OSError) -> InputError:
    return InputError(f"--port {port}: cannot listen at {LOOPBACK}: {error.strerror or error}")


def hello() -> Hello:
    """The first message to a page: all choices that it offers."""
    return {
        "type": "hello",
        "version": engine.native().version(),
        "columns": tuple(COLUMNS),
        "parts": PARTS,
        "views": choices.VIEWS,
        "shared": False,
        "tours": [tour.plain() for tour in tours().values()],
        **catalogue.catalogue(),
    }
