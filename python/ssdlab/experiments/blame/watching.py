"""Watches what the system counts while programs write: /proc/PID/io, the disk's own counters, and SMART where readable.

The counters of a process include those of its children that have ended and were waited for (proc(5), `io`), so a
command is read after its end, before it is waited for. Without root only a user's own processes can be read.
"""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from ssdlab.errors import InputError, near
from ssdlab.experiments.blame.calls import RECORDED
from ssdlab.hardware.device import health
from ssdlab.hardware.device.disk_use import DiskUse
from ssdlab.hardware.diagnosis import file_system
from ssdlab.hardware.safety import place as places

_PROC = Path("/proc")
_SECTOR_BYTES = 512
# /sys/block/DISK/stat, counted from 0 (the kernel's Documentation/block/stat.rst).
_SECTORS_WRITTEN, _SECTORS_DISCARDED = 6, 13
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_TO_END = 10.0
# What `ssdlab mount` reports as the model of a drive, before its name.
_SIMULATED = "ssdlab simulated drive "
# How many other programs are listed.
_PROGRAMS_MAX = 10

_CALLS = ("-f", "-y", "-ttt", "-s", "0", "-e", f"trace={RECORDED}")

Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Io:
    """The counters of /proc/PID/io that concern writes."""

    asked_bytes: int = 0
    """`wchar`: what writes returned, to files, pipes and terminals."""
    calls: int = 0
    """`syscw`."""
    written_bytes: int = 0
    """`write_bytes`: pages that became dirty, and direct writes."""
    cancelled_bytes: int = 0
    """`cancelled_write_bytes`: dirty pages of files that were removed or cut."""

    def __add__(self, other: "Io") -> "Io":
        return Io(
            self.asked_bytes + other.asked_bytes,
            self.calls + other.calls,
            self.written_bytes + other.written_bytes,
            self.cancelled_bytes + other.cancelled_bytes,
        )

    def since(self, before: "Io") -> "Io":
        return Io(
            max(0, self.asked_bytes - before.asked_bytes),
            max(0, self.calls - before.calls),
            max(0, self.written_bytes - before.written_bytes),
            max(0, self.cancelled_bytes - before.cancelled_bytes),
        )


@dataclass(frozen=True)
class Disk:
    """What the disk below the files did meanwhile, for all programs."""

    name: str
    size_bytes: int | None
    model: str | None
    written_bytes: int | None
    discarded_bytes: int | None
    smart_host_bytes: int | None
    smart_nand_bytes: int | None
    smart_reason: str | None
    """Why SMART says nothing; None if it does."""
    smart_model: str | None = None


@dataclass(frozen=True)
class Grown:
    """How long the files were that a program had open for writing, as far as they were seen."""

    bytes_last: int
    """The sum of their last sizes."""
    grown_bytes: int
    """By how much they became longer while they were seen."""
    first_bytes: Mapping[str, int] = field(default_factory=dict)
    """The size of each when it was first seen."""


@dataclass(frozen=True)
class Watched:
    """What was counted. `io` is of a process with its children, or of the program that wrote most."""

    title: str
    seconds: float
    io: Io
    processes: int
    disk: Disk | None
    file_system: str | None = None
    programs: tuple[tuple[str, Io], ...] = ()
    """All programs that wrote, the one that wrote most first; only if no process was named."""
    unreadable: int = 0
    """Processes whose counters this user may not read."""
    recording: Path | None = None
    exit_code: int | None = None
    interrupted: bool = False
    files: Grown | None = None
    """None if no open file was seen."""


def read_io(process: int) -> Io:
    """The counters of a process. Raises OSError if it is gone or belongs to somebody else."""
    text = (_PROC / str(process) / "io").read_text(encoding="ascii")
    counts = {key: int(value) for key, _, value in (line.partition(": ") for line in text.splitlines())}
    return Io(counts["wchar"], counts["syscw"], counts["write_bytes"], counts["cancelled_write_bytes"])


