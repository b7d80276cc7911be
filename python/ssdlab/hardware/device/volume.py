"""Runs a file-system script on a real device: ext4, its files, cp, rm, fstrim, sysbench, fio.

The commands are those of `workloads.filesystem.script`, which also run on a simulated drive. The device is mounted in a
private folder and always unmounted again. Nothing is trimmed unless `mountpoint` confirms that the folder is a mount.
"""

import contextlib
import ctypes
import fnmatch
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.device import programs
from ssdlab.hardware.device.jobtext import Stage
from ssdlab.hardware.device.place import Place
from ssdlab.hardware.safety import Claim
from ssdlab.simulator.workloads.filesystem.requests import READAHEAD_BYTES, WRITEBACK_BYTES, WRITEBACK_DEPTH
from ssdlab.simulator.workloads.filesystem.script import Command, seconds_ns
from ssdlab.simulator.workloads.filesystem.volume import BLOCK_BYTES

# Tables and journal are written at once, not later by the kernel, and small drives get the tables of large ones, as in
# the simulated file system.
_MKFS = ("mkfs.ext4", "-q", "-F", "-b", str(BLOCK_BYTES), "-T", "default")
# linux/sched.h.
_CLONE_NEWNS = 0x00020000
PROGRAMS = ("fio", "mkfs.ext4", "mount", "umount", "mountpoint", "fstrim")


@dataclass
class Deed:
    """The outcome of a command: a stage for fio to run, or the commands already run."""

    commands: list[str] = field(default_factory=list)
    stage: Stage | None = None
    seconds: float = 0.0
    output: str = ""


