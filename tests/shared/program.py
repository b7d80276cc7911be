"""The program as a user calls it, in a folder, without the time that Python and its imports take to start.

A process that has imported the package's modules, one for each process of tests, forks itself at each call. The child
runs `python -m ssdlab` with its own folder, environment, input and output. A test of a start, or of two runs whose
processes have different hash seeds, takes a `fresh` program.
"""

import atexit
import contextlib
import gc
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_module

from ssdlab.cli.commands import COMMANDS, module_of

Program = Callable[..., subprocess.CompletedProcess[str]]

_SECONDS_MAX = 600
_MESSAGE_BYTES_MAX = 1 << 20
# What commands import when they need it, beside their own modules.
_LATER = ("jinja2", "polars", "pydantic", "scipy.optimize", "scipy.stats")


def program_in(folder: Path, columns: int = 80, fresh: bool = False) -> Program:
    """Calls the program in a folder, with a terminal of this width; `stdin` is given as bytes."""
    run = _run_fresh if fresh else _run_forked

    def call(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        return run([*map(str, arguments)], folder, os.environ | {"COLUMNS": str(columns)}, stdin)

    return call


def _run_fresh(
    arguments: list[str], folder: Path, environment: dict[str, str], stdin: bytes
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ssdlab", *arguments]
    ended = subprocess.run(command, capture_output=True, input=stdin, cwd=folder, timeout=_SECONDS_MAX, env=environment)
    return subprocess.CompletedProcess(command, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def _run_forked(
    arguments: list[str], folder: Path, environment: dict[str, str], stdin: bytes
) -> subprocess.CompletedProcess[str]:
    request = {"arguments": arguments, "folder": str(folder), "environment": environment}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        input_end, own_end = os.pipe()
        writer = threading.Thread(target=_write, args=(own_end, stdin), daemon=True)
        try:
            connection = _prepared()
            socket.send_fds(connection, [json.dumps(request).encode()], [input_end, out.fileno(), err.fileno()])
        finally:
            os.close(input_end)
        writer.start()
        process, code = _ended(connection)
        assert code is not None, f"ssdlab {' '.join(arguments)}: process {process} is at work after {_SECONDS_MAX} s"
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["ssdlab", *arguments], code, out.read().decode(), err.read().decode())


def _write(end: int, content: bytes) -> None:
    """Writes to a pipe that may be closed by its reader."""
    with os.fdopen(end, "wb", buffering=0) as pipe, contextlib.suppress(BrokenPipeError):
        pipe.write(content)


def _ended(connection: socket.socket) -> tuple[int, int | None]:
    """The process of a call and its exit code, None if it had to be killed."""
    process = json.loads(connection.recv(_MESSAGE_BYTES_MAX))
    connection.settimeout(_SECONDS_MAX)
    try:
        code = json.loads(connection.recv(_MESSAGE_BYTES_MAX))
    except TimeoutError:
        os.kill(process, 9)
        connection.settimeout(None)
        connection.recv(_MESSAGE_BYTES_MAX)
        return process, None
    connection.settimeout(None)
    return process, code


@cache
def _prepared() -> socket.socket:
    """A connection to the process that has the modules; it ends with the connection."""
    own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        subprocess.Popen([sys.executable, __file__, str(its.fileno())], pass_fds=[its.fileno()])
    return own


def end() -> None:
    """Ends the process that has the modules, if there is one."""
    if _prepared.cache_info().currsize:
        _prepared().close()
        _prepared.cache_clear()


def _serve(connection: socket.socket) -> None:
    """Forks a child for each request. Returns in the child, with its folder and streams."""
    while True:
        content, ends, _, _ = socket.recv_fds(connection, _MESSAGE_BYTES_MAX, 3)
        if not content:
            os._exit(0)
        child = os.fork()
        if child == 0:
            break
        for end in ends:
            os.close(end)
        connection.send(json.dumps(child).encode())
        connection.send(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    connection.close()
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    request = json.loads(content)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv[1:] = request["arguments"]
    sys.path[0] = request["folder"]


def _exit_code() -> int:
    """Of `python -m ssdlab`, run to its end as Python would."""
    try:
        run_module("ssdlab", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    for module in (*_LATER, *map(module_of, COMMANDS)):
        import_module(module)
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv.pop())))
    code = _exit_code()
    # What Python does at its end, but for taking apart all modules, which takes longer than a short call.
    vars(threading)["_shutdown"]()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
