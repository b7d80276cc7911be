"""Writes results so that an interrupted run never leaves incomplete files.

Files are written to a temporary folder next to their destination and moved there when all are complete. During this
time both folders are held open by descriptors, so that no other user with write access can redirect the files.

An output folder has `report.html` and `result.json` at the top, tables in `data/` and pictures in `pictures/`.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ssdlab.errors import InputError, NoRoom, RunFailed, naming

_UNFINISHED = ".writing-"
"""The prefix of names of incomplete files and folders."""
_DATA = "data"
_complete: dict[Path, None] = {}
"""The folders and files that this process has completed, in order."""


def note_complete(path: Path) -> None:
    """Notes a file that was written in another way than by this module, for `completed_sentence`."""
    _complete[path] = None


def completed_sentence() -> str:
    """What this process has written until now, for the message of a command that ends early."""
    return f"complete before: {', '.join(map(str, _complete))}" if _complete else "nothing was written"


def data_name(name: str) -> str:
    """The path of the table `name` relative to an output folder."""
    return f"{_DATA}/{name}.parquet"


def data_file(directory: Path, name: str) -> Path:
    """The path of the table `name` in an output folder; makes its parent folder."""
    path = directory / data_name(name)
    path.parent.mkdir(exist_ok=True)
    return path


def names_in(directory: Path) -> list[str]:
    """The relative paths of all files in the folder and its subfolders, sorted."""
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


@contextmanager
def staged(directory: Path, file: Path | None = None) -> Iterator[Path]:
    """Yields a temporary folder; its files move into `directory` at the end, or are deleted on an error. `file` is the
    only one, if there is one.

    Files of the same name are replaced, others stay. Raises InputError if `directory` is not writable.
    """
    check_writable(directory)
    directory.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=directory))
    try:
        with _held(temporary) as source, _held(directory) as target:
            try:
                with naming(lambda: directory / _newest(source)):
                    yield source
            except NoRoom as error:
                # Raised with the temporary name inside the block.
                raise NoRoom(str(error).replace(f"{source}/", f"{directory}/")) from None
            _move_all(source, target, directory)
        note_complete(file or directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _remove_when_empty(directory)


def remove_unfinished(directory: Path) -> None:
    """Removes the incomplete files that a killed process has left in its output folder."""
    for left in directory.glob(f"{_UNFINISHED}*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _newest(folder: Path) -> Path:
    """The most recently written file, relative to the folder; an empty path without files."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return max(files, key=lambda path: path.stat().st_mtime_ns).relative_to(folder) if files else Path()


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """Yields the path to write one file to; it then gets its name, complete or not at all.

    A link of that name is replaced, and its target does not change. Raises InputError if the folder is not writable.
    """
    with staged(path.parent, path) as folder:
        yield folder / path.name


@contextmanager
def _held(folder: Path) -> Iterator[Path]:
    """Yields a path to this folder that stays valid if the folder is renamed; without /proc, its name."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        path = Path(f"/proc/self/fd/{descriptor}")
        yield path if path.exists() else folder
    finally:
        os.close(descriptor)


def _move_all(source: Path, directory: Path, shown_as: Path) -> None:
    """Moves the files one by one, which is fast. On Ctrl-C and on a full disk, the message says how many were moved."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    moved = 0
    try:
        for file in files:
            target = directory / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
            moved += 1
            if target.parent != directory:
                # Earlier versions wrote the file here: one left from another run would be mistaken for a part of this
                # run.
                (directory / file.name).unlink(missing_ok=True)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{moved} of {len(files)} files were written to {shown_as}") from None
    except OSError as error:
        name = shown_as / files[moved].relative_to(source)
        raise RunFailed(f"{name}: {error.strerror}; {moved} of {len(files)} files were written to {shown_as}") from None


def write_text(path: Path, text: str) -> None:
    """Writes one file, complete or not at all; a pipe or a device receives the text directly.

    Raises InputError if the folder is not writable.
    """
    if path.exists() and not path.is_file():
        with naming(path):
            path.write_text(text, encoding="utf-8")
        return
    check_writable(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=path.parent)
    try:
        with naming(path), os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).replace(path)
        note_complete(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_writable(directory: Path) -> None:
    """Raises InputError unless files can be created in `directory`, or it can be made. Called before long work.

    It creates a temporary folder, because permissions are not sufficient: those of /proc and of read-only mounts allow
    writes that fail.
    """
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(f"--output {directory}: {existing} is a file; a folder is needed")
    try:
        Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=existing)).rmdir()
    except OSError as error:
        raise InputError(f"--output {directory}: {existing} is not writable: {error.strerror}") from None


def _remove_when_empty(directory: Path) -> None:
    if not any(directory.iterdir()):
        directory.rmdir()
