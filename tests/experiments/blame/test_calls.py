"""Recordings of strace in its forms: with and without names, processes, times of the day, unfinished calls; and what is
refused."""

from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.blame.calls import Call, are_calls, parsed, read

ROOT = Path(__file__).parents[3]

NAMED = r"""
7 1700000000.000000 openat(AT_FDCWD</srv>, "/srv/a", O_RDWR|O_CREAT, 0644) = 3</srv/a>
7 1700000000.500000 pwrite64(3</srv/a>, ", 9, 9) = 9"..., 4096, 8192) = 4096
7 1700000001.000000 fdatasync(3</srv/a>)  = 0
7 1700000001.250000 ftruncate(3</srv/a>, 100) = 0
7 1700000001.500000 rename("/srv/a", "/srv/b") = 0
7 1700000001.500000 write(3</srv/b>, "x", 1) = 1
7 1700000001.500000 fsync(3</srv/b>) = -1 EIO (Input/output error)
7 1700000002.000000 unlink("/srv/b") = 0
7 1700000002.000000 write(1<pipe:[77]>, "text", 4) = 4
7 1700000002.000000 +++ exited with 0 +++
"""


def test_names_sizes_offsets_and_times() -> None:
    found = parsed(NAMED.strip().splitlines(), "rec")
    assert found.calls == (
        Call(0.0, 7, "create", "/srv/a"),
        Call(0.5, 7, "write", "/srv/a", 8192, 4096),
        Call(1.0, 7, "datasync", "/srv/a"),
        Call(1.25, 7, "cut", "/srv/a", 100),
        Call(1.5, 7, "rename", "/srv/a", to="/srv/b"),
        Call(1.5, 7, "write", "/srv/b", 0, 1),
        Call(2.0, 7, "remove", "/srv/b"),
    )
    # A pipe counts as asked, as in the system's wchar, and is no file.
    assert (found.asked_bytes, found.asked_calls, found.file_bytes, found.seconds) == (4101, 3, 4097, 2.0)


@pytest.mark.parametrize(
    ("call", "at", "length"),
    [
        ('pwrite64(3</srv/a>, ""..., 32, 0) = 32', 0, 32),
        ('pwritev(3</srv/a>, [{iov_base=""..., iov_len=32}, {iov_base=""..., iov_len=8}], 2, 4096) = 40', 4096, 40),
        ('pwritev2(3</srv/a>, [{iov_base=""..., iov_len=32}], 1, 4096, 0) = 32', 4096, 32),
        ('pwritev2(3</srv/a>, [{iov_base=""..., iov_len=32}], 1, 0, RWF_HIPRI|RWF_APPEND) = 32', 0, 32),
        ("copy_file_range(4</srv/b>, NULL, 3</srv/a>, NULL, 1048576, 0) = 65536", 0, 65536),
        ("copy_file_range(4</srv/b>, [0] => [64], 3</srv/a>, [4096] => [4160], 64, 0) = 64", 4096, 64),
        ("sendfile(3</srv/a>, 4</srv/b>, [0] => [512], 4096) = 512", 0, 512),
        (
            'io_submit(0x7f12, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3</srv/a>, aio_buf=""..., '
            "aio_nbytes=16384, aio_offset=32768}]) = 1",
            32768,
            16384,
        ),
    ],
)
def test_the_offset_is_the_last_number_before_flags(call: str, at: int, length: int) -> None:
    [found] = parsed([f"7 1700000000.000000 {call}"], "rec").calls
    assert (found.offset_bytes, found.length_bytes) == (at, length)


UNNAMED = """
[pid    10] 23:59:59.500000 openat(AT_FDCWD, "log", O_WRONLY|O_CREAT|O_APPEND|O_DSYNC, 0644) = 5
[pid    11] 23:59:59.750000 write(5, "a"..., 10 <unfinished ...>
[pid    10] 00:00:00.000000 write(5, "b"..., 20) = 20 <0.000031>
[pid    11] 00:00:00.500000 <... write resumed>) = 10 <0.75>
[pid    10] 00:00:01.000000 lseek(5, 0, SEEK_SET) = 0
[pid    10] 00:00:01.500000 write(6, "c", 1) = 1
"""


