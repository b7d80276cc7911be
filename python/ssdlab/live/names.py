"""The names and addresses under which other machines can reach this one, for the links of a shared session."""

import contextlib
import socket

EVERYWHERE = "0.0.0.0"
"""All interfaces of this machine."""

# Addresses for documentation (RFC 5737): a route to one tells the address of the interface that leads outside.
_OUTSIDE = ("192.0.2.1", 9)


def names_of_this_machine() -> list[str]:
    """The addresses, the one of the interface that leads outside first, and the host's name. Nothing is sent."""
    found: list[str] = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Connecting a datagram socket only chooses the route.
        probe.connect(_OUTSIDE)
        found.append(str(probe.getsockname()[0]))
    name = socket.gethostname()
    with contextlib.suppress(OSError):
        found += [str(entry[4][0]) for entry in socket.getaddrinfo(name, None, socket.AF_INET)]
    outside = [address for address in found if not address.startswith("127.")]
    return list(dict.fromkeys([*outside, name]))
