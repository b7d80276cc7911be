"""The outer form of a job file: lines into sections of options. What an option means is not known here.

The form is fio's: `[name]` opens a section, an option stands on a line of its own as `key=value` or `key`, and `#` or
`;` begins a comment anywhere on a line (fio's HOWTO, "Job file format").
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ssdlab.errors import InputError

# A job file is a page of text; anything much larger is something else, a device or an image for instance.
FILE_BYTES_MAX = 1 << 20

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class RawOption:
    """One option as written, blanks at both ends removed; `text` is None where no `=` follows the key."""

    key: str
    text: str | None
    line: int
    # fio does not skip blanks after `=` everywhere: it reads `bs= 4k` as 4 bytes and refuses `rw= read`.
    blank_before_value: bool = False


@dataclass
class RawSection:
    """A section and the line that opens it."""

    name: str
    line: int
    options: list[RawOption] = field(default_factory=list)

    @property
    def is_global(self) -> bool:
        """Whether it only lends its options to the sections after it. fio looks at the first six letters alone."""
        return self.name.startswith("global")


def read_text(path: Path) -> str:
    """The text of a job file. InputError when it cannot be read or is not text."""
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None
    if len(content) > FILE_BYTES_MAX:
        raise InputError(f"{path}: is larger than {FILE_BYTES_MAX:,} bytes; a fio job file is expected, a text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: is not text (byte {error.start} is not UTF-8); {_EXPECTED}") from None
    if control := _CONTROL.search(text):
        line = text.count("\n", 0, control.start()) + 1
        raise InputError(f"{path}, line {line}: is not text (it holds byte {ord(control[0])}); {_EXPECTED}")
    return text


def split_sections(text: str, source: str) -> list[RawSection]:
    """The sections of a job file in their order. `source` names the file in errors (InputError)."""
    sections: list[RawSection] = []
    for number, whole_line in enumerate(text.split("\n"), start=1):
        line = _without_comment(whole_line).strip()
        if not line:
            continue
        where = f"{source}, line {number}"
        if line.startswith("["):
            sections.append(RawSection(_section_name(line, where), number))
            continue
        if re.match(r"include\b", line):
            raise InputError(f"{where}: {line!r}: including another file is not supported yet; copy its lines here")
        if not sections:
            raise InputError(f"{where}: {line!r} stands before the first section; open one above it, such as [global]")
        sections[-1].options.append(_option(line, number, where))
    if not sections:
        raise InputError(f"{source}: holds no section; {_EXPECTED}")
    if all(section.is_global for section in sections):
        raise InputError(f"{source}: holds no job, only [global]; add a section such as [job] with its options")
    return sections


_EXPECTED = "expected is a fio job file: a line such as [job], then options such as rw=randwrite"


def _without_comment(line: str) -> str:
    return line.split(";", 1)[0].split("#", 1)[0]


def _section_name(line: str, where: str) -> str:
    name = line[1:-1].strip()
    if not line.endswith("]") or not name:
        raise InputError(f"{where}: {line!r} is not a section; write a name between brackets, such as [job]")
    return name


def _option(line: str, number: int, where: str) -> RawOption:
    key, equals, text = line.partition("=")
    if not key.strip():
        raise InputError(f"{where}: {line!r} has no option name before the '='")
    if not equals:
        return RawOption(key.strip(), None, number)
    return RawOption(key.strip(), text.strip(), number, blank_before_value=text[:1].isspace())
