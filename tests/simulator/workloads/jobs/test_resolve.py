"""Do the engine's jobs match the job file on a drive of a given size?"""

from fractions import Fraction
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import parse

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# Not a multiple of 8 KiB, as on real drives.
DRIVE = GIB + 4 * KIB


def jobs(text: str, user_bytes: int = DRIVE, seed: int = 1, scale: Fraction | int = 1) -> list[Any]:
    return parse(text, "x.fio").resolve(user_bytes, seed=seed, scale=scale)


def one(options: str, **how: Any) -> Any:
    (job,) = jobs(f"[a]\n{options}\n", **how)
    return job


def test_defaults_are_those_of_fio() -> None:
    job = one("")
    seed = job.pop("seed")
    assert 0 <= seed < 2**64
    sizes = [{"bytes": 4096, "percent": 100.0}]
    assert job == {
        "name": "a",
        "clone": 0,
        "stage": 0,
        "direction": "read",
        "sequential": True,
        "read_percent": 100.0,
        "offset_bytes": 0,
        "size_bytes": DRIVE,
        "io_bytes": DRIVE,
        "number_ios": None,
        "loops": 1,
        "block_sizes": {"read": sizes, "write": sizes, "trim": sizes},
        "block_align_bytes": {"read": 4096, "write": 4096, "trim": 4096},
        "distribution": {"name": "random"},
        "random_map": False,
        "skip_bytes": None,
        "runs": None,
        "random_percent": None,
        "files": None,
        "iodepth": 1,
        "runtime_ns": None,
        "time_based": False,
    }


@pytest.mark.parametrize(
    ("rw", "direction", "sequential", "read_percent"),
    [
        ("read", "read", True, 100),
        ("write", "write", True, 0),
        ("trim", "trim", True, 0),
        ("randread", "read", False, 100),
        ("randwrite", "write", False, 0),
        ("randtrim", "trim", False, 0),
        ("rw", "read-write", True, 50),
        ("readwrite", "read-write", True, 50),
        ("randrw", "read-write", False, 50),
        ("trimwrite", "trim-write", True, 0),
        ("randtrimwrite", "trim-write", False, 0),
    ],
)
def test_directions(rw: str, direction: str, sequential: bool, read_percent: float) -> None:
    job = one(f"rw={rw}")
    assert (job["direction"], job["sequential"], job["read_percent"]) == (direction, sequential, read_percent)


def test_the_later_of_the_mixes_counts() -> None:
    assert one("rw=rw\nrwmixread=40\nrwmixwrite=90")["read_percent"] == 10
    assert one("rw=rw\nrwmixwrite=90\nrwmixread=40")["read_percent"] == 40
    (job,) = jobs("[global]\nrw=rw\nrwmixread=40\n[a]\nrwmixwrite=70\n")
    assert job["read_percent"] == 30


