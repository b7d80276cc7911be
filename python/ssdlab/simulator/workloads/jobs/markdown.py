"""The job file, or the calls of fio, in a text as it is pasted: quoted (`> `), fenced by three backquotes or tildes, a
list of calls each between backquotes, or as a value of a Kubernetes ConfigMap.

Line numbers stay the same, so that errors name the line of the text as given. Not for what the lines mean.
"""

import re

_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^`]*$")
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+")
# `  job.fio: |` and the first line below it, a section that is indented further.
_VALUE = re.compile(r"^([ \t]*)[\w.-]+:[ \t]*\|[-+]?[ \t]*\n(?:[ \t]*\n)*(\1[ \t]+)\[[^\]\n]+\][ \t]*$", re.MULTILINE)
_SECTION = re.compile(r"^\s*\[[^\]\n]+\]\s*(?:[;#].*)?$", re.MULTILINE)


# A list of calls of fio, each between backquotes.
_CALL_IN_LINE = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*`((?:sudo[ \t]+)?fio[ \t]+[^`]*)`[^\w`]*$")


_SECTION_FIRST = re.compile(r"(?:[ \t]*(?:[;#][^\n]*)?\n)*\[")


def _of_yaml(text: str, value: re.Match[str]) -> tuple[str, list[str]]:
    """The lines of the value, as far as they are indented as its first."""
    first = text.count("\n", 0, value.start(2))
    lines = text.split("\n")
    length = next(
        (at for at, line in enumerate(lines[first:]) if line.strip() and not line.startswith(value[2])), len(lines)
    )
    inside = [line.removeprefix(value[2]) for line in lines[first : first + length]]
    return "\n".join([""] * first + inside), ["only the job file in the YAML is taken; the text around it is left out"]


def plain(text: str) -> tuple[str, list[str]]:
    """The text without the signs of a quotation and without what is outside its fences, and notes.

    A text that is neither, and one with sections of a job file outside its fences, is returned as it is.
    """
    if not _SECTION_FIRST.match(text) and (value := _VALUE.search(text)):
        return _of_yaml(text, value)
    lines = text.split("\n")
    written = [line for line in lines if line.strip()]
    if len(written) > 1 and all(_QUOTED.match(line) for line in written):
        lines = [_QUOTED.sub("", line) for line in lines]
    inside, outside, notes = list(lines), list(lines), []
    fence = ""
    fenced = 0
    for place, line in enumerate(lines):
        match = _FENCE.match(line)
        if match and (not fence or line.strip() == fence):
            fence = "" if fence else match[1]
            fenced += 1
            inside[place] = outside[place] = ""
        else:
            (outside if fence else inside)[place] = ""
    calls = [match[1] if (match := _CALL_IN_LINE.match(line)) else "" for line in lines]
    if not fenced and any(calls) and not _SECTION.search("\n".join(lines)):
        return "\n".join(calls), ["only the calls between backquotes are taken; the text around them is left out"]
    if not fenced or fence or _SECTION.search("\n".join(outside)):
        return "\n".join(lines), []
    if any(line.strip() for line in outside):
        notes.append("only what is fenced is taken; the text around it is left out")
    return "\n".join(inside), notes
