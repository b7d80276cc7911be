"""What the page may ask for: each command a model, so that a wrong one is answered in words and changes nothing."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ssdlab.errors import InputError
from ssdlab.workloads.controls import Controls

Views = Literal["valid", "erase_count", "age", "stream", "temperature"]
VIEWS: tuple[Views, ...] = ("valid", "erase_count", "age", "stream", "temperature")

DRIVES_MAX = 2
# A job file is a page of text; more is refused before it is read.
JOB_TEXT_CHARACTERS_MAX = 1 << 18


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DriveChoice(_Model):
    """A drive as the page names it. What is None is as in the drive's file."""

    name: Annotated[str, Field(max_length=200)]
    op: Annotated[float, Field(ge=0, le=20)] | None = None
    victim: Annotated[str, Field(max_length=64)] | None = None
    placement: Annotated[str, Field(max_length=64)] | None = None


class Run(_Model):
    """Go on, at the speed that is set."""


class Pause(_Model):
    """Stand still."""


class Step(_Model):
    """Issue so many requests and stand still."""

    requests: Annotated[int, Field(ge=1, le=10_000_000)] = 1


class Speed(_Model):
    """Requests a second on this machine's clock; None, in words "fastest": as fast as it goes."""

    requests_per_second: Annotated[float, Field(ge=1, le=1e9)] | Literal["fastest"] | None


class Reset(_Model):
    """New drives, with the workload that is running."""


class SetWorkload(_Model):
    """End what is running and go on with this."""

    workload: Controls


class ShippedJob(_Model):
    """Start a job file that comes with ssdlab, by its name."""

    name: Annotated[str, Field(max_length=100)]


class DroppedJob(_Model):
    """Start a job file whose text the user dropped on the page."""

    name: Annotated[str, Field(max_length=255)]
    text: Annotated[str, Field(max_length=JOB_TEXT_CHARACTERS_MAX)]


class Partition(_Model):
    """The share of the drive that the host uses; what is behind it is trimmed."""

    percent: Annotated[int, Field(ge=30, le=100)]


class Fill(_Model):
    """Write the partition once in sequence, then go on as before."""


class Drives(_Model):
    """Other drives, new ones; two stand side by side."""

    drives: Annotated[list[DriveChoice], Field(min_length=1, max_length=DRIVES_MAX)]


class Mark(_Model):
    """Name this moment."""

    name: Annotated[str, Field(max_length=80)] = ""


class CutPower(_Model):
    """Stand still and tell what a loss of power would cost now; of a served drive the power is cut."""


class PowerOn(_Model):
    """The recovery has been shown; go on."""


class Share(_Model):
    """The session as a command line and its job file."""


class Report(_Model):
    """Write the report of the session so far."""


class EraseUnit(_Model):
    """One erase unit, down to its units."""

    drive: Annotated[int, Field(ge=0, lt=DRIVES_MAX)] = 0
    index: Annotated[int, Field(ge=0)]


class View(_Model):
    """What this page's pictures show; `frames` is off where the page has no picture."""

    by: Views = "valid"
    frames: bool = True


class Tour(_Model):
    """Go to a step of a tour; None leaves it."""

    name: Annotated[str, Field(max_length=100)] | None
    step: Annotated[int, Field(ge=0, le=100)] = 0


COMMANDS: dict[str, type[_Model]] = {
    "run": Run,
    "pause": Pause,
    "step": Step,
    "speed": Speed,
    "reset": Reset,
    "workload": SetWorkload,
    "shipped-job": ShippedJob,
    "dropped-job": DroppedJob,
    "partition": Partition,
    "fill": Fill,
    "drives": Drives,
    "mark": Mark,
    "cut-power": CutPower,
    "power-on": PowerOn,
    "share": Share,
    "report": Report,
    "erase-unit": EraseUnit,
    "view": View,
    "tour": Tour,
}


def command(name: object, arguments: object) -> Any:
    """The command so called with its arguments. Raises InputError that names what is wrong."""
    model = COMMANDS.get(name) if isinstance(name, str) else None
    if model is None:
        raise InputError(f"{name!r} is not a command of the live page; known: {', '.join(COMMANDS)}")
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "arguments"
        raise InputError(f"{name}: {where} = {first.get('input')!r}: {first['msg']}") from None
