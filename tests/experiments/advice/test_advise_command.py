"""`ssdlab advise space` as a user calls it: its messages, its files, its errors."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from program import Program, program_in
from small_drives import drive_file
from ssdlab.cli import app
from ssdlab.errors import InputError


@pytest.fixture
def ssdlab(tmp_path: Path) -> Program:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=256, user_bytes=240 << 20))
    (tmp_path / "uniform.fio").write_text("[uniform]\nrw=randwrite\nbs=4k\nnorandommap\nrandrepeat=0\n")
    return program_in(tmp_path)


def test_it_says_what_to_leave_empty_and_why(ssdlab: Program, tmp_path: Path) -> None:
    ended = ssdlab("advise", "space", "uniform.fio", "--drive", "small.toml", "--waf", "3", "--output", "advice")
    assert ended.returncode == 0, ended.stderr
    assert re.match(r"Leave (2\d|3\d) MiB unpartitioned", ended.stdout), ended.stdout
    said = " ".join(ended.stdout.split())
    assert "Alternative: as sold, full, without TRIM: WAF" in said
    assert "the rest kept trimmed (fstrim): WAF 2.9" in said
    assert "Alternative: a drive of twice the size, half full" in said
    assert "sfdisk --label gpt /dev/DEVICE" in ended.stdout
    result = json.loads((tmp_path / "advice/result.json").read_text())
    assert result["standing"].startswith("small: a drive file of your own") and result["standing"] in said
    names = {run["name"] for run in result["runs"]}
    for sentence in [result["advice"], *result["sentences"]]:
        assert set(sentence["runs"]) <= names
        assert sentence["runs"] or "closed form" in sentence["text"] or sentence["detail"]
    assert 0.2 < result["over_provisioning"] < 0.26, "theory says 22 %"
    page = (tmp_path / "advice/report.html").read_text()
    assert page.index("unpartitioned") < page.index("Supporting runs")
    assert 'data-figure="waf"' in page
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "band" not in text and "price per TB written" not in text, "there is none"
    assert 'data-head="WAF">2.9' in page, "a cell does not repeat its head"
    assert '<th scope="col" class="said">what for</th>' in page and "fstrim" in text.split("<thead>")[-1]


def test_the_answer_does_not_wait_for_what_else_would_help(
    ssdlab: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> list[object]:
        raise InputError("what if it fails")

    monkeypatch.setattr("ssdlab.experiments.advice.advising.alternatives", broken)
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(app, ["advise", "space", "uniform.fio", "--drive", "small.toml", "--waf", "3"])
    assert isinstance(ended.exception, InputError)
    assert ended.stdout.startswith("Leave ")


def test_a_limit_out_of_reach_is_said_to_be(ssdlab: Program, tmp_path: Path) -> None:
    life = ["--life", "30y", "--writes-per-day", "100TB"]
    ended = ssdlab("advise", "space", "uniform.fio", "--drive", "small.toml", *life)
    assert ended.returncode == 0, ended.stderr
    said = " ".join(ended.stdout.split())
    assert "No amount of spare area meets a life of 30 years: 100 TB per day are 1,095 PB in that time" in said
    # 100 TB divided by 240 MiB, rounded up.
    assert "Take a drive rated 398,000 DWPD or more over 30 years" in said
    result = json.loads((tmp_path / "out/advise-uniform/result.json").read_text())
    assert result["runs"] == [], "it is said at once"


def test_life_out_of_reach_for_its_write_amplification_names_a_rating(ssdlab: Program) -> None:
    # The flash endures 73.5 MB a day without write amplification; at any spare area only a little is left.
    life = ["--life", "30y", "--writes-per-day", "73MB", "--drive-price", "30"]
    ended = ssdlab("advise", "space", "uniform.fio", "--drive", "small.toml", *life)
    assert ended.returncode == 0, ended.stderr
    said = " ".join(ended.stdout.split())
    assert "No amount of spare area meets the limits" in said
    assert "DWPD or more over 30 years" in said
    assert "per TB written over that life" in said


def test_nothing_need_be_empty(ssdlab: Program) -> None:
    ended = ssdlab("advise", "space", "uniform.fio", "--drive", "small.toml", "--waf", "50")
    assert "Leave nothing empty" in ended.stdout
    assert "sfdisk" not in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no limit is given"),
        (["--life", "5y"], "--life needs --writes-per-day"),
        (["--life", "five", "--writes-per-day", "1GB"], "--life is 'five'"),
        (["--waf", "0.5"], "--waf is 0.5"),
        (["--latency", "write.p999x=2ms"], "--latency is 'write.p999x=2ms'"),
        (["--latency", "write.p99=2ms", "--latency", "write.p99=3ms"], "bound the same figure"),
        (["--waf", "2", "--price", "0.08USD/GB"], "needs the drive's price"),
        (["--waf", "2", "--price", "0.1USD/GB", "--drive-price", "30"], "cannot be held"),
        (["--waf", "2", "--skew", "zipf:1.1"], "leave out"),
    ],
)
def test_what_cannot_be_answered_is_refused(ssdlab: Program, arguments: list[str], said: str) -> None:
    ended = ssdlab("advise", "space", "uniform.fio", "--drive", "small.toml", *arguments)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_limits_that_contradict_one_another(ssdlab: Program) -> None:
    price = ["--price", "130USD/GB", "--drive-price", "30"]
    ended = ssdlab("advise", "space", "uniform.fio", "--drive", "small.toml", "--waf", "2", *price)
    assert ended.returncode == 2
    assert "--waf 2 and --price 130USD/GB contradict each other" in ended.stderr


def test_a_described_workload_needs_no_file(ssdlab: Program) -> None:
    described = ["--space-in-use", "150MiB", "--skew", "hot:20/80", "--block-size", "8KiB"]
    ended = ssdlab("advise", "space", "--drive", "small.toml", *described, "--waf", "2")
    assert ended.returncode == 0, ended.stderr
    assert "unpartitioned" in ended.stdout
