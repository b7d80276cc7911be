"""Are scripts interpreted correctly, and does every command send the drive the requests of a file system?"""

import itertools
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.filesystem import parse

MIB, GIB = 1 << 20, 1 << 30
DRIVE = 4 * GIB


def jobs(text: str, **how: Any) -> list[Any]:
    return parse(text, "x.files").resolve(DRIVE, seed=1, **how)


def ranges(job: Any) -> list[tuple[int, int]]:
    files = job["files"] or {"ranges": [{key: job[key] for key in ("offset_bytes", "size_bytes")}]}
    return [(each["offset_bytes"], each["size_bytes"]) for each in files["ranges"]]


def size(job: Any) -> int:
    return sum(size_bytes for _, size_bytes in ranges(job))


def names(found: list[Any]) -> list[tuple[int, str, str]]:
    return [(job["stage"], job["name"], job["direction"]) for job in found]


def test_the_published_experiment_in_ten_lines() -> None:
    """Study 1: prepare, copy, remove without trim, 36 runs; trim, a smaller file system, again."""
    text = """
        mkfs 238GiB
        sysbench fileio --file-total-size=140G prepare
        cp test_file.[1-8]? copies/    # to take up flash
        rm copies/*                    # without trim
        repeat 36 sysbench fileio --file-total-size=140G --file-test-mode=rndwr run
        fstrim
        resize 190GiB
        cp test_file.[1-4]? copies/
        rm copies/*
        repeat 36 sysbench fileio --file-total-size=140G --file-test-mode=rndwr run
    """
    found: list[Any] = parse(text).resolve(256 * 10**9, seed=1)
    assert [name for _, name, _ in names(found)] == [
        "mkfs", "sysbench prepare", "cp", "cp", *36 * ["sysbench rndwr"],
        "fstrim", "resize", "resize", "cp", "cp", *36 * ["sysbench rndwr"],
    ][: len(found)] or "resize" not in {name for _, name, _ in names(found)}  # fmt: skip
    prepare, read, write, run = found[1], found[2], found[3], found[4]
    assert size(prepare) == 140 * GIB and size(read) == size(write) == 80 * 140 * GIB // 128
    assert run["runtime_ns"] == 10 * 10**9 and run["flush_every_writes"] == 100 and run["time_based"]
    assert run["block_sizes"]["write"] == [{"bytes": 16384, "percent": 100.0}]
    assert size(run) > 0.999 * 140 * GIB
    assert max(at + length for at, length in ranges(found[-1])) <= 190 * GIB


def test_what_is_written_lies_where_it_is_read_and_rewritten() -> None:
    made = jobs("write a 10MiB\nwrite b 5MiB count=3\nread b.*\noverwrite a\noverwrite a 1MiB random bs=8KiB fsync=4\n")
    _, a, b, read, again, rewritten = made
    assert ranges(a) == ranges(again) == ranges(rewritten) and ranges(b) == ranges(read)
    assert (size(a), size(b)) == (10 * MIB, 15 * MIB)
    assert rewritten["io_bytes"] == MIB and not rewritten["sequential"] and rewritten["flush_every_writes"] == 4
    assert again["io_bytes"] == 10 * MIB and again["sequential"]


def test_removing_trims_only_where_the_volume_is_mounted_so() -> None:
    assert names(jobs("write a 1MiB\nrm a\n"))[-1] == (1, "write", "write")
    mkfs, written, trimmed = jobs("mkfs\nmount discard\nwrite a 1MiB\nrm a\n")
    assert trimmed["direction"] == "trim" and ranges(trimmed) == ranges(written)
    *_, fstrim = jobs("write a 1MiB\nwrite b 1MiB\nrm a\nfstrim\n")
    assert size(fstrim) + size(mkfs) + MIB == DRIVE


def test_an_appended_file_goes_on_behind_itself_if_it_can() -> None:
    _, first, grown = jobs("write a 1MiB\nappend a 1MiB\n")
    assert ranges(grown)[0][0] == sum(ranges(first)[0])
    _, first, second, grown, read = jobs("write a 1MiB\nwrite b 1MiB\nappend a 1MiB\nread a\n")
    assert ranges(read) == [*ranges(first), *ranges(grown)] and ranges(grown)[0][0] == sum(ranges(second)[0])


