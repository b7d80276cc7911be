"""Are command lines of the release before still understood, with the form of today on stderr?"""

import shlex
from pathlib import Path

import pytest

from program import Program
from ssdlab.cli.commands import COMMANDS
from ssdlab.cli.older_forms import replaced

MONDAY, FRIDAY = (str(Path(__file__).parents[2] / "examples" / name) for name in ("monday.json", "friday.json"))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("fleet --smart a --smart=b --life 3y", "fleet smart a b --life 3y"),
        ("fleet traces --drive tiny --op 7%", "fleet simulate traces --drive tiny --op 7%"),
        ("fleet --drive d.toml --drives 2 a.fio", "fleet tenants --drive d.toml --drives 2 a.fio"),
        ("advise --smart a --left-empty 7%", "advise smart a --left-empty 7%"),
        ("advise --smart a --drive tiny --waf 2", "advise space --smart a --drive tiny --waf 2"),
        (
            "advise --drive tiny --reads-per-day 1TB --life 5y",
            "advise refresh --drive tiny --reads-per-day 1TB --life 5y",
        ),
        ("advise x.fio --drive tiny --waf 2", "advise space x.fio --drive tiny --waf 2"),
        (
            "compare x --target=simulated:a --target device:b",
            "compare targets x --target=simulated:a --target device:b",
        ),
        ("compare x --drive a --with r", "compare targets x --target simulated:a --target measured:r"),
        ("compare x --drive a --op 7%,28%", "compare x --drive a --op 7%,28%"),
        ("fleet", "fleet"),
        ("advise --help", "advise --help"),
        ("fleet smart a", "fleet smart a"),
    ],
)
def test_a_command_line_is_put_into_its_form_of_today(older: str, newer: str) -> None:
    assert replaced(shlex.split(older), COMMANDS) == shlex.split(newer)


def test_tenants_are_known_by_their_drive(tmp_path: Path) -> None:
    drive = tmp_path / "tenants.toml"
    drive.write_text('based_on = "generic-tlc-480"\n[[namespace]]\nname = "a"\nsize_bytes = "100 GB"\n')
    words = ["advise", "a.fio", "--drive", str(drive)]
    assert replaced(words, COMMANDS) == ["advise", "tenants", *words[1:]]


def test_an_older_form_gives_the_same_answer_and_one_line_with_the_newer(ssdlab: Program) -> None:
    before, after = ssdlab("fleet", "--smart", MONDAY, "--smart", FRIDAY), ssdlab("fleet", "smart", MONDAY, FRIDAY)
    assert (before.returncode, before.stdout) == (0, after.stdout)
    assert f"note: this is now ssdlab fleet smart {MONDAY} {FRIDAY};" in before.stderr
    assert len(before.stderr.splitlines()) == 1 and not after.stderr
