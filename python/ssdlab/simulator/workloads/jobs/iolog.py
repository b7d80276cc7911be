"""A job that replays a recording, `read_iolog=FILE`: what of the job file says how. Not for the recording itself.

fio takes the requests from the file and ignores what a job says of its own; it keeps the recorded times, unless
`replay_no_stall` is set, and has at most `iodepth` requests outstanding (fio's HOWTO, "I/O replay").
"""

import os
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import command_line
from ssdlab.simulator.workloads.jobs.access import SYNCHRONOUS
from ssdlab.simulator.workloads.jobs.lines import RawOption, read_text, split_sections
from ssdlab.simulator.workloads.jobs.shell import is_script

_NAME = "read_iolog"
_TIME_SCALE = "replay_time_scale"
# Options that say nothing of the requests, or that fio itself ignores with a recording.
_WITHOUT_EFFECT = frozenset((
    "ioengine", "direct", "buffered", "filename", "directory", "name", "description", "thread", "group_reporting", "rw",
    "readwrite", "bs", "blocksize", "size", "numjobs", "replay_redirect", "iodepth", "replay_no_stall", _NAME,
    "stonewall", "norandommap", "randrepeat", "invalidate", "refill_buffers", "read_iolog_chunked", "gtod_reduce",
))  # fmt: skip
# They change the requests or their times, and have the value at which they do not.
_NEUTRAL = {"replay_scale": "1", "replay_align": "1", "numjobs": "1"}


@dataclass(frozen=True)
class Replay:
    """A recording to replay, as a job file asks for it."""

    file: str
    at_once: bool
    """Each request follows the completion of another, rather than at its recorded time."""
    iodepth: int
    time_scale: float = 1.0
    """What the recorded times are multiplied by."""


def replay_of(job: str | Path) -> Replay | None:
    """The recording that a job file, or a call of fio, replays; None if it has other jobs or cannot be read.

    Raises InputError for an option that would change the recording's requests.
    """
    text, source = str(job), command_line.SOURCE
    try:
        if not command_line.is_command_line(text):
            text, source = read_text(Path(job)), text
        if _NAME not in text:
            return None
        read = command_line.sections_of(text, source, os.environ)[0] if is_script(text) else None
        sections = read if read is not None else split_sections(text, source, os.environ)
    except InputError:
        # Whoever reads the job file as one reports it.
        return None
    if sum(not each.is_global for each in sections) != 1:
        return None
    options = {option.key: option for section in sections for option in section.options}
    if _NAME not in options:
        return None
    for key, option in options.items():
        if key in _NEUTRAL and option.text == _NEUTRAL[key]:
            continue
        if key not in (*_WITHOUT_EFFECT, _TIME_SCALE) or key in _NEUTRAL:
            raise InputError(
                f"{option.where}: {key}={option.text} changes the recording or its times, which a replay by ssdlab run "
                f"does not; remove it, or use `ssdlab replay {options[_NAME].text}` with its own options"
            )
    depth = _number(options["iodepth"]) if "iodepth" in options else 1
    engine = options["ioengine"].text if "ioengine" in options else ""
    file = options[_NAME].text or ""
    beside = Path(source).parent / file
    found = next((str(each) for each in (Path(file), beside) if each.is_file()), None)
    if found is None:
        raise InputError(f"{options[_NAME].where}: {_NAME}={file}: no such file, neither here nor at {beside}")
    return Replay(
        found,
        "replay_no_stall" in options and options["replay_no_stall"].text != "0",
        1 if engine in SYNCHRONOUS else depth,
        # At 200 the requests come at twice the recorded rate (fio's HOWTO).
        100 / _number(options[_TIME_SCALE]) if _TIME_SCALE in options else 1.0,
    )


def _number(option: RawOption) -> int:
    if option.text is None or not option.text.isdigit() or not 1 <= int(option.text) <= 65536:
        raise InputError(f"{option.where}: {option.key}={option.text}; allowed: 1 to 65536")
    return int(option.text)
