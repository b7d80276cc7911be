"""Converts a session to the `ssdlab run` command line that reproduces the figures of the page."""

import shlex
from typing import TYPE_CHECKING

from ssdlab.foundation.quantities import option_share

if TYPE_CHECKING:
    from ssdlab.live.workbench import Workbench

JOB_FILE = "session.fio"


def command_line(workbench: "Workbench", drive: int) -> str:
    """The command line for the session's job file, saved as `session.fio`, or `session-2.fio` for the second drive."""
    start, bench = workbench.start, workbench.benches[drive]
    choice = bench.choice
    words = ["ssdlab", "run", job_file_name(drive), "--drive", choice.name]
    if choice.op is not None:
        words += ["--op", option_share(choice.op)]
    settings = dict(start.settings) | workbench.policies_of(choice)
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    # The scale of the whole drive too: without it, one is chosen.
    words += ["--scale", str(bench.drive.scale)]
    words += ["--seed", str(start.seed)]
    if not start.timed:
        words.append("--untimed")
    return shlex.join(words)


def job_file_name(drive: int) -> str:
    return JOB_FILE if drive == 0 else f"session-{drive + 1}.fio"
