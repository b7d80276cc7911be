"""The variants of a comparison: all combinations of drives, spare areas and lists of settings, with short labels."""

import itertools
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import parse_left_empty, parse_spare_area
from ssdlab.simulator.drives import ResolvedDrive, load, resolve
from ssdlab.simulator.drives.settings import split

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
    left_empty: str | None = None,
    scale: Fraction | None = None,
) -> list[Planned]:
    """The variants: every drive with every spare area and every combination of settings, in the order given.

    `over_provisionings` is a list such as "7%,28%", `left_empty` one of shares of the drive that the host leaves empty,
    such as "0%,20%"; if both are given, the variants have the spare areas of both. None for each drive's own. A setting
    is `key=value` or `key=value,value`. Raises InputError for text that cannot be read, repeated entries, and drives
    that cannot work.
    """
    files = [load(name) for name in drives]
    names = [file.name for file in files]
    _refuse_twice("--drive", names)
    areas = [
        *_areas("--op", over_provisionings, parse_spare_area),
        *_areas("--left-empty", left_empty, parse_left_empty),
    ] or [_Area(None, None)]
    keyed = [split(setting) for setting in settings]
    _refuse_twice("--set", [key for key, _ in keyed])
    axes = [[(key, value) for value in split_list(text, f"--set {key}={text}")] for key, text in keyed]
    labels = _value_labels([axis for axis in axes if len(axis) > 1])

    variants = []
    for file, choices, area in itertools.product(files, itertools.product(*axes), areas):
        parts = [file.name] if len(files) > 1 else []
        parts += [labels[choice] for choice in choices if choice in labels]
        parts += [area.label] if area.label and len(areas) > 1 else []
        drive = resolve(
            file,
            over_provisioning=area.over_provisioning,
            left_empty=area.left_empty,
            settings=dict(choices),
            scale=scale,
        )
        only = f"{file.name}, {area.label}" if area.label else file.name
        variants.append(Planned(", ".join(parts) or only, drive))
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


@dataclass(frozen=True)
class _Area:
    """A spare area as asked for: by the over-provisioning, by what is left empty, or the drive's own."""

    over_provisioning: float | None
    left_empty: float | None

    @property
    def label(self) -> str:
        if self.left_empty is not None:
            return f"{self.left_empty * 100:.6g} % left empty"
        return "" if self.over_provisioning is None else f"{self.over_provisioning * 100:.6g} %"


def _areas(option: str, text: str | None, parse: Callable[[str], float]) -> list[_Area]:
    if text is None:
        return []
    try:
        shares = [parse(entry) for entry in split_list(text, f"{option} {text}")]
    except InputError as error:
        raise error if str(error).startswith(option) else InputError(f"{option}: {error}") from None
    areas = [_Area(None, share) if parse is parse_left_empty else _Area(share, None) for share in shares]
    _refuse_twice(option, [area.label for area in areas])
    return areas


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
