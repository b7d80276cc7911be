"""What of a script's text is taken apart before its words are: quotes of word processors, prompts, here-documents, and
lists that a shell works out from a few signs (arrays, `{1..3}`, `$(seq 4)`). Not for commands: `shell.py`.

Every function keeps the number of lines, because messages name lines.
"""

import re
import shlex
from dataclasses import dataclass

from ssdlab.simulator.workloads.jobs.variables import machine

# `user@host:~# `, `[user@host ~]$ `: its sign of root would begin a comment, and its brackets a section of a job file.
_PROMPT = re.compile(r"^[ \t]*(?:\[[\w.-]+@[\w.-]+ [^\]\n]*\]|[\w.-]+@[\w.-]+:[^\s#$%]*)[#$%][ \t]+(?=\S)", re.M)
# Blogs turn quotes into typographic ones, and two hyphens into one dash.
_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')
_DASH = re.compile(r"(?<=\s)[\u2013\u2014](?=[a-z])")
# The words of a call in Python, Docker or Kubernetes: ["fio", "--name=a"].
_QUOTED_LIST = re.compile(r"""\[\s*(["'])(?:[\w./-]*/)?fio\1(?P<rest>(?:\s*,\s*(?:"[^"\n]*"|'[^'\n]*'))+)\s*,?\s*\]""")
# The same as lists of YAML, one word a line: a container's `command:` with fio, and its `args:`.
_YAML_LIST = re.compile(
    r"""^[ \t]*(?:-|\w+:[ \t]*\[)[ \t]*(["']?)(?:[\w./-]*/)?fio\1[ \t]*\]?[ \t]*\n"""
    r"""(?P<rest>(?:[ \t]*args:[ \t]*(?:\[[^\]]*\][ \t]*)?\n?)?"""
    r"""(?:[ \t]*(?:-[ \t]+(?:["']?-.*|["'\w.]\S*(?<!:)[ \t]*)|\#.*)(?:\n|$))*)""",
    re.M,
)
# A shell with its script as one word: ["sh", "-c", "fio --name=a"].
_SHELL_LIST = re.compile(
    r"""\[\s*(["'])(?:[\w./-]*/)?(?:ba|da|a|z)?sh\1\s*,\s*(["'])-\w*c\2\s*,\s*(["'])(?P<script>(?:(?!\3).)*)\3\s*\]""",
    re.S,
)
_YAML_WORD = re.compile(r"""^[ \t]*-[ \t]+(.+?)[ \t]*$|("[^"\n]*"|'[^'\n]*')""", re.M)
_HERE = re.compile(r"<<(?P<tabs>-?)\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)")
_INTO = re.compile(r"(?:>|\btee\b(?:\s+-\S+)*)\s*(?P<name>\"[^\"]*\"|'[^']*'|[^\s<>|;&-][^\s<>|;&]*)")
_ARRAY = re.compile(r"(?P<name>(?:^|\s)[A-Za-z_]\w*)(?P<more>\+?)=\((?P<words>[^()`]*)\)")
_OPEN_ARRAY = re.compile(r"(?:^|\s)[A-Za-z_]\w*\+?=\([^()]*$")
# What is left of an array with the output of a command, or with names of its own: its value is not known.
_OTHER_ARRAY = re.compile(r"((?:^|\s)[A-Za-z_]\w*)\+?=\(")
_ALL_OF_ARRAY = re.compile(r"\$\{([A-Za-z_]\w*)\[[@*]\]\}")
_RANGE = re.compile(r"(?<!\S)\{(\d{1,6})\.\.(\d{1,6})(?:\.\.(\d{1,6}))?\}(?=[\s;]|$)")
_WORDS = re.compile(r"(?<!\S)\{([\w.%-]+(?:,[\w.%-]+)+)\}(?=[\s;]|$)")
_SEQUENCE = re.compile(r"\$\(\s*seq\s+([\d \t]{1,40})\)|`\s*seq\s+([\d \t]{1,40})`")
_PROCESSORS = re.compile(r"\$\(\s*nproc[^()]*\)|`\s*nproc[^`]*`")
# Commands whose output names something, and has no effect on what is read and written.
_NAMING = re.compile(
    r"\$\(\s*(date|hostname|uname|whoami|pwd|basename|dirname|mktemp)\b[^()`]*\)"
    r"|`\s*(date|hostname|uname|whoami|pwd|basename|dirname|mktemp)\b[^`]*`"
)
# What any other command prints, but one that calls fio: its value is not known.
_OUTPUT = re.compile(r"\$\((?!\()(?:[^()]|\([^()]*\))*\)|`[^`]*`")
UNKNOWN = "\ue003"
"""Stands in a word for the output of a command."""
_STEPS_MAX = 1000


