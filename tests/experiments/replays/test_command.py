"""`ssdlab replay` as a user calls it: files, standard input, reproducible bytes, and errors."""

import gzip
import io
import json
import random
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from compared_results import variants_of
from ssdlab.cli import main
from ssdlab.errors import InputError


@pytest.fixture
def trace(write_trace: Any) -> Path:
    chosen = random.Random(3)
    requests = [(chosen.choice(("read", "write", "write")), chosen.randrange(256) * 4096, 4096) for _ in range(2000)]
    path: Path = write_trace("t.log", requests)
    return path


def test_each_volume_from_standard_input(ssdlab: Any, folder: Path, trace: Path) -> None:
    """All steps in one test, because drawing takes seconds: workers, table, files, and no path of the trace in them."""
    text = trace.read_text()
    both = text + "".join(line.replace("sdb", "sdc") + "\n" for line in text.splitlines()[3:103])
    options = ("--drive", "tiny.toml", "--op", "40%", "--loop-until", "2x", "--workers", "2", "--output", "out")
    ended = ssdlab("replay", "-", "--each-volume", *options, stdin=gzip.compress(both.encode()))
    assert ended.returncode == 0, ended.stderr
    labels = ["volume /dev/sdb", "volume /dev/sdc"]
    assert all(label in ended.stdout.replace("\N{NO-BREAK SPACE}", " ") for label in labels)
    assert (
        pl.read_parquet(folder / "out" / "data/timeseries.parquet")["variant"].unique(maintain_order=True).to_list()
        == labels
    )
    page = (folder / "out" / "report.html").read_text()
    assert all(label in page for label in labels) and "--each-volume" in page
    found = variants_of(folder / "out" / "result.json")
    for result in found:
        assert [job["jobname"] for job in result["jobs"]] == ["precondition", "replay"]
        ours = result["ssdlab"]
        assert ours["trace"]["writes"] == result["jobs"][1]["write"]["total_ios"]
        assert result["jobs"][1]["ssdlab"]["host"]["written_bytes"] == 2 * ours["capacity"]["user_bytes"]
        [file] = ours["specification"]["job"]["trace"]["files"]
        assert (file["format"], len(file["sha256"])) == ("fio-iolog-v3", 64)
    assert str(folder) not in json.dumps(found) and "ssdlab-" not in json.dumps(found)


