"""Options of a command in groups: each field of a parameter whose type is a dataclass becomes an option.

    @dataclass(frozen=True)
    class Start:
        precondition: Annotated[Beginning, typer.Option(help="State of the drive at the start.")] = "fill"
        scale: Annotated[Fraction | None, typer.Option(metavar="1/N"), Parsed(parse_scale)] = None

    def run(drive: Annotated[str, typer.Option()], start: Start) -> None: ...

Each field is annotated as for typer, and its type determines the allowed values. A `Literal` allows its words, which
the help lists and the shell completes; with `Parsed`, a function converts the text. Other values raise an InputError
that names the option. Conditions between options are checked in the dataclass or in the command, not here.
"""

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from ssdlab.errors import InputError, check_word

_NO_NAMES = ("none", "-")
"""Refused as names of an output; no command has a word for no output."""


@dataclass(frozen=True)
class Parsed:
    """How the text of an option is converted. With `several`, `read` gets a list of texts."""

    read: Callable[[Any], Any]
    """Raises InputError. The option's name is put before a message that does not begin with an option."""
    default: str | None = None
    """The text to convert if the option is not given, or None for the field's default."""
    several: bool = False


@dataclass(frozen=True)
class _Option:
    """A parameter of a command, with its type for typer and its value for the command."""

    name: str
    shown: str
    """The option as typed, such as `--scale`."""
    taken: Any
    """The type for typer."""
    taken_default: Any
    default: Any
    words: tuple[str, ...]
    parsed: Parsed | None

    @property
    def parameter(self) -> inspect.Parameter:
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(self.name, kind, default=self.taken_default, annotation=self.taken)

    def value(self, given: Any) -> Any:
        """The value that the command gets. Raises InputError if the value is not allowed."""
        if given is None:
            return self.default
        if self.words:
            check_word(self.shown, given, self.words)
        if self.shown == "--output":
            _check_output(str(given))
        if self.parsed is None:
            return given
        try:
            return self.parsed.read(given)
        except InputError as error:
            message = str(error)
            raise InputError(message if message.startswith("--") else f"{self.shown}: {message}") from None


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """A function that calls the command and has every option as a separate parameter, as typer requires."""
    alone: dict[str, _Option] = {}
    groups: dict[str, tuple[type, list[_Option]]] = {}
    parameters: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for each in inspect.signature(command).parameters.values():
        kind = hints[each.name]
        if is_dataclass(kind):
            assert isinstance(kind, type)
            groups[each.name] = kind, _options_of(kind)
            parameters += [option.parameter for option in groups[each.name][1]]
        elif get_origin(kind) is Annotated:
            alone[each.name] = _option(each.name, kind, each.default)
            parameters.append(alone[each.name].parameter)
        else:
            parameters.append(each.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))

    def call(**given: Any) -> None:
        grouped = {
            name: kind(**{each.name: each.value(given.pop(each.name)) for each in options})
            for name, (kind, options) in groups.items()
        }
        own = {name: alone[name].value(value) if name in alone else value for name, value in given.items()}
        command(**grouped, **own)

    names = [each.name for each in parameters]
    assert len(names) == len(set(names)), f"{command.__name__}: two options have one name"
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def given(group: object) -> list[str]:
    """The options of a group that differ from their defaults, as typed."""
    return [option.shown for option in _options_of(type(group)) if getattr(group, option.name) != option.default]


def _options_of(group: type) -> list[_Option]:
    hints = get_type_hints(group, include_extras=True)
    found = []
    for each in sorted(fields(group), key=lambda each: _distance(group, each.name)):
        default = each.default if each.default_factory is MISSING else each.default_factory()
        found.append(_option(each.name, hints[each.name], inspect.Parameter.empty if default is MISSING else default))
    return found


def _distance(group: type, name: str) -> int:
    """The number of classes above the group at which the field is declared. Inherited options come last."""
    return next(above for above, kind in enumerate(group.__mro__) if name in inspect.get_annotations(kind))


def _option(name: str, hint: Any, default: Any) -> _Option:
    """The option for an annotated parameter or field. `default` is Parameter.empty if it has none."""
    assert get_origin(hint) is Annotated, f"{name} is no option: nothing says how typer shows it"
    kind, *described = get_args(hint)
    (info,) = (copy(each) for each in described if isinstance(each, OptionInfo | ArgumentInfo))
    parsed = next((each for each in described if isinstance(each, Parsed)), None)
    is_optional = type(None) in get_args(kind)
    inner = next(each for each in get_args(kind) if each is not type(None)) if is_optional else kind
    words: tuple[str, ...] = get_args(inner) if get_origin(inner) is Literal else ()
    taken, taken_default = kind, default
    if words:
        taken = str | None if is_optional else str
        info.metavar = info.metavar or "|".join(words)
        info.autocompletion = info.autocompletion or _completing(words)
    elif parsed:
        text = list[str] if parsed.several else str
        is_required = default is inspect.Parameter.empty and parsed.default is None
        taken = text if is_required or parsed.default is not None else text | None
        taken_default = parsed.default or (inspect.Parameter.empty if is_required else None)
    elif default in ((), []):
        taken, taken_default = list[str] | None, None
    # In an annotation, typer stores the first name in `default`.
    declared = [info.default, *(info.param_decls or ())]
    shown = next((each for each in declared if isinstance(each, str)), f"--{name.replace('_', '-')}")
    return _Option(name, shown, Annotated[taken, info], taken_default, default, words, parsed)


def _check_output(text: str) -> None:
    """Raises InputError for words that mean "no output" or "print it" elsewhere: each would be a folder's name here.
    An empty text, such as an unset variable in a script, would be the working folder."""
    if not text:
        raise InputError("--output is empty; allowed: a file or folder")
    if text.lower() in _NO_NAMES:
        raise InputError(f"--output is {text!r}; allowed: a file or folder, ./{text} if that is its name")


def _completing(words: tuple[str, ...]) -> Callable[[str], list[str]]:
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]
