"""Namespaces from the drive file through `filename` to the requests and counters of each."""

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ssdlab
from in_process import call
from ssdlab.errors import InputError, Note
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import ResolvedDrive
from ssdlab.simulator.drives.writer import to_toml
from ssdlab.simulator.results.text import normal
from ssdlab.simulator.targets import running

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result

KIB = 1024
MIB = 1024 * KIB
SIZES = {"database": 580, "log": 220, "archive": 380}
"""In MiB; some of the drive's 1192 MiB belong to no namespace."""

TENANTS = """
[fill-database]
filename=/dev/nvme0n1
rw=write
bs=64k
[fill-log]
filename=log
rw=write
bs=64k
[fill-archive]
filename=/dev/ng7n3
rw=write
bs=64k
[database]
stonewall
filename=/dev/nvme0n1
rw=randrw
bs=4k
norandommap
loops=4
iodepth=4
[log]
filename=log
rw=write
bs=16k
loops=8
[archive]
filename=archive
rw=read
bs=64k
"""


def drive_file(folder: Path, sizes: dict[str, object], more: str = "", base: str = "generic-tlc-480") -> str:
    tables = "".join(f'[[namespace]]\nname = "{name}"\nsize_bytes = {json.dumps(s)}\n' for name, s in sizes.items())
    path = folder / "tenants.toml"
    path.write_text(f'based_on = "{base}"\n{more}{tables}')
    return str(path)


def small(folder: Path) -> ResolvedDrive:
    """The full drive's namespaces are so large that at a scale of 1/384 they have the sizes above."""
    return ssdlab.drive(drive_file(folder, {name: f"{size * 384}MiB" for name, size in SIZES.items()}), scale="1/384")


def run(text: str, on: ResolvedDrive, *, timed: bool = False, alone: bool = False) -> "Result":
    return running.run(workloads.jobs.parse(text), on, until="job", timed=timed, alone=alone)