def command(words: Sequence[str], *, seconds_max: float | None, recording: Path | None, tell: Tell | None) -> Watched:
    """Runs a command to its end, or for `seconds_max`, and counts what it and its children write.

    With `recording`, strace writes its calls there if it is installed. Ctrl-C ends the command; what was seen is
    returned. Raises InputError if the command does not exist.
    """
    program = shutil.which(words[0])
    if program is None:
        known = {path.name for folder in os.get_exec_path() for path in _listed(Path(folder))}
        raise InputError(f"{words[0]}: command not found{near(words[0], known)}; allowed: a program in PATH, or a path")
    strace = shutil.which("strace") if recording else None
    around: list[str] = []
    if strace and recording:
        # -D: strace runs beside the command, not above it, so that the command is the child whose counters are read.
        around = [strace, "-D", *_CALLS, "-o", str(recording), "--"]
    meter = _Meter(Path.cwd())
    try:
        child = subprocess.Popen([*around, program, *words[1:]], stdin=None, start_new_session=False)
    except OSError as error:
        raise InputError(f"{words[0]}: {error.strerror}; allowed: a program that can be executed") from None
    seen: dict[int, Io] = {}
    sizes = _Sizes()
    interrupted = False
    try:
        while True:
            ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            seen |= _tree(child.pid)
            sizes.look(seen)
            if ended is not None or (seconds_max is not None and meter.seconds >= seconds_max):
                break
            _say(tell, words[0], meter.seconds, seconds_max, sum(seen.values(), Io()))
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        stopped = _stop(child, seen)
    # What was reaped is in the counters of its parent; what outlived the command is not.
    io = sum((each for process, each in seen.items() if process == child.pid or _is_there(process)), Io())
    found = meter.watched(" ".join(words), io, len(seen))
    recorded = recording if recording and strace and _has_ended(recording) else None
    return replace(
        found,
        recording=recorded,
        exit_code=None if interrupted or stopped else child.returncode,
        interrupted=interrupted,
        files=sizes.grown,
    )


def process(number: int, seconds: float, tell: Tell | None, recording: Path | None = None) -> Watched:
    """Counts what a running process and its children write for some seconds, or until it ends.

    With `recording`, strace writes its calls there. Raises InputError if the process is gone or belongs to another
    user, or if strace is not installed or may not attach to it.
    """
    try:
        before = {number: read_io(number)}
        name = _name(number)
    except (FileNotFoundError, ProcessLookupError):
        raise InputError(
            f"--pid {number}: there is no such process; allowed: the number of a running one (ps)"
        ) from None
    except PermissionError:
        owner = _owner(number)
        raise InputError(
            f"--pid {number}: belongs to {owner}; allowed: a process of your own, or any as root"
        ) from None
    interrupted = False
    with _recorded(number, recording) if recording else contextlib.nullcontext():
        before |= _tree(number)
        meter = _Meter(_folder_of(number))
        seen = dict(before)
        sizes = _Sizes()
        sizes.look(seen)
        try:
            while meter.seconds < seconds and _is_there(number):
                time.sleep(min(_SECONDS_BETWEEN_LOOKS, max(0.0, seconds - meter.seconds)))
                seen |= _tree(number)
                sizes.look(seen)
                _say(tell, name, meter.seconds, seconds, seen[number].since(before[number]))
        except KeyboardInterrupt:
            interrupted = True
        seen |= _tree(number)
    grown = [each.since(before.get(one, Io())) for one, each in seen.items() if one == number or _is_there(one)]
    found = meter.watched(f"{name} (process {number})", sum(grown, Io()), len(seen))
    return replace(found, recording=recording, interrupted=interrupted, files=sizes.grown)


@contextlib.contextmanager
def _recorded(number: int, recording: Path) -> Iterator[None]:
    """strace, attached to a process and its threads. The process goes on when it ends."""
    strace = shutil.which("strace")
    if strace is None:
        raise InputError("--record requires strace (package strace); allowed: --pid without --record")
    attached = subprocess.Popen([strace, *_CALLS, "-o", str(recording), "-p", str(number)], stderr=subprocess.PIPE)
    with attached, ThreadPoolExecutor(1) as beside:
        assert attached.stderr is not None
        # "strace: Process 12 attached", or why not.
        said = attached.stderr.readline().decode(errors="replace").strip()
        try:
            if not said.endswith("attached"):
                raise InputError(
                    f"--record: strace may not attach to process {number} ({said.removeprefix('strace: ')}); allowed: "
                    "as root, or --pid without --record"
                )
            # It says so of each child, too, and once the pipe is full it would wait, and the children with it.
            beside.submit(attached.stderr.read)
            yield
        finally:
            attached.terminate()


