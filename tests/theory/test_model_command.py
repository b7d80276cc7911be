"""`ssdlab model` as a user calls it."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.theory import closed_forms


@dataclass(frozen=True)
class Ended:
    """The result of a call of the program."""

    exit_code: int
    stdout: str
    stderr: str


class Model:
    """Calls `ssdlab model` in this process, which saves starting the interpreter for each call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: str) -> Ended:
        self.monkeypatch.setattr(sys, "argv", ["ssdlab", "model", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        printed = self.capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Ended(end.value.code, printed.out, printed.err)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Model:
    return Model(monkeypatch, capsys)


def test_several_spare_areas_as_json_with_a_picture(model: Model, tmp_path: Path) -> None:
    picture = tmp_path / "waf.svg"
    run = model("--op", "7%,28%", "--victim", "greedy", "--output-format", "json", "--output", str(picture))
    assert run.exit_code == 0, run.stderr
    answer = json.loads(run.stdout)
    assert "greedy" in answer["formula"]
    first, second = answer["rows"]
    assert first["write_amplification"] == pytest.approx(closed_forms.greedy(0.07, 256))
    assert second["write_amplification"] == pytest.approx(closed_forms.greedy(0.28, 256))
    assert second["spare_factor"] == pytest.approx(0.21875)
    drawn = picture.read_text()
    assert drawn.startswith("<svg") and "over-provisioning" in drawn and "greedy" in drawn


def test_hot_and_cold_separated_as_a_table(model: Model) -> None:
    run = model("--op", "7%", "--victim", "fifo", "--hot-writes", "80%", "--hot-space", "20%", "--separate")
    assert run.exit_code == 0, run.stderr
    value = closed_forms.separated_pools(0.07, (0.8, 0.2), (0.2, 0.8))
    assert f"{value:.3f}" in run.stdout and "6.54 %" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80


def test_trim_enlarges_alpha(model: Model) -> None:
    run = model("--op", "7%", "--victim", "fifo", "--trim", "10%", "--output-format", "json")
    row = json.loads(run.stdout)["rows"][0]
    assert row["alpha"] == pytest.approx(1.07 / (0.8 / 0.9))
    assert row["write_amplification"] == pytest.approx(closed_forms.fifo(row["alpha"] - 1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--op", "0%"), "--op"),
        (("--op", "7%", "--victim", "gredy"), "did you mean 'greedy'"),
        (("--op", "7%", "--d", "4"), "--d"),
        (("--op", "7%", "--hot-writes", "80%"), "--hot-space"),
    ],
)
def test_wrong_input_ends_with_2_and_one_message(model: Model, arguments: tuple[str, ...], words: str) -> None:
    run = model(*arguments)
    assert run.exit_code == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_a_picture_that_cannot_be_written_is_an_input_error(model: Model, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    run = model("--op", "7%", "--output", str(tmp_path / "file" / "waf.svg"))
    assert run.exit_code == 2
    assert "file is a file; a folder is needed" in run.stderr