def test_ranges() -> None:
    def extent(options: str) -> tuple[int, int, int]:
        job = one(options)
        return job["offset_bytes"], job["size_bytes"], job["io_bytes"]

    assert extent("offset=4k") == (4 * KIB, GIB, GIB)
    assert extent("size=1m") == (0, MIB, MIB)
    assert extent("size=50%") == (0, 512 * MIB, 512 * MIB)
    assert extent("offset=50%\nsize=50%") == (512 * MIB + 4 * KIB, 512 * MIB, 512 * MIB)
    assert extent("offset=1m\nsize=100%") == (MIB, DRIVE - MIB, DRIVE - MIB)
    assert extent("bs=8k") == (0, GIB, GIB)
    assert extent("size=1m\nio_size=25%") == (0, MIB, MIB // 4)
    assert extent("size=1m\nio_size=5m") == (0, MIB, 5 * MIB)
    assert extent("size=1m\nloops=3") == (0, MIB, 3 * MIB)
    assert extent("size=0\nio_size=0") == (0, DRIVE, DRIVE)


def test_the_map_of_visited_blocks() -> None:
    assert one("rw=randwrite")["random_map"]
    for options in (
        "norandommap",
        "random_distribution=zipf:0.9",
        "random_distribution=zipf:0",
        "ba=8k",
        "bs=8k\nba=4k",
    ):
        assert not one(f"rw=randwrite\n{options}")["random_map"], options
    assert one("rw=randwrite\nnorandommap=0")["random_map"]
    assert one("rw=randwrite\nba=8k")["block_align_bytes"]["write"] == 8192
    assert one("rw=write\nba=8k")["block_align_bytes"]["write"] == 4096


def test_a_map_that_fio_cannot_keep_is_noted() -> None:
    """A regression: the blocks of reads and of writes with other lengths repeated without a word."""
    for options, said in (("bs=4k,16k", 1), ("bssplit=4k/50:8k/50,8k", 1), ("bs=4k,16k\nnorandommap", 0), ("bs=8k", 0)):
        file = parse(f"[a]\nrw=randrw\n{options}\ndirect=1\n")
        file.resolve(DRIVE, seed=1)
        assert len(file.notes(timed=True)) == said, options
        assert all("blocks may repeat" in note for note in file.notes(timed=True))


def test_reads_and_writes_with_holes_each_go_through_the_range() -> None:
    """A regression: both together had as many requests as one of them. In fio 3.33 the job ends with the first."""
    assert one("rw=read:4k\nsize=1m")["number_ios"] == 128
    assert one("rw=rw:4k\nsize=1m")["number_ios"] == 256
    assert one("rw=rw:4k\nsize=1m\nrwmixread=20")["number_ios"] == 160


def test_distributions_in_the_engines_words() -> None:
    assert one("random_distribution=zipf:1.2")["distribution"] == {
        "name": "zipf",
        "theta": 1.2,
        "center": None,
    }
    assert one("random_distribution=pareto:0.2")["distribution"] == {
        "name": "pareto",
        "h": 0.2,
        "center": None,
    }
    assert one("random_distribution=normal:10:0.5")["distribution"] == {
        "name": "normal",
        "deviation_percent": 10.0,
        "center": 0.5,
    }
    assert one("random_distribution=zipf:0")["distribution"] == {"name": "random"}
    assert one("random_distribution=zoned:90/10:10/")["distribution"] == {
        "name": "zoned",
        "zones": [{"access_percent": 90.0, "span_percent": 10.0}, {"access_percent": 10.0, "span_percent": 90.0}],
    }


def test_clones_and_stages() -> None:
    found = [
        (job["name"], job["clone"], job["stage"])
        for job in jobs("[fill]\nstonewall\nrw=write\n[a]\nstonewall\nnumjobs=2\n[b]\n[c]\nwait_for_previous\n")
    ]
    assert found == [("fill", 0, 0), ("a", 0, 1), ("a", 1, 1), ("b", 0, 1), ("c", 0, 2)]


def test_stonewall_in_global_sets_every_job_apart() -> None:
    assert [job["stage"] for job in jobs("[global]\nstonewall\n[a]\n[b]\nstonewall=0\n[c]\n")] == [0, 0, 1]


def test_seeds() -> None:
    text = "[a]\nnumjobs=2\n[a]\nrandrepeat=0\n[b]\nrandseed=7\n"

    def seeds(**how: Any) -> list[int]:
        return [job["seed"] for job in jobs(text, **how)]

    first = seeds(seed=1)
    assert len(set(first)) == 4
    assert seeds(seed=1) == first
    other = seeds(seed=2)
    assert all(was != now for was, now in zip(first[:3], other[:3], strict=True))
    assert first[3] == other[3]
    renamed = [job["seed"] for job in jobs(text.replace("[a]", "[z]"), seed=1)]
    assert renamed == first


def test_scale_acts_on_sizes_and_counts_but_not_on_blocks() -> None:
    job = one(
        "rw=randwrite\nbs=16k\noffset=16m\nsize=256m\nio_size=1g\nnumber_ios=1600",
        user_bytes=64 * MIB,
        scale=Fraction(1, 16),
    )
    assert (job["offset_bytes"], job["size_bytes"], job["io_bytes"]) == (MIB, 16 * MIB, 64 * MIB)
    assert job["number_ios"] == 100
    assert job["block_sizes"]["write"] == [{"bytes": 16384, "percent": 100.0}]


def test_a_scaled_count_is_noted() -> None:
    """A regression: 30,000 requests were reduced to 117 without a message."""
    job_file = parse("[a]\nrw=randwrite\ndirect=1\nsize=1g\nnumber_ios=30000\n", "x.fio")
    job_file.resolve(GIB, seed=1)
    assert job_file.notes(timed=True) == ()
    job_file.resolve(GIB // 256, seed=1, scale=Fraction(1, 256))
    assert job_file.notes(timed=True) == ("number_ios=30000 is 117 requests under --scale 1/256",)


def test_scaled_sizes_are_whole_blocks_and_never_nothing() -> None:
    job = one("rw=randwrite\nbs=64k\nsize=100m\nio_size=64k\nnumber_ios=3", user_bytes=GIB // 7, scale=Fraction(1, 7))
    assert job["size_bytes"] % (64 * KIB) == 0
    assert abs(job["size_bytes"] - 100 * MIB / 7) <= 32 * KIB
    assert job["io_bytes"] == 64 * KIB
    assert job["number_ios"] == 1
    tiny = one("rw=randwrite\nbs=64k\nsize=64k\noffset=64k", user_bytes=GIB, scale=Fraction(1, 1000))
    assert (tiny["offset_bytes"], tiny["size_bytes"]) == (64 * KIB, 64 * KIB)


def test_a_job_as_large_as_the_drive_fits_its_scaled_twin() -> None:
    # A scaled drive loses up to an erase unit to rounding.
    job = one("size=1g", user_bytes=GIB // 16 - 96 * KIB, scale=Fraction(1, 16))
    assert job["size_bytes"] == GIB // 16 - 96 * KIB
    with pytest.raises(InputError, match="more than the drive has"):
        one("size=2g", user_bytes=GIB // 16, scale=Fraction(1, 16))


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("size=2t", ("x.fio, line 2: size=2t (2,199,023,255,552 bytes)", "1,073,745,920 bytes")),
        ("offset=1m\nsize=1g", ("x.fio, line 3: size=1g", "1,048,576 of them before the offset")),
        ("offset=2g", ("x.fio, line 2: offset=2g (2,147,483,648 bytes)", "1,073,745,920 bytes")),
        ("offset=100%", ("x.fio, line 2: offset=100%", "no room")),
        ("offset=1000", ("x.fio, line 2: offset=1000", "multiple of 512")),
        ("bs=2m\nsize=1m", ("x.fio, line 2: bs=2m", "blocks of 2,097,152 bytes", "1,048,576 bytes", "size=1m, line 3")),
        ("bssplit=4k/50:2g/50", ("x.fio, line 2: bssplit=", "2,147,483,648", "the drive")),
        ("rw=trimwrite\nbs=4k,4k,16k", ("x.fio, line 3: bs=4k,4k,16k", "trims of 16,384 bytes", "writes of 4,096")),
        ("size=2k", ("x.fio, line 1: bs (default) has blocks of 4,096 bytes", "size=2k, line 2")),
        ("loops=2g\nio_size=1p\nsize=512m", ("loops=2g",)),
        ("numjobs=4000\n[b]\nnumjobs=4000", ("8,000 jobs", "4,096")),
    ],
)
def test_what_does_not_fit_the_drive_is_refused(options: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        jobs(f"[a]\n{options}\n")
    for part in parts:
        assert part in str(caught.value)


def test_amounts_past_64_bits_are_refused() -> None:
    with pytest.raises(InputError, match="loops=2000000000"):
        one("loops=2000000000", user_bytes=1 << 40)
    with pytest.raises(InputError, match="number_ios"):
        one("number_ios=0xffffffffffffffff\nloops=2")


def test_zones_that_do_not_fit_the_smallest_file_are_refused_by_line() -> None:
    """A regression found by fuzzing: only a single file was checked, and the engine then failed without a line
    number."""
    files = "rw=randwrite\nrandom_distribution=zoned_abs:60/8m:40/8m\nfilename=a:b\nsize=24m\n"
    with pytest.raises(
        InputError, match=r"line 3: random_distribution=.*16,777,216 .* 12,582,912 of its smallest file"
    ):
        one(files)
    assert len(one(files.replace("24m", "32m"))["files"]["ranges"]) == 2


def test_a_block_that_is_too_long_for_the_scaled_job_says_the_scale() -> None:
    """A regression: `size=100M` was said to be some kilobytes, without the scale that makes it so."""
    with pytest.raises(
        InputError, match=r"longer than the 24,576 bytes .*\(size=100M, line 5\), under --scale 1/2048$"
    ):
        parse("[a]\nrw=write\nnrfiles=2\nbs=64k\nsize=100M\n").resolve(DRIVE, seed=1, scale=Fraction(1, 2048))
