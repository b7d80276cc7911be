"""`ssdlab blame` as a user calls it: wrong input, the command behind `--`, and Ctrl-C."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from in_process import call
from processes import has_loaded
from ssdlab.cli import _arguments
from ssdlab.errors import InputError
from ssdlab.experiments.blame.watching import read_io
from waiting import SECONDS_MAX, wait_for

ROOT = Path(__file__).parents[3]
DRIVE = ("--drive", "generic-sata-dc-480")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to blame: give a recording"),
        (("--pid", "1", "--command", "true"), "exclude each other"),
        (("none.strace",), "none.strace: does not exist; allowed is a recording"),
        (("--command", ""), "--command is empty"),
        (("--command", "no-such-program-here", *DRIVE), "no-such-program-here: command not found"),
        (("--pid", "4194304", *DRIVE), "--pid 4194304: there is no such process"),
        (("--minutes", "1", "examples/commits.strace"), "--minutes 1 is for watching"),
        (("examples/commits.strace", "--drive", "none-such"), "none-such"),
    ],
)
def test_wrong_input(words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError) as raised:
        call("blame", *words)
    assert said in str(raised.value)


def test_a_recording_without_sizes(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    path.write_text("7 1700000000.000000 fsync(3</srv/a>) = 0\n" * 3)
    with pytest.raises(InputError, match=r"calls: contains no write with a size; allowed is a recording"):
        call("blame", path)


def test_all_that_stands_behind_the_dashes_is_the_command() -> None:
    words = ["blame", "--minutes", "2", "--", "fio", "--name=a b", "-x"]
    assert _arguments(words) == ["blame", "--minutes", "2", "--command", "fio '--name=a b' -x"]


def test_a_command_with_counters_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = f"import os; f = open({str(tmp_path / 'f')!r}, 'wb', 0); [f.write(b'x' * 1000) for _ in range(500)]"
    words = ("--command", f'"{sys.executable}" -c "{script}"', "--counters-only", "--output-format", "json", *DRIVE)
    call("blame", *words, "--output", tmp_path / "out")
    found = json.loads(capsys.readouterr().out)
    assert found["figures"]["asked_bytes"] == {
        "value": 500_000, "unit": "bytes", "basis": "counted", "note": "wchar of /proc/PID/io",
    }  # fmt: skip
    assert (found["figures"]["years"]["value"], found["figures"]["years"]["basis"]) == (None, "unknown")
    assert json.loads((tmp_path / "out/result.json").read_text()) == found


def test_ctrl_c_reports_what_was_seen(tmp_path: Path) -> None:
    writer = "import sys, time\nwhile True:\n    open(sys.argv[1], 'ab', 0).write(b'x' * 1000); time.sleep(0.01)"
    child = subprocess.Popen([sys.executable, "-c", writer, str(tmp_path / "log")])
    words = ["blame", "--pid", str(child.pid), "--minutes", "10", "--output-format", "json", *DRIVE]
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for("the drive is loaded", lambda: has_loaded(process.pid, "_engine.abi3.so"))
        calls, asked = _reads(process.pid), read_io(child.pid).asked_bytes
        # Each look at the child is a few reads.
        wait_for("the child is watched", lambda: _reads(process.pid) > calls + 50)
        wait_for("the child has written", lambda: read_io(child.pid).asked_bytes > asked + 20_000)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=SECONDS_MAX)
    finally:
        for each in (process, child):
            each.kill()
            each.wait(SECONDS_MAX)
    assert process.returncode == 130
    assert "is reported" in error
    found = json.loads(out)
    assert found["interrupted"] and found["figures"]["asked_bytes"]["value"] > 0


def _reads(process: int) -> int:
    text = Path(f"/proc/{process}/io").read_text(encoding="ascii")
    return int(text.split("syscr: ")[1].split()[0])
