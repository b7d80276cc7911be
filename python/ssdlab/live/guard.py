"""Authorises requests: only the browser that has the address with its token, on this machine, from the page itself.

A shared session has a second address, for looking only: with its own token, at its own port, for other machines too.

Other web pages can make a browser send requests to this machine. They do not have the token; their requests have their
own origin; and with a host name that resolves to this machine (DNS rebinding), requests have that name as host. Any of
these is sufficient for a refusal, and a refusal gives no reason.
"""

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TOKEN_BYTES = 24

# No inline scripts or styles, and nothing from elsewhere. Scripts can set styles through properties.
_HEADERS = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}


def new_token() -> str:
    """A token that cannot be guessed, usable in an address."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


SHARED = "ssdlab.shared"
"""The key of a request's scope that says whether it may only look."""


@dataclass(frozen=True)
class Door:
    """An address of the page. `authorities` are HOST:PORT as browsers write them in the header Host."""

    token: str
    authorities: frozenset[str]
    is_shared: bool = False


class Guard:
    """Passes requests for `/TOKEN/...` of a door at one of its authorities, from pages of the same origin, to an
    application."""

    def __init__(self, application: ASGIApp, doors: Sequence[Door]) -> None:
        self._application = application
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif (door := next((each for each in self._doors if _is_welcome(scope, each)), None)) is None:
            await _refuse(scope, receive, send)
        else:
            inside = {**scope, SHARED: door.is_shared}
            inside["path"] = "/" + str(scope["path"]).removeprefix("/").partition("/")[2]
            inside["raw_path"] = inside["path"].encode()

            async def guarded(message: Message) -> None:
                if message["type"] == "http.response.start":
                    said = {name.lower() for name, _ in message["headers"]}
                    more = [(name, value) for name, value in _HEADERS.items() if name not in said]
                    message = {**message, "headers": [*message["headers"], *more]}
                await send(message)

            await self._application(inside, receive, guarded)


def _is_welcome(scope: Scope, door: Door) -> bool:
    headers = [(bytes(name).lower(), bytes(value)) for name, value in scope["headers"]]
    named = {name: value.decode("latin-1") for name, value in headers}
    if sum(name == b"host" for name, _ in headers) != 1 or named[b"host"] not in door.authorities:
        return False
    origin = named.get(b"origin")
    # Browsers always send the origin when they open a socket; for other requests it must match if present.
    if origin is None and scope["type"] == "websocket":
        return False
    if origin is not None and origin != f"http://{named[b'host']}":
        return False
    if named.get(b"sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    # Without the slash behind it, relative links of the page would not work.
    token, slash, _ = str(scope["path"]).removeprefix("/").partition("/")
    return hmac.compare_digest(token.encode(), door.token.encode()) and bool(slash)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        # Closed before it is accepted: the browser sees a refused handshake.
        await send({"type": "websocket.close", "code": 1008})
    else:
        await Response(status_code=404)(scope, receive, send)