def test_sysbench_extends_files_that_are_too_small() -> None:
    """A regression: `prepare` kept files of any size. sysbench 1.0.20 says "Extending existing file" and writes what is
    missing, and "Reusing existing file" if the file is as large or larger."""
    two = "sysbench fileio --file-num=2 --file-total-size"
    run = f"{two}=16M --file-test-mode=seqrd run"
    _, first, grown, read = jobs(f"{two}=8M prepare\n{two}=16M prepare\n{run}\n")
    assert grown["name"] == "sysbench prepare"
    assert (size(first), size(grown), size(read)) == (8 * MIB, 8 * MIB, 16 * MIB)
    assert not set(ranges(grown)) & set(ranges(first))
    # One file is there, one is too small, one is missing.
    three = "sysbench fileio --file-num=3 --file-total-size=12M"
    *_, grown, read = jobs(f"write test_file.0 5MiB\nwrite test_file.1 1MiB\n{three} prepare\nread test_file.1\n")
    assert size(grown) == 3 * MIB + 4 * MIB and size(read) == 4 * MIB
    assert names(jobs(f"{two}=16M prepare\n{two}=8M prepare\n"))[-1][0] == 1, "nothing is written"


def test_sysbench_uses_the_first_part_of_larger_files() -> None:
    """A regression: `run` used whole files. The real one is in test_sysbench.py."""
    two = "sysbench fileio --file-num=2 --file-total-size"
    prepared = (f"{two}=48M prepare", "write test_file 24MiB count=2")
    for mode, larger in itertools.product(("seqrd", "rndrw", "rndwr"), prepared):
        text = f"{larger}\n{two}=20M --file-test-mode={mode} run\nread test_file.0\nread test_file.1\n"
        *_, run, first, second = jobs(text)
        at, other = (ranges(each)[0][0] for each in (first, second))
        assert size(run) == 20 * MIB and {at, other} <= {start for start, _ in ranges(run)}
        assert sum(length for start, length in ranges(run) if at <= start < at + 24 * MIB) == 10 * MIB


def test_a_smaller_file_system_moves_what_lies_behind() -> None:
    text = "write low 1GiB\nwrite gap 1GiB\nwrite high 512MiB\nrm gap\nresize 2GiB\nread high\n"
    *_, moved_from, moved_to, read = jobs(text)
    assert (moved_from["stage"], moved_from["direction"]) == (moved_to["stage"], "read")
    assert all(at >= 2 * GIB for at, _ in ranges(moved_from))
    assert size(read) == 512 * MIB and max(at + length for at, length in ranges(read)) <= 2 * GIB
    with pytest.raises(InputError, match=r"line 2: resize 1GiB: .* bytes are required and"):
        jobs("write a 1536MiB\nresize 1GiB\n")


def test_a_pause_delays_the_next_command() -> None:
    found = jobs("write a 1MiB\nsleep 10\nsleep 0.5s\nread a\nread a\n")
    assert [job.get("start_delay_ns") for job in found] == [None, None, 10_500_000_000, None]


def test_a_scale_makes_files_smaller_and_keeps_the_requests() -> None:
    _, full = jobs("write a 1GiB\n")
    _, scaled = parse("write a 1GiB\n").resolve(DRIVE // 16, seed=1, scale=1 / 16)  # type: ignore[arg-type]
    assert size(scaled) == size(full) // 16 and scaled["block_sizes"] == full["block_sizes"]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("wirte a 1MiB", ("line 2: 'wirte' is not a command", "'write'")),
        ("write a", ("line 2: write a: a size is missing",)),
        ("write a 9TiB", ("line 2: write a 9TiB", "are required and")),
        ("write a 1M", ("line 2: 1M", "unit")),
        ("write there 1MiB", ("line 2: write there 1MiB: there already exists",)),
        ("read nothing", ("line 2: read nothing: no file matches nothing",)),
        ("cp th* th*", ("line 2", "th* ")),
        ("cp there there", ("copied onto itself",)),
        ("repeat 0 fstrim", ("repeat N",)),
        ("sleep soon", ("a time",)),
        ("mkfs 5GiB", ("the drive has 4,294,967,296",)),
        ("overwrite there bs=5", ("multiple of 512",)),
        ("overwrite there 'x", ("line 2", "quotation")),
        ("sysbench cpu run", ("sysbench fileio",)),
        ("sysbench fileio run", ("--file-test-mode", "rndwr")),
        ("sysbench fileio --file-test-mode=rndw run", ("--file-test-mode=rndw", "rndwr")),
        ("sysbench fileio --file-tot=1G prepare", ("--file-tot", "--file-total-size")),
        ("sysbench fileio --file-test-mode=rndwr run", ("test_file.0 does not exist", "prepare")),
        (
            "write test_file.0 1MiB\nsysbench fileio --file-num=1 --file-total-size=2M --file-test-mode=rndrd run",
            ("line 3", "test_file.0 is smaller than the 2,097,152 bytes", "prepare"),
        ),
        ("sysbench fileio --file-test-mode=rndwr --time=0 run", ("would never end",)),
    ],
)
def test_what_is_wrong_is_said_by_line(line: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        found = jobs(f"write there 1MiB\n{line}\n")
        assert line == "cp th* th*" and len(found) == 4, "a pattern may be a name"
        raise InputError("line 2: th* is a name")
    assert all(part in str(caught.value) for part in parts), caught.value
