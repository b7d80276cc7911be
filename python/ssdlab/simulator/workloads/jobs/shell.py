"""The calls of fio in the text of a shell script, as guides print them. Not for what the calls mean: `command_line.py`.

Read are comments, continued lines, prompts, variables, loops over words, functions, here-documents, several commands on
a line. Nothing is run: of other commands only the line is kept, for a note.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from pathlib import Path, PureWindowsPath

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import expressions
from ssdlab.simulator.workloads.jobs.shell_text import (
    UNKNOWN,
    Document,
    is_open_array,
    with_lists,
    without_documents,
    without_signs,
)

NAMES = ("fio", "fio.exe")
_CALL = re.compile(
    r"^\s*(?:[$>%]\s+)?(?:[^#\n]*[\s;&|(/\\'\"])?fio(?:\.exe)?[\"']?\s+"
    r"(?:[^#\n]*\s+)?(?:['\"]?--?[a-z]|['\"]?\$|\S+\.(?:fio|job|ini)|-(?:\s|$))",
    re.M,
)
_SECTION = re.compile(r"^\s*\[[^\]\n]+\]\s*(?:[;#].*)?$", re.M)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
# With what stands for it if it is not set, `${1:-/dev/sdb}`.
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?[-=]([^{}]*))?\}|([A-Za-z_]\w*|[0-9@*]))")
_FUNCTION = re.compile(r"^(\s*)(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)", re.M)
_ARITHMETIC = re.compile(r"\$\(\(([\w\s${}()+*/%-]{1,100}?)\)\)(?!\))")
# A calculation with variables waits for their values as a part of its word: between two of these, without blanks, and
# with other signs for its brackets, at which words would be split.
_HELD = re.compile("\ue000([^\ue000]*)\ue000")
_BRACKETS = str.maketrans("()", "\ue001\ue002")
_BRACKETS_BACK = str.maketrans("\ue001\ue002", "()")
_NAME_IN_CALCULATION = re.compile(r"\$?\{?\b([A-Za-z_]\w*)\b\}?")
# Commands that print their words, rather than call them.
_PRINTING = ("echo", "printf", "logger", "cat", "grep")
# The signs of Unix, of Windows' cmd and of its PowerShell that continue a line.
_CONTINUED = re.compile(r"[\\^]$|(?<=\s)`$")
# Options of fio that name something, and whose variables need no value.
_NAMING = re.compile(r"--?(?:filename|directory|output|name|write_\w+_log|description)=")
_CALLS_DEEP_MAX = 16
_LOOPS = ("for", "while", "until", "select")
_OPENING = ("do", "then", "else", "{")
_WITHIN = (*_OPENING, "fi", "done", "}")
_DECLARING = ("declare", "export", "local", "readonly", "typeset")
# Commands whose words are what they ask about, not what they call.
_TESTS = ("[", "[[", "test")
_SEPARATORS = frozenset(";&|()")


@dataclass(frozen=True)
class Call:
    """One call of fio: the words behind its name, the line on which it begins, and the job files that the script writes
    before, by name."""

    words: tuple[str, ...]
    line: int
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Script:
    """The calls of a script, and the lines with other commands or text."""

    calls: tuple[Call, ...]
    others: tuple[int, ...]


def is_script(text: str) -> bool:
    """Whether a text has calls of fio, and no sections of a job file."""
    text, _ = without_documents(without_signs(text))
    return not _SECTION.search(text) and _CALL.search(text) is not None


def script(text: str, source: str, environment: Mapping[str, str]) -> Script:
    """The calls of fio in a text, those of a loop over words once for each word.

    Raises InputError, with the line, for what only a shell can work out.
    """
    text, documents = without_documents(without_signs(text))
    reading = _Reading(source, dict(environment), documents)
    reading.run(_commands(_FUNCTION.sub(r"\1function \2", text), source, 0))
    return Script(tuple(reading.calls), tuple(dict.fromkeys(reading.others)))


Command = tuple[list[str], int]
"""The words of a simple command, and its line."""


def _commands(text: str, source: str, lines_before: int) -> list[Command]:
    numbered = [(number + lines_before, line) for number, line in _commands_by_line(text)]
    return [(words, number) for number, line in numbered for words in _split(line, f"{source}, line {number}")]


@dataclass
class _Reading:
    """What has been read of a script: the values of its variables, the calls of fio, the lines with anything else."""

    source: str
    values: dict[str, str]
    documents: Mapping[int, Document]
    files: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Sequence[Command]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    depth: int = 0

    def run(self, commands: Sequence[Command]) -> None:
        at = 0
        while at < len(commands):
            words, number = commands[at]
            at += 1
            while words and words[0] in _WITHIN:
                words = words[1:]
            if not words:
                continue
            if words[0] in _LOOPS:
                end = _end_of_loop(commands, at)
                self._loop(words, number, commands[at:end])
                at = end + 1
                continue
            if words[0] == "function" and len(words) > 1:
                end = _end_of_function(commands, at - 1)
                rest = [(words[2:], number)] if len(words) > 2 else []
                self.functions[words[1]] = [*rest, *commands[at:end]]
                at = end + 1
                continue
            self._command(words, number)

    def _loop(self, words: list[str], number: int, body: Sequence[Command]) -> None:
        where = f"{self.source}, line {number}"
        if len(words) > 3 and words[0] == "for" and words[2] == "in":
            for value in self._expand(words[3:], where):
                self.values[words[1]] = value
                self.run(body)
            return
        self.others.append(number)
        if any(_behind_fio(within) is not None for within, _ in body):
            raise InputError(
                f"{where}: {' '.join(words)}: fio is called in a loop whose end only a shell knows; allowed is "
                "for NAME in WORDS, or calls one after another"
            )

    def _command(self, words: list[str], number: int) -> None:
        where = f"{self.source}, line {number}"
        if number in self.documents:
            self._keep(self.documents[number], where)
        if words[0] == "eval" and len(words) > 1:
            words = words[1:]
        if _VARIABLE.fullmatch(words[0]) and (known := _expanded(words[0], self.values, where, strict=False)):
            words = [*known.split(), *words[1:]]
        if words[0] in self.functions:
            self._call_function(words, number)
            return
        quoted = _quoted_script(words)
        if quoted is not None:
            self.run(_commands(quoted, self.source, number - 1))
            return
        behind = _behind_fio(words)
        if behind is not None:
            for word in takewhile(_ASSIGNMENT.fullmatch, words):
                self._assign(word, where)
            self.calls.append(Call(tuple(self._expand(behind, where)), number, dict(self.files)))
            return
        given = words
        if words[0] in _DECLARING:
            given = list(dropwhile(lambda word: word.startswith("-"), words[1:]))
        if all(_ASSIGNMENT.fullmatch(word) for word in given):
            for word in given:
                self._assign(word, where)
            return
        self.others.append(number)

    def _assign(self, word: str, where: str) -> None:
        """Carries out `NAME=value` or `NAME+=value`."""
        name, _, value = word.partition("=")
        value = _expanded(value, self.values, where, strict=False)
        if name.endswith("+"):
            name = name[:-1]
            value = self.values.get(name, "") + value
        self.values[name] = value

    def _call_function(self, words: list[str], number: int) -> None:
        where = f"{self.source}, line {number}"
        if self.depth == _CALLS_DEEP_MAX:
            raise InputError(f"{where}: {words[0]}: {_CALLS_DEEP_MAX} functions deep; a function may not call itself")
        given = self._expand(words[1:], where)
        arguments = {str(place): value for place, value in enumerate(given, start=1)}
        arguments |= {"@": " ".join(given), "*": " ".join(given)}
        # What a function sets stays set; its arguments are its own.
        outer = {name: value for name, value in self.values.items() if name.isdigit() or name in "@*"}
        self.values = {name: value for name, value in self.values.items() if name not in outer} | arguments
        self.depth += 1
        self.run(self.functions[words[0]])
        self.depth -= 1
        self.values = {name: value for name, value in self.values.items() if name not in arguments} | outer

    def _keep(self, document: Document, where: str) -> None:
        """Keeps a here-document as the file that its command makes of it."""
        text = document.text
        if document.is_expanded:
            text = _expanded(text, self.values, where, strict=False)
        self.files[_expanded(document.file, self.values, where, strict=False)] = text

    def _expand(self, words: Sequence[str], where: str) -> list[str]:
        """Words with the values of their variables; a word that is one variable becomes all words of its value."""
        found = []
        for before, word in zip(("", *words), words, strict=False):
            if _NAMING.match(word) or _NAMING.fullmatch(f"{before}="):
                # A variable without a value stands for some name: its own.
                named = _VARIABLE.sub(r"\1\3", _expanded(word, self.values, where, strict=False))
                found.append(named.replace(UNKNOWN, "_"))
                continue
            known = _expanded(word, self.values, where, strict=False)
            if _VARIABLE.fullmatch(word) and known != word:
                found += self._expand(known.split(), where)
                continue
            whole = _expanded(word, self.values, where, strict=True)
            # What a variable holds can have others, which had no value where it was set.
            found.append(_expanded(whole, self.values, where, strict=True))
        return found


def _end_of_function(commands: Sequence[Command], at: int) -> int:
    """The place of the `}` that ends the function whose head is at `at`, or the end."""
    depth = 0
    for place in range(at, len(commands)):
        words = commands[place][0]
        depth += words.count("{") - words.count("}")
        if place > at and depth <= 0:
            return place
    return len(commands)


def _end_of_loop(commands: Sequence[Command], at: int) -> int:
    """The place of the `done` of a loop whose body begins at `at`, or the end."""
    depth = 1
    for place in range(at, len(commands)):
        word = next((word for word in commands[place][0] if word not in _OPENING), "")
        depth += (word in _LOOPS) - (word == "done")
        if not depth:
            return place
    return len(commands)


def _commands_by_line(text: str) -> Iterator[tuple[int, str]]:
    """Each command without its comment, prompt and continuations, with the number of its first line."""
    began, command = 0, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        # A copied page often loses the signs of continuation: a line that begins with an option continues a call.
        continues = command and (line.startswith("-") or is_open_array(command))
        if command and not (continues or _CONTINUED.search(command)):
            yield began, command
            command = ""
        if not command:
            began, command = number, re.sub(r"^[$>%]\s+", "", line)
        else:
            command = f"{_CONTINUED.sub('', command).rstrip()} {line}"
    if command:
        yield began, _CONTINUED.sub("", command)


def _split(line: str, where: str) -> list[list[str]]:
    """The words of each simple command of a line, without redirections."""
    try:
        line = with_lists(line)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
    line = _ARITHMETIC.sub(lambda match: _held_or_computed(match[1], where), line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        tokens = list(lexer)
    except ValueError as error:
        if "fio" not in line:
            return [line.split()[:1]]
        raise InputError(f"{where}: {line!r} is not a command of a shell: {str(error).lower()}") from None
    commands: list[list[str]] = [[]]
    skips = False
    for token in tokens:
        if token[0] in "<>":
            skips = True
            if commands[-1] and commands[-1][-1] in ("1", "2"):
                commands[-1].pop()
        elif skips:
            skips = False
        elif set(token) <= _SEPARATORS:
            commands.append([])
        else:
            commands[-1].append(token)
    return [command for command in commands if command]


def _held_or_computed(expression: str, where: str) -> str:
    if _NAME_IN_CALCULATION.search(expression) is None:
        return _computed(expression, where)
    return f"\ue000{''.join(expression.split()).translate(_BRACKETS)}\ue000"


def _computed(expression: str, where: str) -> str:
    try:
        return str(expressions.value_of(expression))
    except ValueError:
        raise InputError(f"{where}: $(({expression})) is not a calculation; {expressions.ALLOWED} are") from None


def _quoted_script(words: list[str]) -> str | None:
    """The script that a command passes to a shell as one word, here or on another machine (`ssh host 'fio ...'`,
    `sh -c`), if it calls fio; None for another command."""
    if Path(words[0]).name in _PRINTING or _behind_fio(words) is not None:
        return None
    return next((word for word in words[1:] if " " in word and is_script(word)), None)


def _behind_fio(words: list[str]) -> list[str] | None:
    """The arguments of fio, with anything before its name, such as `sudo` or a container of the same name; None for
    another command."""
    for place, word in enumerate(words):
        if word in _TESTS:
            return None
        if _program(word) in NAMES and len(words) > place + 1 and _program(words[place + 1]) not in NAMES:
            return words[place + 1 :]
    return None


def _program(word: str) -> str:
    """The name of a program without its folder, of Unix or of Windows."""
    return PureWindowsPath(word).name


def _expanded(word: str, values: Mapping[str, str], where: str, *, strict: bool) -> str:
    """A word with the values of its variables. Raises InputError for one without value, if `strict`."""

    def value(match: re.Match[str]) -> str:
        name, default = match[1] or match[3], match[2]
        if name in values or default is not None:
            return values.get(name) or _VARIABLE.sub(value, default or "")
        if not strict:
            return match[0]
        if name.isdigit() or name in "@*":
            raise InputError(f"{where}: {word!r}: ${name} is an argument of the script; write its value in its place")
        raise InputError(f"{where}: {word!r}: ${name} has no value; write {name}=VALUE on a line above")

    def calculated(match: re.Match[str]) -> str:
        expression = match[1].translate(_BRACKETS_BACK)
        names = [found[1] for found in _NAME_IN_CALCULATION.finditer(expression)]
        missing = next((name for name in names if name not in values), None)
        if missing is None:
            return _computed(_NAME_IN_CALCULATION.sub(lambda found: values[found[1]], expression), where)
        if not strict:
            return f"$(({expression}))"
        raise InputError(f"{where}: $(({expression})): {missing} has no value; write {missing}=VALUE on a line above")

    found = _VARIABLE.sub(value, _HELD.sub(calculated, word))
    # The tokens of a command that calls fio, `$(fio ...)`, are split at its bracket.
    if strict and (UNKNOWN in found or found.endswith("$") or "`" in found):
        shown = word.replace(UNKNOWN, "$(...)") if word != "$" else "$(...)"
        raise InputError(f"{where}: {shown!r} is the output of a command, which is not run here; write the value")
    if strict and "${" in found:
        raise InputError(f"{where}: {word!r}: {found[found.index('${') :]} is not worked out here; write its value")
    return found
