"""The command line that pages show is that of the parsed options, without options that do not affect the files."""

import shlex

import pytest

from ssdlab.cli.command_line import command_line
from ssdlab.cli.commands import called, loaded


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            "compare 'a b.fio' --drive d --drive e --op 7%,28% --dwpd 2 --untimed --workers 2 --output o",
            "compare 'a b.fio' --drive d --drive e --op 7%,28% --untimed --dwpd 2 --seed 1",
        ),
        (
            "replay t1 t2 --drive d --time-scale 0.5 --map fold --seed 7",
            "replay t1 t2 --drive d --map fold --time-scale 0.5 --seed 7",
        ),
        ("measure --protocol snia --on x --resume", "measure snia --protocol --on x --seed 1"),
        (
            "advise space t1 --drive d --latency write.p99=2ms --waf 2.5",
            "advise space t1 --drive d --waf 2.5 --latency write.p99=2ms --seed 1",
        ),
    ],
)
def test_a_command_line_is_shown_as_given(given: str, shown: str) -> None:
    name, words = called(shlex.split(given))
    context = loaded(name).make_context(name, words)
    assert command_line(context) == f"ssdlab {shown}"


def test_a_shown_command_line_shows_itself() -> None:
    name, *words = shlex.split("run 'my job.fio' --drive tiny --set ftl.victim=fifo --scale 1/4 --interval 10min")
    once = command_line(loaded(name).make_context(name, words))
    again = command_line(loaded(name).make_context(name, shlex.split(once)[2:]))
    assert again == once
