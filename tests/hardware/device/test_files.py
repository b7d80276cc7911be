"""Measurements on a file in a folder with the real fio: existing files are untouched, and nothing is left behind."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from own_devices import needs
from processes import cpu_seconds, text_of
from served import result_in, ssdlab
from ssdlab.hardware.device import health, plan, run
from ssdlab.hardware.device.opened import opened
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.safety import locate
from ssdlab.hardware.smart import reading
from ssdlab.hardware.smart.formats.nvme_cli import FDP
from ssdlab.hardware.smart.placement import PlacementLogs
from ssdlab.simulator.workloads import jobs
from waiting import SECONDS_MAX, wait_for

pytestmark = [pytest.mark.surroundings, needs("fio")]

MIXED = """
[global]
size=16m
[fill]
rw=write
bs=64k
[mixed]
stonewall
rw=randrw
bs=4k
number_ios=2000
fsync=100
"""
# Longer than any test waits.
LONG = "[a]\nsize=16m\nrw=randwrite\nbs=4k\ntime_based\nruntime=3600\n"


def write_job(folder: Path, text: str) -> Path:
    path = folder / "job.fio"
    path.write_text(text)
    return path


def test_the_result_has_fios_figures_in_the_classes_of_a_run(tmp_path: Path) -> None:
    place = tmp_path / "here"
    place.mkdir()
    job = jobs.parse(MIXED)
    with opened(place, job, Permission()) as opened_place:
        measured = run.measure(job, opened_place, health.of(locate(place)))
        (own,) = place.iterdir()
        assert own.stat().st_mode & 0o777 == 0o700, "a folder of our own, for nobody else"
    assert list(place.iterdir()) == []
    assert measured.failure is None
    names = [job.name for job in measured.jobs]
    assert names == ["lay out", "fill", "mixed"]
    _, fill, mixed = measured.jobs
    assert fill.write.total_ios == 256
    assert fill.write.io_bytes == 16 << 20
    assert mixed.read.total_ios + mixed.write.total_ios == 2000
    assert mixed.flush.total_ios > 5
    latency = mixed.read.latency
    assert latency is not None
    raw = mixed.raw["read"]["clat_ns"]
    # Our bins give the same percentiles as fio.
    assert latency.percentile_ns(99) == raw["percentile"]["99.000000"]
    assert sum(count for _, count in latency.bins) == mixed.read.total_ios
    assert mixed.read.iops == pytest.approx(mixed.raw["read"]["iops"], rel=0.02)


@pytest.mark.parametrize(("names", "written_mib"), [("filename=a\n[two]\nfilename=b", 2), ("", 64)])
def test_the_plan_of_a_layout_has_the_bytes_that_it_writes(tmp_path: Path, names: str, written_mib: int) -> None:
    """A regression: the plan showed the size of the place, so that --max-write was refused without cause. A single file
    is the whole place."""
    job = jobs.parse(f"[global]\nsize=1m\nrw=read\n[one]\n{names}\n")
    with opened(tmp_path, job, Permission(), size_bytes=64 << 20) as place:
        stages = run.prepared(job, place)
        sizes = plan.file_sizes(job, place)
        planned = plan.planned(job, stages, place)
    assert stages[0].text == run.layout(sizes).text
    assert planned[0].written_bytes == sum(sizes.values()) == written_mib << 20
    plan.check_budget(planned, written_mib << 20)


def test_the_command_writes_fios_schema_and_takes_its_file_away(tmp_path: Path) -> None:
    job, out = write_job(tmp_path, MIXED), tmp_path / "out"
    place = tmp_path / "here"
    place.mkdir()
    done = ssdlab("measure", job, "--on", place, "--output", f"{out}/")
    assert "mixed: (groupid=2" in done.stdout
    assert list(place.iterdir()) == []
    result = result_in(out)
    assert result["fio version"].startswith("fio-")
    assert [job["groupid"] for job in result["jobs"]] == [0, 1, 2]
    assert "bins" in result["jobs"][2]["read"]["clat_ns"]
    ours = result["ssdlab"]
    assert ours["host"]["written_bytes"] == sum(job["write"]["io_bytes"] for job in result["jobs"])
    # Unknown values are null, with a reason.
    for key in ("waf", "waf_parts", "wear", "simulated_seconds"):
        assert ours[key] is None
        assert ours["not_measured"][key]
    assert all(stage["commands"] and stage["job_text"] for stage in ours["stages"])
    page = (out / "report.html").read_text()
    assert "Write amplification is not measured: " in page and "ssdlab measure" in page
    title = re.search(r"<h1>(.*?)</h1>", page)
    # Of a machine that takes longer the rates are shown.
    assert title
    assert title[1].startswith(("Requests per second: ", "job.fio: each job took less than 5")), title[1]
    assert "lay out" not in title[1]
    assert 'data-figure="bandwidth"' in page


def test_every_commands_line_can_be_repeated_by_hand(tmp_path: Path) -> None:
    job, out = write_job(tmp_path, "[a]\nsize=1m\nrw=write\nbs=4k\n"), tmp_path / "out"
    ssdlab("measure", job, "--on", tmp_path / "new.data", "--output", f"{out}/")
    assert not (tmp_path / "new.data").exists()
    (stage,) = result_in(out)["ssdlab"]["stages"]
    (tmp_path / "stage-0.fio").write_text(stage["job_text"])
    again = subprocess.run(stage["commands"][0].split(), cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr
    assert json.loads((tmp_path / "stage-0.json").read_text())["jobs"][0]["write"]["total_ios"] == 256


def test_a_series_of_seconds_comes_from_fios_logs(tmp_path: Path) -> None:
    text = "[a]\nsize=8m\nrw=randwrite\nbs=4k\ntime_based\nruntime=2500ms\nrate_iops=400\n"
    job, out = write_job(tmp_path, text), tmp_path / "out"
    ssdlab("measure", job, "--on", tmp_path / "new.data", "--output", f"{out}/")
    frame = pl.read_parquet(out / "data/timeseries-time.parquet")
    seconds = frame["seconds"].to_list()
    # A busy machine skips seconds and catches up later; the counting is tested below.
    assert seconds == sorted({*seconds}) and all(second.is_integer() for second in seconds)
    write_bytes = result_in(out)["jobs"][0]["write"]["bw_bytes"]
    assert frame["write_mb_s"].mean() == pytest.approx(write_bytes / 1e6, rel=0.5)
    assert frame["read_latency_ns_mean"].null_count() == len(frame)
    assert frame["write_latency_ns_mean"].null_count() == 0


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    job = write_job(tmp_path, MIXED)
    theirs = tmp_path / "theirs.data"
    theirs.write_bytes(b"theirs" * 1000)
    for path in (theirs, job):
        done = ssdlab("measure", job, "--on", path, code=2)
        assert "would be lost" in done.stderr
    (tmp_path / "ssdlab-measure.data").write_bytes(b"theirs too")
    assert "already exists" in ssdlab("measure", job, "--on", tmp_path, "--keep", code=2).stderr
    ssdlab("measure", job, "--on", tmp_path)
    assert theirs.read_bytes() == b"theirs" * 1000
    assert (tmp_path / "ssdlab-measure.data").read_bytes() == b"theirs too"


def test_a_file_that_is_kept_gets_its_name(tmp_path: Path) -> None:
    job = write_job(tmp_path, "[a]\nsize=1m\nrw=write\n[b]\nsize=3m\nrw=write\nfilename=second\n")
    place = tmp_path / "here"
    place.mkdir()
    ssdlab("measure", job, "--on", place, "--keep")
    found = {path.name: path.stat().st_size for path in place.iterdir()}
    assert found == {"ssdlab-measure.data": 3 << 20, "ssdlab-measure-second.data": 3 << 20}


def test_a_device_that_is_not_there_does_not_become_a_file(tmp_path: Path) -> None:
    job = write_job(tmp_path, MIXED)
    missing = Path("/dev/ssdlab-is-no-device")
    for arguments in (("measure", job), ("measure", "--protocol", "trim-effect"), ("study", "internal-fragmentation")):
        done = ssdlab(*arguments, "--on", missing, "--size", "16MiB", code=2)
        assert f"--on {missing}: no such device" in done.stderr
    assert not missing.exists()


def test_the_logs_that_a_job_asks_for_are_kept(tmp_path: Path) -> None:
    """Logs are numbered across all stages; the series of seconds continues although fio writes one log of each kind."""
    place, out = tmp_path / "here", tmp_path / "out"
    place.mkdir()
    job = write_job(
        tmp_path,
        """