def everything(seconds: float, tell: Tell | None) -> Watched:
    """Counts what every readable process writes, and returns them by program."""
    meter = _Meter(Path.cwd())
    before, _ = _all()
    seen = dict(before)
    names: dict[int, str] = {}
    sizes: dict[str, _Sizes] = {}
    interrupted = False
    unreadable = 0
    try:
        while meter.seconds < seconds:
            time.sleep(min(_SECONDS_BETWEEN_LOOKS * 5, max(0.0, seconds - meter.seconds)))
            now, unreadable = _all()
            writing = [each for each, io in now.items() if io.written_bytes > seen.get(each, Io()).written_bytes]
            seen |= now
            for each in now.keys() - names.keys():
                with contextlib.suppress(OSError):
                    # The kernel's own threads write for others; they have no command line.
                    if (_PROC / str(each) / "cmdline").read_bytes():
                        names[each] = _name(each)
            for each in writing:
                if each in names:
                    sizes.setdefault(names[each], _Sizes()).look([each])
            if tell:
                tell(f"{len(seen)} processes", min(1.0, meter.seconds / seconds))
    except KeyboardInterrupt:
        interrupted = True
    seen |= _all()[0]
    programs: dict[str, Io] = {}
    for each, io in seen.items():
        grown = io.since(before.get(each, Io()))
        name = names.get(each)
        if name is not None and (grown.asked_bytes or grown.written_bytes):
            programs[name] = programs.get(name, Io()) + grown
    order = sorted(programs.items(), key=lambda entry: (-entry[1].written_bytes, -entry[1].asked_bytes))
    title, io = order[0] if order else ("no program", Io())
    found = meter.watched(title, io, len(seen))
    return replace(
        found,
        programs=tuple(order[:_PROGRAMS_MAX]),
        unreadable=unreadable,
        interrupted=interrupted,
        files=sizes[title].grown if title in sizes else None,
    )


class _Sizes:
    """The sizes of the files that processes have open for writing, at the first and at the last look."""

    def __init__(self) -> None:
        self._first: dict[Path, int] = {}
        self._last: dict[Path, int] = {}

    def look(self, processes: Iterable[int]) -> None:
        for process in processes:
            for file in _open_files(process):
                with contextlib.suppress(OSError):
                    size = file.stat().st_size
                    self._first.setdefault(file, size)
                    self._last[file] = size

    @property
    def grown(self) -> Grown | None:
        if not self._last:
            return None
        grown_bytes = sum(max(0, size - self._first[file]) for file, size in self._last.items())
        first = {str(file): size for file, size in self._first.items()}
        return Grown(sum(self._last.values()), grown_bytes, first)


class _Meter:
    """The clock and the disk, from the beginning on."""

    def __init__(self, folder: Path) -> None:
        self._place: places.Place | None = None
        with contextlib.suppress(InputError, OSError):
            self._place = places.locate(folder)
        self._health = health.of(self._place) if self._place and self._place.disk else None
        self._before = self._health.read() if self._health else None
        self._disk = DiskUse.now(self._place.disk if self._place else None)
        self._started = time.monotonic()
        self._folder = folder

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def watched(self, title: str, io: Io, processes: int) -> Watched:
        seconds = self.seconds
        return Watched(title, seconds, io, processes, self._disk_now(), _file_system(self._folder))

    def _disk_now(self) -> Disk | None:
        if self._place is None or self._place.disk is None:
            return None
        now = DiskUse.now(self._place.disk)
        grown: list[int] = []
        if now.counts is not None and self._disk.counts is not None:
            grown = [new - old for old, new in zip(self._disk.counts, now.counts, strict=True)]
        phase = health.between(self._before, self._health.read()) if self._before and self._health else None
        change = phase.change if phase else None
        reading = self._before.reading if self._before else None
        return Disk(
            self._place.disk,
            self._place.disk_size_bytes,
            self._place.model,
            grown[_SECTORS_WRITTEN] * _SECTOR_BYTES if grown else None,
            grown[_SECTORS_DISCARDED] * _SECTOR_BYTES if len(grown) > _SECTORS_DISCARDED else None,
            change.host_bytes if change else None,
            change.nand_bytes if change else None,
            None if change else (phase.reason if phase else "no disk"),
            reading.model if reading else None,
        )


