"""The drive over NBD: real clients copy to it, verify their data and skip unwritten ranges; malicious clients use
little memory and do not block a connection for long."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from own_devices import needs
from running_drives import Server
from waiting import wait_for

ServerMaker = Callable[..., Server]


@needs("nbdinfo")
def test_a_client_sees_what_the_drive_can_do(serve: ServerMaker) -> None:
    for server in (serve(), serve("--port", "0")):
        said = subprocess.run(["nbdinfo", "--json", server.uri], capture_output=True, text=True, check=True).stdout
        (export,) = json.loads(said)["exports"]
        assert export["export-size"] == 268435456
        assert export["block_size_preferred"] == 4096
        assert export["block_size_maximum"] == 32 << 20
        assert export["contexts"] == ["base:allocation"]
        for can in ("can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn"):
            assert export[can], can
        assert not export["is_read_only"]


@needs("nbdcopy")
def test_a_file_is_copied_there_and_back_over_several_connections(serve: ServerMaker, tmp_path: Path) -> None:
    server = serve()
    data = os.urandom(32 << 20)
    (tmp_path / "data").write_bytes(data)
    for source, target in ((str(tmp_path / "data"), server.uri), (server.uri, str(tmp_path / "back"))):
        subprocess.run(["nbdcopy", "--connections=4", "--flush", source, target], check=True)
    assert (tmp_path / "back").read_bytes()[: len(data)] == data


@needs("qemu-img")
def test_qemu_writes_an_image_and_finds_no_difference(serve: ServerMaker, tmp_path: Path) -> None:
    server = serve()
    data = os.urandom(1 << 20) + bytes(15 << 20) + os.urandom(1 << 20)
    (tmp_path / "image").write_bytes(data + bytes(268435456 - len(data)))
    image = str(tmp_path / "image")
    command = ["qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", image, server.uri]
    subprocess.run(command, check=True)
    command = ["qemu-img", "compare", "-f", "raw", "-F", "raw", image, server.uri]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "identical" in done.stdout, done.stderr


# 256 KiB at 1 MiB, the same at 8 MiB without its second unit, one unit at the end; four simultaneous connections read
# all of it back and query the allocated ranges.
FOUR_CONNECTIONS = """
import errno, nbd, os, threading

size = h.get_size()
unit = bytes(range(256)) * 16
h.pwrite(unit * 64, 1 << 20)
h.pwrite(unit * 64, 8 << 20)
h.trim(4096, (8 << 20) + 4096)
h.pwrite(unit, size - 4096)
h.flush()

def expected(offset, length):
    there = [(1 << 20, 64), (8 << 20, 1), ((8 << 20) + 8192, 62), (size - 4096, 1)]
    data = bytearray(length)
    for start, units in there:
        for at in range(max(start, offset), min(start + units * 4096, offset + length), 4096):
            data[at - offset : at - offset + 4096] = unit
    return bytes(data)

wrong = []

def read_all(number):
    own = nbd.NBD()
    own.add_meta_context("base:allocation")
    own.connect_uri(uri)
    assert own.get_structured_replies_negotiated() and own.can_meta_context("base:allocation")
    for offset in range(number * (1 << 20), size, 4 << 20):
        if bytes(own.pread(1 << 20, offset)) != expected(offset, 1 << 20):
            wrong.append(offset)
    own.shutdown()

def guarded(number):
    try:
        read_all(number)
    except BaseException as error:
        wrong.append(error)

