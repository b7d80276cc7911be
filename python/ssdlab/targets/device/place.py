"""Where fio may write: files that are made for it in a folder, or a device that was claimed for it.

What is there already is never written to, but for a device that `ssdlab.safety` admits. Files lie in a folder of
our own, are held by their descriptors, and are removed afterwards, also after an error, unless they are to be kept.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ssdlab import safety
from ssdlab.errors import InputError, RunFailed
from ssdlab.quantities import format_bytes
from ssdlab.safety import Claim
from ssdlab.safety.held import HeldFile, HeldFolder
from ssdlab.safety.own_folder import DATA_SUFFIX, own_folder

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
    stem: str = f"{FILE_NAME}{DATA_SUFFIX}"
    """What the file of a job that names none is called."""
    keep: bool = False
    """Whether files that were made stay, under the names that `path_of` gives."""
    _made: dict[Path, HeldFile] = field(default_factory=dict)
    _own: HeldFolder | None = None
    _closing: ExitStack = field(default_factory=ExitStack)

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
                raise InputError(f"the job names the file {name!r}: a device is a single file; use a folder")
            return root
        if not name:
            return root / self.stem
        safe = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
        return root / f"{FILE_NAME}-{safe}{DATA_SUFFIX}"

    @property
    def opened_as(self) -> Mapping[Path, Path]:
        """From the files' names, or the device's, to the paths by which programs open what is held."""
        if self.is_device:
            return {self.claim.place.path: self.claim.path}
        return {name: file.path for name, file in self._made.items()}

    def make(self, files: Mapping[Path, int]) -> None:
        """Makes the files that are missing, with room reserved for their bytes. InputError when one is to be kept under
        a name that is taken, when another process measures in the folder, RunFailed when there is no room."""
        if self._own is None:
            self._own = self._closing.enter_context(own_folder(self.claim.folder, FILE_NAME))
        for path, size_bytes in files.items():
            if path in self._made:
                continue
            if self.keep and self.claim.folder.status_of(path.name) is not None:
                raise InputError(f"{path} already exists and is not overwritten; remove it or name another")
            try:
                file = self._own.make_file(f"{len(self._made)}{DATA_SUFFIX}")
            except OSError as error:
                raise InputError(f"{path}: cannot be created: {error.strerror}") from None
            self._made[path] = file
            try:
                os.posix_fallocate(file.descriptor, 0, size_bytes)
            except OSError as error:
                raise RunFailed(f"{path}: no space for its {format_bytes(size_bytes)}: {error.strerror}") from None

    def check(self) -> None:
        """Raises RunFailed when the name of a file that was made leads elsewhere, or it has got another name."""
        for file in self._made.values():
            file.check()

    def remove(self) -> None:
        """Takes the files away that were made."""
        while self._made:
            self._made.popitem()[1].remove()

    def close(self) -> None:
        """Takes everything away that was made, but moves files that are to be kept to their names. Raises RunFailed
        where such a name is taken by now; the file stays in our own folder then."""
        try:
            while self.keep and self._made:
                path, file = self._made.popitem()
                try:
                    file.move_to(self.claim.folder, path.name)
                except OSError as error:
                    raise RunFailed(f"{path}: the file was left at {file.where}: {error.strerror}") from None
            self.remove()
        finally:
            self._closing.close()


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
        raise InputError(f"--on {path}: no such device; `lsblk` lists the devices")
    if path.is_dir() or (not path.exists() and path.parent.is_dir()):
        return False
    if path.is_file():
        raise InputError(
            f"--on {path}: is an existing file, and its contents would be lost; name a folder, or a file that does "
            "not exist yet"
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
                f"--on {path}: {format_bytes(size_bytes)} are required, {format_bytes(claim.place.size_bytes)} are "
                "free; use a smaller --size"
            )
        place = Place(path, claim, size_bytes, keep=permission.keep)
        if folder != path:
            place.stem = path.name
        try:
            yield place
        finally:
            place.close()