def test_descriptors_are_followed_over_threads_and_midnight() -> None:
    found = parsed(UNNAMED.strip().splitlines(), "rec")
    writes = [call for call in found.calls if call.kind == "write"]
    # The second thread uses what the first one opened; both append.
    assert [(call.seconds, call.process, call.offset_bytes, call.length_bytes) for call in writes] == [
        (0.5, 10, 0, 20),
        (1.0, 11, 20, 10),
    ]
    assert sum(call.kind == "datasync" for call in found.calls) == 2
    assert (found.seconds, found.processes, found.unnamed_bytes) == (2.0, 2, 1)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["7 1700000000.0 fsync(3</srv/a>) = 0"], "rec: contains no write with a size"),
        (["7 1700000000.0 write(3</srv/a>, 0x7ffe) = ?"], "rec: contains no write with a size"),
        ([], "rec: contains no write with a size"),
        (['7 1700000000.0 write(3</srv/a>, "x", 1) = -1 ENOSPC (No space)'], "rec: contains only writes that failed"),
        (['write(3</srv/a>, "x", 1) = 1'], "rec, line 1: has no time"),
        (['7 1700000000.0 write(3</srv/a>, "x", 1) = 1', "% time     seconds"], "rec, line 2: '% time     seconds' is"),
    ],
)
def test_what_is_refused(lines: list[str], said: str) -> None:
    with pytest.raises(InputError) as raised:
        parsed(lines, "rec")
    assert str(raised.value).startswith(said)
    assert "strace -f -y -ttt" in str(raised.value)


def test_the_shipped_recording() -> None:
    path = ROOT / "examples/commits.strace"
    assert are_calls(path)
    assert not are_calls(ROOT / "examples/points.csv")
    found = read(path)
    # 300 commits of a log that is synced with each, and the checkpoint at the end.
    assert sum(call.kind == "datasync" and call.file.endswith("-wal") for call in found.calls) >= 300
    assert {Path(call.file).name for call in found.calls if call.kind == "write"} == {
        "notes.db", "notes.db-journal", "notes.db-shm", "notes.db-wal",
    }  # fmt: skip


def test_the_exit_counts_for_the_time() -> None:
    """A regression: a program that wrote for 1 ms and ended after an hour had written its bytes in 1 ms."""
    lines = ['7 1700000000.0 write(3</srv/a>, "x", 1) = 1', "7 1700003600.0 +++ exited with 0 +++"]
    assert parsed(lines, "rec").seconds == 3600


def test_a_summary_is_of_strace(tmp_path: Path) -> None:
    """A regression: a summary was refused as a block trace of no known format."""
    (tmp_path / "sum").write_text("% time     seconds  usecs/call     calls    errors syscall\n------ -----------\n")
    assert are_calls(tmp_path / "sum")


def test_what_strace_prints_beside_the_calls_is_passed_over(tmp_path: Path) -> None:
    """A regression: a recording with a prompt, with stacks (-k) or with relative times (-r) was refused as a block
    trace of no known format."""
    between = "$ strace -k -p 7\nstrace: Process 7 attached\n{}^Cstrace: Process 7 detached\n"
    lines = (
        '7 1700000000.0 write(3</srv/a>, "x", 1) = 1\n > /usr/lib/libc.so.6(__write+0x14) [0x115f14]\n'
        "7 1700000002.5 fsync(3</srv/a>) = 0\n"
    )
    relative = '     0.000000 write(3</srv/a>, "x", 1) = 1\n     2.500000 fsync(3</srv/a>) = 0\n'
    for text in (lines, relative):
        (tmp_path / "rec").write_text(between.format(text))
        assert are_calls(tmp_path / "rec")
        found = read(tmp_path / "rec")
        assert (found.file_bytes, found.syncs, found.seconds) == (1, 1, 2.5)


def test_io_uring_is_said_to_be_hidden() -> None:
    ring = "7 1700000001.0 io_uring_enter(4, 8, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 8"
    assert parsed(['7 1700000000.0 write(3</srv/a>, "x", 1) = 1', ring], "rec").hidden_calls == 1
    with pytest.raises(InputError, match="calls of io_uring, of whose writes strace shows nothing"):
        parsed([ring], "rec")
