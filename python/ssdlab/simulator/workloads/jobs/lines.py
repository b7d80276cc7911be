"""Splits the lines of a job file into sections of options. Not for the meaning of options.

The format is fio's: `[name]` opens a section, each option has a line, as `key=value` or `key`, and `#` or `;` begins a
comment anywhere on a line (fio's HOWTO, "Job file format"). `include NAME` inserts the lines of another file, found
from the working folder or, if it is not there, from the folder of the including file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ssdlab.errors import InputError, near, near_files
from ssdlab.foundation.decoding import text_of
from ssdlab.simulator.workloads.jobs import variables

# A job file is a page of text; a much larger file is something else, for instance a device or an image.
FILE_BYTES_MAX = 1 << 20

# A file that includes itself would never end; fio stops when it has no file handles left.
INCLUDES_DEEP_MAX = 16

# The first words of workloads that are no file (`ssdlab.simulator.workloads.load`).
OTHER_WORKLOADS = ("lsm-tree", "b-plus-tree", "flash-cache", "kv-cache", "sysbench", "fio")

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class RawOption:
    """One option as written, without blanks at both ends. `text` is None if no `=` follows the key."""

    key: str
    text: str | None
    line: int
    source: str = ""
    # The names in the text that were replaced by values from outside the file (`SIZE`, `$ncpus`), with these values.
    replaced: Mapping[str, str] = field(default_factory=dict)
    # fio does not skip blanks after every `=`: it reads `bs= 4k` as 4 bytes and refuses `rw= read`.
    blank_before_value: bool = False

    @property
    def where(self) -> str:
        """The file and the line, for messages."""
        return f"{self.source}, line {self.line}"


@dataclass
class RawSection:
    """A section and the line that opens it."""

    name: str
    line: int
    options: list[RawOption] = field(default_factory=list)

    @property
    def is_global(self) -> bool:
        """Whether the section only provides options for those behind it. fio checks only the first six letters."""
        return self.name.startswith("global")

    @property
    def is_nearly_global(self) -> bool:
        """Whether it is a job whose name reads like that of a section for all jobs: `[ global ]`, `[Global]`."""
        return not self.is_global and self.name.strip().casefold().startswith("global")


def _other_workloads(path: Path) -> str:
    """What may have been meant by the name of a file that is no file."""
    words = str(path).split(maxsplit=1)
    if path.exists() or not words:
        return ""
    if len(words) > 1 and (instead := _instead(str(path))) != _FIRST_SECTION:
        return f"; {instead}"
    if path.parts[0] in ("jobs", "examples") and not path.parent.exists():
        return (
            "; the files of the examples are in ssdlab's repository; a job without a file: "
            "-- fio --name=job --rw=randwrite --bs=4k"
        )
    if path.suffix:
        return near_files(path)
    return f"; a workload is a file, or begins with {', '.join(OTHER_WORKLOADS)}{near(words[0], OTHER_WORKLOADS)}"


def read_text(path: Path) -> str:
    """The text of a job file. Raises InputError if it cannot be read or is not text."""
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path}: cannot be read: {reason}{_other_workloads(path)}") from None
    if len(content) > FILE_BYTES_MAX:
        raise InputError(f"{path}: is larger than {FILE_BYTES_MAX:,} bytes; a fio job file is expected, a text")
    try:
        # PowerShell's `>` writes UTF-16.
        text = (b"\0" in content[:512] and text_of(content)) or content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: is not text (byte {error.start} is not UTF-8); {_TEXT}") from None
    if control := _CONTROL.search(text):
        line = text.count("\n", 0, control.start()) + 1
        raise InputError(f"{path}, line {line}: is not text (it holds byte {ord(control[0])}); {_TEXT}")
    return text


def split_sections(text: str, source: str, environment: Mapping[str, str]) -> list[RawSection]:
    """The sections of a job file in their order, with included options.

    `source` is the file's path: errors (InputError) name it, and included files are found from it.
    """
    sections: list[RawSection] = []
    for number, line in _lines(text):
        where = f"{source}, line {number}"
        if line.startswith("["):
            sections.append(RawSection(_section_name(line, where), number))
            continue
        if not sections:
            raise InputError(f"{where}: {line!r} {_outside(line, text)}")
        sections[-1].options.extend(_options(line, number, source, environment, ()))
    if not sections:
        raise InputError(f"{source}: contains no section; {_EXPECTED}")
    if all(section.is_global for section in sections):
        raise InputError(f"{source}: contains no job, only [global]; add a section such as [job] with its options")
    return sections


_FIRST_SECTION = "add a section above it, such as [global]"
_LIKE_AN_OPTION = re.compile(r"\w+[ \t]*(?:=|$)")
_OTHER_BENCHMARKS = ("diskspd", "ioping", "bonnie++", "iozone", "elbencho", "iometer", "vdbench")


def _outside(line: str, text: str) -> str:
    """What is wrong with a line above the first section of a text, or in one without sections."""
    has_sections = any(line.startswith("[") for _, line in _lines(text))
    if text.startswith("#!") and has_sections:
        return (
            "is a line of a script, and the sections below are of a job file that it contains; save the job file under "
            "a name of its own and give that"
        )
    if text.startswith("#!"):
        return (
            "is a line of a script without a call of fio that can be read, such as fio --name=job --rw=randwrite or "
            "fio job.fio; write such calls, or give the job file"
        )
    instead = _instead(line)
    if instead == _FIRST_SECTION and not has_sections and not _LIKE_AN_OPTION.match(line):
        return f"is no option, and no line is a section or a call of fio; {_EXPECTED}"
    return f"is before the first section; {instead}"


def _instead(line: str) -> str:
    """What to write instead of a line that no job file has."""
    words = line.split()
    if words[0] in OTHER_WORKLOADS:
        return f"give this workload as the argument itself: ssdlab run '{line}'"
    if "dd" in words[:2] and any(word.startswith(("of=", "if=")) for word in words):
        return f"dd as a call of fio: {_of_dd(words)}"
    program = words[0].rpartition("/")[2].removesuffix(".exe").casefold()
    if program in _OTHER_BENCHMARKS:
        return (
            f"{program} is another benchmark, whose calls are not read; say its requests as a call of fio, such as: "
            "fio --name=a --rw=randwrite --bs=4k --iodepth=32 --ioengine=libaio --direct=1 --runtime=60s --time_based"
        )
    return _FIRST_SECTION


def _of_dd(words: Sequence[str]) -> str:
    """The requests of a call of dd, as a call of fio (GNU dd's manual: 512 bytes by default, `k`, `M`, `G` of 1024)."""
    given = dict(word.split("=", 1) for word in words if "=" in word)
    flags = {flag for key in ("iflag", "oflag", "conv") for flag in given.get(key, "").split(",")}
    size = given.get("bs", "512")
    count = given.get("count", "")
    options = [
        "--name=dd",
        "--rw=read" if given.get("of") == "/dev/null" else "--rw=write",
        f"--bs={size}",
        f"--size={count}*{size}" if count else "--size=SIZE",
        "--ioengine=psync",
        *(["--direct=1"] if "direct" in flags else []),
        *(f"--sync={flag}" for flag in ("sync", "dsync") if flag in flags),
        *(["--end_fsync=1"] if flags & {"fsync", "fdatasync"} else []),
    ]
    if count == "1":
        options[3] = f"--size={size}"
    elif count.isdigit():
        options[3] = f"--size='({count}*{size})'"
    return "fio " + " ".join(options)


_TEXT = "expected is a text, such as a fio job file"
_EXPECTED = "expected is a fio job file: a line such as [job], then options such as rw=randwrite"


def _lines(text: str) -> list[tuple[int, str]]:
    """Every line that is not empty without its comment, with its number."""
    stripped = ((number, _without_comment(line).strip()) for number, line in enumerate(text.split("\n"), start=1))
    return [(number, line) for number, line in stripped if line]


def _without_comment(line: str) -> str:
    return line.split(";", 1)[0].split("#", 1)[0]


def _section_name(line: str, where: str) -> str:
    """What is between the brackets. Blanks are part of a name, as in fio."""
    name = line[1:-1]
    if not line.endswith("]") or not name.strip():
        raise InputError(f"{where}: {line!r} is not a section; write a name between brackets, such as [job]")
    return name


def _options(
    line: str, number: int, source: str, environment: Mapping[str, str], within: tuple[str, ...]
) -> list[RawOption]:
    """The option of a line, or those of the file that it includes. `within` lists the chain of including files."""
    include = re.fullmatch(r"include(?:[ \t=]+(.*))?", line)
    if not include:
        return [read_option(line, number, source, environment)]
    where = f"{source}, line {number}"
    if not include[1]:
        raise InputError(f"{where}: {line!r} names no file; write include and the name of a file")
    path = _included(include[1], source, where)
    if len(within) == INCLUDES_DEEP_MAX or str(path) in within:
        raise InputError(f"{where}: {line!r} is a circular include")
    options: list[RawOption] = []
    for inner_number, inner in _lines(read_text(path)):
        if inner.startswith("["):
            raise InputError(
                f"{path}, line {inner_number}: {inner!r} is a section; an included file contains options only"
            )
        options.extend(_options(inner, inner_number, str(path), environment, (*within, str(path))))
    return options


def _included(name: str, source: str, where: str) -> Path:
    relative = Path(source).parent / name
    for path in (Path(name), relative):
        try:
            if path.is_file():
                return path
        except (OSError, ValueError):
            break
    raise InputError(f"{where}: include {name}: no such file, neither here nor at {relative}")


def read_option(line: str, number: int, source: str, environment: Mapping[str, str]) -> RawOption:
    """The option of a line, with the values of its variables. Raises InputError if it has no name."""
    where = f"{source}, line {number}"
    # As in fio, a variable can replace any part of the line, and its value is not expanded again.
    names = re.findall(r"\$\{([^${}]*)\}", line)
    replaced = {name: environment.get(name, "") for name in names}
    key, equals, text = variables.expand(line, environment).partition("=")
    if not key.strip():
        raise InputError(f"{where}: {line!r} has no option name before the '='")
    if not equals:
        return RawOption(key.strip(), None, number, source, replaced)
    value, keywords = variables.replace_keywords(text.strip(), where)
    replaced |= {f"${name}": str(number_of) for name, number_of in keywords.items()}
    return RawOption(key.strip(), value, number, source, replaced, blank_before_value=text[:1].isspace())
