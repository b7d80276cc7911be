"""Readings of readers' drives: written, read again, drawn; a file that is not one is refused with what is allowed."""

import re
from pathlib import Path

import pytest

import ssdlab
from in_process import call
from ssdlab.errors import InputError
from ssdlab.experiments.protocols.contract import Step
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.internal_fragmentation import pictures, readers, windows
from ssdlab.experiments.studies.internal_fragmentation.drives import CELLS, DRIVES, STEPS
from ssdlab.experiments.studies.internal_fragmentation.reading import Readings

SECONDS = [1.0, 1.5, 2.0, 2.5, 3.0]


def step(name: str, seconds: float | None) -> Figures:
    return Figures("", name, True, None, None, 0, 0, seconds, None, None, None, None)


def figures() -> list[Figures]:
    taken = [
        step(f"read-{amount or 'fresh'}-{number}", seconds)
        for amount, seconds in zip(STEPS, SECONDS, strict=True)
        for number in (1, 2, 3)
    ]
    return [*taken, step("read-after-an-hour", 2.9), step("read-after-remedy", 1.0)]


def test_what_a_run_writes_is_read_again(tmp_path: Path) -> None:
    found = readers.contribution(figures(), 'A "drive" 1TB', "1.0", 2 << 30)
    path = tmp_path / "drive.toml"
    path.write_text(readers.text(found), encoding="utf-8")
    assert readers.load(path) == found
    assert found.slowdowns == SECONDS and found.of_whole_file("after_4000") == 6.0, "of a file of 4 GiB"
    assert [row.simulated for row in readers.rows([found])] == [2.0, 3.0, 4.0, 5.0, 6.0, 5.8, 2.0]


def test_a_quick_run_has_no_reading_after_an_hour() -> None:
    quick = [each for each in figures() if each.step != "read-after-an-hour"]
    assert "after_an_hour" not in readers.contribution(quick, "a drive", "", 2 << 30).seconds


def test_a_run_that_lacks_a_reading_is_not_contributed() -> None:
    with pytest.raises(InputError, match="fresh is not known"):
        readers.contribution([step("read-fresh-1", None), *figures()], "a drive", "", 2 << 30)


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("internal-fragmentation 1", "internal-fragmentation 2", "allowed is 'ssdlab internal-fragmentation 1'"),
        ("file_bytes = 2147483648", "file_bytes = 0", "allowed is 1 or more"),
        ("after_50 = ", "after_60 = ", "required are fresh, after_50"),
        ("fresh = [1.0, 1.0, 1.0]", "fresh = []", "numbers above 0"),
        ("fresh = [1.0, 1.0, 1.0]", "fresh = 1.0", "Expected `array`"),
        ("[seconds]", "[seconds", "drive.toml"),
        ("drive = ", "owner = ", "unknown field `owner`"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, was: str, becomes: str, said: str) -> None:
    text = readers.text(readers.contribution(figures(), "a drive", "1.0", 2 << 30))
    assert was in text
    path = tmp_path / "drive.toml"
    path.write_text(text.replace(was, becomes, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        readers.load(path)
    assert said in str(refused.value) and str(path) in str(refused.value)


def test_the_study_draws_them_beside_its_own() -> None:
    found = readers.contribution(figures(), "A drive", "1.0", 2 << 30)
    taken = {each.drive: Readings(tuple(each.seconds), 1.0, 1.0, ({},) * len(CELLS)) for each in DRIVES}
    figure = pictures.readers_figure([found], taken)
    assert figure.title == "Of the readers' drives, A drive, 1.0 slows down most, 3.0 times"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("internal-fragmentation", "--contribute", "x.toml"), "--on PATH"),
        (("pny-over-provisioning", "--readings", "x.toml"), "internal-fragmentation"),
        (("internal-fragmentation", "--readings", "no-such.toml"), "No such file"),
    ],
)
def test_where_they_do_not_belong_they_are_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call("study", *arguments, "--output", tmp_path / "out")
    with pytest.raises(InputError, match="takes no readings"):
        ssdlab.study("pny-over-provisioning", readings=["x.toml"])


