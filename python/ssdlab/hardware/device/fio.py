"""One run of fio: starts it, follows its progress, and ends it in order.

fio runs in a separate session, so that Ctrl-C in a terminal reaches only this program, which then interrupts fio and
waits for its report, which has the measurements so far. If this program is killed, the kernel interrupts fio.
"""

import json
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from ssdlab.errors import naming
from ssdlab.foundation.foreign import JsonObject

ENDED = "it was interrupted"
SECONDS_TO_END = 60
_SHARE = re.compile(r"\[([0-9]{1,3}\.[0-9])%\]")
_RATE = re.compile(r"\[(?:r=[^,\]]*,)?w=([0-9.]+)([KMGT]?)iB/s")
_FILENAME = "filename="
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

Watch = Callable[[float | None, float], bool]
"""Called about once a second with the share done, or None if fio does not print it, and bytes written per second.
Returns False to end the run."""


@dataclass
class Report:
    """The report of one run of fio."""

    command: str
    """The command line, for repeating the run by hand in a folder with the job file."""
    job_text: str
    content: JsonObject | None
    """fio's JSON (`json+`); None if it reported nothing."""
    seconds: float
    error: str | None = None
    """Why the run ended early; None if it was completed."""
    interrupted: bool = False
    complaints: Sequence[str] = field(default_factory=tuple)


def run(
    job_text: str,
    name: str,
    folder: Path,
    watch: Watch | None = None,
    opened_as: Mapping[Path, Path] = MappingProxyType({}),
) -> Report:
    """Runs fio on a job text in `folder`, where fio also writes its logs.

    `opened_as` maps names of files in the job text to the paths by which fio opens them; the report has the names.
    Ctrl-C ends fio in order, and the report of the measurements so far is marked as interrupted.
    """
    job_path, report_path = folder / f"{name}.fio", folder / f"{name}.json"
    with naming(job_path):
        job_path.write_text(_with_names(job_text, opened_as), encoding="utf-8")
    command = ["fio", "--output-format=json+,normal", f"--output={report_path.name}", job_path.name]
    # fio prints its progress only if the output format includes normal.
    started = time.monotonic()
    process = subprocess.Popen(
        [*_dies_with_us(), *command, "--eta=always", "--eta-newline=1"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    complaints, stopped, interrupted = _follow(process, watch)
    seconds = time.monotonic() - started
    text = report_path.read_text(encoding="utf-8", errors="replace") if report_path.exists() else ""
    names = {str(opened): _escaped(name) for name, opened in opened_as.items()}
    content = _json_in(_with_words(text, {opened: json.dumps(name)[1:-1] for opened, name in names.items()}))
    complaints = [_with_words(line, names) for line in complaints]
    shown = shlex.join(["fio", "--output-format=json+", f"--output={report_path.name}", job_path.name])
    error = _error(process.returncode, content, complaints, stopped or interrupted)
    if content is None and error is None:
        error = "fio printed no result"
    return Report(shown, job_text, content, seconds, error, interrupted, complaints)


def _follow(process: "subprocess.Popen[str]", watch: Watch | None) -> tuple[list[str], bool, bool]:
    """Reads fio's output until it ends. Returns its messages (at most 20), whether `watch` stopped it, and whether
    Ctrl-C did."""
    complaints: list[str] = []
    stopped = interrupted = False
    assert process.stdout is not None
    while True:
        try:
            for line in process.stdout:
                share, rate = _SHARE.search(line), _RATE.search(line)
                if not line.startswith("Jobs:"):
                    if line.strip() and len(complaints) < 20:
                        complaints.append(line.strip())
                    continue
                done = float(share[1]) / 100 if share else None
                written_per_second = float(rate[1]) * _UNITS[rate[2]] if rate else 0.0
                if watch and not stopped and not watch(done, written_per_second):
                    stopped = True
                    process.send_signal(signal.SIGINT)
            process.wait(SECONDS_TO_END)
            return complaints, stopped, interrupted
        except KeyboardInterrupt:
            if interrupted:
                # A second Ctrl-C kills fio at once.
                process.kill()
            interrupted = True
            process.send_signal(signal.SIGINT)
        except subprocess.TimeoutExpired:
            process.kill()
        except BaseException:
            process.kill()
            process.wait()
            raise


def _with_names(job_text: str, opened_as: Mapping[Path, Path]) -> str:
    """The job text with the file names in its `filename` lines replaced."""
    names = {_escaped(name): str(opened) for name, opened in opened_as.items()}
    lines = job_text.splitlines(keepends=True)
    return "".join(_with_files(line, names) if line.startswith(_FILENAME) else line for line in lines)


def _with_files(line: str, names: Mapping[str, str]) -> str:
    files = re.split(r"(?<!\\):", line.rstrip("\n").removeprefix(_FILENAME))
    return f"{_FILENAME}{':'.join(names.get(file, file) for file in files)}\n"


def _escaped(name: Path) -> str:
    """The name with colons escaped, because fio separates file names by colons."""
    return str(name).replace(":", "\\:")


def _with_words(text: str, words: Mapping[str, str]) -> str:
    """The text with descriptors' paths replaced. These end in a number; a match followed by a digit is not one."""
    if not words:
        return text
    return re.sub(rf"(?:{'|'.join(map(re.escape, words))})(?![0-9])", lambda found: words[found[0]], text)


def _dies_with_us() -> list[str]:
    return ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []


def _json_in(text: str) -> JsonObject | None:
    """The JSON object in fio's output, which can have text before and after it; None if there is none with jobs."""
    at = text.find("\n{\n")
    start = 0 if text.startswith("{") else at + 1
    if start == 0 and not text.startswith("{"):
        return None
    try:
        content, _ = json.JSONDecoder().raw_decode(text[start:])
    except json.JSONDecodeError:
        return None
    return content if isinstance(content, dict) and content.get("jobs") else None


def _error(code: int, content: JsonObject | None, complaints: Sequence[str], was_ended: bool) -> str | None:
    if was_ended:
        return ENDED
    if code < 0:
        return f"fio was killed by {signal.Signals(-code).name}"
    failed = [job for job in (content or {}).get("jobs", ()) if job.get("error")]
    if code == 0 and not failed:
        return None
    said = next((line for line in complaints if _says_why(line)), "")
    names = ", ".join(str(job["jobname"]) for job in failed)
    return f"fio failed ({code}){f' in {names}' if names else ''}{f': {said}' if said else ''}"


def _says_why(line: str) -> bool:
    # An option that this version of fio does not know stands before the message that the job is dropped.
    return line.startswith("Bad option") or "error" in line.lower() or "fio:" in line
