"""How the commands of `ssdlab advise` print their sentences."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ssdlab.cli.form import Printing
from ssdlab.presentation.terminal import text_columns

if TYPE_CHECKING:
    from ssdlab.experiments.advice import words
    from ssdlab.experiments.advice.own_drive import OwnDrive


def say(sentences: "Sequence[words.Sentence] | Sequence[str]") -> None:
    """Prints the sentences as a list."""
    for sentence in sentences:
        typer.echo("\n".join(textwrap.wrap(str(sentence), text_columns(), initial_indent="- ", subsequent_indent="  ")))


def print_wrapped(text: str) -> None:
    """Prints a paragraph in lines of the terminal's width."""
    typer.echo("\n".join(textwrap.wrap(text, text_columns())))


def say_own(found: "OwnDrive", form: Printing) -> None:
    """Prints what the reports of a real drive say."""
    for text in found.sentences:
        indent = "  " if text.startswith("- ") else ""
        form.say("\n".join(textwrap.wrap(text, text_columns(), subsequent_indent=indent)))
