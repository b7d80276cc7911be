"""Writing results so that a run cut off at any moment leaves nothing half-written.

Files are made in a temporary folder next to their destination and renamed into it when all are whole. Both folders are
held by their descriptors meanwhile, so that nobody who may write there can lead the files elsewhere.

An output folder has `report.html` and `result.json` on top, tables in `data/` and pictures in `pictures/`.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ssdlab.errors import InputError, naming

_UNFINISHED = ".writing-"
"""What begins the names of files and folders that are not whole yet."""
_DATA = "data"


def data_name(name: str) -> str:
    """The name within an output folder of the table `name`."""
    return f"{_DATA}/{name}.parquet"


def data_file(directory: Path, name: str) -> Path:
    """Where the table `name` lies in an output folder; makes the folder that it lies in."""
    path = directory / data_name(name)
    path.parent.mkdir(exist_ok=True)
    return path


def names_in(directory: Path) -> list[str]:
    """The names of all files within the folder and its own folders, sorted."""
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """A temporary folder to write into; what it holds moves into `directory` at the end, or vanishes on an error.

    Files of the same name are replaced, others stay. Raises InputError when the place cannot be written.
    """
    check_writable(directory)
    directory.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=directory))
    try:
        with _held(temporary) as source, _held(directory) as target:
            with naming(lambda: directory / _newest(source)):
                yield source
            _move_all(source, target, directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _remove_when_empty(directory)


def remove_unfinished(directory: Path) -> None:
    """Takes away what a process that was killed outright left of files in the folder that it was writing."""
    for left in directory.glob(f"{_UNFINISHED}*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _newest(folder: Path) -> Path:
    """The file that was written last, by its name within the folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return max(files, key=lambda path: path.stat().st_mtime_ns).relative_to(folder) if files else Path()


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """Where to write one file, which then gets its name, whole or not at all; a link of that name is replaced, and what
    it leads to stays. Raises InputError when the place cannot be written."""
    with staged(path.parent) as folder:
        yield folder / path.name


@contextmanager
def _held(folder: Path) -> Iterator[Path]:
    """A path to the folder as it is now, whatever becomes of its name; on systems without /proc its name."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        path = Path(f"/proc/self/fd/{descriptor}")
        yield path if path.exists() else folder
    finally:
        os.close(descriptor)


def _move_all(source: Path, directory: Path, shown_as: Path) -> None:
    """Renames one by one, which takes no time worth speaking of; Ctrl-C in the midst of it says how far it came."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    moved = 0
    try:
        for file in files:
            target = directory / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
            moved += 1
            if target.parent != directory:
                # Where earlier versions wrote it: of another run, it would be taken for a part of this one.
                (directory / file.name).unlink(missing_ok=True)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{moved} of {len(files)} files were written to {shown_as}") from None


def write_text(path: Path, text: str) -> None:
    """Writes one file whole or not at all; a pipe or a device simply gets the text.

    Raises InputError when the place cannot be written.
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
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_writable(directory: Path) -> None:
    """Raises InputError unless `directory` can be written into, or made. Called before long work begins.

    It tries, because permissions alone do not tell: those of /proc and of read-only mounts promise what they refuse.
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
