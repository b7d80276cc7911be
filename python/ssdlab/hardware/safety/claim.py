"""The claim that is required before writing: it checks, holds the device, checks again, and counts written bytes.

The path is opened once and held by that descriptor, so that a later change of the path has no effect. An exclusive open
(O_EXCL) keeps out all other exclusive opens: mounts, mkfs, swapon, volume managers, assembly of arrays. It does not
keep out programs that open the device without O_EXCL, as fio has to.
"""

import contextlib
import errno
import mmap
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.safety import generic, health, own_folder, sysfs, uses
from ssdlab.hardware.safety.generic import HeldGeneric
from ssdlab.hardware.safety.held import FileId, HeldFolder, open_same, path_of
from ssdlab.hardware.safety.place import Kind, Place, locate
from ssdlab.hardware.safety.signatures import signatures_of
from ssdlab.hardware.smart.source import Report, Unavailable

OPTION = "--destroy-data-on"
_LOOKS = 10
_LOOK_SECONDS = 0.2


class Claim:
    """The right to write to a place, created by `claim` and valid until the end of its context."""

    def __init__(
        self,
        place: Place,
        held: int,
        exclusive: int | None,
        write_budget_bytes: int | None,
        closing: contextlib.ExitStack,
    ) -> None:
        self.place = place
        self.generic: HeldGeneric | None = None
        """The generic device, once it is held."""
        self._closing = closing
        self.write_budget_bytes = write_budget_bytes
        self.written_bytes = 0
        self._held = held
        self._exclusive = exclusive
        self._is_lent = False
        self.smart = health.read(place)
        """SMART at the start, or the reason why it is not available."""
        self._check_health(self.smart)

    @property
    def budget_left_bytes(self) -> int | None:
        """Bytes of the write budget that are left, or None without a limit."""
        return None if self.write_budget_bytes is None else max(0, self.write_budget_bytes - self.written_bytes)

    @property
    def path(self) -> Path:
        """The path by which other programs open the claimed place, even if its name has changed."""
        return path_of(self._held)

    def hold_generic(self) -> HeldGeneric | None:
        """Holds the generic device of the claimed NVMe namespace too, until the end of the claim, for programs that
        send NVMe commands. None for a place without, also for a partition: it would reach the whole namespace.

        Raises InputError if the device is not that of the namespace.
        """
        if self.generic is None and self.place.kind == Kind.DISK:
            self.generic = self._closing.enter_context(generic.held(self.place.disk or "", self._held))
        return self.generic

    @property
    def folder(self) -> HeldFolder:
        """The claimed folder. Raises ValueError for a device."""
        if self.place.is_device:
            raise ValueError(f"{self.place.path} is a device")
        return HeldFolder(self.place.path, self._held)

    def recheck(self, planned_write_bytes: int = 0) -> Report | Unavailable:
        """Must be called before each phase, with the bytes it will write. Returns the current SMART data.

        Raises RunFailed if the device is gone or was replaced, if it has come into use, if the budget or the free space
        is insufficient, on a critical warning or temperature, or if SMART was readable at the start but is not now.
        """
        self._check_budget(planned_write_bytes)
        if self.place.is_device:
            self._check_device()
        else:
            self._check_folder(planned_write_bytes)
        smart = health.read(self.place)
        self._check_health(smart)
        return smart

    def count_written(self, written_bytes: int) -> None:
        """Must be called after each phase. Raises RunFailed if more was written than the budget allows."""
        self.written_bytes += written_bytes
        if self.write_budget_bytes is not None and self.written_bytes > self.write_budget_bytes:
            raise RunFailed(
                f"{self.place.path}: {format_bytes(self.written_bytes)} have been written, and --max-write allows "
                f"{format_bytes(self.write_budget_bytes)}: the run stops here"
            )

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Releases the exclusive hold while ssdlab creates and mounts a file system, because the kernel holds the
        device for the mount.

        Raises RunFailed if the device cannot be held again afterwards because another program has taken it.
        """
        if self._exclusive is None:
            yield
            return
        # The descriptor number stays reserved, but the device behind it is closed.
        _open_instead(self._exclusive, os.devnull, os.O_RDONLY)
        self._is_lent = True
        try:
            yield
        finally:
            try:
                _open_instead(self._exclusive, self.path, os.O_RDONLY | os.O_EXCL)
            except OSError as error:
                raise RunFailed(f"{self.place.path} cannot be claimed again: {error.strerror}") from None
            self._is_lent = False

    def _check_budget(self, planned_write_bytes: int) -> None:
        left = self.budget_left_bytes
        if left is not None and planned_write_bytes > left:
            raise RunFailed(
                f"{self.place.path}: the next phase writes {format_bytes(planned_write_bytes)}, but only "
                f"{format_bytes(left)} of --max-write {format_bytes(self.write_budget_bytes or 0)} are left"
            )

    def _check_folder(self, planned_write_bytes: int) -> None:
        path = self.place.path
        if not path.is_dir():
            raise RunFailed(f"{path} no longer exists: its drive was removed, or it was unmounted")
        if FileId.of(path.stat()) != self.place.file_id:
            raise RunFailed(f"{path} was replaced by another folder; nothing was written to it")
        room = os.statvfs(self._held)
        free_bytes = room.f_bavail * room.f_frsize
        if planned_write_bytes > free_bytes:
            raise RunFailed(
                f"{self.place.path}: the next phase needs {format_bytes(planned_write_bytes)}, and "
                f"{format_bytes(free_bytes)} are free"
            )

    def _check_device(self) -> None:
        path = self.place.path
        try:
            now = locate(path)
        except InputError as error:
            raise RunFailed(f"{path} is gone: {error}") from None
        if (now.file_id, now.disk, now.size_bytes, now.identities) != (
            self.place.file_id,
            self.place.disk,
            self.place.size_bytes,
            self.place.identities,
        ):
            raise RunFailed(
                f"{path} is now {now.in_words} with the identity {_names(now)}; at the start it was "
                f"{self.place.in_words} with the identity {_names(self.place)}"
            )
        if self.generic and generic.of_disk(now.disk or "") != self.generic.device:
            raise RunFailed(f"{self.generic.device.path} is no longer the generic device of {path}")
        _read_ends(now, self._held, RunFailed)
        # While the device is lent, the run's own mount is allowed; any other use is not.
        found = [use for use in _lasting_uses(self.place) if not (self._is_lent and self._is_own_mount(use))]
        if found:
            raise RunFailed(f"{path} has come into use during the run: {_in_words(found)}")

    def _is_own_mount(self, use: uses.Use) -> bool:
        return use.how == "mount" and use.device == self.place.device

    def _check_health(self, smart: Report | Unavailable) -> None:
        if isinstance(smart, Unavailable):
            if isinstance(self.smart, Report):
                raise RunFailed(
                    f"{self.place.path}: SMART could be read at the start but not now: {smart.reason}; "
                    "the drive may be failing"
                )
            return
        trouble = health.trouble(smart.reading)
        if trouble:
            raise RunFailed(f"{self.place.path}: {trouble}. ssdlab stops writing to it")


def _open_instead(descriptor: int, path: Path | str, flags: int) -> None:
    opened = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.dup2(opened, descriptor, inheritable=False)
    finally:
        os.close(opened)


@contextlib.contextmanager
def claim(
    path: Path | str,
    *,
    serial: str | None = None,
    discard_signatures: bool = False,
    write_budget_bytes: int | None = None,
) -> Iterator[Claim]:
    """Claims a folder, in which the caller creates files, or a device, whose contents are allowed to be destroyed.

    `serial` is the value of --destroy-data-on: the serial number, WWN or `loop:INODE:SIZE` of the disk; it must be None
    for a folder. The device is opened for reading only. Programs that require exclusive access are kept out:
    `blkdiscard` needs --force, `sfdisk` --no-reread. Raises InputError, with the reason and a remedy, and RunFailed for
    an unhealthy drive.
    """
    place = locate(path)
    if not place.is_device:
        _check_folder(place, serial)
        with _held(place, os.O_RDONLY | os.O_DIRECTORY) as folder, contextlib.ExitStack() as closing:
            own_folder.check_not_open_to_others(HeldFolder(place.path, folder))
            yield Claim(place, folder, None, write_budget_bytes, closing)
        return
    _check_name(place, serial)
    _check_unused(place)
    # Opened for reading, because closing a device that was open for writing makes udev probe it again.
    with _held(place, os.O_RDONLY) as held, _exclusively(place, held) as exclusive:
        # Detects users that appeared between the first check and the hold; no new ones can appear now.
        _check_unused(place)
        _read_ends(place, held, InputError)
        _check_signatures(place, discard_signatures)
        with contextlib.ExitStack() as closing:
            yield Claim(place, held, exclusive, write_budget_bytes, closing)


def _check_folder(place: Place, serial: str | None) -> None:
    if place.kind == Kind.FILE:
        raise InputError(
            f"{place.in_words} was not created by ssdlab and would be overwritten; name its folder instead, in which "
            "ssdlab creates a new file"
        )
    if serial is not None:
        raise InputError(f"{OPTION} {serial}: {place.path} is a folder; only devices are destroyed. Leave it out")
    if not os.access(place.path, os.W_OK):
        raise InputError(f"{place.path}: this user may not write there; name another folder")


def _check_name(place: Place, serial: str | None) -> None:
    if place.kind == Kind.VIRTUAL:
        raise InputError(
            f"{place.in_words} is built on other devices or on memory, so it does not behave like a drive; name the "
            "disk, a partition of it or a folder"
        )
    if not place.identities:
        raise InputError(
            f"{place.in_words} has no readable serial number or WWN, so it cannot be identified; its data is not "
            "destroyed. Name a folder on it instead"
        )
    if serial is None:
        raise InputError(
            f"{place.in_words}: all data on it would be destroyed. Check that it is the right device, and then add "
            f"{OPTION} {_option_word(place.identities[0])}"
        )
    if serial.strip() not in place.identities:
        raise InputError(
            f"{OPTION} {serial}: {place.in_words} is another drive, with the identity {_names(place)}; `lsblk "
            f"-o NAME,SERIAL,WWN` "
            "lists all"
        )
    if os.geteuid() != 0 and not os.access(place.path, os.R_OK | os.W_OK):
        raise InputError(f"{place.path}: this user may not write to it; run ssdlab as root")
    if sysfs.read(sysfs.folder_of(place.device or "") / "ro") == "1":
        raise InputError(f"{place.in_words} is read-only; `blockdev --setrw` changes that where the drive allows it")


def _lasting_uses(place: Place) -> list[uses.Use]:
    """The uses of the place that persist. Programs that scan loop devices open them briefly, so writers are given time
    to end."""
    found: list[uses.Use] = []
    for look in range(_LOOKS):
        if look:
            time.sleep(_LOOK_SECONDS)
        found = uses.uses_of(place.disk or "")
        if not found or any(use.how != "writer" for use in found):
            break
    return found


def _open_exclusively(path: Path) -> int:
    for look in range(_LOOKS):
        try:
            return os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.EBUSY or look == _LOOKS - 1:
                raise
            time.sleep(_LOOK_SECONDS)
    raise AssertionError("the last look returns or raises")


def _check_unused(place: Place) -> None:
    found = _lasting_uses(place)
    if found:
        raise InputError(f"{place.in_words} is in use; nothing was changed. {_in_words(found)}")


@contextlib.contextmanager
def _held(place: Place, flags: int) -> Iterator[int]:
    """Opens the place once. Raises InputError if it is not the place that was checked."""
    try:
        descriptor = open_same(place.path, flags, place.file_id)
    except OSError as error:
        raise InputError(f"{place.in_words} cannot be opened: {error.strerror}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _exclusively(place: Place, held: int) -> Iterator[int]:
    """Opens the held device again with O_EXCL, so that no other program can open it exclusively."""
    try:
        descriptor = _open_exclusively(path_of(held))
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise InputError(f"{place.in_words} cannot be opened: {error.strerror}") from None
        raise InputError(
            f"{place.in_words} is held by something that is not visible here (a ZFS pool, another container, a "
            "running mkfs, another ssdlab); end that first. Nothing was changed"
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _check_signatures(place: Place, discard: bool) -> None:
    found = signatures_of(place.device or "")
    if found and not discard:
        raise InputError(
            f"{place.in_words} is not empty: {'; '.join(found)}. To overwrite it, add --discard-signatures"
        )


def _read_ends(place: Place, held: int, failure: type[InputError | RunFailed]) -> None:
    """Reads the first and the last sector without the cache, so that a removed drive is noticed."""
    sector_bytes = 4096
    try:
        descriptor = os.open(path_of(held), os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
        try:
            with mmap.mmap(-1, sector_bytes) as buffer:
                for offset in (0, max(0, (place.size_bytes // sector_bytes - 1) * sector_bytes)):
                    if os.preadv(descriptor, [buffer], offset) != sector_bytes:
                        raise failure(
                            f"{place.in_words} cannot be read at byte {offset}: it is shorter than its stated size"
                        )
        finally:
            os.close(descriptor)
    except OSError as error:
        raise failure(f"{place.in_words} cannot be read: {error.strerror}") from None


def _names(place: Place) -> str:
    return " or ".join(place.identities) or "(none)"


def _option_word(name: str) -> str:
    return f"'{name}'" if " " in name else name


def _in_words(found: list[uses.Use]) -> str:
    return "; ".join(use.in_words for use in found)
