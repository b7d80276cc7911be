"""Writes man pages, ssdlab.1 and ssdlab-COMMAND.1, from the help of the commands. usage: man_pages.py FOLDER"""

import re
import sys
from pathlib import Path
from typing import Any

import typer

import ssdlab
from ssdlab.cli import app
from ssdlab.cli.commands import COMMANDS, GROUPS, loaded


def overview() -> str:
    """The page of the program, with a line for every command."""
    whole: Any = typer.main.get_command(app)
    context = whole.make_context("ssdlab", ["drives"])
    commands = []
    for group, names in GROUPS.items():
        commands += [f".SS {group}", *(_entry(f"{_page(name)}(1)", COMMANDS[name].summary) for name in names)]
    return "\n".join(
        [
            _head("ssdlab"),
            ".SH NAME",
            f"ssdlab \\- {_text(_what_it_is(whole.help))}",
            ".SH SYNOPSIS",
            "\\fBssdlab\\fR [OPTIONS] COMMAND [ARGUMENTS]",
            *_options(whole, context),
            ".SH COMMANDS",
            *commands,
            "",
        ]
    )


def page(name: str) -> str:
    """The page of one command."""
    command = loaded(name)
    context = command.make_context(f"ssdlab {name}", [], resilient_parsing=True)
    description, _, example = command.help.replace("\b\n", "").partition("Example:")
    usage = " ".join(command.collect_usage_pieces(context))
    return "\n".join(
        [
            _head(_page(name)),
            ".SH NAME",
            f"{_page(name)} \\- {_text(COMMANDS[name].summary.rstrip('.'))}",
            ".SH SYNOPSIS",
            f"\\fBssdlab {name}\\fR {_text(usage)}",
            ".SH DESCRIPTION",
            "\n.PP\n".join(_text(" ".join(part.split())) for part in description.split("\n\n") if part.strip()),
            *_options(command, context),
            ".SH EXAMPLE",
            ".nf",
            _text(example.strip()),
            ".fi",
            ".SH SEE ALSO",
            "\\fBssdlab\\fR(1)",
            "",
        ]
    )


def _page(name: str) -> str:
    return f"ssdlab-{name.replace(' ', '-')}"


def _head(title: str) -> str:
    return f'.TH "{title.upper()}" "1" "" "ssdlab {ssdlab.__version__}" "ssdlab"'


def _options(command: Any, context: Any) -> list[str]:
    records = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    return [".SH OPTIONS", *(_entry(name, said) for name, said in records)] if records else []


def _entry(name: str, said: str) -> str:
    return f".TP\n\\fB{_text(name)}\\fR\n{_text(' '.join(said.split()))}"


def _text(plain: str) -> str:
    """Text escaped for roff: backslashes, hyphens, and lines that start like a request."""
    escaped = plain.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


def _what_it_is(help_text: str) -> str:
    return " ".join(re.split(r"[:.]", help_text, maxsplit=1)[0].split())


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ssdlab.1").write_text(overview(), encoding="utf-8")
    for name in COMMANDS:
        (folder / f"{_page(name)}.1").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
