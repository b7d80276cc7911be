"""`ssdlab questions`: questions that people have, each with the command that answers it."""

import shlex
from dataclasses import dataclass

import typer

from ssdlab.cli.form import Form, Rows
from ssdlab.presentation.terminal import text_columns, wrapped

YOURS = {
    "big.db": "a file of yours",
    "smart.txt": "what smartctl -x prints of a drive",
    "iostat.txt": "what iostat -x 1 printed for a while",
}
"""Files that stand for the reader's own."""


@dataclass(frozen=True)
class Question:
    """A question and a command that answers it in a minute or two, from any folder."""

    text: str
    command: str


QUESTIONS = (
    Question("How worn is my drive, and how long will it last?", "ssdlab health smart.txt"),
    Question(
        "How long will a drive with this rating last?", "ssdlab lifetime --writes-per-day 325GB --rated-tbw 150TB"
    ),
    Question(
        "Will it be faster with 20 % left empty?",
        "ssdlab compare --drive generic-tlc-480 --left-empty 0%,20% --scale 1/256 --output out/empty "
        "-- fio --name=writes --rw=randwrite --bs=4k --direct=1",
    ),
    Question(
        "How much must stay empty so that it lasts five years?",
        "ssdlab advise space --drive generic-tlc-480 --space-in-use 300GB --life 5y --writes-per-day 500GB "
        "--output out/five",
    ),
    Question(
        "What does my server's load ask of a drive?", "ssdlab advise space iostat.txt --drive generic-tlc-480 --life 5y"
    ),
    Question(
        "What does TRIM do for me?",
        "ssdlab measure --protocol trim-effect --drive generic-tlc-480 --scale 1/256 --quick --output out/trim",
    ),
    Question("Does FDP help?", "ssdlab study fdp-streams --output out/fdp"),
    Question("Is this file fragmented?", "ssdlab check big.db"),
    Question(
        "Which of two drives is better for my job?",
        "ssdlab compare --drive generic-sata-tlc-500 --drive generic-sata-dc-480 --scale 1/256 --output out/two "
        "-- fio --name=mixed --rw=randrw --rwmixread=70 --bs=16k --direct=1",
    ),
    Question(
        "What does a usable gigabyte cost?", "ssdlab price --drive generic-tlc-480 --price 45 --left-empty 0%,20%"
    ),
)


def questions(form: Form) -> None:
    """List questions that people have, each with the command that answers it.

    The commands run as they stand, in any folder; those that simulate take a minute or two. Indented lines are a shell
    script.
    """
    form.give(Rows([{"question": each.text, "command": each.command} for each in QUESTIONS]), _print)


def _print() -> None:
    columns = text_columns()
    for each in QUESTIONS:
        typer.echo(wrapped(each.text))
        typer.echo(in_lines(each.command, columns) + "\n")
    names = "; ".join(f"{name}: {what}" for name, what in YOURS.items())
    typer.echo(wrapped(f"Files of your own: {names}."))


def in_lines(command: str, columns: int) -> str:
    """The command, indented, in lines of at most this width that a shell reads as one."""
    lines: list[str] = []
    line = " "
    for word in shlex.split(command):
        if len(line) + len(" \\ ") + len(word) > columns and line.strip():
            lines.append(f"{line} \\")
            line = "   "
        line = f"{line} {word}"
    return "\n".join([*lines, line])
