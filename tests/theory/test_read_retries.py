"""The law of read retries against the engine's runs, and what lifetime and advise say by it."""

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ssdlab
from ssdlab.cli import app
from ssdlab.simulator.drives import drive
from ssdlab.theory import read_retries
from ssdlab.theory.read_disturb import ReadOnly

RETRIES = {
    "read_retries.retry_us": "[200, 400, 2000]",
    "read_retries.severities": "[1.0, 1.5, 2.5]",
    "read_retries.spread": "1.5",
    "read_retries.reads": "2000",
}
READS = """
[global]
direct=1
ioengine=libaio
size=100%
bs=4k
[fill]
rw=write
[before]
stonewall
rw=randread
loops=24
[measured]
stonewall
rw=randread
"""


def test_simulated_shares_are_those_of_the_law(tmp_path: Path) -> None:
    """25 rounds over blocks of 64 pages are 1600 reads of a block."""
    job = tmp_path / "reads.fio"
    job.write_text(READS, encoding="utf-8")
    settings = RETRIES | {
        "nand.blocks_per_plane": "128",
        "nand.pages_per_block": "64",
        "ftl.user_bytes": str(12_800 * 4096),
    }
    resolved = drive("tiny", settings=settings)
    result = ssdlab.run(job, resolved, seed=1)
    latency = result.jobs[-1].read.latency
    assert latency is not None
    pages = resolved.file.nand.pages_per_block
    expected = read_retries.shares(resolved.file, 24.5 * pages)
    for share, limit_us in zip(expected, (200, 600, 2600), strict=True):
        above = latency.percent_above(limit_us * 1000)
        assert above is not None
        # Four standard deviations of a count.
        tolerance = 4 * math.sqrt(share * (1 - share) / latency.count)
        assert above / 100 == pytest.approx(share, abs=tolerance), limit_us


def test_the_sum_of_severities_by_hand() -> None:
    file = drive("tiny", settings=RETRIES | {"read_retries.days": "100", "read_retries.cycles": "3000"}).file
    assert read_retries.severity(file, 2000) == 1
    assert read_retries.severity(file, 4000, 50, 6000) == pytest.approx(2**1.71 + 0.5**0.54 + 2**2.05)
    assert read_retries.shares(file, 2000)[0] == pytest.approx(1 - math.exp(-1))
    assert read_retries.shares(file, 0) == [0, 0, 0]
    added = read_retries.mean_read_us(file, [0.5, 0.25, 0.0])
    assert added == pytest.approx(read_retries.mean_read_us(file, [0, 0, 0]) + 100 + 100)


def test_the_mean_between_refreshes_is_below_the_share_at_its_end() -> None:
    file = drive("tiny", settings=RETRIES).file
    # With x the severity to the power of 1.5, (reads / 2000)^2.565, small: the mean is the end's over 3.565.
    end, mean = read_retries.shares(file, 100)[0], read_retries.mean_shares(file, 100)[0]
    assert mean == pytest.approx(end / (1 + 1.71 * 1.5), rel=0.01)


def test_advise_says_how_often_to_refresh() -> None:
    arguments = ["advise", "refresh", "--drive", "generic-tlc-480", "--reads-per-day", "20TB", "--life", "5y"]
    for more in RETRIES.items():
        arguments += ["--set", "=".join(more)]
    told = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert told.exit_code == 0, told.output
    first, *others = json.loads(told.stdout)["refreshes"]
    # The drive refreshed so lives as long as asked, by the law that lifetime uses, and with one read fewer does not.
    resolved = drive("generic-tlc-480")
    least = first["read_disturb_reads"]
    assert ReadOnly(resolved, 20e12, 128 * 1024, least).years == pytest.approx(first["years"])
    assert first["years"] >= 5 > ReadOnly(resolved, 20e12, 128 * 1024, least - 1).years
    assert [each["read_disturb_reads"] for each in others] == [3 * least, 10 * least]
    slow = [each["share_with_retries"] for each in (first, *others)]
    assert slow == sorted(slow) and slow[0] < slow[-1]
    told = CliRunner().invoke(app, arguments)
    assert f"--set background.read_disturb_reads={least}" in told.stdout.replace("\n ", "")


def test_without_the_law_nothing_is_said_of_slow_reads() -> None:
    told = CliRunner().invoke(app, ["advise", "refresh", "--drive", "tiny", "--reads-per-day", "1TB", "--life", "5y"])
    assert "the drive file has no [read_retries]" in " ".join(told.stdout.split())
    assert "of the reads need a retry" not in told.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reads-per-day", "0", "--drive", "tiny", "--life", "5y"], "--reads-per-day is 0"),
    ],
)
def test_wrong_input_is_named(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["advise", "refresh", *arguments])
    assert result.exit_code != 0
    assert message in str(result.exception)
