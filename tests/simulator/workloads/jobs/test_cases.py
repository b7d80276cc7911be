"""Job files as they are pasted: each is taken with the meaning that fio gives it, or says what is different."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.errors import InputError
from ssdlab.simulator.drives import ResolvedDrive
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs import load, parse
from ssdlab.simulator.workloads.jobs.jobfile import JobFile

CASES = Path(__file__).parent / "cases"
MIB = 1 << 20
USER_BYTES = 1 << 30
NOTHING_DIRECT = "without direct=1, fio sends the requests through the page cache; here each goes to the drive itself"


def case(name: str) -> JobFile:
    return load(CASES / f"{name}.fio")


def jobs_of(file: JobFile, scale: Fraction = Fraction(1)) -> list[plain.Job]:
    return file.resolve(USER_BYTES, seed=1, scale=scale)


def drive(**settings: str) -> ResolvedDrive:
    return ssdlab.drive("generic-tlc-480", scale="1/64", settings=settings)


def test_amounts_in_zones() -> None:
    """A regression: `size=16z` was refused, and then taken as no size at all."""
    (job,) = jobs_of(case("zone-units"))
    assert (job["offset_bytes"], job["size_bytes"]) == (2 * MIB, 16 * MIB)
    (scaled,) = jobs_of(case("zone-units"), Fraction(1, 4))
    assert (scaled["offset_bytes"], scaled["size_bytes"]) == (2 * MIB // 4, 16 * MIB // 4)
    (strided,) = jobs_of(parse("[a]\nzonemode=strided\nzonesize=1m\nsize=2z\n"))
    assert strided["io_bytes"] == 2 * MIB


@pytest.mark.parametrize("text", ["size=2z", "zonemode=zbd\noffset=1z"])
def test_zones_without_a_size(text: str) -> None:
    with pytest.raises(InputError, match=r"line [23]: \w+=\dz is a number of zones, which needs zonemode"):
        jobs_of(parse(f"[a]\n{text}\n"))


def test_identifiers_on_a_drive_without_handles_are_noted() -> None:
    file = case("fdp-tenants")
    ssdlab.specify(file, drive())
    assert file.notes(timed=True)[-1] == (
        "drive 'generic-tlc-480' has no placement handles (ftl.placement is 'host-gc-split', not 'host-streams'), so "
        "the identifiers of write_heavy, write_mid, write_low have no effect"
    )
    handled = case("fdp-tenants")
    ssdlab.specify(handled, drive(**{"ftl.placement": "host-streams", "ftl.placement.identifiers": "8"}))
    assert not [note for note in handled.notes(timed=True) if "handles" in note]


def test_trims_of_unknown_duration_are_noted() -> None:
    def notes(timed: bool = True, **settings: str) -> list[str]:
        file = parse("[discard]\nrw=randtrim\nio_size=1m\n[beside]\nrw=randwrite\nio_size=1m\n")
        ssdlab.specify(file, drive(**settings), timed=timed)
        return [note for note in file.notes(timed=timed) if "trim" in note]

    assert notes() == [
        "how long drive 'generic-tlc-480' works on a trim is not known (controller.trim_us and trim_us_per_mib are 0), "
        "so the trims of discard hold up no other command"
    ]
    assert notes(timed=False) == notes(True, **{"controller.trim_us": "40"}) == []


def test_a_rate_with_few_requests_in_a_scaled_runtime_is_noted() -> None:
    """A regression: 10 requests at 100 a second were one on a scaled drive, at 7,680 a second."""

    def notes(text: str, **how: Any) -> list[str]:
        file = parse(f"[paced]\nrw=randwrite\nio_size=1g\ndirect=1\nruntime=100ms\n{text}\n")
        ssdlab.specify(file, drive(), **how)
        return [note for note in file.notes(timed=True) if "rate_iops" in note]

    assert notes("rate_iops=100") == [
        "paced: at its rate_iops its runtime has about 1 request under --scale 1/64, too few to tell a speed; use a "
        "longer runtime or a larger scale"
    ]
    assert notes("rate_iops=100", timed=False) == notes("rate_iops=10000") == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("spdk", "spdk_json_conf (line 3), thread (line 4)"),
        ("xnvme", "xnvme_async (line 3), xnvme_be (line 4), thread (line 6)"),
        ("rbd", "clientname (line 3), pool (line 4), rbdname (line 5)"),
    ],
)
def test_options_of_other_engines_are_noted(name: str, options: str) -> None:
    """A regression: they were refused, as no option of fio."""
    assert case(name).notes(timed=True) == (f"ignored, not applicable to a simulated drive: {options}",)


def test_what_only_newer_versions_have_says_so() -> None:
    assert case("newer-than-333").notes(timed=True) == (
        "newer than fio 3.33; ignored, because they set what the simulated host does not have: thinkcycles (line 5), "
        "verify_write_sequence (line 6), recover_zbd_write_error (line 7)",
        NOTHING_DIRECT,
    )
    with pytest.raises(InputError, match=r"num_range=4: .* is newer than fio 3\.33 and changes the requests"):
        parse("[a]\nrw=randtrim\nnum_range=4\n")
    assert parse("[a]\nrw=randtrim\nnum_range=1\n")


def test_checksums_without_a_check() -> None:
    (job,) = jobs_of(case("verify-off"))
    assert (job["direction"], job["io_bytes"]) == ("write", USER_BYTES // 100 // 4096 * 4096)
    assert parse("[a]\nrw=randread\nverify=md5\n")
    assert parse("[a]\nrw=write\nverify=0\nverify_backlog=16\n")
    for text in ("verify=crc32c", "verify_pattern=0xff", "verify=md5\nverify_backlog=16", "verify=md5\ndo_verify=1"):
        with pytest.raises(InputError, match=r"line 3: verify.*fio would read again .* add do_verify=0"):
            parse(f"[a]\nrw=write\n{text}\n")


def test_a_device_is_filled_to_its_end() -> None:
    (job,) = jobs_of(case("fill-device"))
    assert (job["io_bytes"], job["sequential"]) == (USER_BYTES, True)
    (part,) = jobs_of(parse("[a]\nrw=write\nfill_device=1\nsize=10m\n"))
    assert part["io_bytes"] == 10 * MIB


def test_a_dash_between_lengths_separates_reads_and_writes() -> None:
    """fio 3.33 says of this file: bs=(R) 4096B-4096B, (W) 512KiB-512KiB, (T) 512KiB-512KiB."""
    file = case("bs-dash")
    sizes = jobs_of(file)[0]["block_sizes"]
    assert [sizes[name][0]["bytes"] for name in ("read", "write", "trim")] == [4096, 512 << 10, 512 << 10]
    said = "lengths of reads and of writes, as in fio, and not a range, which is bsrange: blocksize=4k-512k (line 4)"
    assert said in file.notes(timed=True)
    assert jobs_of(parse("[a]\nrw=write\nbsrange=4k-8k\n"))[0]["block_sizes"]["write"][-1]["bytes"] == 8192


def test_a_job_through_the_page_cache_is_noted() -> None:
    assert case("buffered").notes(timed=True)[-1] == NOTHING_DIRECT
    noted = {
        "": True,
        "direct=1": False,
        "buffered=0": False,
        "direct=1\nbuffered=1": True,
        "buffered=1\ndirect=1": False,
        "ioengine=mmap": True,
        "ioengine=io_uring_cmd": False,
        "ioengine=sg": False,
    }
    assert {text: NOTHING_DIRECT in parse(f"[a]\n{text}\n").notes(timed=True) for text in noted} == noted
    (note,) = parse("[a]\n[b]\ndirect=1\n[c]\n").notes(timed=True)
    assert "the requests (of a, c) through the page cache" in note


def test_a_job_of_a_trace_names_the_command_that_replays_it() -> None:
    with pytest.raises(InputError, match=r"line 3: read_iolog=trace\.log: .*`ssdlab replay trace\.log --drive NAME`"):
        case("read-iolog")
    with pytest.raises(InputError, match=r"read_iolog=b: .*`ssdlab replay b "):
        parse("[a]\nreplay_no_stall=1\nreplay_redirect=/dev/sdx\nread_iolog=b\n")


def test_a_length_of_no_whole_sectors_goes_through_the_page_cache() -> None:
    """A regression: `bs=2300` was refused; it is etcd's test of a disk, which guides repeat."""
    file = case("etcd-2300")
    (job,) = jobs_of(file)
    assert (job["block_sizes"]["write"][0]["bytes"], job.get("flush_every_writes")) == (2300, 1)
    assert any(note.startswith("bs=2300 (line 6) is not whole sectors") for note in file.notes(timed=True))
    result = ssdlab.run(file, drive())
    written = result.jobs[0].write
    assert written.io_bytes == 2300 * written.total_ios
    # Each write rewrites the one or two units of 4,096 bytes that it touches: 1.56 on average.
    assert result.waf is not None and result.waf > 1.56 * 4096 / 2300
    with pytest.raises(InputError, match=r"line 3: bs=2300: allowed: a multiple of 512 .* without direct=1 any length"):
        parse("[a]\ndirect=1\nbs=2300\n")