@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_sizes_are_those_of_the_file_and_shrink_with_the_drive(tmp_path: Path) -> None:
    path = drive_file(tmp_path, {"a": "100 GB", "b": 200_000_004_096})
    full, smaller = ssdlab.drive(path).file, ssdlab.drive(path, scale="1/64")
    assert [each.size_bytes for each in full.namespaces] == [100_000_000_000 // 4096 * 4096, 200_000_004_096]
    assert [(each.number, each.name, each.offset_bytes) for each in full.namespaces] == [
        (1, "a", 0),
        (2, "b", 100_000_000_000 // 4096 * 4096),
    ]
    share = Fraction(smaller.capacity.user_bytes, full.ftl.user_bytes)
    for each, of_full in zip(smaller.file.namespaces, full.namespaces, strict=True):
        assert each.size_bytes == int(of_full.size_bytes * share) // 4096 * 4096
    again = tmp_path / "again.toml"
    again.write_text(to_toml(full))
    assert ssdlab.drive(str(again)).file.namespaces == full.namespaces


@pytest.mark.parametrize(
    ("sizes", "more", "said"),
    [
        ({"a": "400 GB", "b": "100 GB"}, "", ("namespace.2.size_bytes", "99999997952", "at most")),
        ({"a": "ten"}, "", ("namespace.1.size_bytes", "ten")),
        ({"a": 5000}, "", ("namespace.1.size_bytes", "5000", "multiple of ftl.mapping_unit_bytes, 4096")),
        ({"a b": 4096}, "", ("namespace.1.name", "a b", "letters, digits")),
        ({"a": 4096}, "[map_cache]\nbytes = 1048576\n", ("map_cache.bytes", "0 on a drive with [[namespace]]")),
        ({}, "[[namespace]]\nname = 'a'\nsize = 4096\n", ("namespace.1", "size_bytes")),
        ({}, "namespace = 3\n", ("namespace", "3", "[[namespace]]")),
    ],
)
@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_wrong_namespaces_are_named(tmp_path: Path, sizes: dict[str, object], more: str, said: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        ssdlab.drive(drive_file(tmp_path, sizes, more))
    for part in ("tenants.toml", *said):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nrw=write", "line 1: job 'a' has no filename, which on a drive with namespaces names one of them"),
        ("[a]\nrw=write\nfilename=/dev/nvme0n4", "line 3: filename=/dev/nvme0n4: is no namespace of the drive"),
        ("[a]\nrw=write\nfilename=log:archive", "line 3: filename=log:archive: a job on a drive with namespaces has"),
        ("[a]\nrw=write\nfilename=log\nsize=1t", "size"),
    ],
)
@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_a_job_that_names_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        run(text, small(tmp_path))
    assert said in str(caught.value)
    if "filename" in said:
        assert "/dev/nvme0n1 or database, /dev/nvme0n2 or log, /dev/nvme0n3 or archive" in str(caught.value)


@pytest.mark.parametrize("timed", [False, True], ids=["untimed", "timed"])
@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_sums_are_those_of_the_drive(tmp_path: Path, timed: bool) -> None:
    result = run(TENANTS, small(tmp_path), timed=timed)
    found = result.namespaces
    assert found is not None
    for counts, ledger in (
        ([each.whole for each in found], result.ledger),
        ([each.last_stage for each in found], result.last_stage_ledger),
    ):
        assert sum(each.host_written_bytes for each in counts) == ledger.host_written_bytes
        assert sum(each.host_read_bytes for each in counts) == ledger.host_read_bytes
        for cause in ("host", "gc", "wear_leveling", "slc_fold"):
            units = ledger.programmed_units[cause]
            assert sum(each.programmed_bytes[cause] for each in counts) == units * ledger.counted_unit_bytes
        nand_bytes = sum(each.programmed_bytes_total * each.overhead for each in counts)
        assert nand_bytes / ledger.host_written_bytes == pytest.approx(ledger.waf, rel=1e-12)
    assert sum(each.wear_share or 0 for each in found) == pytest.approx(1, rel=1e-12)
    database, log, archive = found
    assert database.last_stage.programmed_bytes["gc"] > 0
    assert log.last_stage.host_written_bytes == 8 * (log.namespace.size_bytes // (16 * KIB) * 16 * KIB)
    assert (archive.last_stage.host_written_bytes, archive.last_stage.waf) == (0, None)
    assert archive.last_stage.programmed_bytes["gc"] > 0, "what lies still is moved with what is written next to it"
    assert (
        archive.last_stage.host_read_bytes
        == archive.live_bytes
        == archive.namespace.size_bytes // (64 * KIB) * 64 * KIB
    )
    if timed:
        assert archive.read is not None and archive.read.count == archive.namespace.size_bytes // (64 * KIB)
        assert database.write is not None and database.write.count == result.jobs[3].write.total_ios
    else:
        assert all(each.read is None and each.write is None for each in found)
    table = normal(result).partition("\nNamespaces ")[2]
    rows = [line.split()[:2] for line in table.splitlines()[2:] if line[5:6].isdigit()]
    assert rows == [["1", "database"], ["2", "log"], ["3", "archive"]]
    assert ("latency: write p50" in table) is timed
    assert all(len(line) <= 80 for line in table.splitlines())
    said = json.loads(result.to_json())["ssdlab"]["namespaces"]
    assert [entry["name"] for entry in said] == ["database", "log", "archive"]
    assert said[0]["last_stage"]["waf"] == database.last_stage.waf


@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_the_only_namespace_of_a_drive_has_what_it_has_alone(tmp_path: Path) -> None:
    """Its counters equal those of the drive without namespaces."""
    jobs = (
        "[fill]\nfilename=all\nrw=write\nbs=64k\n[a]\nstonewall\nfilename=all\nrw=randwrite\nbs=4k\nloops=2\niodepth=4"
    )
    path = drive_file(tmp_path, {"all": ssdlab.drive("generic-tlc-480").file.ftl.user_bytes})
    result = run(jobs, ssdlab.drive(path, scale="1/384"), timed=True, alone=True)
    assert result.namespaces is not None
    (only,) = result.namespaces
    assert only.alone is not None and only.last_stage.waf is not None and only.last_stage.waf > 1.5
    assert (only.alone.share, only.alone.waf) == (1, only.last_stage.waf)
    assert only.alone.programmed_bytes == only.last_stage.programmed_bytes
    assert only.alone.write == only.write
    plain = run(jobs.replace("filename=all", ""), ssdlab.drive("generic-tlc-480", scale="1/384"), timed=True)
    assert plain.namespaces is None
    assert plain.last_stage_ledger == result.last_stage_ledger


@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_a_quiet_tenant_is_disturbed_by_a_busy_one(tmp_path: Path) -> None:
    """Alone, sequential writes over the namespace are never moved; with random writes in the same erase units they are.
    A tenant that writes at random gains the spare area of one that does not."""
    on = ssdlab.drive(drive_file(tmp_path, {"busy": "240 GB", "quiet": "240 GB"}), scale="1/384")
    text = "[global]\nbs=4k\niodepth=4\n[b]\nfilename=busy\nrw=randwrite\nnorandommap\nloops=6\n"
    result = run(text + "[q]\nfilename=quiet\nrw=write\nloops=2\n", on, alone=True)
    assert result.namespaces is not None
    busy, quiet = result.namespaces
    assert busy.alone is not None and quiet.alone is not None
    assert quiet.alone.programmed_bytes["gc"] == 0 < quiet.last_stage.programmed_bytes["gc"]
    assert quiet.alone.waf is not None and quiet.last_stage.waf is not None
    assert quiet.last_stage.waf > 1.05 * quiet.alone.waf


def test_a_share_too_small_for_a_drive_is_left_out_with_a_note(tmp_path: Path) -> None:
    text = "[b]\nfilename=most\nrw=write\nbs=64k\n[q]\nfilename=least\nrw=write\nbs=64k\n"
    on = ssdlab.drive(drive_file(tmp_path, {"most": "460 GB", "least": "5 GB"}), scale="1/384")
    said = "leaves out namespace 'least', whose share is too small for a drive: .* spare area"
    with pytest.warns(Note, match=said):
        result = run(text, on, alone=True)
    assert result.namespaces is not None
    assert [each.alone is None for each in result.namespaces] == [False, True]


@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_what_cannot_be_run_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--alone needs a drive with"):
        run("[a]\nrw=write", ssdlab.drive("tiny"), alone=True)
    with pytest.raises(InputError, match="leave out --from-state and --precondition steady"):
        running.run(workloads.jobs.parse(TENANTS), small(tmp_path), precondition="steady", alone=True)


@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_a_trace_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("128166372003061629,hm,0,Write,383496192,32768,1\n")
    with pytest.raises(InputError, match=r"has 2 \[\[namespace\]\], which only jobs of a fio job file choose"):
        ssdlab.replay(str(trace), drive_file(tmp_path, {"a": "100 GB", "b": "100 GB"}))


@pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")
def test_the_page_has_a_row_for_each_and_for_each_alone(tmp_path: Path) -> None:
    job = tmp_path / "tenants.fio"
    job.write_text(TENANTS)
    path = drive_file(tmp_path, {name: size * 384 * MIB for name, size in SIZES.items()})
    out = tmp_path / "out"
    call("run", job, *f"--drive {path} --scale 1/384 --alone --output {out}".split())
    html = (out / "report.html").read_text()
    for name in SIZES:
        assert f'<th scope="row">{name}</th>' in html and f'<th scope="row">{name}, alone</th>' in html
    assert ">234\u00a0GB</td>" in html, "580 MiB at a scale of 1/384"
    kept = json.loads((out / "result.json").read_text())["ssdlab"]["namespaces"]
    assert {entry["name"] for entry in kept if entry["alone"]["share"] > 0} == set(SIZES)
