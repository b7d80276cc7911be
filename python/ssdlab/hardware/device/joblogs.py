"""The logs that a job file requests, on a real drive: fio writes them, and this module gives them their final names.

fio numbers the jobs of each call from 1, but the names in a job file count the jobs of all stages. fio writes one log
of each kind per job, so `series.py` reads the requested log if there is one.
"""

import heapq
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ssdlab.simulator.results.files import placed
from ssdlab.simulator.results.logs import FILES
from ssdlab.simulator.workloads.jobs.jobfile import Section
from ssdlab.simulator.workloads.jobs.logs import output
from ssdlab.simulator.workloads.jobs.table import NUMJOBS

SERIES_WINDOW_MS = 1000
"""Averaging window of logs that are written only for the series."""
_ASKED = "asked"
# Without an averaging window fio logs every request for these kinds.
_BY_REQUEST = ("bw", "iops", "lat")


def options(section: Section) -> list[str]:
    """The job-file lines that make fio write the logs that a job requests; empty if it requests none."""
    said = _logs_of(section, 1)
    if not said:
        return []
    lines = [f"write_{kind}_log={_ASKED}" for kind in said["names"]]
    lines += [f"log_avg_msec={window_ms(section)}"]
    if "hist" in said["names"]:
        lines += [f"log_hist_msec={said['histogram_ms']}", f"log_hist_coarseness={said['coarseness']}"]
    return [*lines, f"log_offset={int(said['offset'])}"]


def window_ms(section: Section) -> int:
    """The averaging window of a job's rate and latency logs, in milliseconds; 0 if they have one line per request."""
    said = _logs_of(section, 1)
    if not said:
        return SERIES_WINDOW_MS
    average: int = said["average_ms"]
    return average or (0 if any(kind in _BY_REQUEST for kind in said["names"]) else SERIES_WINDOW_MS)


def jobs(sections: Sequence[Section]) -> Iterator[Section]:
    """Yields the section of each job in the order in which fio numbers them; `numjobs` repeats a section."""
    for section in sections:
        for _ in range(section.get(NUMJOBS)):
            yield section


class JobLogs:
    """Moves logs to a folder. Existing files are overwritten, as fio does."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._jobs_before = 0
        self.names: list[str] = []
        """The names of the files written."""

    def keep(self, folder: Path, sections: Sequence[Section]) -> None:
        """Moves the logs of a finished stage out of the folder in which fio ran."""
        found: dict[str, list[Path]] = {}
        for number, section in enumerate(jobs(sections), start=1):
            said = _logs_of(section, self._jobs_before + number)
            for kind, prefix in said.get("names", {}).items():
                for ending in FILES[kind]:
                    log = folder / f"{_ASKED}_{ending}.{number}.log"
                    if log.exists():
                        shared = "" if said["number"] is None else f".{said['number']}"
                        found.setdefault(f"{prefix}_{ending}{shared}.log", []).append(log)
        for name, logs in found.items():
            self._write(name, logs)
        self._jobs_before += sum(1 for _ in jobs(sections))

    def _write(self, name: str, logs: Sequence[Path]) -> None:
        path = self._directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in self.names:
            # O_NOFOLLOW: the file could have been replaced by a symbolic link.
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW), "ab") as whole:
                for log in logs:
                    whole.write(log.read_bytes())
            return
        self.names.append(name)
        if len(logs) == 1:
            with placed(path) as new:
                shutil.move(logs[0], new)
            return
        # Logs of jobs that share a file are merged by time.
        with placed(path) as new, ExitStack() as stack, new.open("w", encoding="ascii") as whole:
            streams = [stack.enter_context(log.open(encoding="ascii")) for log in logs]
            whole.writelines(heapq.merge(*streams, key=lambda line: int(line.partition(",")[0])))


def _logs_of(section: Section, number: int) -> Mapping[str, Any]:
    said: Mapping[str, Any] = output(section, number).get("logs", {})
    return said
