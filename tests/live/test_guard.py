"""Access control: no answer without the token, from another origin, or for another host name."""

import http.client
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ssdlab.live.server import LiveServer
from waiting import SECONDS_MAX

Serve = Callable[..., LiveServer]


def status_of(server: LiveServer, path: str, **headers: str) -> tuple[int, bytes]:
    """Sends a request and returns the status and the body; `host` replaces the default header."""
    parts = urlsplit(server.address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS_MAX)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in ({"host": parts.netloc} | headers).items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_the_page_is_answered_by_its_address_alone(serve: Serve) -> None:
    server = serve()
    path = urlsplit(server.address).path
    token = path.strip("/")
    assert len(token) >= 32
    status, content = status_of(server, path)
    assert (status, b"<title>ssdlab live</title>" in content) == (200, True)
    assert status_of(server, f"{path}theme.css")[0] == 200
    for wrong in ("/", "/main.js", f"/{token}", f"/{token[:-1]}/", f"/x{token}/", f"//{token}/", f"/{token}x/"):
        assert status_of(server, wrong) == (404, b""), wrong
    for outside in ("../pyproject.toml", "..%2f..%2fserver.py", "reports/../../x", "reports/1/.hidden", "page.css/x"):
        assert status_of(server, path + outside)[0] == 404, outside


def test_other_names_and_origins_are_refused(serve: Serve) -> None:
    server = serve()
    parts = urlsplit(server.address)
    here = f"http://{parts.netloc}"
    assert status_of(server, parts.path, origin=here)[0] == 200
    assert status_of(server, parts.path, host=f"localhost:{parts.port}")[0] == 200
    # A foreign name that resolves to this address, as after DNS rebinding.
    assert status_of(server, parts.path, host=f"attacker.example:{parts.port}") == (404, b"")
    assert status_of(server, parts.path, host="127.0.0.1") == (404, b"")
    for origin in ("http://attacker.example", "null", f"http://localhost:{parts.port}", f"https://{parts.netloc}"):
        assert status_of(server, parts.path, origin=origin) == (404, b""), origin
    assert status_of(server, parts.path, sec_fetch_site="cross-site") == (404, b"")


def test_the_socket_wants_token_and_origin(serve: Serve) -> None:
    server = serve()
    parts = urlsplit(server.address)
    address, here = f"ws://{parts.netloc}{parts.path}socket", f"http://{parts.netloc}"
    with connect(address, origin=here, proxy=None, open_timeout=SECONDS_MAX) as page:  # type: ignore[arg-type]
        assert '"type": "hello"' in str(page.recv(SECONDS_MAX))
    wrong = [
        (f"ws://{parts.netloc}/socket", here),
        (f"ws://{parts.netloc}/{'A' * 32}/socket", here),
        (address, "http://attacker.example"),
        (address, None),
    ]
    for target, origin in wrong:
        with (
            pytest.raises(InvalidStatus),
            connect(target, origin=origin, proxy=None, open_timeout=SECONDS_MAX),  # type: ignore[arg-type]
        ):
            pass


def test_only_this_machine_can_reach_it(serve: Serve) -> None:
    server = serve()
    port = urlsplit(server.address).port
    try:
        own = [entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)]
    except socket.gaierror:
        pytest.skip("this machine's name has no address")
    for address in {str(address) for address in own} - {"127.0.0.1"}:
        if address.startswith("127."):
            continue
        with pytest.raises(OSError), socket.create_connection((address, port), timeout=2):
            pass


def test_what_the_page_may_do_is_said_to_the_browser(serve: Serve) -> None:
    server = serve()
    parts = urlsplit(server.address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS_MAX)
    connection.request("GET", parts.path)
    headers = {name.lower(): value for name, value in connection.getresponse().getheaders()}
    connection.close()
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