threads = [threading.Thread(target=guarded, args=(number,)) for number in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not wrong, wrong

extents = []
at = 0
while at < size:
    def note(context, offset, entries, error):
        assert context == "base:allocation"
        extents.extend(zip(entries[0::2], entries[1::2]))
    h.block_status(size - at, at, note)
    at = sum(length for length, _ in extents)
joined = []
for length, state in extents:
    if joined and joined[-1][1] == state:
        joined[-1][0] += length
    else:
        joined.append([length, state])
units = [[length // 4096, state] for length, state in joined]
assert units == [[256, 3], [64, 0], [1728, 3], [1, 0], [1, 3], [62, 0], [63423, 3], [1, 0]], units

one = []
h.block_status(size, 0, lambda context, offset, entries, error: one.extend(entries), nbd.CMD_FLAG_REQ_ONE)
assert one == [1 << 20, 3], one

# Past the end: what the protocol says of each command.
h.set_strict_mode(0)
past = size - 512
for name, request in {
    "EINVAL read": lambda: h.pread(1024, past),
    "ENOSPC write": lambda: h.pwrite(bytes(1024), past),
    "EINVAL trim": lambda: h.trim(1024, past),
    "ENOSPC zero": lambda: h.zero(1024, past),
    "EINVAL status": lambda: h.block_status(1024, past, lambda *_: 0),
    "EINVAL flags": lambda: h.pread(512, 0, 1 << 9),
    "EINVAL cache": lambda: h.cache(512, 0),
}.items():
    try:
        request()
        raise SystemExit(f"{name}: no error")
    except nbd.Error as error:
        assert error.errno == name.split()[0], (name, error.errno, error.string)
assert bytes(h.pread(4096, size - 4096)) == unit, "nothing of what reached past the end was written"
"""


@needs("nbdsh")
def test_four_connections_read_what_was_written_and_where_it_is(serve: ServerMaker) -> None:
    server = serve()
    script = f"uri = {server.uri!r}\n" + FOUR_CONNECTIONS
    command = ["nbdsh", "--base-allocation", "--uri", server.uri, "-c", script]
    # libnbd's module belongs to the system's Python, which is not always the first in the path.
    environment = os.environ | {"PATH": os.pathsep.join(("/usr/bin", os.environ["PATH"]))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


@needs("nbdinfo", "nbdcopy", "qemu-img", "qemu-io")
def test_clients_skip_what_was_never_written_or_was_trimmed(serve: ServerMaker, tmp_path: Path) -> None:
    server = serve("--output", str(tmp_path / "statistics.json"))

    def said(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def holes(*command: str) -> list[tuple[int, int, bool]]:
        return [
            (entry.get("offset", entry.get("start")), entry["length"], not entry.get("data", entry.get("type") == 0))
            for entry in json.loads(said(*command))
        ]

    maps = (["nbdinfo", "--map", "--json"], ["qemu-img", "map", "-f", "raw", "--output", "json"])
    for command in maps:
        assert holes(*command, server.uri) == [(0, 268435456, True)]
    # 4 MiB, then 1 MiB of it discarded and 1 MiB zeroed.
    words = (
        "write -P 7 16M 4M",
        "discard 17M 1M",
        "write -z -u 18M 1M",
        "read -P 7 16M 1M",
        "read -P 0 17M 2M",
        "flush",
    )
    wanted = [argument for word in words for argument in ("-c", word)]
    assert "Pattern verification failed" not in said("qemu-io", "-f", "raw", *wanted, server.uri)
    expected = [
        (0, 16 << 20, True),
        (16 << 20, 1 << 20, False),
        (17 << 20, 2 << 20, True),
        (19 << 20, 1 << 20, False),
        (20 << 20, 236 << 20, True),
    ]
    for command in maps:
        assert holes(*command, server.uri) == expected
    read_before = 3 << 20
    image, copy = tmp_path / "image", tmp_path / "copy"
    said("nbdcopy", server.uri, str(copy))
    said("qemu-img", "convert", "-f", "raw", "-O", "raw", server.uri, str(image))
    assert copy.stat().st_size == image.stat().st_size == 268435456
    assert copy.read_bytes() == image.read_bytes()
    assert copy.stat().st_blocks * 512 < 8 << 20, "holes stay holes"
    server.end(signal.SIGTERM)
    host = json.loads((tmp_path / "statistics.json").read_text())["ssdlab"]["host"]
    # Each client has read the two allocated MiB, and qemu also the first sector.
    assert read_before + (4 << 20) <= host["read_bytes"] < read_before + (8 << 20)


def fio_has_nbd() -> bool:
    try:
        return " nbd" in subprocess.run(["fio", "--enghelp"], capture_output=True, text=True).stdout.replace("\t", " ")
    except OSError:
        return False


@pytest.mark.skipif(not fio_has_nbd(), reason="no fio with the nbd engine")
def test_fio_verifies_what_it_wrote_under_gc_and_trims(serve: ServerMaker, tmp_path: Path) -> None:
    server = serve("--output", str(tmp_path / "statistics.json"))
    common = ["--ioengine=nbd", f"--uri={server.uri}", "--bs=4k", "--iodepth=16", "--output-format=json"]
    # Writes the whole drive, trims half of it in pieces, then writes all of it at random; each step is verified.
    for job in (
        ["--name=fill", "--rw=write", "--bs=256k", "--size=256m"],
        ["--name=trim", "--rw=randtrim", "--bs=64k", "--size=256m", "--io_size=64m", "--randseed=3"],
        ["--name=verify", "--rw=randwrite", "--size=256m", "--verify=crc32c", "--verify_fatal=1", "--do_verify=1"],
    ):
        done = subprocess.run(["fio", *common, *job], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        assert all(entry["error"] == 0 for entry in json.loads(done.stdout[done.stdout.index("{") :])["jobs"])
    server.end(signal.SIGTERM)
    statistics = json.loads((tmp_path / "statistics.json").read_text())
    assert statistics["ssdlab"]["host"]["trimmed_bytes"] >= 32 << 20
    assert statistics["ssdlab"]["waf"] > 1.2


def test_the_server_survives_nonsense_and_takes_its_socket_away(serve: ServerMaker) -> None:
    server = serve()
    path = server.uri.split("socket=")[1]
    for nonsense in (b"", b"GET / HTTP/1.1\r\n\r\n", struct.pack(">IQII", 3, 0x49484156454F5054, 7, 0xFFFFFFFF)):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            assert client.recv(18, socket.MSG_WAITALL).startswith(b"NBDMAGICIHAVEOPT")
            client.sendall(nonsense)
    # Requests after a valid handshake: one unknown, one past the end, one read.
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.recv(18, socket.MSG_WAITALL)
        client.sendall(struct.pack(">IQII", 3, 0x49484156454F5054, 1, 0))
        assert struct.unpack(">QH", client.recv(10, socket.MSG_WAITALL))[0] == 268435456
        for number, offset, length in ((99, 0, 0), (0, 268435456, 1), (0, 0, 512)):
            client.sendall(struct.pack(">IHHQQI", 0x25609513, 0, number, 7, offset, length))
            magic, error, cookie = struct.unpack(">IIQ", client.recv(16, socket.MSG_WAITALL))
            assert (magic, cookie) == (0x67446698, 7)
            assert error == {99: 22, 0: 22 if offset else 0}[number]
        assert client.recv(512, socket.MSG_WAITALL) == bytes(512)
    assert server.end(signal.SIGINT) == 0
    assert not Path(path).exists()


def _memory_mib(process: "subprocess.Popen[str]") -> int:
    """The peak memory of the process."""
    (line,) = (line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if "VmHWM" in line)
    return int(line.split()[1]) >> 10


@pytest.mark.parametrize("attack", ["announce", "send half", "read"])
def test_two_hundred_clients_that_mean_harm_take_little_memory(serve: ServerMaker, attack: str) -> None:
    # A regression: memory was reserved for a request's announced length before its data arrived. 200 connections, each
    # with a write of 32 MiB, took 6 GB; so did reads whose replies were not received.
    server = serve("--null")
    path = server.uri.split("socket=")[1]
    before_mib = _memory_mib(server.process)
    read, write = 0, 1
    clients = [socket.socket(socket.AF_UNIX) for _ in range(200)]
    taken = 0
    for client in clients:
        client.connect(path)
        if not client.recv(18, socket.MSG_WAITALL):
            continue
        client.sendall(struct.pack(">IQII", 3, 0x49484156454F5054, 1, 0))
        client.recv(10, socket.MSG_WAITALL)
        command = read if attack == "read" else write
        request = struct.pack(">IHHQQI", 0x25609513, 0, command, 7, 0, 32 << 20)
        client.sendall(request * 4 if attack == "read" else request)
        if attack == "send half":
            client.sendall(bytes(16 << 20))
        taken += 1
    assert taken == 64
    if attack == "read":
        # The server has started to reply to each.
        assert all(client.recv(16, socket.MSG_WAITALL) for client in clients[:taken])
    assert _memory_mib(server.process) - before_mib < 256
    # The first client to leave makes room, and a well-behaved client is served.
    clients[0].close()
    honest = wait_for("a place is free", lambda: _greeted(path))
    honest.close()
    for client in clients:
        client.close()
    assert server.end(signal.SIGINT) == 0


def _greeted(path: str) -> "socket.socket | None":
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    if client.recv(18, socket.MSG_WAITALL):
        return client
    client.close()
    return None


def test_so_many_connections_as_the_user_allows(serve: ServerMaker) -> None:
    server = serve("--connections", "1")
    path = server.uri.split("socket=")[1]
    client = _greeted(path)
    assert client is not None and _greeted(path) is None
    client.close()
    command = [sys.executable, "-m", "ssdlab", "serve", "--drive", "generic-tlc-480", "--connections", "0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "--connections" in done.stderr
