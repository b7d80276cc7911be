"""Values that are typing errors: are they rejected, with the allowed range, before any work is done?"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from program import Program


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("run uniform.fio --drive small.toml --op 99999%", "--op: '99999%' is out of range; allowed .* 0% to 1000%"),
        ("compare uniform.fio --drive small.toml --op 7%,1001%", "--op: '1001%' is out of range"),
        ("model --op 99999% --victim greedy --units-per-erase-unit 256", "'99999%' is out of range"),
        (
            "lifetime uniform.fio --drive small.toml --writes-per-day 500",
            "--writes-per-day: '500' has no unit; write 500GB, or 500B if bytes are meant",
        ),
        ("advise uniform.fio --drive small.toml --life 5y --writes-per-day 500", "'500' has no unit"),
        ("lifetime uniform.fio --drive small.toml --writes-per-day 11PB", "11PB; allowed: up to 10 PB"),
        ("run uniform.fio --drive small.toml --set ftl.victim=fifo --op 20000%", "out of range"),
        ("fleet smart uniform.fio --left-empty 7%,7%", "--left-empty 7%,7%: a share is listed twice"),
        ("advise space uniform.fio --drive small.toml --waf 3 --left-empty 7%", "--left-empty requires --smart"),
        ("mount drive --drive small.toml --output .", "--output [.]: is a folder; a file is needed"),
        ("serve --drive small.toml --output .", "--output [.]: is a folder; a file is needed"),
        ("serve --drive small.toml --socket uniform.fio", "uniform.fio: is no socket; name a new file"),
        ("serve --drive small.toml --socket .", "is no socket; name a new file"),
        ("compare uniform.fio --drive small.toml --dwpd 1e9", "--dwpd is 1e[+]09; allowed: above 0, up to 10000"),
    ],
)
def test_a_slip_is_refused(ssdlab: Program, call: str, said: str) -> None:
    """A regression: `--op 99999%` simulated a drive of a few units; `--writes-per-day 500` gave a life of a billion
    years."""
    ended = ssdlab(*call.split())
    assert ended.returncode == 2
    assert re.search(said, ended.stderr), ended.stderr


@pytest.mark.parametrize(
    "call",
    [
        "run uniform.fio --drive small.toml",
        "compare uniform.fio --drive small.toml",
        "demo",
        "advise uniform.fio --drive small.toml --waf 3",
        "identify --drive small.toml",
        "health uniform.fio",
        "atlas",
        "study pny-over-provisioning",
        "serve --drive small.toml",
    ],
)
def test_no_word_for_no_output_becomes_a_folder(ssdlab: Program, tmp_path: Path, call: str) -> None:
    """A regression: `--output none` and `--output -` wrote a folder of that name, and `--output "$UNSET"` wrote into
    the working folder."""
    before = sorted(tmp_path.iterdir())
    for text, said in (("none", "is 'none'; allowed: .* [.]/none"), ("-", "is '-'; .* [.]/-"), ("", "is empty")):
        ended = ssdlab(*call.split(), "--output", text)
        assert (ended.returncode, bool(re.search(f"--output {said}", ended.stderr))) == (2, True), ended.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("model --op x", "--op: 'x' is not a share"),
        ("model --op 7% --output a.bmp", "the suffix of --output a.bmp is '.bmp'; allowed: .png"),
        ("sweep uniform.fio", r"; a sweep names its drives and jobs under \[axes\]$"),
        ("atlas --from missing", "missing: No such file or directory$"),
        ("run uniform.fio --drive small.toml --save-state .", "--save-state [.]: is a folder; a file is needed"),
        ("run binary.files --drive small.toml", "binary.files, line 1: is not text .*; expected is a text, such as"),
        ("replay bad\udcff.csv --drive small.toml", r"'bad\\udcff.csv' is not UTF-8; allowed: names in UTF-8"),
        ("health bad\udcff.json", "is not UTF-8; allowed: names in UTF-8"),
    ],
)
def test_a_strangers_mistakes_are_named(ssdlab: Program, tmp_path: Path, call: str, said: str) -> None:
    """Regressions: the option or the file's kind was missing from the error, a folder for a state was found after the
    run, and names that are not UTF-8 were called a bug."""
    for name in ("binary.files", "bad\udcff.csv", "bad\udcff.json"):
        (tmp_path / name).write_bytes(b"\xff\xfe\n")
    before = sorted(tmp_path.iterdir())
    ended = ssdlab(*call.split())
    assert (ended.returncode, bool(re.search(said, ended.stderr.strip()))) == (2, True), ended.stderr
    assert len(ended.stderr.splitlines()) == 1 and sorted(tmp_path.iterdir()) == before


def test_a_drive_files_name_need_not_be_utf8(tmp_path: Path, ssdlab: Program) -> None:
    """A regression: the name of the drive, taken from that of the file, ended in a message on a bug."""
    (tmp_path / "b\udcff.toml").write_text('based_on = "tiny"\n')
    ended = ssdlab("run", "uniform.fio", "--drive", "b\udcff.toml")
    assert ended.returncode == 0, ended.stderr


def test_an_error_of_the_system_is_told_without_its_number(ssdlab: Program) -> None:
    name = 300 * "x"
    ended = ssdlab("health", name)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"error: {name}: File name too long\n")


def test_closed_standard_streams(tmp_path: Path, ssdlab: Program) -> None:
    """A regression: with a closed stdout, an AttributeError was called a bug."""
    assert ssdlab("drives").returncode == 0
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        line = f"{sys.executable} -m ssdlab run uniform.fio --drive small.toml --output out.json {closed}"
        ended = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert (ended.returncode, "bug" in ended.stderr) == (0, False), ended.stderr
        assert json.loads((tmp_path / "out.json").read_text())["jobs"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("health", "PLACE is empty; allowed: "),
        ("health uniform.fio", "PLACE is empty; allowed: "),
        ("atlas build", "is empty; allowed: "),
        ("fleet smart", "PLACE is empty; allowed: SMART reports"),
        ("export", "PLACE is empty; allowed: "),
        ("run --drive small.toml", "JOB is empty; allowed: A fio job file"),
        ("replay --drive small.toml", "TRACE is empty; allowed: Trace files"),
        ("refresh --dry-run", "PATH is empty; allowed: A file, or a block device."),
    ],
)
def test_an_empty_argument_is_not_the_working_folder(ssdlab: Program, tmp_path: Path, call: str, said: str) -> None:
    """A regression: `ssdlab health "$UNSET"` surveyed the working folder, others called "." or nothing a folder."""
    before = sorted(tmp_path.iterdir())
    ended = ssdlab(*call.split(), "")
    assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("call", ["measure uniform.fio", "study pny-over-provisioning"])
def test_an_empty_place_is_no_place(ssdlab: Program, call: str) -> None:
    """A regression: an unset variable in a script, `--on "$DISK"`, selected the working folder."""
    ended = ssdlab(*call.split(), "--on", "", "--dry-run")
    assert (ended.returncode, "--on is empty; allowed: a folder" in ended.stderr) == (2, True), ended.stderr


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("list", "`ssdlab drives`: List the drive models.* Allowed: questions, demo, .*, model[.]"),
        ("endurance small.toml", "`ssdlab lifetime`: Estimate the life"),
        ("comapre uniform.fio", "Did you mean 'compare'.*Allowed: "),
        ("how long will it last", "`ssdlab questions` lists questions with the command that answers each"),
        ("run", "JOB: A fio job file, a script"),
        ("run uniform.fio", "NAME|FILE: A drive of the catalogue"),
        ("run uniform.fio --drive", "--drive NAME.FILE: "),
        ("run uniform.fio -d small.toml", "Allowed: --drive, --op, --set, "),
        ("run uniform.foi --drive small.toml", "No such file or directory; did you mean 'uniform.fio'"),
        ("run jobs/randwrite.fio --drive tiny", "the files of the examples are in ssdlab's repository.* -- fio --name"),
        (
            "run uniform.fio --drive small.toml --rw randread",
            "--rw is an option of fio.*ssdlab run .* -- fio --name=job",
        ),
        ("run fio --name=a --rw=write --drive small.toml", "--name is an option of fio.* -- fio --name=job"),
        ("compare uniform.fio --drive small.toml --op 7% 28%", "commas between them: --op 7%,28%"),
        ("compare --drive small.toml --left-empty 0% 20% uniform.fio", "--left-empty 0%,20%"),
        ("compare uniform.fio --drive small.toml --set ftl.victim fifo", "one word: --set ftl.victim=fifo"),
        ("compare uniform.fio --drive small.toml --policy fifo", "--set ftl.victim=NAME .ssdlab policies"),
        ("drives small", "no drive 'small'.*known: "),
        ("study pyn-over-provisioning", "did you mean 'pny-over-provisioning'"),
        ("policies greddy", "did you mean 'greedy'"),
        ("run uniform.fio --drive small.toml --op 7", "'7' is ambiguous; write 7% or"),
        ("run uniform.fio --drive small.toml --scale 64", "write a scale above 0 and at most 1, such as 1/16"),
        ("run uniform.fio --drive small.toml --set ftl.victm=fifo", "did you mean 'ftl.victim'"),
        ("run uniform.fio --drive small.toml --output-format jsn", "did you mean 'json'.*allowed: normal, json"),
        ("replay uniform.foi --drive small.toml", "did you mean 'uniform.fio'"),
    ],
)
def test_a_beginners_slip_names_what_is_allowed(ssdlab: Program, call: str, said: str) -> None:
    """A regression: unknown words, fio's options, and values with a blank between them were refused without more."""
    ended = ssdlab(*call.split())
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert re.search(said, " ".join(ended.stderr.split())), ended.stderr


@pytest.mark.parametrize(
    ("call", "same"), [("-h", "--help"), ("help", "--help"), ("help run", "run --help"), ("version", "--version")]
)
def test_other_words_for_help(ssdlab: Program, call: str, same: str) -> None:
    """A regression: `ssdlab help` asked whether `health` was meant."""
    found, expected = ssdlab(*call.split()), ssdlab(*same.split())
    assert (found.returncode, found.stdout) == (0, expected.stdout)
