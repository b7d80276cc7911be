"""`ssdlab export`: an exporter of drive health for Prometheus."""

from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.errors import InputError
from ssdlab.field.health import contents, scanning
from ssdlab.field.health import served as served_drives
from ssdlab.field.health.scanning import Unread
from ssdlab.hardware.smart import source

if TYPE_CHECKING:
    from ssdlab.field.health.exporter import Read

_LISTEN = "127.0.0.1:9779"
_SECONDS_MIN = 1.0
_TOLD = 3


def export(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PLACE...]",
            help="Devices, or files and folders of reports.  [default: what smartctl --scan finds]",
            show_default=False,
        ),
    ] = None,
    listen: Annotated[str, typer.Option(metavar="ADDRESS:PORT", help="Address to listen on.")] = _LISTEN,
    interval: Annotated[
        str, typer.Option(metavar="TIME", help="Interval between readings, such as 60s or 5min.")
    ] = "60s",
    served: Annotated[
        bool,
        typer.Option("--served", help="Export the running simulated drives of ssdlab mount, serve and live."),
    ] = False,
) -> None:
    """Serve metrics of drives to Prometheus: wear, write amplification, bytes written to flash, life left.

    Drives are read at the interval, never by a scrape. Requires the same permissions as smartctl. docs/monitoring/
    has a systemd unit, alert rules and a Grafana dashboard.
    """
    from ssdlab.field.health.exporter import Exporter

    exporter = Exporter(_address(listen), _reader(places or [], served), _seconds(interval))

    def ready() -> None:
        host = listen.rpartition(":")[0]
        typer.echo(f"metrics: http://{host}:{exporter.port}/metrics", err=True)
        for unread in exporter.unread[:_TOLD]:
            typer.echo(f"note: {unread.source}: {unread.reason}", err=True)

    exporter.run(ready)


def _reader(places: list[str], served: bool) -> "Read":
    from ssdlab.field.health.survey import is_device

    if served and places:
        raise InputError(f"{places[0]}: --served excludes other paths")
    if not served:
        # A path that does not exist is reported at once, not at every reading.
        for place in places:
            if not is_device(place):
                next(contents.found([place]), None)

    def read() -> tuple[list[dict[str, object]], list[Unread]]:
        if served:
            return served_drives.rows(), []
        named = places or source.scanned()
        devices = [place for place in named if is_device(place)]
        try:
            files = list(contents.found([place for place in named if place not in devices]))
        except InputError as error:
            return [], [Unread(", ".join(named), str(error))]
        found = [*scanning.device_rows(devices), *(row for each in files for row in scanning.rows_of(each))]
        rows = [row for row in found if not isinstance(row, Unread)]
        return rows, [row for row in found if isinstance(row, Unread)]

    return read


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise InputError(f"--listen is {text!r}; allowed: an address and a port, such as {_LISTEN}")
    return host.strip("[]"), int(port)


def _seconds(text: str) -> float:
    factors = {"s": 1.0, "min": 60.0, "h": 3600.0}
    for unit, factor in factors.items():
        number = text.removesuffix(unit)
        if number != text:
            try:
                seconds = float(number) * factor
            except ValueError:
                break
            if _SECONDS_MIN <= seconds < float("inf"):
                return seconds
            break
    raise InputError(f"--interval is {text!r}; allowed: at least {_SECONDS_MIN:g}s, such as 60s, 5min or 1h")