def _stop(child: "subprocess.Popen[bytes]", seen: dict[int, Io]) -> bool:
    """Ends the command if it still runs, reads its counters a last time, and waits for it. Whether it was ended."""
    stopped = False
    with contextlib.suppress(ChildProcessError):
        for number in (signal.SIGTERM, signal.SIGKILL):
            if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                break
            stopped = True
            child.send_signal(number)
            until = time.monotonic() + _SECONDS_TO_END
            while time.monotonic() < until:
                if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    break
                time.sleep(_SECONDS_BETWEEN_LOOKS / 10)
        with contextlib.suppress(OSError):
            seen[child.pid] = read_io(child.pid)
    child.wait()
    return stopped


def _has_ended(recording: Path) -> bool:
    """Waits until strace, which runs beside the command, has written its last line."""
    until = time.monotonic() + _SECONDS_TO_END
    size = -1
    while time.monotonic() < until:
        if recording.exists():
            now = recording.stat().st_size
            if now and now == size:
                return True
            size = now
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return recording.exists() and recording.stat().st_size > 0


def _tree(root: int) -> dict[int, Io]:
    """The counters of a process and all its descendants, as far as they can be read."""
    found: dict[int, Io] = {}
    waiting = [root]
    while waiting:
        number = waiting.pop()
        with contextlib.suppress(OSError):
            found[number] = read_io(number)
        for task in _listed(_PROC / str(number) / "task"):
            with contextlib.suppress(OSError):
                waiting += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _all() -> tuple[dict[int, Io], int]:
    found: dict[int, Io] = {}
    unreadable = 0
    for entry in _listed(_PROC):
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = read_io(int(entry.name))
            except PermissionError:
                unreadable += 1
            except OSError:
                continue
    return found, unreadable


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_there(process: int) -> bool:
    return (_PROC / str(process)).exists()


def _name(process: int) -> str:
    return (_PROC / str(process) / "comm").read_text(encoding="utf-8", errors="replace").strip()


def _owner(process: int) -> str:
    try:
        return f"user {pwd.getpwuid((_PROC / str(process)).stat().st_uid).pw_name}"
    except (OSError, KeyError):
        return "another user"


def _folder_of(process: int) -> Path:
    """The folder of a file that the process has open for writing, else its working folder."""
    for file in _open_files(process):
        return file.parent
    try:
        return (_PROC / str(process) / "cwd").readlink()
    except OSError:
        return Path.cwd()


def _open_files(process: int) -> Iterator[Path]:
    """The files that a process has open for writing, as far as they can be read."""
    for link in _listed(_PROC / str(process) / "fd"):
        with contextlib.suppress(OSError, ValueError):
            file = link.readlink()
            flags = (_PROC / str(process) / "fdinfo" / link.name).read_text(encoding="ascii").split("flags:")[1]
            if int(flags.split()[0], 8) & os.O_ACCMODE and file.is_file():
                yield file


def _file_system(folder: Path) -> str | None:
    try:
        return file_system.of(folder).name
    except OSError:
        return None


def _say(tell: Tell | None, name: str, seconds: float, seconds_max: float | None, io: Io) -> None:
    if tell:
        share = min(1.0, seconds / seconds_max) if seconds_max else 0.0
        tell(f"{name}: {io.asked_bytes / 1e6:,.1f} MB asked, {seconds:.0f} s", share)


@contextlib.contextmanager
def room_for_recording() -> Iterator[Path]:
    """A temporary file for strace."""
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
        yield Path(folder) / "calls"


def guessed_drive(disk: Disk | None) -> tuple[str, str]:
    """A drive of the catalogue for a disk, and why it was taken."""
    model = disk.smart_model or disk.model if disk else None
    if model and model.startswith(_SIMULATED):
        name = model.removeprefix(_SIMULATED)
        return name, f"the drive is {name}, as its SMART says"
    name = "generic-nvme-tlc-1000" if disk is None or disk.name.startswith("nvme") else "generic-sata-tlc-500"
    what = f"the disk {disk.name}" + (f" ({model})" if model else "") if disk else "the drive of the recording"
    return name, f"{what} is none of the catalogue: a usual drive, {name}, was taken; --drive names another"
