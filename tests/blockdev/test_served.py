"""The drive over NBD: real clients copy to it, verify on it, and find what they wrote."""

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
from running_drives import DRIVE, Server

ServerMaker = Callable[..., Server]


def test_without_ublk_it_says_what_is_missing(tmp_path: Path) -> None:
    # The wheel has none, and this build is as the wheel.
    (tmp_path / "drive.toml").write_text(DRIVE)
    command = [sys.executable, "-m", "ssdlab", "serve", "--drive", str(tmp_path / "drive.toml"), "--ublk"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "--ublk: this build has no ublk: it is compiled in with the cargo feature `ublk`" in done.stderr
    done = subprocess.run([*command, "--port", "0"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--ublk makes a block device" in done.stderr


@needs("nbdinfo")
def test_a_client_sees_what_the_drive_can_do(serve: ServerMaker) -> None:
    for server in (serve(), serve("--port", "0")):
        said = subprocess.run(["nbdinfo", "--json", server.uri], capture_output=True, text=True, check=True).stdout
        (export,) = json.loads(said)["exports"]
        assert export["export-size"] == 268435456
        assert export["block_size_preferred"] == 4096
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


def fio_has_nbd() -> bool:
    try:
        return " nbd" in subprocess.run(["fio", "--enghelp"], capture_output=True, text=True).stdout.replace("\t", " ")
    except OSError:
        return False


@pytest.mark.skipif(not fio_has_nbd(), reason="no fio with the nbd engine")
def test_fio_verifies_what_it_wrote_under_cleaning_and_trims(serve: ServerMaker, tmp_path: Path) -> None:
    server = serve("--output", str(tmp_path / "statistics.json"))
    common = ["--ioengine=nbd", f"--uri={server.uri}", "--bs=4k", "--iodepth=16", "--output-format=json"]
    # The whole drive, then half of it trimmed in pieces, then random writes over all of it, each checked afterwards.
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
    # Requests after a proper start: one unknown, one past the end, one read.
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.recv(18, socket.MSG_WAITALL)
        client.sendall(struct.pack(">IQII", 3, 0x49484156454F5054, 1, 0))
        assert struct.unpack(">QH", client.recv(10, socket.MSG_WAITALL))[0] == 268435456
        for number, offset, length in ((99, 0, 0), (0, 268435456, 1), (0, 0, 512)):
            client.sendall(struct.pack(">IHHQQI", 0x25609513, 0, number, 7, offset, length))
            magic, error, cookie = struct.unpack(">IIQ", client.recv(16, socket.MSG_WAITALL))
            assert (magic, cookie) == (0x67446698, 7)
            assert error == {99: 95, 0: 22 if offset else 0}[number]
        assert client.recv(512, socket.MSG_WAITALL) == bytes(512)
    assert server.end(signal.SIGINT) == 0
    assert not Path(path).exists()
