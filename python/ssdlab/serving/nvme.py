"""Serves a drive as an NVMe controller over TCP, and disconnects the hosts on this machine at the end."""

import contextlib
import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.serving import guardian
from ssdlab.serving.drive import ServedDrive

if TYPE_CHECKING:
    from ssdlab._engine import NvmeServer

LOCALHOST = "127.0.0.1"


@dataclass(frozen=True)
class Attachable:
    """A drive that hosts can attach."""

    host: str
    port: int
    nqn: str
    """The name of the subsystem, which a stored drive keeps."""
    _server: "NvmeServer"

    @property
    def command(self) -> str:
        """What this machine runs, as root, to attach the drive. Another host names the address by which it reaches this
        one."""
        return f"nvme connect -t tcp -a {_reached_here(self.host)} -s {self.port} -n {self.nqn}"

    @property
    def hosts(self) -> int:
        """The number of hosts that have the drive attached."""
        return self._server.hosts


@contextlib.contextmanager
def at_port(drive: ServedDrive, host: str, port: int) -> Iterator[Attachable]:
    """Serves the drive at a TCP port of a numeric address; 0 selects a free port. Raises InputError if this fails.

    At the end, also if this process is killed, the controllers of this machine that have the drive attached are
    removed, which requires root. Others are refused when they connect again, so that they give up.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise InputError(f"--host {host}: --nvme needs a numeric address, such as {LOCALHOST}") from None

    try:
        server = drive.device.serve_nvme(host, port, drive.description()["name"], drive.render_logs)
    except OSError as error:
        raise InputError(f"{host}, port {port}: {error.strerror or error}") from None
    pipe = guardian.start(None, None, server.nqn)
    try:
        yield Attachable(host, server.port, server.nqn, server)
    finally:
        # While it is still served, so that the hosts can flush.
        guardian.disconnect(server.nqn)
        server.stop()
        guardian.stop(pipe)
        drive.close()


def is_every_address(host: str) -> bool:
    """Whether the address stands for all addresses of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _reached_here(host: str) -> str:
    """The address by which this machine reaches a server that listens at `host`."""
    if not is_every_address(host):
        return host
    return LOCALHOST if ipaddress.ip_address(host).version == 4 else "::1"


def is_loopback(host: str) -> bool:
    """Whether only processes on this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