[global]
size=16m
bs=4k
rw=randwrite
[first]
[all]
stonewall
numjobs=2
write_lat_log=mine
write_iops_log=mine
[windows]
stonewall
write_bw_log
write_hist_log
log_avg_msec=100
log_hist_msec=100
rate_iops=4000
[together]
stonewall
numjobs=2
per_job_logs=0
write_bw_log=both
""",
    )
    done = ssdlab("measure", job, "--on", place, "--output", out)
    expected = {f"mine_{kind}.{number}.log" for kind in ("lat", "clat", "slat", "iops") for number in (2, 3)}
    expected |= {"windows_bw.4.log", "windows_clat_hist.4.log", "both_bw.log"}
    assert {path.name for path in out.glob("*.log")} == expected
    assert set(done.stderr.partition("logs: ")[2].strip().split(", ")) == expected
    lines = {name: (out / name).read_text().splitlines() for name in expected}
    assert len(lines["mine_lat.2.log"]) == len(lines["mine_iops.3.log"]) == 4096
    assert len(lines["both_bw.log"]) == 2 * 4096
    times = [int(line.partition(",")[0]) for line in lines["both_bw.log"]]
    assert times == sorted(times)
    assert 5 < len(lines["windows_bw.4.log"]) < 400

    series = pl.read_parquet(out / "data/timeseries-time.parquet")
    for stage, mebibytes in ((1, 32), (2, 16), (3, 32)):
        rates = series.filter(pl.col("stage") == stage)
        assert rates.height > 0
        assert rates["write_latency_ns_mean"].is_not_null().all()
        if stage != 2:
            # One entry per request, so nothing is lost between windows.
            assert rates["write_mb_s"].sum() == pytest.approx(mebibytes * 1.048576, rel=0.001)


def test_a_dry_run_says_what_would_be_written_and_makes_nothing(tmp_path: Path) -> None:
    job = write_job(tmp_path, MIXED)
    place = tmp_path / "here"
    place.mkdir()
    done = ssdlab("measure", job, "--on", place, "--dry-run", "--rated-tbw", "0.001")
    # 16 MiB are laid out and filled; half of 2000 requests of 4 KiB are writes.
    written = 2 * (16 << 20) + 1000 * 4096
    assert f"{written / 1e6:.1f} MB written, {written / 1e9 * 100:.2f} % of the rated 0.001 TBW" in done.stdout
    assert "fio --output-format=json+ --output=stage-1.json stage-1.fio" in done.stdout
    assert list(place.iterdir()) == []


def test_a_budget_is_kept(tmp_path: Path) -> None:
    job = write_job(tmp_path, MIXED)
    done = ssdlab("measure", job, "--on", tmp_path / "x", "--max-write", "10MB", code=2)
    assert "--max-write 10 MB: the job writes 37.7 MB" in done.stderr
    timed = write_job(tmp_path, LONG)
    done = ssdlab("measure", timed, "--on", tmp_path / "x", "--max-write", "50MB", code=1)
    assert "--max-write" in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["size", "missing folder", "no place", "no job"])
def test_wrong_input_is_said(tmp_path: Path, name: str) -> None:
    job = write_job(tmp_path, "[a]\nrw=write\n")
    arguments, said = {
        "size": (["measure", job, "--on", tmp_path], "give --size"),
        "missing folder": (["measure", job, "--on", tmp_path / "no/such"], "no/such"),
        "no place": (["measure", job], "give --on PATH"),
        "no job": (["measure", "--on", tmp_path], "give a job file"),
    }[name]
    assert said in ssdlab(*arguments, code=2).stderr


def test_a_file_larger_than_the_room_is_refused(tmp_path: Path) -> None:
    job = write_job(tmp_path, "[a]\nrw=write\n")
    done = ssdlab("measure", job, "--on", tmp_path / "x", "--size", "4000TiB", code=2)
    assert "are free" in done.stderr
    assert not (tmp_path / "x").exists()


def test_health_that_can_no_longer_be_read_is_no_write_amplification(tmp_path: Path) -> None:
    reported = tmp_path / "smart.json"
    reported.write_text(json.dumps(samsung(lbas_written=10_000_000, nand_gib=100)))
    source = health.of(locate(tmp_path), reported)
    before = source.read()
    assert before.reading is not None
    reported.write_text(json.dumps(samsung(lbas_written=10_000_000 + (400 << 21), nand_gib=900)))
    found = health.between(before, source.read())
    # 400 GiB by the host, 800 in NAND.
    assert found.waf == pytest.approx(2)
    reported.unlink()
    gone = health.between(before, source.read())
    assert gone.waf is None
    assert gone.reason is not None and "No such file" in gone.reason
    assert gone.to_dict()["waf"] is None


@pytest.mark.parametrize(
    "content",
    [
        "null",
        "[]",
        '"smartctl"',
        '{"ssdlab": null}',
        '{"ssdlab": "smart"}',
        '{"ssdlab": {"smart": null}}',
        '{"ssdlab": {"smart": []}}',
        '{"ssdlab": {"smart": {"smartctl": {}, "ocp_smart_log": 5}}}',
    ],
)
def test_a_file_without_health_is_a_reason_and_no_traceback(tmp_path: Path, content: str) -> None:
    """A regression: null in place of an object was a TypeError or an AttributeError."""
    file = tmp_path / "smart.json"
    file.write_text(content)
    found = health.of(locate(tmp_path), file).read()
    assert found.reading is None
    assert found.reason is not None and found.reason.startswith(f"--smart {file}: ")


def test_what_flexible_data_placement_counted_is_in_the_result(tmp_path: Path) -> None:
    counted = iter([(1 << 30, 2 << 30), (5 << 30, 8 << 30)])

    def read() -> health.ReadOut:
        host, media = next(counted)
        logs = PlacementLogs({"hbmw": host, "mbmw": media}, None, {"nruh": 1}, None)
        report = {"smartctl": {}, FDP: logs.stats, "device": {"protocol": "NVMe"}}
        return health.ReadOut(reading.parse(report, "a drive"), None, logs)

    job = jobs.parse("[a]\nsize=1m\nrw=write\n")
    with opened(tmp_path, job, Permission()) as place:
        measured = run.measure(job, place, health.Health("nvme-cli", read))
    assert measured.waf == pytest.approx(1.5, rel=1e-6)
    found = measured.to_dict()["ssdlab"]["fdp"]
    assert found["stats"] == {"hbmw": 4 << 30, "mbmw": 6 << 30}
    assert found["usage"] == {"nruh": 1} and found["events"] is None


def samsung(lbas_written: int, nand_gib: int) -> dict[str, object]:
    """A report of smartctl, reduced to the values that are read."""
    table = [
        {"id": 241, "name": "Total_LBAs_Written", "raw": {"value": lbas_written}},
        {"id": 249, "name": "NAND_Writes_1GiB", "raw": {"value": nand_gib}},
    ]
    return {
        "smartctl": {"exit_status": 0},
        "model_name": "a drive",
        "model_family": "Samsung based SSDs",
        "serial_number": "1",
        "ata_smart_attributes": {"table": table},
    }


def test_without_fio_the_package_is_named(tmp_path: Path) -> None:
    job = write_job(tmp_path, MIXED)
    done = subprocess.run(
        [sys.executable, "-m", "ssdlab", "measure", str(job), "--on", str(tmp_path / "x")],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "not installed: fio; install fio" in done.stderr


def begun(job: Path, place: Path, *options: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", "measure", str(job), "--on", str(place), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for("fio is at work", lambda: any(map(is_at_work, fio_of(process.pid))))
    return process


def fio_of(pid: int) -> list[int]:
    """The fio processes that a process has started."""
    children = text_of(Path(f"/proc/{pid}/task/{pid}/children")).split()
    return [int(child) for child in children if text_of(Path(f"/proc/{child}/comm")).strip() == "fio"]


def is_at_work(fio: int) -> bool:
    """Whether fio has written much; if the kernel does not count that (in memory), whether it has used much CPU
    time."""
    written = re.search(r"^write_bytes: (\d+)", text_of(Path(f"/proc/{fio}/io")), re.MULTILINE)
    return (written is not None and int(written[1]) > 1000 * 4096) or cpu_seconds(fio) > 0.5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_fio_and_keeps_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    """A regression: SIGTERM and SIGHUP left the file behind and discarded the measurement."""
    (place := tmp_path / "here").mkdir()
    process = begun(write_job(tmp_path, LONG), place, "--output", f"{tmp_path}/out/")
    (fio,) = fio_of(process.pid)
    process.send_signal(number)
    out, said = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 128 + number, said
    assert "measurements up to then are in" in said
    assert "INCOMPLETE: it was interrupted" in out
    assert not Path(f"/proc/{fio}").exists()
    assert not list(place.iterdir())
    result = result_in(tmp_path / "out")
    assert result["ssdlab"]["interrupted"] is True
    assert result["jobs"][0]["write"]["total_ios"] > 100


def test_the_end_of_a_terminal_keeps_what_was_measured(tmp_path: Path) -> None:
    """The terminal is closed, so nothing can be printed."""
    (place := tmp_path / "here").mkdir()
    job = write_job(tmp_path, LONG)
    words = ["-m", "ssdlab", "measure", str(job), "--on", str(place), "--output", f"{tmp_path}/out/"]
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, *words])
    try:
        os.set_blocking(terminal, False)

        def is_working() -> bool:
            with contextlib.suppress(BlockingIOError):
                os.read(terminal, 1 << 16)
            return any(map(is_at_work, fio_of(process)))

        wait_for("fio is at work", is_working)
    finally:
        os.close(terminal)
        _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) > 0, "it was not killed"
    assert not list(place.iterdir())
    result = result_in(tmp_path / "out")
    assert result["ssdlab"]["interrupted"] is True
    assert result["jobs"][0]["write"]["total_ios"] > 100


def test_what_a_killed_measurement_left_is_taken_over(tmp_path: Path) -> None:
    """A regression: the file of a killed run blocked the next one. A file that a running process uses is not
    rewritten."""
    (place := tmp_path / "here").mkdir()
    process = begun(write_job(tmp_path, LONG), place)
    (job := tmp_path / "short.fio").write_text("[a]\nsize=1m\nrw=write\nbs=64k\n")
    said = ssdlab("measure", job, "--on", place, code=2).stderr
    assert f"another measurement is running there (process {process.pid})" in said
    process.kill()
    process.wait()
    assert list(place.rglob("*.data"))
    ssdlab("measure", job, "--on", place)
    assert not list(place.iterdir())


def test_a_killed_fio_is_a_failed_run_and_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "here.data"
    process = begun(write_job(tmp_path, LONG), place, "--output", f"{tmp_path}/out/")
    (fio,) = fio_of(process.pid)
    os.kill(fio, signal.SIGKILL)
    _, said = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 1, said
    assert "SIGKILL" in said
    assert not place.exists()
    result = result_in(tmp_path / "out")
    assert result["jobs"] == []
    assert "SIGKILL" in result["ssdlab"]["failure"]


def test_fio_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    process = begun(write_job(tmp_path, LONG), tmp_path / "here.data")
    (fio,) = fio_of(process.pid)
    process.kill()
    process.wait()
    wait_for("fio is gone", lambda: not Path(f"/proc/{fio}").exists())
