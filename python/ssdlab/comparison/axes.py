"""The variants of a comparison: all combinations of drives, spare areas and lists of settings, with short labels."""

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ssdlab.drives import ResolvedDrive, load, resolve
from ssdlab.drives.settings import split
from ssdlab.errors import InputError
from ssdlab.quantities import parse_spare_area

_OPENING, _CLOSING, _QUOTES = "{[", "}]", "\"'"


@dataclass(frozen=True)
class Planned:
    """A variant before it runs."""

    label: str
    """A label that is unique in the comparison and has only the differences, such as "7 %" or "greedy, 28 %"."""
    drive: ResolvedDrive


def plan(
    drives: Sequence[str],
    over_provisionings: str | None,
    settings: Sequence[str],
    *,
    scale: Fraction | None = None,
) -> list[Planned]:
    """The variants: every drive with every spare area and every combination of settings, in the order given.

    `over_provisionings` is a list such as "7%,28%"; None for each drive's own. A setting is `key=value` or
    `key=value,value`. Raises InputError for text that cannot be read, repeated entries, and drives that cannot work.
    """
    files = [load(name) for name in drives]
    names = [file.name for file in files]
    _refuse_twice("--drive", names)
    shares = [None] if over_provisionings is None else _shares(over_provisionings)
    keyed = [split(setting) for setting in settings]
    _refuse_twice("--set", [key for key, _ in keyed])
    axes = [[(key, value) for value in split_list(text, f"--set {key}={text}")] for key, text in keyed]
    labels = _value_labels([axis for axis in axes if len(axis) > 1])

    variants = []
    for file, choices, share in itertools.product(files, itertools.product(*axes), shares):
        parts = [file.name] if len(files) > 1 else []
        parts += [labels[choice] for choice in choices if choice in labels]
        parts += [_share_label(share)] if share is not None and len(shares) > 1 else []
        drive = resolve(file, over_provisioning=share, settings=dict(choices), scale=scale)
        variants.append(Planned(", ".join(parts) or _only_label(file.name, share), drive))
    _refuse_twice("variants", [variant.label for variant in variants])
    return variants


def split_list(text: str, where: str) -> list[str]:
    """Splits at commas outside of brackets, braces and quotes: `greedy,{name="d-choices",d=10}` has two entries.

    Raises InputError, with a message that starts with `where`, for an empty entry or brackets that do not match.
    """
    entries = [""]
    open_brackets: list[str] = []
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        elif character in _OPENING:
            open_brackets.append(_CLOSING[_OPENING.index(character)])
        elif character in _CLOSING:
            if not open_brackets or open_brackets.pop() != character:
                raise InputError(f"{where}: {character!r} closes nothing")
        elif character == "," and not open_brackets:
            entries.append("")
            continue
        entries[-1] += character
    if quote or open_brackets:
        raise InputError(f"{where}: {quote or open_brackets[-1]!r} is missing at the end")
    entries = [entry.strip() for entry in entries]
    if not all(entries):
        raise InputError(f"{where}: an entry of the list is empty")
    _refuse_twice(where, entries)
    return entries


def _shares(text: str) -> list[float]:
    try:
        shares = [parse_spare_area(entry) for entry in split_list(text, f"--op {text}")]
    except InputError as error:
        raise error if str(error).startswith("--op") else InputError(f"--op: {error}") from None
    _refuse_twice("--op", [_share_label(share) for share in shares])
    return shares


def _share_label(share: float) -> str:
    return f"{share * 100:.6g} %"


def _only_label(name: str, share: float | None) -> str:
    return name if share is None else f"{name}, {_share_label(share)}"


def _value_labels(axes: Sequence[Sequence[tuple[str, str]]]) -> dict[tuple[str, str], str]:
    """A short label for each (key, value) of the axes that vary.

    The label is the value, after the last part of the key if the value is a number or occurs on two axes.
    """
    words = {choice: _words(choice[1]) for axis in axes for choice in axis}
    return {
        choice: word
        if word[:1].isalpha() and list(words.values()).count(word) == 1
        else f"{choice[0].rpartition('.')[2]}={word}"
        for choice, word in words.items()
    }


def _words(text: str) -> str:
    """A TOML value without brackets and quotes: `d-choices d=10` for `{name="d-choices",d=10}`."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    if isinstance(value, dict):
        parameters = [f"{name}={each}" for name, each in value.items() if name != "name"]
        return " ".join([str(value.get("name", "")), *parameters]).strip()
    return value if isinstance(value, str) else text


def _refuse_twice(what: str, entries: Sequence[str]) -> None:
    twice = [entry for index, entry in enumerate(entries) if entry in entries[:index]]
    if twice:
        raise InputError(f"{what}: {twice[0]!r} is listed twice")