@dataclass(frozen=True)
class Document:
    """A here-document: the text between a command and the word that ends it."""

    file: str
    """The name under which the command keeps it, as written; `-` if the command itself reads it."""
    text: str
    """Its text, with as many empty lines before as the script has."""
    is_expanded: bool
    """Whether variables in it are replaced: the word that ends it is not quoted."""


def without_signs(text: str) -> str:
    """The text without prompts, with plain quotes and dashes, and with calls from other languages as commands."""
    plain = _DASH.sub("--", _PROMPT.sub("", text.translate(_QUOTES)))
    plain = _SHELL_LIST.sub(lambda match: match["script"], plain)
    return _YAML_LIST.sub(_of_yaml, _QUOTED_LIST.sub(_as_command, plain))


def _as_command(match: re.Match[str]) -> str:
    words = re.findall(r"\"[^\"\n]*\"|'[^'\n]*'", match["rest"])
    return f"fio {' '.join(words)}" + "\n" * match[0].count("\n")


def _of_yaml(match: re.Match[str]) -> str:
    words = [found[1] or found[2] for found in _YAML_WORD.finditer(re.sub(r"[ \t]#.*", "", match["rest"]))]
    if not words:
        return match[0]
    quoted = (shlex.quote(word.strip("\"'")) for word in words)
    return f"fio {' '.join(quoted)}" + "\n" * match[0].count("\n")


def without_documents(text: str) -> tuple[str, dict[int, Document]]:
    """The text with empty lines in place of here-documents, and these by the number of the line that begins them."""
    lines = text.splitlines()
    documents: dict[int, Document] = {}
    at = 0
    while at < len(lines):
        found = _HERE.search(lines[at].split("#", 1)[0])
        at += 1
        if found is None:
            continue
        strip = "\t" if found["tabs"] else ""
        end = next((place for place in range(at, len(lines)) if lines[place].lstrip(strip) == found["end"]), None)
        if end is None:
            continue
        into = _INTO.search(_HERE.sub(" ", lines[at - 1]))
        body = "\n".join(line.lstrip(strip) for line in lines[at:end])
        name = into["name"].strip("\"'") if into else "-"
        documents[at] = Document(name, "\n" * at + body, not found["quote"])
        lines[at - 1] = _HERE.sub("", lines[at - 1])
        lines[at : end + 1] = [""] * (end + 1 - at)
        at = end + 1
    return "\n".join(lines), documents


def with_lists(line: str) -> str:
    """The line with the words of its ranges, and with fixed words for the output of commands that only name.

    Raises ValueError for a range that is too long.
    """
    line = _PROCESSORS.sub(str(machine()["ncpus"]), line)
    line = _NAMING.sub(lambda match: match[1] or match[2], line)
    line = _SEQUENCE.sub(lambda match: _of_seq((match[1] or match[2]).split()), line)
    line = _RANGE.sub(lambda match: _of_braces(int(match[1]), int(match[2]), int(match[3] or 1)), line)
    line = _WORDS.sub(lambda match: match[1].replace(",", " "), line)
    line = _OUTPUT.sub(lambda match: match[0] if "fio" in match[0] else UNKNOWN, line)
    line = _OTHER_ARRAY.sub(rf"\1={UNKNOWN} (", _ARRAY.sub(_of_array, line))
    return _ALL_OF_ARRAY.sub(r"$\1", line)


def is_open_array(line: str) -> bool:
    """Whether a line begins an array that ends on a later one."""
    return _OPEN_ARRAY.search(line) is not None


def _of_array(match: re.Match[str]) -> str:
    """An array as one value: its words, with blanks between."""
    if "[" in match["words"]:
        return match[0]
    words = " ".join(shlex.split(match["words"]))
    return f"{match['name']}{match['more']}={shlex.quote(f' {words}' if match['more'] else words)}"


def _of_seq(words: list[str]) -> str:
    """The numbers of `seq LAST`, `seq FIRST LAST`, `seq FIRST STEP LAST`."""
    numbers = [int(word) for word in words]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) > 2 else 1
    return _numbers(range(first, numbers[-1] + 1, max(1, step)))


def _of_braces(first: int, last: int, step: int) -> str:
    """The numbers of `{FIRST..LAST..STEP}`, which counts down if the first is the larger one."""
    step = max(1, step)
    return _numbers(range(first, last - 1, -step) if first > last else range(first, last + 1, step))


def _numbers(values: range) -> str:
    if len(values) > _STEPS_MAX:
        raise ValueError(f"{len(values):,} numbers; allowed: up to {_STEPS_MAX:,}")
    return " ".join(str(value) for value in values)
