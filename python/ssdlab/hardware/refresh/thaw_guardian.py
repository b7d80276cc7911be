"""A small process that thaws a file system when the process that froze it has ended for any reason.

No process can write to a frozen file system, and a killed process cannot thaw it. The guardian waits for the end of a
pipe that only the parent holds open. If the parent reports a freeze and nothing more for too long, the guardian kills
it first: thawing while the parent can still write would not be safe. This file runs alone, without the package.
"""

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys

FIFREEZE = 0xC0045877
FITHAW = 0xC0045878

READY = b"r"
FREEZES = b"f"
"""The byte that the parent writes before it freezes, so that the guardian registers every freeze."""
THAWED = b"t"
FROZEN_SECONDS_MAX = 30


def start(folder: str, frozen_seconds_max: float = FROZEN_SECONDS_MAX) -> "tuple[int, subprocess.Popen[bytes]]":
    """Starts a guardian for the file system at a folder, and waits until it is ready. Returns the end of the pipe to
    hold open, and the process. Raises RuntimeError if it did not start."""
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, folder, str(os.getpid()), str(frozen_seconds_max)],
        stdin=read_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Ctrl-C in a terminal goes to all processes of its group, and the guardian has to survive it.
        start_new_session=True,
    )
    os.close(read_end)
    assert process.stdout is not None
    if process.stdout.read(1) != READY:
        os.close(write_end)
        process.wait()
        raise RuntimeError(f"the guardian of {folder} did not start")
    return write_end, process


def _watch(folder: str, parent: int, frozen_seconds_max: float) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    descriptor = os.open(folder, os.O_RDONLY)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    frozen = False
    while True:
        ready, _, _ = select.select([0], [], [], frozen_seconds_max if frozen else None)
        if not ready:
            # The parent's writes end before it does, so the end of the pipe shows that no write is in progress.
            with contextlib.suppress(OSError):
                os.kill(parent, signal.SIGKILL)
            select.select([0], [], [])
        said = os.read(0, 1)
        if not said:
            break
        frozen = said == FREEZES
    if frozen:
        with contextlib.suppress(OSError):
            fcntl.ioctl(descriptor, FITHAW, 0)


if __name__ == "__main__":
    _watch(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
