"""`ssdlab serve`: serves a simulated drive over NBD, or as an NVMe controller."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import drive_options, options
from ssdlab.cli.drive_options import give_end
from ssdlab.cli.form import Form
from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes
from ssdlab.serving import nbd, nvme
from ssdlab.serving.watching import watchable
from ssdlab.serving.what_if import WhatIf

if TYPE_CHECKING:
    from ssdlab.serving.drive import ServedDrive


@dataclass(frozen=True)
class Address:
    """The address of the drive, as options."""

    socket: Annotated[
        str | None, typer.Option("--socket", metavar="PATH", help="The unix socket.  [default: ssdlab.sock]")
    ] = None
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, metavar="N", help="A TCP port instead; NBD's is 10809.")
    ] = None
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="NAME", help="Address to listen on, with --port or --nvme.  [default: localhost]"
        ),
    ] = None
    nvme: Annotated[
        int | None,
        typer.Option(
            "--nvme",
            min=0,
            max=65535,
            metavar="PORT",
            help="An NVMe controller over TCP instead; the usual port is 4420, and 0 selects a free one.",
        ),
    ] = None
    connections: Annotated[
        int | None,
        typer.Option(
            "--connections",
            min=1,
            max=1024,
            metavar="N",
            help="Maximum NBD clients; further ones are rejected.  [default: 64]",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.port is not None and self.socket is not None:
            raise InputError("--socket and --port exclude each other")
        if self.port is None and self.nvme is None and self.host is not None:
            raise InputError("--host requires --port or --nvme")
        is_for_nbd = any(given is not None for given in (self.port, self.socket, self.connections))
        if self.nvme is not None and is_for_nbd:
            raise InputError("--nvme makes an NVMe controller; --socket, --port and --connections are for NBD")


def serve(
    drive: drive_options.Drive,
    changes: options.Changes,
    serving: drive_options.Served,
    address: Address,
    seed: options.Seed = 1,
    *,
    form: Form,
    output: drive_options.Output = None,
) -> None:
    """Serve a simulated drive over NBD, or as an NVMe controller, until Ctrl-C.

    For qemu, nbdcopy, fio's nbd engine and others: reads, writes, trims, zeroes, flushes, forced unit access, block
    status, several connections. The address is printed. SIGUSR1 writes the statistics to --output at any time.

    Ranges that were never written or were trimmed are holes, which clients skip. With --socket drive.sock:

    \b
      qemu-img map -f raw 'nbd+unix:///?socket=drive.sock'
      nbdcopy image.raw 'nbd+unix:///?socket=drive.sock'

    With --nvme 4420 the drive is an NVMe controller over TCP, which Linux attaches as root with the printed command:
    /dev/nvme0n1, with SMART logs, for nvme-cli, smartctl, fio and file systems. At the end the phases are printed.

    Any process that can reach the address can read and write the drive: only processes on this machine, unless --host
    is given. For TLS, put nbdkit's nbd plugin in front of the socket.
    """
    write = drive_options.writer_of(output)
    resolved = changes.of(drive)
    served = serving.drive(resolved, seed, knows_zones=address.nvme is not None)
    asked = WhatIf(served, resolved, serving.what_if)
    signal.signal(signal.SIGUSR1, lambda _number, _frame: write(served.render(served.device.state())))
    with _place(served, address) as place, watchable(served, place) as unseen:
        form.say(place)
        if unseen:
            typer.echo(f"note: ssdlab live cannot watch it: {unseen}", err=True)
        what = f"{resolved.name}, {format_bytes(served.size_bytes)}"
        typer.echo(f"{what}; contents in {serving.place}; press Ctrl-C to end", err=True)
        try:
            # Python runs signal handlers between the waits.
            while not threading.Event().wait(3600):
                pass
        except KeyboardInterrupt:
            typer.echo("stopping", err=True)
    give_end(served, asked, write, form)


@contextlib.contextmanager
def _place(served: "ServedDrive", address: Address) -> Iterator[str]:
    """Serves the drive and yields its address: an NBD URI, or a host's command."""
    if address.nvme is not None:
        host = address.host or nvme.LOCALHOST
        if not nvme.is_loopback(host):
            note = f"note: {host} can be reached from other machines: whoever does can read and write the drive"
            if nvme.is_every_address(host):
                note += "; they name an address of this machine behind -a"
            typer.echo(note, err=True)
        with nvme.at_port(served, host, address.nvme) as attachable:
            yield attachable.command
            if attachable.hosts:
                note = f"note: attached hosts: {attachable.hosts}; that they give the drive up takes at most 12 s"
                typer.echo(note, err=True)
        return
    connections = address.connections or nbd.CONNECTIONS
    if address.port is None:
        place = nbd.at_socket(served, Path(address.socket or "ssdlab.sock").absolute(), connections)
    else:
        place = nbd.at_port(served, address.host or nbd.LOCALHOST, address.port, connections)
    with place as at:
        yield at.uri
        if at.refused:
            note = f"note: {at.refused} clients were rejected, because {connections} were connected (--connections)"
            typer.echo(note, err=True)
