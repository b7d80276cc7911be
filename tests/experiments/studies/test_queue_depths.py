"""The study of queue depths: the closed form against the engine at the depths it is fitted to; files it refuses."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from ssdlab.cli import app
from ssdlab.errors import InputError
from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.queue_depths import comparison, fitting, ladders, predicting
from ssdlab.experiments.studies.queue_depths.ladders import Ladder, Step
from ssdlab.simulator.drives import load

BASE = load(str(fitting.BASE))
HEAD = "drive,pattern,iodepth,iops,p50,p99\n"


def test_what_is_fitted_is_met_and_the_rest_is_said_to_be_predicted() -> None:
    reads, _, _, writes = ladders.load(comparison.FIGURES)
    short = [
        Ladder(each.drive, each.pattern, {depth: each.steps[depth] for depth in (1, 4, 32)}) for each in (reads, writes)
    ]
    found = predicting.predict(Context(workers=1), short, BASE)
    for row in found.rows:
        is_fitted_to = row.what in ("depth 1: iops", "depth 1: p50", "depth 32: iops")
        if is_fitted_to:
            assert row.deviation == pytest.approx(0, abs=0.02), (row.group, row.what)
            assert row.verdict is Verdict.SATURATED
        elif not (row.what.endswith("p99") and "reads" in row.group):
            assert row.is_left_out, (row.group, row.what)
    assert all(row.is_left_out for row in found.rows if row.what.startswith("depth 4"))
    of_reads = fitting.medians(found.fits[reads.label], found.steps[reads.label])
    assert all(of_reads[name] < limit for name, limit in fitting.TOLERANCES.items())
    assert "4 ladders" not in found.finding and "2 ladders" in found.finding
    assert found.frame().height == len(found.rows)


def test_the_closed_form_is_what_one_computes_by_hand() -> None:
    """Alone 100 us in the median and 140 at the 99th percentile; commands end every 20 us at depth 32."""
    found = fitting.fit(Ladder("d", "randread", {1: Step(1e6 / 125, 100, 140), 32: Step(50_000, 640, 700)}), BASE)
    link_us, channel_us = 4096 / 560, 4096 / BASE.nand.channel_mb_s
    assert found.drive.host_link.command_us == pytest.approx(20 - link_us, rel=3e-3)
    low, _, high = found.drive.nand.read_us  # type: ignore[misc]
    assert low == pytest.approx(100 - 20 - channel_us, rel=3e-3) and high - low == pytest.approx(40, rel=3e-3)
    # The mean of the three pages is 113.3 us; the host has the rest.
    assert found.host_us == pytest.approx(125 - (100 + 100 + 140) / 3, rel=3e-3)
    assert found.drive.source_of("nand.read_us").kind == "fitted"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drive,iodepth\n", "no column pattern, iops, p50, p99"),
        (HEAD + "d,read,1,1,1,1\n", "line 2 without comments: pattern is 'read'; allowed are randread, randwrite"),
        (HEAD + "d,randread,1,-5,1,1\n", "iops is '-5'; allowed is a number above 0"),
        (HEAD + "d,randread,1,8000,100,120\n", "iodepth 1 and 32 are needed"),
        (HEAD, "has no line of figures"),
        (HEAD + "d,randread,1,8000,10,12\nd,randread,32,50000,600,700\n", "nothing is left for the drive"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "ladder.csv"
    path.write_text("# a comment\n" + text)
    with pytest.raises(InputError, match=message):
        predicting.predict(Context(workers=1), ladders.load(path), BASE)


def test_only_sata_drives_have_ladders() -> None:
    ladder = Ladder("d", "randread", {1: Step(8000, 100, 120), 32: Step(50_000, 600, 700)})
    with pytest.raises(InputError, match=re.escape("host_link.interface is 'pcie3x4'; allowed is sata-6g or sata-3g")):
        fitting.fit(ladder, load("generic-nvme-tlc-1000"))


def test_the_command_writes_the_drives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "SECONDS", 0.06)
    path = tmp_path / "ladder.csv"
    path.write_text(
        HEAD + "mine,randwrite,1,20000,40,44\nmine,randwrite,4,58000,60,70\nmine,randwrite,32,60000,530,540\n"
    )
    done = CliRunner().invoke(app, ["fit", "--queue-depths", str(path), "--output", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert load(str(tmp_path / "out" / "fitted-1.toml")).controller.command_us == pytest.approx(
        40 - 1e6 / 60_000, rel=1e-2
    )
    (ladder,) = json.loads((tmp_path / "out" / "result.json").read_text())["ladders"]
    assert ladder["fitted_to_figures"] == 3 and set(ladder["medians"]) == {"iops", "p50", "p99"}
    both = CliRunner().invoke(app, ["fit", "--queue-depths", str(path), "--data-sheet", "x.toml"])
    assert both.exit_code != 0


def test_a_drive_has_one_colour_as_line_and_as_marks() -> None:
    """A regression: "simulated" and "measured" were two labels, and so two colours for one drive."""
    known = {each.label: each for each in ladders.load(comparison.FIGURES)}
    fits: Any = {label: SimpleNamespace(ladder=ladder) for label, ladder in known.items()}
    figure = comparison._picture(fits, {label: ladder.steps for label, ladder in known.items()})
    labels = [entry.value for key in figure.keys for entry in key.entries]
    assert len(labels) == 2 and not any("measured" in label for label in labels)