@pytest.mark.parametrize(
    ("name", "least", "most"), [("generic-sata-tlc-500", 1_000, 2_500), ("generic-sata-dc-480", 12_000, 200_000)]
)
def test_a_synchronous_write_waits_for_the_medium_without_a_capacitor(name: str, least: int, most: int) -> None:
    """A regression: client drives answered synchronous writes from their memory, 12,000 to 200,000 a second."""
    written = ssdlab.run(case("sync-write"), ssdlab.drive(name, scale="1/256")).jobs[0].write
    assert written.iops is not None and least < written.iops < most


def test_a_file_that_is_read_is_laid_out_first() -> None:
    """A regression: a read of a fresh drive had 200,000 IOPS at depth 1, because it never reached the flash."""
    file = case("read-of-laid-out-file")
    result = ssdlab.run(file, drive())
    (job,) = result.jobs
    assert (job.name, job.group, job.read.iops is not None and job.read.iops < 20_000) == ("lat", 0, True)
    assert result.ledger.host_written_bytes == 10 * 1024 * MIB // 64
    assert file.notes(timed=True)[0] == "the files of lat are laid out first, as by fio: 167.8 MB are written"


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("rw=randread\nsize=64m", 2),
        ("rw=randrw\nfilesize=64m", 2),
        ("rw=randwrite\nsize=64m", 1),
        ("rw=randread\nsize=1%", 1),
        ("rw=randread\nsize=64m\nfilename=/dev/nvme0n1", 1),
        ("rw=write\nsize=64m\n[b]\nstonewall\nrw=read\nsize=64m", 2),
        ("rw=write\nsize=32m\n[b]\nstonewall\nrw=read\nsize=64m", 3),
    ],
)
def test_what_is_laid_out(text: str, stages: int) -> None:
    """Not a device, not without a size in bytes, and not what an earlier stage writes."""
    specification = ssdlab.specify(parse(f"[a]\n{text}\n"), drive(), lays_out=True)
    assert len({job["stage"] for job in specification.engine["jobs"]}) == stages


