"""Has every command the common options, unless docs/contribute/promises.md says why not?

The page has a section for each option, whose list names the commands without it. The text of the page is the rule, so
that a new command needs the options or a reason there.
"""

import re
from pathlib import Path

import pytest

from ssdlab.cli.commands import COMMANDS, loaded

PAGE = Path(__file__).parents[2] / "docs/contribute/promises.md"
OPTIONS = ("--format", "--workers", "--seed", "--scale", "--output")


def excepted(page: str, option: str) -> dict[str, str]:
    """The commands in the list of this option, each with the reason."""
    _, _, section = page.partition(f"\n### `{option}`\n")
    section = re.split(r"\n##", section)[0]
    found = {}
    for item in re.findall(r"^- (.*(?:\n  .*)*)", section, re.MULTILINE):
        names, _, reason = item.partition(": ")
        assert len(reason) > 10, f"{option}: {item} has no reason"
        found |= dict.fromkeys(re.findall(r"`([a-z ]+)`", names), reason)
    return found


@pytest.mark.parametrize("option", OPTIONS)
def test_every_command_has_the_option_or_a_reason(option: str) -> None:
    with_it = {name for name in COMMANDS if any(option in each.opts for each in loaded(name).params)}
    listed = excepted(PAGE.read_text(encoding="utf-8"), option).keys()
    assert sorted(COMMANDS.keys() - with_it) == sorted(listed)


def test_an_option_of_this_name_is_one_option() -> None:
    """`--workers`, `--seed` and `--scale` take the same values everywhere."""
    shown = {
        option: {each.metavar.split("|")[0] for name in COMMANDS for each in loaded(name).params if option in each.opts}
        for option in ("--format", "--workers", "--seed", "--scale")
    }
    assert shown == {"--format": {"text"}, "--workers": {"N"}, "--seed": {"N"}, "--scale": {"1/N"}}
