"""Mounts a drive at a folder, and unmounts it at the end, even after a failure."""

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ssdlab.errors import InputError, RunFailed, check_word
from ssdlab.foundation.quantities import format_bytes
from ssdlab.serving import guardian, loop
from ssdlab.serving.drive import ServedDrive
from ssdlab.simulator.drives import ResolvedDrive, load, resolve
from ssdlab.simulator.results.result import ResultJson

if TYPE_CHECKING:
    from ssdlab._engine import Mount

Pace = Literal["virtual", "real"]


@dataclass(frozen=True, repr=False)
class Mounted:
    """A drive mounted at a folder."""

    folder: Path
    loop: str | None
    """The path of the attached loop device, or None."""
    drive: ServedDrive
    _mount: "Mount"

    def __repr__(self) -> str:
        return f"<Mounted: {self.file}, {format_bytes(self.drive.size_bytes)}>"

    @property
    def file(self) -> Path:
        """The path of the drive as a file."""
        return self.folder / "drive"

    def statistics(self) -> ResultJson:
        """The result so far in fio's schema, with `waf` and `smart` under `ssdlab`, as in stats.json."""
        return self.drive.statistics()

    def wait(self) -> None:
        """Returns when the drive is unmounted from outside. Ctrl-C raises KeyboardInterrupt."""
        while not self._mount.wait(3600):
            pass


@contextlib.contextmanager
def mount(
    folder: str | Path,
    drive: ResolvedDrive | str | Path,
    *,
    seed: int = 1,
    store: str | Path | None = None,
    loop: bool = False,
    queue_depth: int | None = None,
    pace: Pace = "virtual",
    threads: int = 4,
    faults: Mapping[str, float] | None = None,
) -> Iterator[Mounted]:
    """Mounts a simulated drive at an empty folder for real programs, as `ssdlab mount` does, until the block ends.

    `folder / "drive"` is the drive as a file. `store` is a sparse file that keeps the contents; without it they are in
    memory. `loop` attaches a loop device, which requires root. `queue_depth` is the number of requests in the queue in
    simulated time, by default the number that are waiting. With `pace="virtual"` requests complete as fast as this
    machine can; with "real" when the simulated drive would complete them. `threads` is the number of requests served in
    parallel. `faults` are the shares of flash operations that fail, by kind ("uncorrectable_reads", "program_failures",
    "erase_failures").

    Raises InputError for the folder, the drive or the store, and RunFailed if the system lacks something, with its name
    in the message. Afterwards neither mount nor loop device is left, even if this process is killed.

        with ssdlab.mount("drive", ssdlab.drive("generic-tlc-480", scale="1/256")) as mounted:
            shutil.copy("big.db", mounted.file)
            mounted.statistics()["ssdlab"]["waf"]
    """
    check_word("--pace", pace, get_args(Pace))
    served = ServedDrive(
        drive if isinstance(drive, ResolvedDrive) else resolve(load(str(drive))),
        seed=seed,
        store=None if store is None else Path(store),
        queue_depth=queue_depth,
        real_pace=pace == "real",
        faults=faults,
    )
    with mounted(served, Path(folder), threads=threads, with_loop=loop) as place:
        yield place


@contextlib.contextmanager
def mounted(drive: ServedDrive, folder: Path, *, threads: int = 4, with_loop: bool = False) -> Iterator[Mounted]:
    """Mounts a drive at an empty folder until the block ends. A missing folder is created if its parent exists.

    Raises InputError for the folder, and RunFailed if the system lacks something, with its name in the message.
    Afterwards neither mount nor loop device is left, even if this process is killed.
    """
    folder = _checked(folder)
    if with_loop:
        loop.check()
    try:
        mount = drive.device.mount(folder, threads, drive.render)
    except OSError as error:
        raise RunFailed(_what_is_missing(folder, error)) from None
    if str(folder) not in guardian.mounted_folders():
        # The path was replaced, and the drive is mounted at a folder that was not checked.
        mount.unmount()
        raise RunFailed(f"{folder} was replaced by another folder; the drive was unmounted again")
    pipe = guardian.start(str(folder), None)
    device = None
    try:
        if with_loop:
            device = loop.attach(folder / "drive")
            # The new guardian covers the mount and the loop device.
            pipe_of_both = guardian.start(str(folder), device)
            guardian.stop(pipe)
            pipe = pipe_of_both
        yield Mounted(folder, device, drive, mount)
    finally:
        try:
            if device:
                loop.detach(device)
        except RunFailed:
            # The guardian detaches it by force.
            os.close(pipe)
            raise
        else:
            _unmount(mount, folder)
            guardian.stop(pipe)
            drive.close()


def _unmount(mount: "Mount", folder: Path) -> None:
    try:
        mount.unmount()
    except OSError:
        # A program has a file of the mount open; its requests fail from now on.
        guardian.clean(str(folder), None)


def _checked(folder: Path) -> Path:
    if not folder.exists():
        try:
            folder.mkdir()
        except OSError as error:
            raise InputError(f"{folder}: cannot be created: {error.strerror}") from None
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; a drive is mounted at an empty folder")
    folder = folder.resolve()
    if os.path.ismount(folder):
        raise InputError(f"{folder}: something is already mounted there; unmount it, or name another folder")
    if any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; mounting would hide its contents")
    return folder


def _what_is_missing(folder: Path, error: OSError) -> str:
    fuse = Path("/dev/fuse")
    if not fuse.exists():
        return f"{fuse} is missing: `modprobe fuse` loads it; a container must be given it (--device {fuse})"
    if not os.access(fuse, os.R_OK | os.W_OK):
        return f"{fuse} cannot be opened by this user, only by its group or root"
    if error.errno == errno.EPERM and os.geteuid() == 0:
        return f"{folder}: this system does not allow mounts, even for root: a container needs the capability SYS_ADMIN"
    if os.geteuid() != 0:
        return f"{folder}: mounting as a user requires fusermount3 of the package fuse3 ({error})"
    return f"{folder}: cannot be mounted: {error}"
