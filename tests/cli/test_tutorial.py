"""The tutorial as its reader types it: the files that it creates are valid. Its runs are too long for a test.

A regression: its fourth step created a table that no trace reader knew, and its scale was too small for its drive.
"""

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from ssdlab.cli import app
from ssdlab.simulator.drives import load, resolve

TUTORIAL = Path(__file__).parents[2] / "site/pages/tutorial.md"
SNIPPET = re.compile(r'python3 -c "\n(.*?)" > (\S+)$', re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    """The commands to type, each as one line."""
    text = TUTORIAL.read_text(encoding="utf-8")
    typed = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    return [line for line in typed.replace("\\\n", " ").splitlines() if line.startswith("ssdlab ")]


def test_the_drive_and_the_trace_of_the_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (made,) = [line for line in commands() if line.startswith("ssdlab drives new")]
    app(made.split()[1:], standalone_mode=False)
    typed = "\n".join(line[4:] for line in TUTORIAL.read_text(encoding="utf-8").splitlines() if line[:4] == "    ")
    ((script, trace),) = SNIPPET.findall(typed)
    with Path(trace).open("w") as written:
        subprocess.run([sys.executable, "-c", script], stdout=written, check=True)
    capsys.readouterr()
    app(["replay", trace, "--profile"], standalone_mode=False)
    assert "200,000" in capsys.readouterr().out
    replays = [line for line in commands() if f" {trace} " in line]
    assert len(replays) == 2, "it is replayed, and advised on"


def test_every_scale_of_the_tutorial_suits_its_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = 0
    for line in commands():
        words = line.split()
        if words[1:3] == ["drives", "new"]:
            app(words[1:], standalone_mode=False)
        if "--scale" in words:
            value = {word: words[index + 1] for index, word in enumerate(words[:-1]) if word.startswith("--")}
            resolve(load(value["--drive"]), scale=Fraction(value["--scale"]))
            seen += 1
    assert seen >= 3