def lines_of_steps() -> list[str]:
    """What the script does between `try` and `finally`."""
    return windows.script().split("\ntry {\n")[1].split("\n} finally {")[0].split("\n")


def test_the_script_for_windows_has_the_article_s_steps_in_their_order() -> None:
    waits = {number: 10 * number for number in (1, 2, 3)}
    expected = ["Write-InOrder", *["Read-InOrder 'fresh' 10"] * 3]
    for amount, cell, seed in zip(STEPS[1:], CELLS[1:], STEPS[1:], strict=True):
        expected.append(f"Write-AtRandom {amount * 2**20} {seed}")
        expected += [f"Read-InOrder '{cell}' {waits[number]}" for number in (1, 2, 3)]
    expected += ["Read-InOrder 'after_an_hour' 3600", "Write-InOrder", "Read-InOrder 'after_remedy' 10"]
    assert [line.strip() for line in lines_of_steps()] == expected


def test_the_script_for_windows_is_whole() -> None:
    script = windows.script()
    assert "@" not in script.replace("@'", "").replace("'@", "").replace("@{}", "").replace("@(", ""), "a placeholder"
    for one, other in ("()", "{}", "[]"):
        assert script.count(one) == script.count(other)
    called = {line.split()[0] for line in lines_of_steps()}
    assert called == set(re.findall(r"^function ([A-Z]\w+-\w+)", script, re.MULTILINE))
    methods = set(re.findall(r"\[Direct\]::(\w+)\(", script))
    assert methods and all(re.search(rf"public static [\w\[\]]+ {method}\(", script) for method in methods)
    # A here-string ends only at the beginning of a line, and a redirection would write UTF-16.
    assert script.count("@'\n") == script.count("\n'@\n") == 1 and " > " not in script
    assert script.isascii(), "Windows PowerShell reads a script without a byte order mark as ANSI"


def test_what_the_script_for_windows_writes_is_read(tmp_path: Path) -> None:
    """Its last lines, with what a run would put into them."""
    tail = windows.script().split("$Lines = @(\n")[1].split("\n)\n")[0]
    seconds: dict[str, list[str]] = {}
    for line in lines_of_steps():
        if line.strip().startswith("Read-InOrder"):
            seconds.setdefault(line.split("'")[1], []).append("1.5000")
    written = []
    for line in (line.strip() for line in tail.split("\n")):
        match line.split(" = ")[0]:
            case '"drive' | '"firmware':
                written.append(f'{line.split(" = ")[0][1:]} = "A \\"drive\\""')
            case '"file_bytes':
                assert line == '"file_bytes = $Size"'
                written.append(f"file_bytes = {4 << 30}")
            case '$Seconds.GetEnumerator() | ForEach-Object { "$($_.Key)':
                written += [f"{cell} = [{', '.join(taken)}]" for cell, taken in seconds.items()]
            case _:
                written.append(line.strip("'"))
    path = tmp_path / "drive.toml"
    path.write_text("\n".join(written) + "\n", encoding="utf-8")
    found = readers.load(path)
    assert set(found.seconds) == set(readers.KEYS) and found.drive == 'A "drive"'
    assert [len(taken) for taken in found.seconds.values()] == [3] * len(CELLS) + [1, 1]


def test_a_step_that_the_script_has_no_function_for_is_not_left_out() -> None:
    with pytest.raises(ValueError, match="no function"):
        windows.line(Step("trim", "rw=trim\nbs=1m\n"))


def test_the_script_is_printed_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    call("study", "internal-fragmentation", "--powershell")
    assert capsys.readouterr().out == windows.script()
    with pytest.raises(InputError, match="--powershell prints a script"):
        call("study", "zones", "--powershell")
