"""Changed calls: what each change leaves out, on recordings of a few lines."""

from ssdlab.experiments.blame import changes
from ssdlab.experiments.blame.calls import Call


def wal(second: float, offset: int, length: int = 4096) -> Call:
    return Call(second, 1, "write", "d-wal", offset, length)


def database(second: float, offset: int) -> Call:
    return Call(second, 1, "write", "d", offset, 4096)


def synced(second: float, file: str) -> Call:
    return Call(second, 1, "datasync", file)


TWO_PASSES = [
    wal(0, 0), synced(0, "d-wal"), wal(1, 4096), synced(1, "d-wal"),
    database(2, 0), database(2, 4096), synced(2, "d"),
    wal(3, 0), synced(3, "d-wal"), wal(4, 4096), synced(4, "d-wal"),
    database(5, 0), synced(5, "d"),
]  # fmt: skip


def test_synchronous_normal_keeps_the_sync_before_a_checkpoint() -> None:
    found = changes.with_synchronous_normal(TWO_PASSES)
    assert found is not None
    assert [(call.seconds, call.file) for call in found if call.kind == "datasync"] == [
        (1, "d-wal"), (2, "d"), (4, "d-wal"), (5, "d"),
    ]  # fmt: skip
    assert [call for call in found if call.kind == "write"] == [call for call in TWO_PASSES if call.kind == "write"]
    assert changes.with_synchronous_normal([wal(0, 0), database(1, 0)]) is None


def test_a_larger_log_goes_on_behind_its_end_and_has_one_checkpoint() -> None:
    found = changes.with_larger_wal(TWO_PASSES)
    assert found is not None
    assert [call.offset_bytes for call in found if call.file == "d-wal" and call.kind == "write"] == [
        0, 4096, 8192, 8192 + 4096,
    ]  # fmt: skip
    # Each page once, then one sync.
    assert [(call.kind, call.offset_bytes) for call in found if call.file == "d"] == [
        ("write", 0), ("write", 4096), ("datasync", 0),
    ]  # fmt: skip
    assert changes.with_larger_wal(TWO_PASSES[:7]) is None


def test_batches_and_no_syncs() -> None:
    commits = [call for second in range(20) for call in (wal(second, 4096 * second), synced(second, "d-wal"))]
    # A checkpoint's own sync stays.
    found = changes.batched([*commits, synced(20, "d")])
    assert found is not None
    assert [call.seconds for call in found if call.kind == "datasync"] == [9, 19, 20]
    assert changes.batched(commits[:20]) is None
    assert [call.kind for call in changes.without_syncs(commits)] == ["write"] * 20


def test_contents_that_were_replaced_are_left_out() -> None:
    calls = [
        Call(0, 1, "create", "s"), Call(0, 1, "write", "s", 0, 10),
        Call(1, 1, "create", "s.new"), Call(1, 1, "write", "s.new", 0, 20), Call(1, 1, "rename", "s.new", to="s"),
        Call(2, 1, "empty", "s"), Call(2, 1, "write", "s", 0, 30),
        Call(3, 1, "write", "other", 0, 40), Call(4, 1, "remove", "other"),
    ]  # fmt: skip
    found = changes.without_replaced(calls)
    assert found is not None
    assert [call.length_bytes for call in found if call.kind == "write"] == [30, 40]
    assert changes.without_replaced(calls[:2]) is None


def test_only_logs_are_longer() -> None:
    assert changes.longer_logs({"a-wal": 4, "a": 4}, 10) == {"a-wal": 40, "a": 4}
