"""What the pages of docs/ show of a command is what the command prints; the others have options that exist.

A block of code of the kind `console` begins with `$ ssdlab ...` and goes on with parts of the output; `...` stands for
what is left out, and lines may be broken elsewhere. A comment `<!-- ssdlab ... -->`, a command a line, says which
commands print the figures of the paragraph or table behind it. A block behind "`NAME`:" is a file of that name.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from program import program_in
from shown_figures import figures, not_printed, parts_not_printed
from ssdlab.cli.commands import called, loaded

ROOT = Path(__file__).parents[2]
PAGES = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
_CONSOLE = re.compile(r"^```console\n\$ (ssdlab (?:[^\n]*\\\n)*[^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^<!--\s+(ssdlab .*?)\s*-->\n(.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w-]+\.\w+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


_SCIENTIFIC = re.compile(r"\de[+-]\d")


@dataclass(frozen=True)
class Shown:
    page: Path
    commands: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.stem}: {' '.join(self.commands.split())[:70]}"


CONSOLES = [Shown(page, *found) for page, text in PAGES.items() for found in _CONSOLE.findall(text)]
COMMENTS = [Shown(page, *found) for page, text in PAGES.items() for found in _COMMENT.findall(text)]


def _printed(shown: Shown, folder: Path) -> str:
    for name in ("examples", "jobs", "python"):
        (folder / name).symlink_to(ROOT / name)
    for name, content in _FILE.findall(PAGES[shown.page]):
        (folder / name).write_text(content)
    printed = ""
    for command in shown.commands.replace("\\\n", " ").splitlines():
        ended = program_in(folder)(*shlex.split(command)[1:])
        assert ended.returncode == 0, f"{command}: {ended.stderr[-2000:]}"
        printed += ended.stdout
    assert not _SCIENTIFIC.search(printed), "no figure for people"
    return printed


def _commands(text: str) -> Iterator[list[str]]:
    """The words of each line of a page's code that calls ssdlab, up to a pipe."""
    for block in re.findall(r"^```[a-z]*\n(.*?)^```|^((?: {4}.*\n)+)", text, re.MULTILINE | re.DOTALL):
        for line in "".join(block).replace("\\\n", " ").splitlines():
            command = line.strip().removeprefix("$ ")
            if command.startswith("ssdlab "):
                yield shlex.split(command.partition(" | ")[0], comments=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_have_options_that_exist(page: Path) -> None:
    for words in _commands(PAGES[page]):
        given, separator, _ = " ".join(map(shlex.quote, words[1:])).partition(" -- ")
        name, rest = called(shlex.split(given))
        # Parses the line and converts its values; raises a usage error if it is invalid.
        loaded(name).make_context(name, [*rest, *(["job"] if separator else [])])


@pytest.mark.parametrize("shown", CONSOLES, ids=str)
def test_a_command_prints_what_the_page_shows(shown: Shown, tmp_path: Path) -> None:
    printed = _printed(shown, tmp_path)
    assert parts_not_printed(shown.text, printed) == [], printed


@pytest.mark.parametrize("shown", COMMENTS, ids=str)
def test_commands_print_the_figures_of_the_text_behind_them(shown: Shown, tmp_path: Path) -> None:
    assert figures(shown.text)
    assert not_printed(shown.text, shown.commands, _printed(shown, tmp_path)) == []


def test_a_wrong_figure_is_found() -> None:
    assert not_printed("7.8 at 7 %, 9.1 at 8 %", "ssdlab model --op 7%,8%", "7 % 7.817\n8 % 9.149") == []
    assert not_printed("7.9 at 7 %, 1,256 drives", "ssdlab model --op 7%", "7 % 7.817\n1,255 drives") == [
        "7.9",
        "1,256",
    ]
