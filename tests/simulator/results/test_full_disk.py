"""Does a full disk end a command with the name of the file, without partial files?

Regressions: `ssdlab run ... --output DIR` printed `[Errno 28] No space left on device` without the file, or the name of
a file below /proc/self/fd, or that a full disk is a bug; and it did not say which files it left.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from program import Program, program_in
from small_drives import drive_file

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")

_FULL = Path("/dev/full")


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a page or two."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def ssdlab(tmp_path: Path) -> Program:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=64, pages=32, user_bytes=4 << 20))
    (tmp_path / "job.fio").write_text("[a]\nrw=randwrite\nbs=4k\nnorandommap\nwrite_lat_log=a\n")
    return program_in(tmp_path)


@pytest.mark.parametrize(
    ("call", "name", "code"),
    [
        ("run job.fio --drive small.toml --output tiny/out", "tiny/out/", 1),
        ("run job.fio --drive small.toml --output-format json --output tiny/out.json", "tiny/out.json", 1),
        ("run job.fio --drive small.toml --save-state tiny/small.state", "tiny/small.state", 1),
        ("compare job.fio --drive small.toml --op 90%,95% --until job --output tiny/out", "tiny/out/", 1),
        ("model --op 7% --victim greedy --units-per-erase-unit 256 --output tiny/model.svg", "tiny/model.svg", 1),
    ],
)
def test_a_full_disk_is_said_with_the_file(call: str, name: str, code: int, ssdlab: Program, tiny: Path) -> None:
    (tiny / "in the way").write_bytes(bytes(16 << 10))
    ended = ssdlab(*call.split())
    last = ended.stderr.splitlines()[-1]
    assert ended.returncode == code, ended.stderr
    assert name in last and "No space left on device" in last, ended.stderr
    assert [path.name for path in tiny.iterdir()] == ["in the way"]


def test_output_that_takes_nothing_is_named(ssdlab: Program) -> None:
    ended = ssdlab("run", "job.fio", "--drive", "small.toml", "--output-format", "json", "--output", str(_FULL))
    assert (ended.returncode, "/dev/full: No space left on device" in ended.stderr) == (1, True), ended.stderr


def test_standard_output_that_takes_nothing_is_named(ssdlab: Program, tmp_path: Path) -> None:
    ssdlab("drives", "small.toml")
    command = [sys.executable, "-m", "ssdlab", "drives", "small.toml"]
    with _FULL.open("w") as full:
        ended = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "error: standard output: No space left on device\n")


RUN = ("run", "job.fio", "--drive", "small.toml", "--output")
COMPARE = ("compare", "job.fio", "--drive", "small.toml", "--op", "90%,95%", "--until", "job", "--output")


@pytest.mark.parametrize("room", ["24k", "40k", "120k", "400k", "800k"])
@pytest.mark.parametrize("words", [RUN, COMPARE], ids=["run", "compare"])
def test_what_is_left_is_said(words: tuple[str, ...], room: str, ssdlab: Program, tiny: Path) -> None:
    """A disk that becomes full in the middle: at a table, at the page, or when the files get their names."""
    subprocess.run(["mount", "-o", f"remount,size={room}", tiny], check=True)
    check_end(ssdlab(*words, "tiny/out"), "No space left on device", tiny)


@pytest.mark.parametrize("kib", [4, 20, 60, 200])
@pytest.mark.parametrize("words", [RUN, COMPARE], ids=["run", "compare"])
def test_a_limit_of_the_size_of_files_ends_like_a_full_disk(
    words: tuple[str, ...], kib: int, ssdlab: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "limited"
    folder.mkdir()
    ssdlab("drives", "small.toml")
    command = [sys.executable, "-m", "ssdlab", *words, "limited/out"]
    limited = ["sh", "-c", f'ulimit -f {2 * kib}; exec "$@"', "sh", *command]
    check_end(subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True), "File too large", folder)


def check_end(ended: "subprocess.CompletedProcess[str]", reason: str, folder: Path) -> None:
    """The message names a file of the user and everything that is left, and nothing else is left."""
    last = ended.stderr.splitlines()[-1]
    assert ended.returncode == 1, ended.stderr
    name = rf"error: {folder.name}/out/[a-z0-9./_-]+"
    assert re.match(
        rf"{name}: {reason}; (nothing was written|complete before: |\d+ of \d+ files were written)", last
    ), last
    left = {path for path in folder.rglob("*") if path.is_file()}
    assert not [path for path in left if ".writing-" in str(path)]
    assert bool(left) == ("nothing was written" not in last), (left, last)


def test_an_interruption_says_what_is_complete(tmp_path: Path) -> None:
    """It said that nothing was written, beside a result that was complete."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ssdlab.cli import drives, main\n"
        "def interrupted(path, text):\n"
        "    write_text(path, text)\n"
        "    raise KeyboardInterrupt\n"
        "write_text, drives.write_text = drives.write_text, interrupted\n"
        "sys.argv[1:] = ['drives', 'new', '--like', 'tiny', 'mine.toml']\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "error: interrupted: complete before: mine.toml\n")
    assert (tmp_path / "mine.toml").is_file()
