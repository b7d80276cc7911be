"""The page cache and the journal of ext4, against block counts taken by hand from `debugfs -R "logdump -a"` of ext4
(Linux 6.18, mkfs.ext4 1.47) after the same calls."""

from dataclasses import replace

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.blame.calls import Call
from ssdlab.experiments.blame.file_system import Options, Written, requests_of

BLOCK = 4096
VOLUME = 2_000_000_000


def ran(*calls: Call, seconds: float = 1.0, options: Options | None = None) -> Written:
    return requests_of(calls, VOLUME, seconds=seconds, options=options)


def journal_blocks(written: Written) -> int:
    return written.bytes_by_level["journal"] // BLOCK


CREATED = Call(0.0, 1, "create", "f/a")
FIRST = Call(0.0, 1, "write", "f/a", 0, BLOCK)
COMMITTED = Call(0.0, 1, "sync", "")


def test_a_synced_append_commits_descriptor_inode_bitmap_and_group_descriptors() -> None:
    before = ran(CREATED, FIRST, COMMITTED)
    after = ran(
        CREATED, FIRST, COMMITTED, Call(0.1, 1, "write", "f/a", BLOCK, 24), Call(0.1, 1, "datasync", "f/a"),
    )  # fmt: skip
    # logdump: descriptor, FS blocks 264 (inode table), 235 (block bitmap), 1 (group descriptors), commit.
    assert journal_blocks(after) - journal_blocks(before) == 5
    # The flush before the commit block, and that of the commit block itself.
    assert after.flushes - before.flushes == 2
    assert after.bytes_by_level["file"] == 2 * BLOCK


def test_a_synced_overwrite_commits_only_for_fsync() -> None:
    same = Call(0.1, 1, "write", "f/a", 0, 100)
    synced = Call(0.1, 1, "datasync", "f/a")
    plain = ran(CREATED, FIRST, COMMITTED, same, synced, options=Options(commit_seconds=1000))
    full = ran(CREATED, FIRST, COMMITTED, same, replace(synced, kind="sync"), options=Options(commit_seconds=1000))
    # Both end with a commit of the time of the last write: of fsync at once, of fdatasync at the end.
    assert journal_blocks(plain) == journal_blocks(full)
    flushes = [[each.operation for each in one.requests if each.seconds == 0.1] for one in (plain, full)]
    assert flushes == [["write", "flush"], ["write", "write", "flush", "write", "flush"]]


def test_a_file_that_is_removed_and_made_again_commits_eight_blocks() -> None:
    """SQLite's rollback journal. logdump: descriptor, FS blocks 264 (inode table), 7719 (folder), 0 (superblock), 235
    (block bitmap), 1 (group descriptors), 249 (inode bitmap), commit."""
    again = (
        Call(0.1, 1, "remove", "f/a"), Call(0.1, 1, "create", "f/a"), Call(0.1, 1, "write", "f/a", 0, 512),
        Call(0.1, 1, "datasync", "f/a"),
    )  # fmt: skip
    assert journal_blocks(ran(CREATED, FIRST, COMMITTED, *again)) - journal_blocks(ran(CREATED, FIRST, COMMITTED)) == 8


def test_a_folder_that_is_synced_commits_what_changed() -> None:
    """logdump: with SQLite's journal_mode=PERSIST the folder's sync commits one block, the inodes with new times."""
    changed = Call(0.1, 1, "write", "f/a", 0, 100)
    calls = (CREATED, FIRST, COMMITTED, changed, Call(0.1, 1, "datasync", "f/a"), Call(0.1, 1, "datasync", "f"))
    found = ran(*calls)
    assert [each.operation for each in found.requests if each.seconds == 0.1][2:] == [
        "write",
        "flush",
        "write",
        "flush",
    ]


def test_what_is_removed_in_time_never_reaches_the_drive() -> None:
    found = ran(CREATED, FIRST, Call(0.5, 1, "remove", "f/a"))
    assert found.bytes_by_level["file"] == 0
    assert (found.dirtied_bytes, found.cancelled_bytes) == (BLOCK, BLOCK)


def test_old_pages_are_written_and_others_wait() -> None:
    early = ran(CREATED, FIRST, Call(29.0, 1, "write", "f/a", 0, 100), Call(100.0, 1, "remove", "f/a"), seconds=100)
    assert early.bytes_by_level["file"] == BLOCK
    times = [each.seconds for each in early.requests if each.operation == "write" and each.length_bytes == BLOCK]
    # The flusher wakes every 5 s and writes what is older than 30 s.
    assert 35.0 in times


def test_a_replacing_file_is_written_at_once() -> None:
    new = (Call(0.1, 1, "create", "f/n"), Call(0.1, 1, "write", "f/n", 0, 2 * BLOCK))
    renamed = Call(0.2, 1, "rename", "f/n", to="f/a")
    found = ran(CREATED, FIRST, COMMITTED, *new, renamed, seconds=3)
    assert [each.length_bytes for each in found.requests if each.seconds == 0.2] == [2 * BLOCK]


def test_discard_trims_what_was_freed_and_without_metadata_there_is_no_journal() -> None:
    calls = (CREATED, FIRST, COMMITTED, Call(0.5, 1, "remove", "f/a"))
    trims = [each for each in ran(*calls, options=Options(discard=True)).requests if each.operation == "trim"]
    assert [each.length_bytes for each in trims] == [BLOCK]
    assert not any(each.operation == "trim" for each in ran(*calls).requests)
    alone = ran(*calls, options=Options(metadata=False))
    assert alone.device_bytes == alone.bytes_by_level["file"] == BLOCK


def test_requests_are_aligned_and_inside_the_volume() -> None:
    found = requests_of([CREATED, FIRST, COMMITTED], 1831451 * BLOCK, seconds=1)
    for each in found.requests:
        assert each.offset_bytes % BLOCK == 0 and each.offset_bytes + each.length_bytes <= 1831451 * BLOCK


def test_files_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(InputError, match=r"^the files: [0-9,]+ bytes are required .* take a larger drive"):
        ran(CREATED, replace(FIRST, length_bytes=VOLUME), COMMITTED)


def test_a_drive_without_space_for_a_file_system_is_an_error() -> None:
    with pytest.raises(InputError, match=r"^the file system: 13,631,488 bytes leave no space .* take a larger drive"):
        requests_of([CREATED], 13_631_488, seconds=1)


def test_files_that_were_there_have_their_sizes_and_blocks() -> None:
    """By hand: overwriting 300 pages of a file of 1 MiB, each with fdatasync, commits nothing but times, at the end;
    taken as a new file it would be allocated page by page, with a commit each."""
    calls = [
        Call(index * 0.001, 0, kind, "log", index % 200 * 4096, 4096 if kind == "write" else 0)
        for index in range(300)
        for kind in ("write", "datasync")
    ]
    known, unknown = (requests_of(calls, 1 << 30, seconds=1.0, there=there) for there in ({"log": 1 << 20}, None))
    assert known.commits == 1 and unknown.commits > 200
    assert known.bytes_by_level["file"] == unknown.bytes_by_level["file"] == 300 * 4096


def test_a_file_that_the_calls_make_was_not_there() -> None:
    made = [Call(0.0, 0, "create", "log"), Call(0.1, 0, "write", "log", 0, 4096), Call(0.2, 0, "datasync", "log")]
    known, unknown = (requests_of(made, 1 << 30, seconds=1.0, there=there) for there in ({"log": 1 << 20}, None))
    assert known.requests == unknown.requests
