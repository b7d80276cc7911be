"""Six kinds of user, each with a question and at most three tries until the answer is on the screen.

A try that is wrong must say what to type instead: the next try uses a word that the error named. The users and their
mistakes are made up, likely ones; no user was watched.
"""

import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from small_drives import drive_file
from waiting import SECONDS_MAX, wait_for

TRIES_MAX = 3
# Each command has the processor for a few seconds; other tests run beside it.
FIO = ("--", "fio", "--name=writes", "--rw=randwrite", "--bs=4k")
CASES = Path(__file__).parents[1] / "hardware/smart/cases"


@dataclass(frozen=True)
class Try:
    """A command line, and what is on the screen after it: an error that names a word of the next try, or the answer."""

    words: Sequence[str]
    says: str


USERS = {
    "a planner: how long will the drives last that we bought?": [
        Try(("lifetime", "--writes-per-day", "325", "--rated-tbw", "150TB"), "write 325GB"),
        Try(("lifetime", "--writes-per-day", "325GB", "--rated-tbw", "150TB"), "1.26 years"),
    ],
    "an administrator: which drives of the fleet must be replaced, as tickets?": [
        Try(("health", str(CASES), "--fail-on", "never"), "attention by "),
    ],
    "a database engineer: is it faster with 20 % left empty?": [
        Try(("compare", "--drive", "tlc", "--left-empty", "0%,20%", *FIO), "did you mean"),
        Try(("compare", "--drive", "small.toml", "--left-empty", "0%,20%", "--untimed", *FIO), "WAF"),
    ],
    "a reviewer: what does the drive hold once it is full?": [
        Try(("measure", "write-saturation", "--drive", "small.toml"), "require --protocol"),
        Try(("measure", "--protocol", "write-saturtion", "--drive", "small.toml"), "did you mean 'write-saturation'"),
        Try(
            ("measure", "--protocol", "write-saturation", "--quick", "--drive", "small.toml"),
            "Random writes begin at ",
        ),
    ],
    "a researcher: which victim policy writes least?": [
        Try(("compare", "--drive", "small.toml", "--set", "ftl.victim=greedy,fofo", *FIO), "known: greedy, fifo"),
        Try(
            ("compare", "--drive", "small.toml", "--untimed", "--set", "ftl.victim=greedy,fifo", *FIO),
            "fifo",
        ),
    ],
    "a teacher: a drive to look at, beginning with a tour": [
        Try(("live", "--tour", "amplification", "--no-browser"), "known: write-amplification"),
        Try(("live", "--tour", "write-amplification", "--no-browser"), "http://127.0.0.1:"),
    ],
}


@pytest.mark.parametrize("user", USERS)
def test_each_reaches_the_answer_in_three_tries(user: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=64, user_bytes=58720256))
    tries = USERS[user]
    assert len(tries) <= TRIES_MAX
    for number, each in enumerate(tries, 1):
        code, said = typed(each.words, tmp_path)
        flat = " ".join(said.split())
        assert each.says in flat, f"{' '.join(each.words)}\n{said}"
        is_last = number == len(tries)
        assert code == (0 if is_last else 2), f"{' '.join(each.words)}\n{said}"


def answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=SECONDS_MAX) as page:
            return bool(page.status == 200)
    except OSError:
        return False


def typed(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """The exit code of a command and all that it printed. What goes on until Ctrl-C is ended after its first line."""
    program = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        first = ""
        if words[0] == "live":
            assert program.stdout is not None
            first = program.stdout.readline()
            if first.startswith("http"):
                wait_for("the page answers", lambda: answers(first.strip()))
                program.send_signal(signal.SIGINT)
        rest, _ = program.communicate(timeout=SECONDS_MAX)
        return program.returncode, first + rest
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()
