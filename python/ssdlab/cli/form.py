"""`--format` of the commands that print a result: text for people, or JSON or CSV for programs.

What a command says beside its result, such as where its report is, goes to stdout with text and to stderr otherwise, so
that stdout is one JSON value or one table. Errors are the same in every format.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, cast, get_args

import typer

from ssdlab.errors import InputError, notify

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["text", "json", "csv"]
_REMOVED = "it is accepted for one more release"


class Answer(Protocol):
    """A result that can be printed: those of the library are (`ssdlab.presentation.report.shown`)."""

    def frame(self) -> "pl.DataFrame":
        """The rows of the CSV."""
        ...

    def to_dict(self) -> object:
        """The value of the JSON."""


@dataclass(frozen=True)
class Rows:
    """Rows as an answer; `plain` is the JSON value, by default the rows."""

    rows: Sequence[Mapping[str, Any]]
    plain: object = None

    def frame(self) -> "pl.DataFrame":
        import polars as pl

        names = dict.fromkeys(name for row in self.rows for name in row)
        columns = {name: _of_one_type([row.get(name) for row in self.rows]) for name in names}
        return pl.DataFrame(columns, strict=False)

    def to_dict(self) -> object:
        return list(self.rows) if self.plain is None else self.plain


@dataclass(frozen=True)
class Printing:
    """How a command prints its result."""

    @property
    def kind(self) -> Kind:
        """The format."""
        raise NotImplementedError

    @property
    def is_data(self) -> bool:
        """Whether the result is printed for programs."""
        return self.kind != "text"

    def give(self, answer: "Answer | Callable[[], Answer]", text: Callable[[], object]) -> None:
        """Prints the result: with `text` as text. A function instead of an answer is only called for the others."""
        if self.kind == "text":
            text()
            return
        found = answer() if callable(answer) else answer
        if self.kind == "json":
            typer.echo(json.dumps(finite(found.to_dict()), indent=2, ensure_ascii=False, default=str))
        else:
            typer.echo(csv(found), nl=False)

    def say(self, text: str = "") -> None:
        """Prints something that is not the result."""
        if text or not self.is_data:
            typer.echo(text, err=self.is_data)

    def say_files(self, folder: Path | str, names: Sequence[str]) -> None:
        """Says where a command has written its page and the files beside it, of these names."""
        self.say()
        self.say(f"report: {Path(folder) / 'report.html'}\nfiles:  {len(names)} in {folder}")


@dataclass(frozen=True)
class Form(Printing):
    """The format in which a command prints its result."""

    asked: Annotated[
        Kind | None,
        typer.Option("--format", metavar="text|json|csv", help="Print text, JSON or CSV.  [default: text]"),
    ] = None

    @property
    def kind(self) -> Kind:
        return self.asked or "text"


@dataclass(frozen=True)
class FormOrJson(Form):
    """With the older `--json`."""

    as_json: Annotated[bool, typer.Option("--json", help="Older form of --format json.", hidden=True)] = False

    def __post_init__(self) -> None:
        if self.as_json:
            if self.asked not in (None, "json"):
                raise InputError(f"--json and --format {self.asked} exclude each other")
            notify([f"--json is now --format json; {_REMOVED}"])

    @property
    def kind(self) -> Kind:
        return "json" if self.as_json else super().kind


@dataclass(frozen=True)
class FormOrOutputFormat(Form):
    """With the older `--output-format`."""

    output_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option("--output-format", metavar="FORMAT", help="Older form of --format.", hidden=True),
    ] = None

    def __post_init__(self) -> None:
        if self.output_format is not None:
            if self.asked not in (None, self.output_format):
                raise InputError(f"--output-format {self.output_format} and --format {self.asked} exclude each other")
            notify([f"--output-format is now --format; {_REMOVED}"])

    @property
    def kind(self) -> Kind:
        return self.output_format or super().kind


def csv(answer: Answer) -> str:
    """The rows of the answer, below a line with their names."""
    return str(_flat(answer.frame()).write_csv())


def _of_one_type(values: Sequence[Any]) -> Sequence[Any]:
    """The values as a column has them: as they are if they are of one type, otherwise as text."""
    kinds = {float if type(value) is int else type(value) for value in values if value is not None}
    if len(kinds) <= 1 and not kinds & {dict, list, tuple}:
        return values
    return [
        value if value is None or isinstance(value, str) else json.dumps(finite(value), default=str) for value in values
    ]


@dataclass(frozen=True)
class FormOrTraces(Printing):
    """For commands that read traces: the older meaning of `--format` was the format of a trace."""

    asked: Annotated[
        str | None,
        typer.Option("--format", metavar="text|json|csv", help="Print text, JSON or CSV.  [default: text]"),
    ] = None
    read_as: Annotated[
        str | None,
        typer.Option("--trace-format", metavar="F", help="Format of a trace.  [default: detected]"),
    ] = None

    def __post_init__(self) -> None:
        if self._is_older:
            if self.read_as is not None:
                raise InputError(f"--format is {self.asked!r}; allowed: {', '.join(get_args(Kind))}")
            notify([f"--format {self.asked} is now --trace-format {self.asked}; {_REMOVED}"])

    @property
    def kind(self) -> Kind:
        return "text" if self._is_older or self.asked is None else cast("Kind", self.asked)

    @property
    def trace_format(self) -> str | None:
        """The format in which traces are read; None: detected."""
        return self.asked if self._is_older else self.read_as

    @property
    def _is_older(self) -> bool:
        return self.asked is not None and self.asked not in get_args(Kind)


def finite(value: Any) -> Any:
    """A copy in which numbers that JSON does not have, such as an infinite bound, are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return value


def _flat(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame with lists and structures written out as JSON, which CSV does not have."""
    import polars as pl

    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns(
        pl.Series(
            name,
            [None if each is None else json.dumps(finite(each), default=str) for each in frame[name].to_list()],
            pl.String,
        )
        for name in nested
    )
