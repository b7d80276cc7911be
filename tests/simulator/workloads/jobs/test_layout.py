"""Are files, and ranges within them, at the right addresses of the drive? And sequential runs, holes and lengths?"""

from fractions import Fraction
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import parse

KIB, MIB = 1 << 10, 1 << 20
DRIVE = 64 * MIB + 4 * KIB


def jobs(text: str, user_bytes: int = DRIVE, seed: int = 1, scale: Fraction | int = 1) -> list[Any]:
    return parse(text, "x.fio").resolve(user_bytes, seed=seed, scale=scale)


def one(options: str, **how: Any) -> Any:
    (job,) = jobs(f"[a]\n{options}\n", **how)
    return job


def ranges(job: Any) -> list[tuple[int, int]]:
    """The ranges of a job's files, or of a job with one file, in KiB."""
    each = [job] if job["files"] is None else job["files"]["ranges"]
    return [(file["offset_bytes"] // KIB, file["size_bytes"] // KIB) for file in each]


def test_files_lie_one_behind_another() -> None:
    job = one("nrfiles=4\nsize=64k")
    assert ranges(job) == [(0, 16), (16, 16), (32, 16), (48, 16)]
    assert (job["offset_bytes"], job["size_bytes"], job["io_bytes"]) == (0, 64 * KIB, 64 * KIB)
    assert job["files"]["service"] == {"kind": "round-robin", "ios": 1}
    assert ranges(one("nrfiles=2\nsize=32k\noffset=8k")) == [(8, 16), (32, 16)]
    assert ranges(one("nrfiles=2\nfilesize=32k\noffset=8k")) == [(8, 24), (40, 24)]


def test_files_without_a_size_share_the_drive() -> None:
    job = one("filename=/dev/a:/dev/b")
    assert ranges(job) == [(0, 32 * 1024), (32 * 1024, 32 * 1024)]
    assert ranges(one("filename=/dev/a:/dev/b\nsize=50%")) == [(0, 16 * 1024), (32 * 1024, 16 * 1024)]


def test_a_name_is_one_file_wherever_it_stands() -> None:
    first, second, third = jobs("[global]\nsize=1m\n[a]\nfilename=one\n[b]\nfilename=two\n[c]\nfilename=one\nsize=2m\n")
    assert (ranges(first), ranges(second), ranges(third)) == ([(0, 1024)], [(2048, 1024)], [(0, 2048)])


def test_one_file_is_the_whole_drive() -> None:
    for text in ("[a]\nfilename=one\n[b]\nfilename=one\n", "[a]\nfilename=one\n", "[a]\n[b]\n"):
        assert {(job["offset_bytes"], job["size_bytes"]) for job in jobs(text)} == {(0, DRIVE)}


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("[a]\nsize=1m\nnumjobs=4\n", 4),
        ("[global]\nsize=1m\n[a]\n[b]\nstonewall\nnumjobs=2\n", 3),
        ("[a]\nsize=1m\nnumjobs=4\noffset_increment=1m\n", 0),
        ("[a]\nsize=1m\nnumjobs=4\nfilename=/dev/sda\n", 0),
        ("[a]\nsize=1m\nnrfiles=2\nnumjobs=2\n", 4),
        ("[a]\nsize=1m\nnrfiles=2\n[b]\nsize=1m\nnrfiles=2\n", 0),
        ("[a]\nsize=1m\n[a]\nsize=1m\nstonewall\nrw=write\n", 0),
        ("[a]\nnumjobs=4\n", 0),
        ("[a]\nsize=1m\nnumjobs=4\nioengine=rbd\n", 0),
    ],
)
def test_jobs_to_which_fio_gives_a_file_each(text: str, files: int) -> None:
    """A regression: four clones with 1 GiB each wrote the same GiB, a quarter of what fio writes to, without a word."""
    file = parse(text)
    file.resolve(DRIVE, seed=1)
    said = [note for note in file.notes(timed=True) if "files of its own" in note]
    assert [f"here {files} files" in note for note in said] == ([True] if files else [])


