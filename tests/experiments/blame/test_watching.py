"""What the system counts of a command: the bytes asked are those of /proc/PID/io, exactly; and what is refused."""

import os
import pwd
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from own_devices import needs
from ssdlab.errors import InputError
from ssdlab.experiments.blame import calls, file_system, watching
from waiting import SECONDS_MAX, wait_for

pytestmark = pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="no /proc/PID/io")

# Prints the counters of its own process behind all that it wrote; the print itself is what comes on top.
COMMITS = """
import pathlib, sqlite3, sys
file, journal, synchronous, count = sys.argv[1:]
database = sqlite3.connect(file, isolation_level=None)
database.execute(f"PRAGMA journal_mode={journal}")
database.execute(f"PRAGMA synchronous={synchronous}")
database.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)")
for row in range(int(count)):
    database.execute("INSERT INTO t(v) VALUES(?)", (f"row {row} " + "x" * 100,))
database.close()
pathlib.Path(file + ".io").write_text(pathlib.Path("/proc/self/io").read_text())
"""


def commits(folder: Path, journal: str, synchronous: str, count: int = 100) -> list[str]:
    return [sys.executable, "-c", COMMITS, str(folder / "d.db"), journal, synchronous, str(count)]


@needs("strace")
@pytest.mark.parametrize(
    ("journal", "synchronous"), [("wal", "full"), ("wal", "normal"), ("delete", "full"), ("delete", "normal")]
)
def test_the_bytes_asked_are_those_of_the_system(tmp_path: Path, journal: str, synchronous: str) -> None:
    with watching.room_for_recording() as recording:
        found = watching.command(
            commits(tmp_path, journal, synchronous), seconds_max=50, recording=recording, tell=None
        )
        assert found.recording is not None
        recorded = calls.read(found.recording)
    own = (tmp_path / "d.db.io").read_text()
    own_asked = int(own.splitlines()[1].removeprefix("wchar: "))
    assert found.exit_code == 0
    # The process itself saw everything but the file that it wrote last.
    assert found.io.asked_bytes == own_asked + len(own)
    assert (recorded.asked_bytes, recorded.asked_calls) == (found.io.asked_bytes, found.io.calls)
    assert sqlite3.connect(tmp_path / "d.db").execute("SELECT count(*) FROM t").fetchone() == (100,)


@needs("strace")
@pytest.mark.skipif(watching._file_system(Path.cwd()) != "ext4", reason="the files are not on ext4")
def test_the_pages_that_become_dirty_are_those_of_the_system(tmp_path: Path) -> None:
    with watching.room_for_recording() as recording:
        found = watching.command(commits(tmp_path, "wal", "full", 200), seconds_max=50, recording=recording, tell=None)
        recorded = calls.read(recording)
    modelled = file_system.requests_of(recorded.calls, 10**10, seconds=recorded.seconds)
    if found.file_system == watching._file_system(tmp_path):
        assert modelled.dirtied_bytes == pytest.approx(found.io.written_bytes, rel=0.03)


def test_children_that_have_ended_are_counted(tmp_path: Path) -> None:
    script = f"head -c 70000 /dev/zero > {tmp_path}/a; (head -c 50000 /dev/zero > {tmp_path}/b) & wait"
    found = watching.command(["sh", "-c", script], seconds_max=20, recording=None, tell=None)
    assert found.io.asked_bytes == 120_000
    assert found.recording is None


def test_a_command_is_ended_after_its_time() -> None:
    found = watching.command(["sleep", "1000"], seconds_max=0.3, recording=None, tell=None)
    assert found.exit_code is None and found.seconds < 15


def test_a_running_process_is_watched_from_now_on(tmp_path: Path) -> None:
    script = "import sys, time\nwhile True:\n    open(sys.argv[1], 'ab', 0).write(b'x' * 1000); time.sleep(0.01)"
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "log")])
    try:
        found = watching.process(child.pid, 1.0, None)
        assert found.io.asked_bytes > 0 and found.io.asked_bytes % 1000 == 0
        assert found.io.asked_bytes <= (tmp_path / "log").stat().st_size
        assert found.io.calls == found.io.asked_bytes // 1000
    finally:
        child.kill()
        child.wait(SECONDS_MAX)


