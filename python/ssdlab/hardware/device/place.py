"""The places where fio is allowed to write: files created for it in a folder, or a claimed device.

Existing data is never overwritten, except on a device that `ssdlab.hardware.safety` permits. Files are created in a
private folder, opened by their descriptors, and removed afterwards, also after an error, unless they are to be kept.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware import safety
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.safety import Claim
from ssdlab.hardware.safety.generic import block_device_of
from ssdlab.hardware.safety.held import HeldFile, HeldFolder
from ssdlab.hardware.safety.own_folder import DATA_SUFFIX, own_folder

FILE_NAME = "ssdlab-measure"
"""The prefix of the names of files created for a measurement."""

_KEPT_FREE_BYTES = 64 << 20


@dataclass
class Place:
    """The place that is measured. `size_bytes` is the size of the drive for a job."""

    path: Path
    """The path given by the user."""
    claim: Claim
    size_bytes: int
    stem: str = f"{FILE_NAME}{DATA_SUFFIX}"
    """The name of the file for jobs that name none."""
    keep: bool = False
    """Whether the files created are kept, under the names that `path_of` returns."""
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
        """The path for a file name of the job file ("": the drive itself). Raises InputError for a name on a device."""
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
    def generic_path(self) -> Path:
        """The generic device of the claimed NVMe namespace. Raises InputError for other places."""
        generic = self.claim.hold_generic()
        if generic is None:
            raise InputError(
                f"ioengine=io_uring_cmd sends commands to a whole NVMe namespace, and {self.claim.place.in_words} is "
                "none with a generic device; use --on with one, such as /dev/nvme0n1, or another ioengine"
            )
        return generic.device.path

    @property
    def opened_as(self) -> Mapping[Path, Path]:
        """Maps the paths of the files, or of the device, to the descriptors' paths by which programs open them."""
        if self.is_device:
            held = self.claim.generic
            return {self.claim.place.path: self.claim.path} | ({held.device.path: held.path} if held else {})
        return {name: file.path for name, file in self._made.items()}

    def make(self, files: Mapping[Path, int]) -> None:
        """Creates the missing files and reserves their space. Raises InputError if a file to keep exists already, a
        file cannot be created, or another process measures in the folder; RunFailed if there is no space."""
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
        """Raises RunFailed if a file created here was renamed or replaced."""
        for file in self._made.values():
            file.check()

    def remove(self) -> None:
        """Removes the files created."""
        while self._made:
            self._made.popitem()[1].remove()

    def close(self) -> None:
        """Removes everything created, after moving files to be kept to their final names. Raises RunFailed if a file
        cannot be moved, such as when the name is taken; the file then stays in the private folder."""
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


def is_device(path: Path) -> bool:
    """Whether the path is a block device, or the generic device of an NVMe namespace. Raises InputError unless it is a
    device, a folder or a new file."""
    if not path.exists() and _is_among_devices(path):
        raise InputError(f"--on {path}: no such device; `lsblk` lists the devices")
    if path.is_dir() or (not path.exists() and path.parent.is_dir()):
        return False
    if path.is_file():
        raise InputError(
            f"--on {path}: is an existing file, and its contents would be lost; name a folder, or a file that does "
            "not exist yet"
        )
    return safety.locate(block_device_of(path)).is_device


def size_of(device: Path) -> int:
    """The size of a device in bytes, without a claim."""
    return safety.locate(block_device_of(device)).size_bytes


def _is_among_devices(path: Path) -> bool:
    """Whether the path is in the file system of /dev: a missing file there is a mistyped device."""
    try:
        return path.parent.stat().st_dev == Path("/dev").stat().st_dev
    except OSError:
        return False


@contextlib.contextmanager
def claimed(path: Path, size_bytes: int | None, permission: Permission) -> Iterator[Place]:
    """Yields the claimed place. `size_bytes` is the size of the files, or None for a device. Raises InputError and
    RunFailed."""
    on_device = is_device(path)
    folder = block_device_of(path) if on_device else path if path.is_dir() else path.parent
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
