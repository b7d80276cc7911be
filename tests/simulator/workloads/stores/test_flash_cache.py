"""A flash cache as a workload, and CacheLib's kvcache traces as the source of its small and large objects."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

import ssdlab
from ssdlab.errors import InputError, Note
from ssdlab.simulator.targets import running
from ssdlab.simulator.workloads import stores
from ssdlab.simulator.workloads.stores import kvcache

DRIVE = "samsung-pm9d3-1880gb"
HEADER = "key,op,size,op_count,key_size\n"

Rows = list[tuple[str, str, int, int]]
"""Key, operation, size of key and value, count."""


def written(tmp_path: Path, lines: str, ram: int = 0, header: str = HEADER) -> kvcache.Written:
    path = tmp_path / "kv.csv"
    path.write_text(header + lines)
    return kvcache.written(path, ram, 2048)


def by_looking(rows: Rows, ram: int) -> tuple[int, int]:
    """The slow reference: memory as a list, most recently used last, searched linearly."""
    memory: list[tuple[str, int, bool]] = []
    flash: list[str] = []
    small = large = 0
    for key, op, size, count in rows:
        held = [each for each in memory if each[0] == key]
        memory = [each for each in memory if each[0] != key]
        repeats = count if op.startswith("SET") and size > ram else 1
        for _ in range(repeats):
            if op.startswith("SET"):
                memory.append((key, size, True))
            elif op.startswith("GET") and held:
                memory.append(held[0])
            elif op.startswith("GET") and key in flash:
                memory.append((key, size, False))
            elif op == "DELETE":
                flash = [each for each in flash if each != key]
            while sum(each[1] for each in memory) > ram:
                evicted, bytes_, is_new = memory.pop(0)
                if is_new:
                    flash.append(evicted)
                    small += bytes_ <= 2048
                    large += bytes_ if bytes_ > 2048 else 0
    return small, large


def test_without_memory_each_set_is_written(tmp_path: Path) -> None:
    found = written(tmp_path, "a,SET,100,3,20\nb,SET_LEASE,10000,2,24\na,GET,100,9,20\nc,DELETE,0,1,20\n")
    assert (found.sets, found.small_objects, found.large_bytes) == (5, 3, 2 * 10_024)
    assert found.small_share == pytest.approx(3 * 4096 / (3 * 4096 + 2 * 10_024))


def test_the_layout_of_2024_is_told_by_its_header(tmp_path: Path) -> None:
    header = "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n"
    found = written(
        tmp_path, "1,a,48,SET,2,87,1,0,36,30\n2,b,24,SET,1,9000,0,0,7,7\n3,b,24,ADD,1,1,0,0,7,7\n", 0, header
    )
    assert (found.small_objects, found.large_bytes, found.others) == (2, 9024, 1)


@pytest.mark.parametrize("ram", [0, 3000, 20_000, 10**9])
def test_memory_is_as_that_of_a_slow_twin(tmp_path: Path, ram: int) -> None:
    for seed in range(10):
        draw = random.Random(seed)
        rows: Rows = []
        for _ in range(400):
            key = f"k{int(draw.paretovariate(0.7)) % 60}"
            size = (100 if int(key[1:]) % 3 else 5000) + len(key)
            op = draw.choice(["GET", "GET_LEASE", "SET", "SET_LEASE", "DELETE"])
            rows.append((key, op, size, draw.randint(1, 3)))
        lines = "".join(f"{key},{op},{size - len(key)},{count},{len(key)}\n" for key, op, size, count in rows)
        found = written(tmp_path, lines, ram)
        assert (found.small_objects, found.large_bytes) == by_looking(rows, ram), f"seed {seed}"


def test_popular_objects_stay_away_from_the_flash(tmp_path: Path) -> None:
    """One small key is set in every turn, large ones once each: with memory the small one never reaches the flash."""
    lines = "".join(f"hot,SET,100,1,3\nk{index},SET,5000,1,4\n" for index in range(100))
    without, with_memory = written(tmp_path, lines), written(tmp_path, lines, 30_000)
    assert (without.small_objects, with_memory.small_objects) == (100, 0)
    assert without.large_bytes > with_memory.large_bytes > 0.9 * without.large_bytes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key,op,size\na,GET,1\n", "column op_count is missing; allowed is a header with key, op, size"),
        (HEADER + "a,SET,1\n", "line 2: has 3 columns; allowed are at least 5"),
        (HEADER + "a,SET,1,1,1\nb,SET,x,1,1\n", "line 3: size=x: allowed is a whole number from 0"),
        (HEADER + "a,SET,1,0,1\n", "line 2: op_count=0: allowed is a whole number from 1"),
        (HEADER + "a,GET,1,1,1\n", "writes nothing to the flash: it has no line with op=SET"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "kv.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        stores.parse(f"flash-cache trace={path}").resolve(10**9, seed=1)
    assert said in str(refused.value)
    assert "kv.csv" in str(refused.value)


def test_a_missing_trace_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: cannot be read: No such file"):
        stores.parse(f"flash-cache trace={tmp_path / 'none.csv'}").resolve(10**9, seed=1)


def test_shares_of_a_trace_are_those_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "kv.csv"
    path.write_text(HEADER + "a,SET,100,300,20\nb,SET,20000,20,24\n")
    share = 300 * 4096 / (300 * 4096 + 20 * 20_024)
    with pytest.warns(Note, match=r"300 small objects and 400,480 bytes of large ones are written to the flash"):
        result = running.run(
            f"flash-cache trace={path} settle=0x writes=1x",
            ssdlab.drive(DRIVE, scale="1/1024"),
            timed=False,
        )
    by_name = {job.name: job.write.io_bytes for job in result.jobs}
    assert by_name["flash-cache-small"] / sum(by_name.values()) == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize(
    ("text", "published"), [("handles=none", 3.5), ("data=50%", 1.3), ("handles=kind small=64%", 2.5)]
)
def test_write_amplification_is_as_published(text: str, published: float) -> None:
    """Allison et al., EuroSys 2025; the drive was fitted to these figures with the same cache as a job file."""
    drive = ssdlab.drive(DRIVE, scale="1/512")
    result = running.run(f"flash-cache {text} settle=8x writes=6x", drive, timed=False)
    assert result.settled_waf == pytest.approx(published, rel=0.1)


def test_each_kind_has_its_place_its_share_and_its_handle() -> None:
    jobs = stores.parse("flash-cache handles=kind small=25% small-writes=50% writes=2x").resolve(
        4 << 30, seed=1, scale=Fraction(1, 64)
    )
    assert [(job["name"], job["stage"], job.get("stream_id")) for job in jobs] == [
        ("settle-large", 0, 0),
        ("settle-small", 0, 1),
        ("flash-cache-large", 1, 0),
        ("flash-cache-small", 1, 1),
    ]
    large, small = jobs[-2:]
    assert (small["offset_bytes"], small["size_bytes"]) == (0, 1 << 30)
    assert (large["offset_bytes"], large["size_bytes"]) == (1 << 30, 3 << 30)
    assert small["io_bytes"] == large["io_bytes"] == 4 << 30
    assert (small["iodepth"], large["iodepth"]) == (64, 1), "64 x 4 KiB against 256 KiB"
    with pytest.raises(InputError, match="small objects have 0 bytes"):
        stores.parse("flash-cache small=0%").resolve(10**9, seed=1)