def test_a_job_without_a_file_beside_files_works_on_the_drive() -> None:
    fill, files = jobs("[fill]\nrw=write\n[files]\nnrfiles=2\nsize=1m\n")
    assert ranges(fill) == [(0, DRIVE // KIB)]
    assert ranges(files) == [(0, 512), (512, 512)]


def test_filesize_takes_the_place_of_size() -> None:
    job = one("rw=randwrite\nfilesize=1m\nsize=256k")
    assert (job["size_bytes"], job["io_bytes"]) == (MIB, 256 * KIB)
    drawn = ranges(one("nrfiles=50\nfilesize=8k-24k"))
    # Whole blocks, so the upper end itself has a chance of one in sixteen thousand.
    assert {size for _, size in drawn} == {8, 12, 16, 20}
    assert drawn == ranges(one("nrfiles=50\nfilesize=8k-24k"))
    assert drawn != ranges(one("nrfiles=50\nfilesize=8k-24k", seed=2))


@pytest.mark.parametrize(
    ("options", "service"),
    [
        ("random", {"kind": "random", "ios": 1}),
        ("random:8", {"kind": "random", "ios": 8}),
        ("roundrobin:3", {"kind": "round-robin", "ios": 3}),
        ("sequential", {"kind": "sequential"}),
    ],
)
def test_services(options: str, service: Any) -> None:
    assert one(f"nrfiles=2\nsize=1m\nfile_service_type={options}")["files"]["service"] == service


def test_skewed_services_are_weights() -> None:
    def weights(options: str) -> list[float]:
        return one(f"nrfiles=4\nsize=1m\nfile_service_type={options}")["files"]["service"]["weights"]

    zipf = weights("zipf:1.2")
    assert sorted(zipf, reverse=True) == zipf
    assert sum(zipf) == pytest.approx(sum(rank**-1.2 for rank in range(1, 4097)))
    pareto = weights("pareto:0.2")
    # A fifth of the steps has four fifths of the draws.
    assert pareto[0] == pytest.approx(0.25 ** (0.2230 / 1.6094), rel=1e-3)
    centred = weights("zipf:1.2:0.5")
    assert max(centred) == centred[2]
    normal = weights("gauss:10")
    assert normal[1] == pytest.approx(normal[2])
    assert normal[0] < 0.02 * normal[1]


def test_offsets_of_clones() -> None:
    def offsets(options: str) -> list[int]:
        return [job["offset_bytes"] // KIB for job in jobs(f"[a]\nnumjobs=3\nsize=64k\nbs=16k\n{options}\n")]

    assert offsets("offset_increment=1m") == [0, 1024, 2048]
    assert offsets("offset_increment=1m\noffset=32k") == [32, 1056, 2080]
    # A tenth of 65540 KiB is 6554; the next multiples of 16.
    assert offsets("offset_increment=10%") == [0, 6560, 13_120]
    assert offsets("offset_increment=10%\noffset_align=4k") == [0, 6556, 13_108]
    assert offsets("offset=10%\noffset_align=64k") == [6592] * 3
    with pytest.raises(InputError, match=r"offset_increment=40m.*leaves no room"):
        offsets("offset_increment=40m")


def test_runs_holes_and_shares() -> None:
    assert one("rw=randread:8")["runs"] == {"ios": 8, "then": "sequential"}
    assert one("rw=randrw:4\nrw_sequencer=identical")["runs"] == {"ios": 4, "then": "identical"}
    assert one("rw=randread:1")["runs"] is None
    assert one("rw=read:4k")["skip_bytes"] == 4096
    assert one("rw=write:-8k")["skip_bytes"] == -8192
    assert one("rw=randrw\npercentage_random=50,20")["random_percent"] == {"read": 50.0, "write": 20.0, "trim": 20.0}
    assert one("rw=randread\npercentage_random=100,20")["random_percent"] is None
    assert one("rw=read\npercentage_random=50")["random_percent"] is None


def test_lengths() -> None:
    def lengths(options: str, direction: str = "read") -> list[tuple[int, float]]:
        return [(entry["bytes"], entry["percent"]) for entry in one(options)["block_sizes"][direction]]

    assert lengths("bsrange=4k-16k") == [(4096, 25), (8192, 25), (12_288, 25), (16_384, 25)]
    assert lengths("bsrange=4k-10k") == [(4096, 40), (8192, 40), (10_240, 20)]
    assert lengths("bsrange=1k-2k\nbs_unaligned") == [(1024, 25), (1536, 25), (2048, 50)]
    assert lengths("bssplit=4k/50:6k/30:16k/20") == [(4096, 80), (16_384, 20)]
    assert lengths("bssplit=4k/50:6k/50\nbs_unaligned") == [(4096, 50), (6144, 50)]
    assert lengths("bsrange=4k-8k,16k-16k", "write") == [(16_384, 100)]
    # Within a section the range has precedence; a section's bs has precedence over an inherited range.
    assert lengths("bsrange=8k-8k\nbs=4k") == [(8192, 100)]
    (job,) = jobs("[global]\nbsrange=8k-16k\n[a]\nbs=4k,\n")
    assert [len(job["block_sizes"][name]) for name in ("read", "write", "trim")] == [1, 2, 2]
    with pytest.raises(InputError, match="line 2: bsrange=512-16m makes 32,768 lengths; allowed are 4,096"):
        one("bsrange=512-16m")


def test_the_generators() -> None:
    assert one("rw=randread\nrandom_generator=lfsr\nnorandommap")["random_map"]
    assert not one("rw=randread\nrandom_generator=lfsr\nnorandommap\nbsrange=4k-8k")["random_map"]
    assert not one("rw=randread\nrandom_generator=tausworthe64\nnorandommap")["random_map"]
    assert one("rw=randread\nbsrange=4k-8k")["random_map"]


def test_zones_in_bytes_follow_the_scale() -> None:
    text = "rw=randread\nrandom_distribution=zoned_abs:60/16m:40/32m"
    zones = one(text)["distribution"]["zones"]["read"]
    assert zones == [{"access_percent": 60.0, "span_bytes": 16 * MIB}, {"access_percent": 40.0, "span_bytes": 32 * MIB}]
    scaled = one(text, scale=Fraction(1, 4), user_bytes=16 * MIB)["distribution"]["zones"]["write"]
    assert [zone["span_bytes"] for zone in scaled] == [4 * MIB, 8 * MIB]
    with pytest.raises(InputError, match=r"line 3: random_distribution=.*50,331,648 bytes in all"):
        one(f"{text}\nsize=40m")


def test_zones_by_direction() -> None:
    same = one("random_distribution=zoned:90/10:10/90,90/10:10/90")["distribution"]
    assert same["name"] == "zoned"
    other = one("random_distribution=zoned:90/10:10/90,100/100")["distribution"]
    assert (other["name"], len(other["zones"]["read"]), len(other["zones"]["trim"])) == ("zoned-by-direction", 2, 1)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[a]\nnrfiles=4\nsize=128m\n", ("x.fio, line 1", "do not fit", "134,217,728", "67,112,960")),
        ("[a]\nfilename=a:b\nfilesize=40m\n", ("x.fio, line 1", "do not fit")),
        ("[a]\nfilename=a:b\nsize=128m\n[b]\nfilename=c\n", ("x.fio, line 1", "and some more")),
        ("[a]\nnrfiles=8\nsize=16k\nbs=4k\n", ("x.fio, line 4: bs=4k", "4,096 bytes", "2,048 bytes")),
        ("[a]\nfilesize=128m\n", ("x.fio, line 2: filesize=128m", "more than the drive has")),
        ("[a]\nfilesize=1m\noffset=1m\n", ("x.fio", "blocks of 4,096 bytes")),
    ],
)
def test_what_does_not_fit_is_refused(text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        jobs(text)
    for part in parts:
        assert part in str(caught.value)


def test_times() -> None:
    job = one("runtime=5m\ntime_based")
    assert (job["runtime_ns"], job["time_based"]) == (300 * 10**9, True)
    assert one("runtime=1500ms")["runtime_ns"] == 1_500_000_000
    assert one("time_based")["time_based"] is False