@dataclass
class Volume:
    """The file system of a device, mounted at `folder`."""

    place: Place
    folder: Path
    seed: int = 1
    is_mounted: bool = False
    _deeds: int = 0
    _options: str = "nodiscard"

    def do(self, command: Command) -> Deed:
        """Executes a command, or returns the stage that fio has to run. Raises InputError, with the line, if the
        command cannot be executed."""
        self._deeds += 1
        deed = Deed()
        began = time.monotonic()
        doers = {
            "mkfs": self._mkfs, "mount": self._mount_as, "write": self._write, "append": self._append,
            "overwrite": self._access, "read": self._access, "cp": self._copy, "rm": self._remove,
            "fstrim": self._fstrim, "resize": self._resize, "sleep": self._sleep, "sysbench": self._sysbench,
        }  # fmt: skip
        try:
            doers[command.name](command, deed)
        except ValueError as error:
            raise InputError(f"{command.where}: {command.text}: {error}") from None
        deed.seconds = time.monotonic() - began
        return deed

    def mount(self) -> None:
        """Mounts the file system of the device. Raises RunFailed if the mounted device is a different one."""
        programs.call("mount", "-o", self._options, str(self.place.claim.path), str(self.folder))
        self.is_mounted = True
        # `mount` looks up a name for the given path and mounts by that name.
        if self.folder.stat().st_dev != self.place.claim.path.stat().st_rdev:
            raise RunFailed(f"{self.folder}: a device other than {self.place.path} is mounted there")

    def unmount(self) -> None:
        """Unmounts the file system. If it is in use, detaches it lazily and raises RunFailed."""
        if not self.is_mounted:
            return
        self.is_mounted = False
        if subprocess.run(["umount", str(self.folder)], capture_output=True).returncode != 0:
            subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True)
            raise RunFailed(f"{self.folder}: it was still in use when it was unmounted")

    def _call(self, deed: Deed, *command: str | Claim) -> str:
        """Runs a command, which opens the device by its descriptor. `deed` gets the command with the device's path."""
        deed.commands.append(" ".join(str(self.place.path) if isinstance(word, Claim) else word for word in command))
        words = (str(word.path) if isinstance(word, Claim) else word for word in command)
        return programs.call(*words, timeout_seconds=24 * 3600)

    def _size(self, command: Command, default: int | None = None) -> int:
        if command.size is None:
            if default is None:
                raise ValueError("a size is missing")
            return default
        return command.size.on(self.place.size_bytes, Fraction(1)) // BLOCK_BYTES * BLOCK_BYTES

    def _mkfs(self, command: Command, deed: Deed) -> None:
        self.unmount()
        size = [] if command.size is None else [str(self._size(command) // BLOCK_BYTES)]
        lazy = "lazy_itable_init=0,lazy_journal_init=0"
        extended = ["-E", f"{lazy},nodiscard" if command.options.get("nodiscard") else lazy]
        self._call(deed, *_MKFS, *extended, self.place.claim, *size)
        self.mount()

    def _mount_as(self, command: Command, deed: Deed) -> None:
        self.unmount()
        self._options = "discard" if command.options.get("discard") else "nodiscard"
        deed.commands.append(f"mount -o {self._options} {self.place.path} {self.folder}")
        self.mount()

    def _write(self, command: Command, deed: Deed) -> None:
        count = command.options.get("count", 1)
        names = [command.files[0] if count == 1 else f"{command.files[0]}.{number}" for number in range(count)]
        files = [self._path(name) for name in names]
        for file in files:
            if file.exists():
                raise ValueError(f"{file.name} already exists; rm it first, or overwrite it")
        size = self._size(command)
        options = ["rw=write", f"filesize={size}", f"size={size * count}", "file_service_type=sequential"]
        deed.stage = self._fio(command, files, [*options, *_io(command, WRITEBACK_BYTES, WRITEBACK_DEPTH)])

    def _append(self, command: Command, deed: Deed) -> None:
        for file in self._named(command.files):
            options = ["rw=write", f"offset={file.stat().st_size}", f"size={self._size(command)}"]
            deed.stage = self._fio(command, [file], [*options, *_io(command, WRITEBACK_BYTES, WRITEBACK_DEPTH)])
            if len(command.files) > 1:
                raise ValueError("append accepts only one file on a real file system")

    def _access(self, command: Command, deed: Deed) -> None:
        files = self._named(command.files)
        reads = command.name == "read"
        is_random = command.options.get("random", False)
        kind = ("rand" if is_random else "") + ("read" if reads else "write")
        amount = self._size(command, sum(file.stat().st_size for file in files))
        options = [f"rw={kind}", f"io_size={amount}", "norandommap"]
        options.append(f"file_service_type={'random' if is_random else 'sequential'}")
        if "fsync" in command.options:
            options.append(f"fsync={command.options['fsync']}")
        usual = BLOCK_BYTES if is_random else READAHEAD_BYTES if reads else WRITEBACK_BYTES
        deed.stage = self._fio(command, files, [*options, *_io(command, usual, 1 if reads else WRITEBACK_DEPTH)])

    def _fio(self, command: Command, files: Sequence[Path], options: Sequence[str]) -> Stage:
        names = ":".join(str(file).replace(":", "\\:") for file in files)
        common = ["thread=1", "ioengine=libaio", "direct=1", "refill_buffers", "randrepeat=0", "end_fsync=1"]
        # New files grow as they are written.
        common += ["fallocate=none"] if command.name in ("write", "append") else []
        lines = ["[global]", *common, f"[{command.name}]", f"filename={names}", *options]
        lines.append(f"randseed={(self.seed * 1_000_003 + self._deeds) % (1 << 62)}")
        return Stage(command.text, "\n".join(lines) + "\n", (), tuple(files))

    def _copy(self, command: Command, deed: Deed) -> None:
        *sources, target = command.files
        goal = self._path(target)
        if target.endswith("/"):
            goal.mkdir(parents=True, exist_ok=True)
        self._call(deed, "cp", *map(str, self._named(sources)), str(goal))
        self._sync(deed)

    def _remove(self, command: Command, deed: Deed) -> None:
        self._call(deed, "rm", *map(str, self._named(command.files)))
        self._sync(deed)

    def _fstrim(self, command: Command, deed: Deed) -> None:
        del command
        self._sync(deed)
        # Without a mount on the folder, fstrim would trim the machine's own file system.
        self._call(deed, "mountpoint", "-q", str(self.folder))
        self._call(deed, "fstrim", str(self.folder))

    def _resize(self, command: Command, deed: Deed) -> None:
        self.unmount()
        self._call(deed, "e2fsck", "-f", "-y", self.place.claim)
        self._call(deed, "resize2fs", self.place.claim, f"{self._size(command) // 1024}K")
        self.mount()

    def _sleep(self, command: Command, deed: Deed) -> None:
        deed.commands.append(f"sleep {command.files[0]}")
        time.sleep(seconds_ns(command) / 1e9)

    def _sysbench(self, command: Command, deed: Deed) -> None:
        fileio = command.fileio
        assert fileio is not None
        programs.check("sysbench")
        words = command.text.split()
        deed.commands.append(command.text)
        try:
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=24 * 3600)
        except subprocess.TimeoutExpired:
            raise RunFailed(f"{command.text}: did not end within a day") from None
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise RunFailed(f"{command.text}: {''.join(said)}")
        deed.output = done.stdout
        if fileio.command == "prepare":
            self._sync(deed)

    def _sync(self, deed: Deed) -> None:
        deed.commands.append(f"sync -f {self.folder}")
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        programs.call("sync", "-f", str(self.folder), timeout_seconds=3600)

    def _path(self, name: str) -> Path:
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise ValueError(f"{name} is outside the file system")
        return path

    def _named(self, patterns: Sequence[str]) -> list[Path]:
        """The files that match the patterns, each once. Raises ValueError if a pattern matches none."""
        files = [file for file in self.folder.rglob("*") if file.is_file() and "lost+found" not in file.parts]
        names = sorted((str(file.relative_to(self.folder)) for file in files), key=_naturally)
        found: dict[str, None] = {}
        for pattern in patterns:
            hits = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
            if not hits:
                raise ValueError(f"no file matches {pattern}")
            found.update(dict.fromkeys(hits))
        return [self.folder / name for name in found]


def _naturally(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition(".")
    return (stem, int(number)) if number.isdigit() else (name, -1)


def _io(command: Command, block_bytes: int, depth: int) -> list[str]:
    return [f"bs={command.options.get('bs', block_bytes)}", f"iodepth={command.options.get('depth', depth)}"]


def isolate_mounts() -> None:
    """Moves this process to a new mount namespace: the kernel removes its later mounts when it ends, even if killed.

    This cannot be undone. If the kernel refuses, mounts are still removed at an orderly end.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_CLONE_NEWNS) == 0:
        # Mounts of other processes remain visible here; mounts made here are not visible to them.
        subprocess.run(["mount", "--make-rslave", "/"], capture_output=True)


@contextlib.contextmanager
def volume(place: Place, *, seed: int = 1) -> Iterator[Volume]:
    """Yields the file system of a claimed device. Commands mount it; it is unmounted at the end, also after an error.

    Raises InputError for a folder, without root, or if a program is missing.
    """
    if not place.is_device:
        raise InputError(f"{place.path}: a script with its own file system needs a device, not a folder")
    if os.geteuid() != 0:
        raise InputError(f"{place.path}: creating and mounting a file system requires root")
    programs.check(*PROGRAMS)
    folder = Path(tempfile.mkdtemp(prefix="ssdlab-volume-"))
    with place.claim.lent():
        found = Volume(place, folder, seed)
        try:
            yield found
        finally:
            try:
                found.unmount()
            finally:
                if not os.path.ismount(folder):
                    shutil.rmtree(folder, ignore_errors=True)