def test_a_read_of_a_fresh_device_is_noted() -> None:
    file = parse("[a]\nrw=randread\nfilename=/dev/nvme0n1\n")
    ssdlab.specify(file, drive(), lays_out=True)
    assert file.notes(timed=True)[-1].startswith("a reads a fresh drive, which answers without its flash")


@pytest.mark.parametrize("fill", ["bs=3m", "bs=64k\nnumjobs=4\nsize=25%\noffset_increment=25%", "bs=4k\nsize=50%"])
def test_a_read_of_a_device_that_an_earlier_stage_filled_is_not_noted(fill: str) -> None:
    """A regression: a drive filled with long blocks, which leave a rest behind the last one, or by clones that share
    it, was said to be fresh."""
    file = parse(f"[a]\nrw=write\n{fill}\n[b]\nstonewall\nrw=randread\nfilename=/dev/nvme0n1\n")
    ssdlab.specify(file, drive(), lays_out=True)
    assert any("reads a fresh drive" in note for note in file.notes(timed=True)) == ("50%" in fill)


@pytest.mark.parametrize(
    ("options", "passes", "of"),
    [
        ("rw=randwrite\nsize=60%", 2, 0.6),
        ("rw=randwrite\nsize=75%", 1, 0.75),
        ("rw=write\nsize=25%", 4, 0.25),
        ("rw=randwrite\nsize=30%\nnumjobs=2", 2, 0.6),
        ("rw=randwrite", 1, 1.0),
        # Without passes a round is as long as the capacity.
        ("rw=randwrite\nsize=60%\nnorandommap", 1, 1.0),
        ("rw=randwrite\nsize=60%\nio_size=10%", 1, 1.0),
        ("rw=randrw\nsize=60%", 1, 1.0),
        ("rw=randwrite\nsize=60%\n[b]\nrw=randwrite\nsize=20%", 1, 1.0),
    ],
)
def test_rounds_are_whole_passes(options: str, passes: int, of: float) -> None:
    """A regression: rounds of a job over 60 % of a drive ended at other points of a pass each, and their means differed
    by 15 %, so that rates that were 3 % apart were not told from equal ones."""
    whole = drive()
    until = ssdlab.specify(parse(f"[a]\nbs=4k\n{options}\n"), whole, until="steady").engine["until"]
    assert until["kind"] == "steady-state"
    assert until["round_bytes"] == pytest.approx(passes * of * whole.capacity.user_bytes, abs=passes * 8192)
    assert until["round_bytes"] % passes == 0
    assert until["host_bytes_max"] == 40 * until["round_bytes"]
