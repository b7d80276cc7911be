"""fio's command line as the sections of a job file: `fio --name=a --rw=randwrite`, alone or in a script.

As in fio, options before the first `--name` are those of `[global]`, each `--name` begins a job, and one or two dashes
are the same. The jobs of each further call wait for those before.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs.lines import RawOption, RawSection, read_option, read_text, split_sections
from ssdlab.simulator.workloads.jobs.shell import Call, is_script, script
from ssdlab.simulator.workloads.jobs.table import BY_NAME
from ssdlab.simulator.workloads.jobs.values import Refused

SOURCE = "the command line"

# Options of the program, which no job file has: those that take a value, and those that take none (fio 3.33, init.c).
_WITH_VALUE = frozenset((
    "output", "output-format", "o", "eta", "eta-newline", "eta-interval", "max-jobs", "status-interval", "debug",
    "terse-version", "alloc-size", "inflate-log", "idle-prof", "aux-path", "trigger-file", "trigger-timeout",
    "trigger", "trigger-remote", "remote-config", "client", "server", "daemonize", "cpuclock-test",
))  # fmt: skip
_WITHOUT_VALUE = frozenset((
    "minimal", "append-terse", "bandwidth-log", "latency-log", "showcmd", "parse-only", "readonly", "warnings-fatal",
    "merge-blktrace-only", "version", "help", "cmdhelp", "enghelp", "crctest",
))  # fmt: skip


def is_command_line(job: str) -> bool:
    """Whether a workload is a call of fio, with what stands before it in a shell (`numactl -N 0 fio ...`, `for ...`),
    rather than the name of a file."""
    return len(job.split(maxsplit=1)) == 2 and is_script(job) and not _is_file(job)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:
        # Longer than a name can be.
        return False


def sections_of(text: str, source: str, environment: Mapping[str, str]) -> tuple[list[RawSection], list[str]]:
    """The sections of all calls of fio in a text, and notes. Raises InputError if none of the calls has a job."""
    found = script(text, source, environment)
    if not found.calls:
        raise InputError(
            f"{source}: has no call of fio that can be read; write its name and its options, as in fio --name=job "
            "--rw=randwrite, or give the job file"
        )
    calls = [sections for call in found.calls if (sections := _of_call(call, source, environment))]
    if not calls:
        raise InputError(f"{source}: calls fio without a job; add --name=NAME with its options, or a job file")
    notes = []
    if found.others:
        lines = ", ".join(str(line) for line in found.others)
        notes.append(f"only the calls of fio are taken; other commands and text are left out (line {lines})")
    if len(calls) == 1:
        return calls[0], notes
    # Each call has its own [global], so that its options become those of its jobs.
    jobs: list[RawSection] = []
    for sections in calls:
        common = [option for section in sections if section.is_global for option in section.options]
        for number, section in enumerate(each for each in sections if not each.is_global):
            waits = [RawOption("stonewall", None, section.line, source)] if jobs and not number else []
            jobs.append(RawSection(section.name, section.line, [*waits, *common, *section.options]))
    return jobs, notes


def _of_call(call: Call, source: str, environment: Mapping[str, str]) -> list[RawSection]:
    """The sections of one call; empty if it has no job, such as `fio --version`."""
    where = f"{source}, line {call.line}"
    sections = [RawSection("global", call.line)]
    files: list[str] = []
    only: list[str] = []
    words = list(call.words)
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            files.append(word)
            continue
        key, equals, text = word.lstrip("-").partition("=")
        key = _whole(key)
        if key in _WITHOUT_VALUE:
            continue
        if not equals and words and (key in _WITH_VALUE or key == "section" or _needs_value(key)):
            equals, text = "=", words.pop(0)
        if key == "section":
            only.append(text)
        elif key == "name":
            sections.append(RawSection(text, call.line))
        elif key not in _WITH_VALUE:
            option = read_option(f"{key}{equals}{text}", call.line, source, environment)
            sections[-1].options.append(option)
    for name in files:
        if name in call.files:
            sections += split_sections(call.files[name], source, environment)
        elif name != "-":
            sections += _of_file(name, source, where, environment)
    chosen = [section for section in sections if section.is_global or not only or section.name in only]
    if only and all(section.is_global for section in chosen):
        raise InputError(f"{where}: --section={only[0]}: no section has this name")
    return chosen if any(not section.is_global for section in chosen) else []


def _whole(key: str) -> str:
    """The option that begins with these letters, if there is one only: on its command line fio takes `--group` as
    `--group_reporting` (getopt_long)."""
    if key in BY_NAME or key in _WITH_VALUE or key in _WITHOUT_VALUE:
        return key
    found = [name for name in BY_NAME if name.startswith(key)]
    return found[0] if len(found) == 1 else key


def _needs_value(key: str) -> bool:
    """Whether the word behind an option without `=` is its value."""
    if key == "name":
        return True
    option = BY_NAME.get(key)
    if option is None:
        return False
    try:
        option.parse(None, 1024)
    except Refused:
        return True
    return False


def _of_file(name: str, source: str, where: str, environment: Mapping[str, str]) -> Sequence[RawSection]:
    """The sections of a job file that a call names, found from here or from the folder of the script."""
    beside = Path(source).parent / name
    try:
        path = next((path for path in (Path(name), beside) if path.exists()), None)
    except OSError as error:
        raise InputError(f"{where}: {name}: {error.strerror}") from None
    if path is None:
        raise InputError(f"{where}: {name}: no such job file, neither here nor at {beside}")
    return split_sections(read_text(path), str(path), environment)
