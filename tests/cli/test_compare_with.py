"""`ssdlab compare targets`: a result of fio itself beside a simulation of the same jobs."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from program import Program
from ssdlab.errors import InputError
from ssdlab.experiments.comparison.targets import Figures, Target, caution, figures_of_report, rows

JOB = "[global]\nioengine=libaio\ndirect=1\nbs=4k\nsize=4m\n[first]\nrw=randwrite\n[then]\nstonewall\nrw=randread\n"
BESIDE = ("--target", "simulated:small.toml", "--target", "measured:result.json")
_NONE = {"total_ios": 0}


def _direction(iops: float, mean_ns: float, p99_ns: float) -> dict[str, Any]:
    return {
        "total_ios": 1024,
        "iops": iops,
        "bw_bytes": iops * 4096,
        "lat_ns": {"mean": mean_ns},
        "clat_ns": {"mean": mean_ns, "percentile": {"50.000000": 1000, "99.000000": p99_ns, "99.900000": 9000}},
    }


def report(*jobs: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    entries = [{"jobname": name, "groupid": 0, "read": _NONE, "write": _NONE} | {side: of} for name, side, of in jobs]
    return {"fio version": "fio-3.35", "jobs": entries}


def test_a_result_of_fio_beside_a_simulation(ssdlab: Program, tmp_path: Path) -> None:
    (tmp_path / "two.fio").write_text(JOB)
    measured = report(
        ("first", "write", _direction(5000, 200_000, 300_000)), ("other", "read", _direction(1, 1000, 1000))
    )
    (tmp_path / "result.json").write_text(f"fio: a note before it\n{json.dumps(measured)}")
    ended = ssdlab("compare", "targets", "two.fio", *BESIDE, "--output", "out")
    assert ended.returncode == 0, ended.stderr
    content = json.loads((tmp_path / "out/comparison.json").read_text())
    assert content["targets"] == ["simulated:small.toml", "measured:result.json"]
    rows = {(row["job"], row["what"]): row for row in content["rows"]}
    assert rows["first", "write IOPS"]["values"][1] == 5000
    assert rows["first", "write bandwidth"]["values"][1] == pytest.approx(20.48)
    assert rows["first", "write latency, mean"]["values"][1] == 200
    assert rows["first", "write latency, 99 %"]["values"][1] == 300
    assert rows["first", "write IOPS"]["ratio"] == pytest.approx(5000 / rows["first", "write IOPS"]["values"][0])
    assert rows["then", "read IOPS"]["values"][1] is None and rows["other", "read IOPS"]["values"][0] is None
    assert "only there: other; missing there: then" in ended.stdout
    page = (tmp_path / "out/report.html").read_text()
    assert "each run once" in page.casefold() or "Each was run once" in page
    # Figures mean little without the state of the drive that gave them.
    said = content["states"]["simulated:small.toml"]
    assert said.startswith("the drive began filled once sequentially; the last stage")
    assert said in page and said[:40] in ended.stdout
    # Nothing is called faster: how far another run would be off is not known.
    assert "faster" not in ended.stdout
    assert json.loads((tmp_path / "out/result-1-measured.json").read_text())["jobs"][0]["jobname"] == "first"


@pytest.mark.parametrize(
    ("text", "call", "said"),
    [
        ("{}", BESIDE, "result.json: not a result of fio; allowed is what fio --output-format=json"),
        (
            json.dumps(report(("x", "read", _direction(1, 1, 1)))),
            BESIDE,
            "its jobs are x, those of the job",
        ),
        (
            json.dumps(report(("uniform", "read", {"total_ios": 3}))),
            BESIDE,
            "'iops' is missing in its jobs; allowed is what fio --output-format=json writes",
        ),
        (json.dumps(report()) + "\n", BESIDE, "result.json: not a result of fio"),
        (
            2 * (json.dumps(report(("uniform", "read", _NONE))) + "\n"),
            BESIDE,
            "result.json: holds 2 reports of fio, one behind another",
        ),
        (
            json.dumps(report(("uniform", "read", _NONE)), indent=1)[:99],
            BESIDE,
            r"result.json, line \d: the JSON is cut off",
        ),
        ('{"fio version": "fio-3.35",\n"jobs": [}', BESIDE, "result.json, line 2: the JSON is damaged"),
        (
            '{"fio version": "fio-3.35", "client_stats": [{"jobname": "uniform"}]}',
            BESIDE,
            "is a report of fio --client",
        ),
        (
            '{"fio version": "fio-3.35", "jobs": [{"jobname": "uniform", "mixed": {}}]}',
            BESIDE,
            "job uniform has reads and writes in one sum .unified_rw_reporting=mixed.",
        ),
        ("{}", BESIDE[2:], "a result of fio lies beside a run: add --target simulated:NAME"),
    ],
)
def test_other_files_are_refused(ssdlab: Program, tmp_path: Path, text: str, call: Sequence[str], said: str) -> None:
    (tmp_path / "result.json").write_text(text)
    ended = ssdlab("compare", "targets", "uniform.fio", *call, "--scale", "1/2", "--output", "out")
    assert ended.returncode == 2
    assert re.search(said, ended.stderr), ended.stderr


def test_what_fio_prints_around_a_report_and_a_job_that_failed(ssdlab: Program, tmp_path: Path) -> None:
    """Regressions: of `--output-format=json,normal`, and behind a note with a brace, the report was no result of fio;
    the figures of a job that had failed, and the options that a simulated drive ignores, stood there without a word."""
    (tmp_path / "two.fio").write_text(f"{JOB}nice=3\n")
    measured = report(("first", "write", _direction(5000, 1, 1)), ("then", "read", _direction(5000, 1, 1)))
    measured["jobs"][0]["error"] = 28
    (tmp_path / "result.json").write_text(f"fio: a {{note}}\n{json.dumps(measured, indent=2)}\nRun status: {{}}\n")
    ended = ssdlab("compare", "targets", "two.fio", *BESIDE, "--scale", "1/2", "--output", "out")
    assert ended.returncode == 0, ended.stderr
    assert "simulated on 1/2 of the drive, and that share" in " ".join(ended.stdout.split())
    said = "fio reports error 28 (No space left on device): its figures are of what it did before"
    note = "ignored, not applicable to a simulated drive: nice (line 11)"
    assert said in " ".join(ended.stdout.split()) and note in ended.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert said in page and note in page
    assert json.loads((tmp_path / "out/comparison.json").read_text())["notes"][0] == note


def test_clones_are_one_job_and_fio_2_counts_in_microseconds() -> None:
    one = _direction(100, 2000, 3000)
    figures = figures_of_report(report(("a", "read", one), ("a", "read", one)), "r.json")
    assert (figures["a"]["read IOPS", "1/s"], figures["a"]["read latency, mean", "us"]) == (200, None)
    old = {"total_ios": 1000, "iops": 7.0, "bw": 28, "lat": {"mean": 5.5}, "clat": {"percentile": {"99.000000": 8}}}
    figures = figures_of_report(report(("a", "read", old)), "r.json")
    assert figures["a"]["read bandwidth", "MB/s"] == pytest.approx(28 * 1024 / 1e6)
    assert (figures["a"]["read latency, mean", "us"], figures["a"]["read latency, 99 %", "us"]) == (5.5, 8)
    # A regression: fio's percentiles of however few requests stood beside those of a simulation, which needs ten above.
    few = figures_of_report(report(("a", "read", old | {"total_ios": 999})), "r.json")
    assert few["a"]["read latency, 99 %", "us"] is None
    with pytest.raises(InputError, match=r"r\.json: not a result of fio"):
        figures_of_report({"jobs": [3]}, "r.json")


def test_two_folders_of_one_file_system_are_not_called_two_drives(tmp_path: Path) -> None:
    """A regression: two folders of one disk, measured one after the other, stood in the terminal with a ratio of 3.19
    and no word."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (Target("device", str(tmp_path / name)) for name in ("one", "two"))
    assert f"{one.label} and {two.label} lie on one file system" in caution([one, two])
    figures: list[Figures] = [{"a": {("read IOPS", "1/s"): rate}} for rate in (3000.0, 1000.0)]
    assert rows([one, two], figures)[0].ratio is None
    assert rows([one, Target("simulated", "tiny")], figures)[0].ratio == pytest.approx(1 / 3)
    assert "lie on" not in caution([one, Target("simulated", "tiny")])
    assert caution([one, two]).startswith("Each target ran once")


@pytest.mark.parametrize("scale", [(), ("--scale", "1/2")])
def test_requests_of_a_scaled_drive_are_not_called_the_same(
    ssdlab: Program, tmp_path: Path, scale: tuple[str, ...]
) -> None:
    (tmp_path / "two.fio").write_text(JOB)
    drives = ("--target", "simulated:small.toml", "--target", "simulated:small.toml")
    ended = ssdlab("compare", "targets", "two.fio", *drives, *scale, "--output", "out")
    assert ended.returncode == 0, ended.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert "the same requests" not in page
    assert ("the same job on each target (simulated on 1/2 of the drive, with that share of" in page) is bool(scale)
