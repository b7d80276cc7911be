"""Takes off what mails, forums and terminals put around a report: quotes, indentation, colours, arrows and remarks.

Nothing within a value is changed. Thousands separators, also blanks, stay as they are.
"""

import html
import re
from functools import cache

from ssdlab.hardware.smart import default_names
from ssdlab.hardware.smart.families import families

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TAG = re.compile(r"</?(?:pre|code|br|p|div|span)\b[^<>\n]*>", re.I)
_ENTITY = re.compile(r"&(?:gt|lt|amp|nbsp|quot|#\d{1,5});")
_TABLE_ROW = re.compile(r"^[ \t]*\|(?:[^|\n]*\|){4,}[ \t]*$", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]*[>|]", re.MULTILINE)
_QUOTE_MARK = re.compile(r"^[ \t]*(?:[>|] ?)+", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)\S*[ \t]*$", re.MULTILINE)
_ARROW_BEFORE = re.compile(r"^([ \t]*)(?:[-=]+>+|[→➜➡⇒»▶•*+]+|>>+)[ \t]*(?=[ \t]*[0-9A-Za-z])", re.MULTILINE)
_REMARK = re.compile(r"(?<=\S)[ \t]+(?:<[-=<]+|[←⇐⬅«]|(?:#|//|!!+)[ \t]).*$|[ \t]*\*\*+[ \t]*$", re.MULTILINE)
_BOLD = re.compile(r"\*\*(?=[0-9A-Za-z])|(?<=[0-9A-Za-z%])\*\*")
# A first line of a report, to measure the indentation by.
_BEGINNING = re.compile(
    r"^([ \t]+)(?:smartctl \d|=== START OF|ID# +ATTRIBUTE|Device Model:|Model Number:|Critical Warning:|Smart Log for)",
    re.MULTILINE,
)
# Rows of Unraid's page of attributes, copied from a browser: blanks for the underscores of names, other words in two
# columns, a label of NVMe's log behind a dash.
_WEB_ROW = re.compile(
    r"^[ \t]*(\d{1,3})\t([A-Z][^\t\n]*)\t(0x[0-9a-f]{4})\t([^\n]*)\t(Pre-fail|Old age)\t(Always|Offline)\t"
    r"(Never|Past|Now|-|[A-Z][^\t\n]*)\t(?=\S)",
    re.MULTILINE,
)
_WEB_FAILED = {"Never": "-", "Past": "Past", "In the past": "Past", "Now": "NOW", "Failing now": "NOW"}
_WRITTEN_OUT = {"ct": "count", "cnt": "count", "blk": "block"}
_WEB_LABEL = re.compile(r"^[ \t]*-\t([A-Z][^\t\n:]*)\t(?=\S)", re.MULTILINE)
# Lines of attributes that a mail program has broken in two.
_BROKEN = (
    re.compile(r"(\b(?:Pre-fail|Old_age))[ \t]*\n[ \t]*(?=(?:Always|Offline)[ \t\n])"),
    re.compile(r"((?:Pre-fail|Old_age)[ \t]+(?:Always|Offline))[ \t]*\n[ \t]*(?=(?:-|FAILING_NOW|In_the_past)[ \t])"),
    re.compile(
        r"((?:Always|Offline)[ \t]+(?:-|FAILING_NOW|In_the_past))[ \t]*\n[ \t]*(?=(?:0x[0-9a-f]+|\d+)(?:[ \t\n]|$))"
    ),
)


def cleaned(text: str) -> str:
    """The text as the program printed it, as far as that can be told."""
    text = _COLOUR.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _TAG.sub("", text)
    if _ENTITY.search(text):
        text = html.unescape(text.replace("&nbsp;", " "))
    text = _TABLE_ROW.sub(lambda row: row[0].replace("|", "  "), _FENCE.sub("", text))
    text = _WEB_LABEL.sub(r"\1: ", _WEB_ROW.sub(_attribute_line, text))
    lines = text.count("\n") + 1 - len(re.findall(r"^[ \t]*$", text, re.MULTILINE))
    if len(_QUOTED.findall(text)) > lines / 2:
        text = _QUOTE_MARK.sub("", text)
    text = _BOLD.sub("", _ARROW_BEFORE.sub(r"\1", _REMARK.sub("", text)))
    beginning = _BEGINNING.search(text)
    if beginning:
        text = re.sub(rf"^[ \t]{{1,{len(beginning[1])}}}", "", text, flags=re.MULTILINE)
    for broken in _BROKEN:
        text = broken.sub(r"\1 ", text)
    return text


def _attribute_line(row: re.Match[str]) -> str:
    number, name, flag, levels, kind, updated, failed = row.groups()
    words = (number, _smartctls_name(name), flag, *levels.split(), kind.replace(" ", "_"), updated)
    return " ".join((*words, _WEB_FAILED.get(failed, "-"), ""))


def _smartctls_name(name: str) -> str:
    """smartctl's spelling of a name that the page writes with small letters and without abbreviations."""
    known = _spellings().get(_words_of(name))
    return known or "_".join(word if word.isupper() else word.capitalize() for word in name.split())


@cache
def _spellings() -> dict[tuple[str, ...], str]:
    """The names that mean something, by their words."""
    counters = (counter.name for family in families() for counter in family.counters)
    return {_words_of(name): name for name in (*default_names.DEFAULT.values(), *counters)}


def _words_of(name: str) -> tuple[str, ...]:
    words = name.casefold().replace("_", " ").split()
    return tuple(_WRITTEN_OUT.get(word, word) for word in words)
