"""The parts of the live page put together: a session on a workbench, its commands, the server."""

from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.live import catalogue, choices
from ssdlab.live.commands import Commands
from ssdlab.live.reports import Reports
from ssdlab.live.samples import COLUMNS, PARTS
from ssdlab.live.served import watched
from ssdlab.live.server import LOOPBACK, LiveServer
from ssdlab.live.session import Session
from ssdlab.live.tours import tours
from ssdlab.live.watching import Watching
from ssdlab.live.workbench import Start, Workbench
from ssdlab.targets import engine


def live_server(start: Start, folder: Path, *, port: int, tour: str | None, is_running: bool) -> LiveServer:
    """A server that listens already, for a session that runs or stands still. `folder` gets the reports.

    Raises InputError for a drive that cannot be, or a port that is taken.
    """
    workbench = Workbench(start, Session)
    commands = Commands(workbench, Reports(folder), tours())
    try:
        server = LiveServer(workbench, commands.carry_out, hello(), reports=commands.reports, port=port)
    except OSError as error:
        workbench.close()
        raise InputError(f"--port {port}: cannot listen at {LOOPBACK}: {error.strerror or error}") from None
    if tour is not None:
        commands.carry_out(choices.Tour(name=tour))
    elif is_running:
        workbench.session.run()
    return server


def watching_server(place: str | None, *, port: int) -> LiveServer:
    """A server that listens already, for the drive that another process serves at a place, or the only one.

    Raises InputError where none is served there, or a port is taken.
    """
    watching = Watching(watched(place))
    try:
        return LiveServer(watching, watching.carry_out, hello(), port=port)
    except OSError as error:
        watching.close()
        raise InputError(f"--port {port}: cannot listen at {LOOPBACK}: {error.strerror or error}") from None


def hello() -> dict[str, object]:
    """What a page is told first: all that it can offer."""
    return {
        "version": engine.native().version(),
        "columns": COLUMNS,
        "parts": PARTS,
        "views": choices.VIEWS,
        "tours": [tour.plain() for tour in tours().values()],
        **catalogue.catalogue(),
    }
