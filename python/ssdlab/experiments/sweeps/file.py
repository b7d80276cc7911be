"""The sweep file: the axes, the sampling of their space, and the options of all runs."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from ssdlab.errors import InputError, near
from ssdlab.foundation.foreign import JsonObject

_RUNS_MAX = 1_000_000


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class Sample(_Table):
    """How points are taken from the axes: all combinations, or `count` samples."""

    method: Literal["grid", "random", "latin-hypercube"] = "grid"
    count: Annotated[int, Field(ge=1, le=_RUNS_MAX)] | None = None
    seed: Annotated[int, Field(ge=0)] = 1


class RunTable(_Table):
    """The options of all runs, named as in `ssdlab compare`."""

    until: Literal["steady", "job"] = "steady"
    precondition: Literal["fill", "none"] = "fill"
    timed: bool = True
    scale: str | None = None


class Range(_Table):
    """An axis between two ends. `count` is for a grid; `spacing` also applies to random samples."""

    start: float | int | str = Field(alias="from")
    end: float | int | str = Field(alias="to")
    count: Annotated[int, Field(ge=2, le=_RUNS_MAX)] | None = None
    spacing: Literal["linear", "log"] = "linear"


Scalar = str | int | float | bool
Axis = list[Scalar] | Range
_RANGE, _LIST = "<range>", "<list>"
# Distinguished before validation, so that an error in a range is not reported as a missing list.
_TaggedAxis = Annotated[
    Annotated[list[Scalar], Tag(_LIST)] | Annotated[Range, Tag(_RANGE)],
    Discriminator(lambda value: _RANGE if isinstance(value, dict | Range) else _LIST),
]


class SweepFile(_Table):
    """A sweep. `axes` maps `drive`, `job`, `op`, `seed` or keys of the drive file to their values."""

    name: Annotated[str, Field(min_length=1, pattern=r"^[A-Za-z0-9._-]+$")]
    description: str = ""
    axes: dict[str, _TaggedAxis]
    sample: Sample = Sample()
    run: RunTable = RunTable()


def load(path: Path) -> SweepFile:
    """Reads a sweep file. Raises InputError with file, key, value and what is allowed."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not valid TOML: {error}; a sweep names its drives and jobs under [axes]") from None
    try:
        sweep = SweepFile.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error, content)}") from None
    _check(path, sweep)
    return sweep


def _first(error: ValidationError, content: JsonObject) -> str:
    """The first error as one sentence: key, value, what is allowed."""
    fault = error.errors()[0]
    place = [str(part) for part in fault["loc"] if part not in (_RANGE, _LIST)]
    key = ".".join(place)
    if fault["type"] == "extra_forbidden":
        known = _known(place[:-1])
        return f"unknown key {key}{near(place[-1], known)}; known here: {', '.join(known)}"
    if fault["type"] == "missing":
        return f"{key} is missing"
    value: Any = fault["input"]
    return f"{key} = {value!r}: {fault['msg']}"


def _known(place: list[str]) -> list[str]:
    tables: dict[str, type[_Table]] = {"": SweepFile, "sample": Sample, "run": RunTable}
    table = tables.get(".".join(place), Range)
    return [field.alias or name for name, field in table.model_fields.items()]


def _check(path: Path, sweep: SweepFile) -> None:
    """Checks keys that depend on each other. Raises InputError."""
    for required in ("drive", "job"):
        if not isinstance(sweep.axes.get(required), list):
            raise InputError(f'{path}: axes.{required} is missing; it must be a list of one or more, as in ["..."]')
    for name, axis in sweep.axes.items():
        if isinstance(axis, list) and not axis:
            raise InputError(f"{path}: axes.{name} is an empty list")
        if isinstance(axis, list) and len(set(map(repr, axis))) < len(axis):
            raise InputError(f"{path}: axes.{name} lists a value twice")
        if isinstance(axis, Range) and sweep.sample.method == "grid" and axis.count is None:
            raise InputError(f"{path}: axes.{name} is a range without `count`, which a grid needs")
    if sweep.sample.method == "grid" and sweep.sample.count is not None:
        raise InputError(f"{path}: sample.count = {sweep.sample.count}: a grid takes all combinations; leave it out")
    if sweep.sample.method != "grid" and sweep.sample.count is None:
        raise InputError(f"{path}: sample.count is missing; sample.method = {sweep.sample.method!r} needs it")