def test_the_same_bytes_however_often_and_from_wherever(
    folder: Path, trace: Path, replayed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ssdlab import drive
    from ssdlab.simulator.runs import run_many
    from ssdlab.simulator.workloads.traces.recording import opened
    from ssdlab.simulator.workloads.traces.specification import specify

    once = replayed("t.log", until_steady=True).to_json()
    trace.rename(folder / "other name.log")
    assert replayed("other name.log", until_steady=True).to_json() == once
    content = (folder / "other name.log").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with opened(["-"], None, 0) as recording:
        [(_, result)] = run_many(
            [specify(recording, drive(folder / "tiny.toml"), volume=None, until_steady=True, timed=False)]
        )
    assert result.to_json() == once


def test_the_bytes_of_a_whole_trace_are_its_own_on_a_scaled_drive(trace: Path) -> None:
    """A regression: a trace of 1.3 GB "wrote" 495 GB on a drive at a small scale, which multiplied its bytes too."""
    from ssdlab import drive
    from ssdlab.simulator.results.compared import of_result
    from ssdlab.simulator.runs import run_many
    from ssdlab.simulator.workloads.traces.recording import opened
    from ssdlab.simulator.workloads.traces.specification import specify

    with opened([str(trace)], None, 0) as recording:
        small = drive("generic-tlc-480", scale="1/384")
        specification = specify(recording, small, volume=None, precondition="none", timed=False)
        [(_, result)] = run_many([specification], workers=1)
    written_bytes = sum(volume.written_bytes for volume in recording.survey.volumes)
    shown = of_result(result, "a")
    assert shown.host_written_bytes == result.ledger.host_written_bytes == written_bytes
    assert shown.drive_writes(shown.host_written_bytes) == written_bytes / small.capacity.user_bytes
    assert shown.series["host_written_bytes"].to_list()[-1] == shown.stages[-1][2] == written_bytes
    scaled = json.loads(result.to_json())["ssdlab"]["scaled"]
    assert scaled["host_written_bytes"] == written_bytes
    assert scaled["user_bytes"] == 384 * small.capacity.user_bytes


def test_a_scaled_drive_under_a_whole_trace_is_not_said_to_be_alike(ssdlab: Any, folder: Path, trace: Path) -> None:
    """A regression: its bytes were said to be multiplied up, and its write amplification to be nearly the same."""
    options = ("--drive", "generic-tlc-480", "--scale", "1/384", "--untimed", "--precondition", "none")
    told = ssdlab("replay", trace, *options, "--output", "whole")
    words = " ".join(told.stdout.split())
    assert "the trace is not scaled: host TB and NAND TB are its own" in words and "multiplied up" not in words
    page = (folder / "whole/report.html").read_text()
    assert "under the whole trace, which is not scaled" in page and "multiplied up" not in page


@pytest.mark.parametrize(
    ("writes", "expected"),
    [
        (2, "host, meta: what the WAF is made of, by cause; where it has an interval, theirs is as wide."),
        (1, "no parts of the WAF: the last stage made too few writes to tell the parts of its WAF."),
    ],
)
def test_parts_of_a_write_amplification_of_few_writes_are_no_figures(
    ssdlab: Any, folder: Path, write_trace: Any, writes: int, expected: str
) -> None:
    """A regression: of a WAF of 1.5 ±0.7 the 0.5 had no interval, and of one of 0.61 to 3.4 the parts were 1, 0, 0."""
    write_trace("few.log", [("write", 409_600 * place, 4096) for place in range(writes)])
    options = ("--drive", "generic-nvme-tlc-1000", "--scale", "1/384", "--untimed")
    told = ssdlab("replay", "few.log", *options, "--output", "out")
    assert expected in " ".join(told.stdout.split()), told.stdout
    page = (folder / "out/report.html").read_text()
    assert "in too few requests to tell what else the flash got" in page and "of what the flash got was" not in page


@pytest.mark.parametrize("files", [("missing.log",), ("t.log", "missing.log"), ("-", "missing.log")])
def test_a_missing_file_is_said_before_another_is_read(
    folder: Path, trace: Path, files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: the traces before it, and standard input, were read to their end first."""
    from ssdlab.simulator.workloads.traces.recording import opened

    stdin = io.TextIOWrapper(io.BytesIO(trace.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=r"^missing\.log: No such file or directory$"), opened(files, None, 0):
        pass
    assert stdin.buffer.tell() == 0


def test_a_malformed_line_may_be_skipped(trace: Path, replayed: Any) -> None:
    lines = trace.read_text().splitlines()
    expected = replayed("t.log").ledger
    trace.write_text("\n".join([*lines[:1000], "9 /dev/sdb write here 4096", *lines[1000:]]) + "\n")
    with pytest.raises(InputError) as refused:
        replayed("t.log")
    assert str(refused.value) == (
        f"{trace}: line 1001 of the fio-iolog-v3 trace: expected an offset in bytes (column 4 of 5), "
        "found `9 /dev/sdb write here 4096`; --skip-bad N skips up to N malformed ones and counts them"
    )
    assert replayed("t.log", skip_bad=1).ledger == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("torn.log", "--drive", "tiny.toml"), "torn.log: line 4 of the fio-iolog-v3 trace: expected"),
        (("missing.log", "--drive", "tiny.toml"), "missing.log: No such file"),
        ((".", "--drive", "tiny.toml"), "is a folder"),
        (("empty.log", "--drive", "tiny.toml"), "empty.log: the trace is empty"),
        (("tiny.toml", "--drive", "tiny.toml"), "tiny.toml: the trace's format is not recognised"),
        (("cut.gz", "--drive", "tiny.toml"), "cut.gz: reading the trace failed"),
        (("t.log", "--drive", "tiny.toml", "--trace-format", "blkparce"), "did you mean 'blkparse'"),
        (("t.log", "--drive", "tiny.toml", "--map", "compat"), "did you mean 'compact'"),
        (("t.log", "--drive", "tiny.toml", "--loop-until", "0x"), "--loop-until is '0x'; allowed: drive writes"),
        (("t.log", "--drive", "tiny.toml", "--loop-until", "2x", "--until", "steady"), "exclude each other"),
        (("t.log", "--drive", "tiny.toml", "--each-volume", "--merge-volumes"), "exclude each other"),
        (("t.log", "t.log", "--drive", "tiny.toml"), "t.log is named twice"),
        (("t.log",), "--drive is missing"),
        (("t.log", "--profile", "--drive", "tiny.toml"), "leave out --drive"),
        (("t.log", "--profile", "--op", "0%"), "above 0%"),
        (("-", "--drive", "tiny.toml"), "standard input: the trace is empty"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("trace")
def test_wrong_input(
    folder: Path, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """In this process, because each start takes a third of a second. Nothing is written."""
    (folder / "empty.log").write_text("")
    (folder / "torn.log").write_text((folder / "t.log").read_text()[:70] + "write here")
    (folder / "cut.gz").write_bytes(
        gzip.compress(b"fio version 3 iolog\n" + random.Random(1).randbytes(100_000))[:50_000]
    )
    before = sorted(folder.rglob("*"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["ssdlab", "replay", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before
