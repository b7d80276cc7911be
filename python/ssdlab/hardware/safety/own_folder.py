"""A private folder inside a given folder: only its owner can enter it, and only one process at a time uses it.

A mark file in it shows that it belongs to ssdlab and which process uses it; that process locks the mark. The lock
distinguishes a folder left by a killed process, which is emptied and reused, from one in use, which is refused.
"""

import contextlib
import os
import stat
from collections.abc import Iterator

from ssdlab.errors import InputError
from ssdlab.hardware.safety.held import FileId, HeldFolder

MARK = "ssdlab.mark"
DATA_SUFFIX = ".data"
"""Suffix of the names of all files in the folder, except the mark."""
_TITLE = "This folder belongs to a measurement of ssdlab; its process is "


def check_not_open_to_others(folder: HeldFolder) -> None:
    """Raises InputError if other users could replace files in the folder: they have write permission and there is no
    sticky bit."""
    status = os.fstat(folder.descriptor)
    mode = stat.S_IMODE(status.st_mode)
    others = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_own_group(status.st_gid))
    if others and not mode & stat.S_ISVTX:
        raise InputError(
            f"{folder.path}: others may write there (mode {mode:04o}), and could replace the measured file; allowed: "
            "a folder that only its owner may write to (chmod go-w), or one with the sticky bit, like /tmp"
        )


def _is_own_group(number: int) -> bool:
    """Whether it is the user's private group, which many systems create with the user's name."""
    # Imported here and below, so that other systems reach the message that they are not supported.
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return (group.gr_gid, group.gr_name) == (user.pw_gid, user.pw_name) and set(group.gr_mem) <= {user.pw_name}


def name_in(prefix: str) -> str:
    """The folder's name, different for each user, so that folders of several users in /tmp do not collide."""
    return f"{prefix}-{os.geteuid()}"


@contextlib.contextmanager
def own_folder(parent: HeldFolder, prefix: str) -> Iterator[HeldFolder]:
    """Yields the folder, locked and empty except for its mark. Removes it at the end if it is empty.

    Raises InputError if another process uses it, or if its name belongs to something else.
    """
    name = name_in(prefix)
    where = parent.path / name
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent.descriptor)
        folder = parent.folder(name)
    except NotADirectoryError:
        raise InputError(f"{where} is not a folder, and ssdlab needs this name; remove it") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be created: {error.strerror}") from None
    try:
        _check_ours(folder)
        mark = _locked_mark(folder)
        try:
            _empty(folder)
            yield folder
        finally:
            _remove(parent, name, folder)
            os.close(mark)
    finally:
        folder.close()


def _check_ours(folder: HeldFolder) -> None:
    status = os.fstat(folder.descriptor)
    if status.st_uid != os.geteuid():
        raise InputError(f"{folder.path} belongs to another user (uid {status.st_uid}); name another folder")
    if stat.S_IMODE(status.st_mode) != 0o700:
        mode = stat.S_IMODE(status.st_mode)
        raise InputError(f"{folder.path} was not made by ssdlab (mode {mode:04o}, ours is 0700); remove it")
    for name in folder.names():
        found = folder.status_of(name)
        if found is not None and not (_is_mark(name, found) or _is_data(name, found)):
            raise InputError(f"{folder.path} holds {name}, which is not from ssdlab; remove it")


def _is_mark(name: str, status: os.stat_result) -> bool:
    return name == MARK and stat.S_ISREG(status.st_mode)


def _is_data(name: str, status: os.stat_result) -> bool:
    return name.endswith(DATA_SUFFIX) and stat.S_ISREG(status.st_mode)


def _locked_mark(folder: HeldFolder) -> int:
    """Returns the mark's descriptor, which holds the lock. A folder without a mark is accepted only if it is empty."""
    # Imported here, as above.
    import fcntl

    entries = folder.names()
    if MARK not in entries and entries:
        raise InputError(f"{folder.path} holds {entries[0]} and no marker of ssdlab; remove it")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    mark = os.open(MARK, flags, 0o600, dir_fd=folder.descriptor)
    try:
        text = os.pread(mark, 1024, 0).decode(errors="replace")
        if text and not text.startswith(_TITLE):
            raise InputError(f"{folder.path / MARK} is not ssdlab's; remove {folder.path}")
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            process = text.removeprefix(_TITLE).strip() or "unknown"
            raise InputError(
                f"{folder.path}: another measurement is running there (process {process}); wait for its end"
            ) from None
        if (named := folder.status_of(MARK)) is None or FileId.of(named) != FileId.of(os.fstat(mark)):
            raise InputError(f"{folder.path} is being removed by a finishing measurement; try again")
        os.ftruncate(mark, 0)
        os.pwrite(mark, f"{_TITLE}{os.getpid()}\n".encode(), 0)
    except BaseException:
        os.close(mark)
        raise
    return mark


def _empty(folder: HeldFolder) -> None:
    """Deletes files that a killed process left."""
    for name in folder.names():
        if name != MARK:
            os.unlink(name, dir_fd=folder.descriptor)


def _remove(parent: HeldFolder, name: str, folder: HeldFolder) -> None:
    """Removes the folder, unless files are left in it or its name belongs to another. The mark is removed last, while
    locked."""
    named = parent.status_of(name)
    if folder.names() != [MARK]:
        return
    os.unlink(MARK, dir_fd=folder.descriptor)
    if named is not None and FileId.of(named) == folder.id:
        # Another measurement can have started in it meanwhile.
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=parent.descriptor)