@pytest.mark.parametrize(("at", "grows"), [("2", True), ("0", False)])
def test_files_that_are_written_in_place_are_told_from_those_that_grow(tmp_path: Path, at: str, grows: bool) -> None:
    script = """
import os, sys, time
file = open(sys.argv[1], "wb", 0)
file.write(b"x" * 50_000)
print("begun", flush=True)
while True:
    file.seek(0, int(sys.argv[2]))
    file.write(b"y" * 1000)
    time.sleep(0.01)
"""
    words = [sys.executable, "-c", script, str(tmp_path / "data"), at]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None and child.stdout.readline() == b"begun\n"
            found = watching.process(child.pid, 1.0, None)
        finally:
            child.kill()
    assert found.files is not None and found.files.bytes_last >= 50_000
    assert (found.files.grown_bytes > found.io.asked_bytes / 2) is grows


@needs("strace")
def test_a_running_process_is_recorded_and_goes_on(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\nfile = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
        "while True:\n    os.pwrite(file, b'x' * 1000, 0); os.fsync(file); time.sleep(0.01)"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "log")])
    try:
        wait_for("the file", (tmp_path / "log").exists)
        with watching.room_for_recording() as recording:
            try:
                found = watching.process(child.pid, 1.0, None, recording)
            except InputError as error:
                pytest.skip(f"{error}")
            recorded = calls.read(recording)
        assert {call.file for call in recorded.calls} == {str(tmp_path / "log")}
        assert recorded.syncs >= 2
        # The counters are read while strace is attached: it may see some calls more.
        assert 0 < found.io.asked_bytes <= recorded.asked_bytes
        before = watching.read_io(child.pid)
        wait_for("writes without strace", lambda: watching.read_io(child.pid).calls > before.calls)
    finally:
        child.kill()
        child.wait(SECONDS_MAX)


@needs("strace")
def test_a_process_that_strace_may_not_attach_to(tmp_path: Path) -> None:
    said = r"^--record: strace may not attach to process \d+ \(.+\); allowed: "
    # Above the largest number that Linux gives a process.
    with pytest.raises(InputError, match=said), watching._recorded(2**22 + 1, tmp_path / "calls"):
        pytest.fail("attached to no process")


def test_a_process_that_is_gone() -> None:
    child = subprocess.Popen(["true"])
    child.wait(SECONDS_MAX)
    with pytest.raises(InputError, match=rf"^--pid {child.pid}: there is no such process; allowed: "):
        watching.process(child.pid, 1.0, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_process_of_another_user() -> None:
    if not any(entry.pw_name == "nobody" for entry in pwd.getpwall()):
        pytest.skip("no user nobody")
    child = subprocess.Popen(["sleep", "1000"])
    before = os.geteuid()
    try:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
        with pytest.raises(InputError, match=rf"^--pid {child.pid}: belongs to user root; allowed: "):
            watching.process(child.pid, 1.0, None)
    finally:
        os.seteuid(before)
        child.kill()
        child.wait(SECONDS_MAX)


def test_all_programs_by_what_they_wrote(tmp_path: Path) -> None:
    script = "import sys, time\nwhile True:\n    open(sys.argv[1], 'ab', 0).write(b'x' * 10**6); time.sleep(0.05)"
    named = tmp_path / "heavywriter"
    named.symlink_to(sys.executable)
    child = subprocess.Popen([named, "-c", script, str(tmp_path / "log")])
    try:
        found = watching.everything(1.5, None)
    finally:
        child.kill()
        child.wait(SECONDS_MAX)
    programs = dict(found.programs)
    assert programs["heavywriter"].asked_bytes >= 10**6
    order = [io.written_bytes for io in programs.values()]
    assert order == sorted(order, reverse=True) and found.title == next(iter(programs))


def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(InputError, match=r"^slepp: command not found; did you mean .*'sleep'.*; allowed: "):
        watching.command(["slepp", "1"], seconds_max=1, recording=None, tell=None)
