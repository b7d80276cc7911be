"""How the commands of `ssdlab advise` print their sentences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ssdlab.cli.form import Printing
from ssdlab.presentation.terminal import wrapped

if TYPE_CHECKING:
    from ssdlab.experiments.advice import words
    from ssdlab.experiments.advice.own_drive import OwnDrive


def say(sentences: "Sequence[words.Sentence] | Sequence[str]") -> None:
    """Prints the sentences as a list."""
    for sentence in sentences:
        typer.echo(wrapped(f"- {sentence}"))


def print_wrapped(text: str) -> None:
    """Prints a paragraph in lines of the terminal's width."""
    typer.echo(wrapped(text))


def say_own(found: "OwnDrive", form: Printing) -> None:
    """Prints what the reports of a real drive say."""
    for text in found.sentences:
        form.say(wrapped(text))
