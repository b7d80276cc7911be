"""Where fio may write: files that are made for it in a folder, or a device that was claimed for it.

What is there already is never written to, but for a device behind the gate of `ssdlab.safety`. Files are removed
afterwards, also after an error, unless they are to be kept.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ssdlab import safety
from ssdlab.errors import InputError, RunFailed
from ssdlab.quantities import format_bytes
from ssdlab.safety import Claim

FILE_NAME = "ssdlab-measure"
"""What the files that measuring makes begin with."""

_KEPT_FREE_BYTES = 64 << 20


@dataclass
class Place:
    """What is measured: `size_bytes` is what a job sees as its drive."""

    path: Path
    """As it was named."""
    claim: Claim
    size_bytes: int
    stem: str = f"{FILE_NAME}.data"
    """What the file of a job that names none is called."""
    made: list[Path] = field(default_factory=list)

    @property
    def is_device(self) -> bool:
        return self.claim.place.is_device

    @property
    def what(self) -> str:
        """`folder`, `disk`, `partition` or `loop`."""
        return str(self.claim.place.kind)

    def path_of(self, name: str) -> Path:
        """The file that stands for a name of the job file; "" for the drive itself. InputError where it cannot be."""
        root = self.claim.place.path
        if self.is_device:
            if name:
                raise InputError(f"the job names the file {name!r}: on a device there is one, the device; use a folder")
            return root
        if not name:
            return root / self.stem
        safe = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
        return root / f"{FILE_NAME}-{safe}.data"

    def make(self, files: Sequence[Path], each_bytes: int) -> None:
        """Makes the files that are missing, with room reserved. InputError when one is there or there is no room."""
        for file in files:
            if file in self.made:
                continue
            try:
                handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            except FileExistsError:
                raise InputError(
                    f"{file} is there already, and is not written over; remove it or name another"
                ) from None
            except OSError as error:
                raise InputError(f"{file}: cannot be made: {error.strerror}") from None
            self.made.append(file)
            try:
                with os.fdopen(handle, "wb") as stream:
                    os.posix_fallocate(stream.fileno(), 0, each_bytes)
            except OSError as error:
                raise RunFailed(f"{file}: no room of {format_bytes(each_bytes)} for it: {error.strerror}") from None

    def remove(self) -> None:
        """Takes the files away that were made."""
        for file in self.made:
            with contextlib.suppress(FileNotFoundError):
                file.unlink()
        self.made.clear()


@dataclass(frozen=True)
class Permission:
    """What the user has allowed."""

    serial: str | None = None
    """`--destroy-data-on`."""
    discard_signatures: bool = False
    max_write_bytes: int | None = None
    keep: bool = False
    """Whether files that were made stay."""


def is_device(path: Path) -> bool:
    """Whether the path is a block device. Raises InputError for what is neither that nor a folder nor a new file."""
    if not path.exists() and _is_among_devices(path):
        raise InputError(f"--on {path}: there is no such device; `lsblk` lists those that there are")
    if path.is_dir() or (not path.exists() and path.parent.is_dir()):
        return False
    if path.is_file():
        raise InputError(
            f"--on {path}: is a file that is there already, and its contents would be lost; "
            "name a folder, or a file that does not exist yet"
        )
    return safety.locate(path).is_device


def _is_among_devices(path: Path) -> bool:
    """Whether a new file of that name would lie among the devices, in memory: a device's name was meant."""
    try:
        return path.parent.stat().st_dev == Path("/dev").stat().st_dev
    except OSError:
        return False


@contextlib.contextmanager
def claimed(path: Path, size_bytes: int | None, permission: Permission) -> Iterator[Place]:
    """The place, claimed; `size_bytes` of the files, or None on a device. Raises InputError and RunFailed."""
    on_device = is_device(path)
    folder = path if on_device or path.is_dir() else path.parent
    with safety.claim(
        folder,
        serial=permission.serial,
        discard_signatures=permission.discard_signatures,
        write_budget_bytes=permission.max_write_bytes,
    ) as claim:
        if on_device:
            yield Place(path, claim, claim.place.size_bytes)
            return
        assert size_bytes is not None
        if size_bytes + _KEPT_FREE_BYTES > claim.place.size_bytes:
            raise InputError(
                f"--on {path}: {format_bytes(size_bytes)} are wanted, {format_bytes(claim.place.size_bytes)} are free "
                "there; take a smaller --size"
            )
        place = Place(path, claim, size_bytes)
        if folder != path:
            place.stem = path.name
        try:
            yield place
        finally:
            if not permission.keep:
                place.remove()
