"""The commands of the page, each as a model, so that an invalid one is refused with a message and changes nothing."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.controls import Controls

Views = Literal["valid", "erase_count", "age", "stream", "temperature"]
VIEWS: tuple[Views, ...] = ("valid", "erase_count", "age", "stream", "temperature")

DRIVES_MAX = 2
# A job file is a page of text; longer ones are refused before they are read.
JOB_TEXT_CHARACTERS_MAX = 1 << 18


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DriveChoice(_Model):
    """A drive as the page specifies it. None means the value of the drive's file."""

    name: Annotated[str, Field(max_length=200)]
    op: Annotated[float, Field(ge=0, le=20)] | None = None
    victim: Annotated[str, Field(max_length=64)] | None = None
    placement: Annotated[str, Field(max_length=64)] | None = None


class Run(_Model):
    """Continue at the current speed."""


class Pause(_Model):
    """Stop the drives."""


class Step(_Model):
    """Issue this number of requests, then stop."""

    requests: Annotated[int, Field(ge=1, le=10_000_000)] = 1


class Speed(_Model):
    """Requests per second of wall-clock time; None or "fastest": as fast as possible."""

    requests_per_second: Annotated[float, Field(ge=1, le=1e9)] | Literal["fastest"] | None


class Reset(_Model):
    """Replace the drives with new ones; the workload continues."""


class SetWorkload(_Model):
    """End the current workload and continue with this one."""

    workload: Controls


class ShippedJob(_Model):
    """Start a job file shipped with ssdlab, by its name."""

    name: Annotated[str, Field(max_length=100)]


class DroppedJob(_Model):
    """Start a job file that the user dropped on the page."""

    name: Annotated[str, Field(max_length=255)]
    text: Annotated[str, Field(max_length=JOB_TEXT_CHARACTERS_MAX)]


class Partition(_Model):
    """The share of the drive that the host uses; the rest is trimmed."""

    percent: Annotated[int, Field(ge=30, le=100)]


class Fill(_Model):
    """Write the partition once sequentially, then continue with the previous workload."""


class Drives(_Model):
    """Replace the drives with these new ones; two run in parallel."""

    drives: Annotated[list[DriveChoice], Field(min_length=1, max_length=DRIVES_MAX)]


class Mark(_Model):
    """Give the current moment a name."""

    name: Annotated[str, Field(max_length=80)] = ""


class CutPower(_Model):
    """Stop and report the cost of a power loss at this moment; for a served drive, cut its power."""


class PowerOn(_Model):
    """The page has shown the recovery; continue."""


class Share(_Model):
    """Return the session as a command line and its job file."""


class Report(_Model):
    """Write the report of the session so far."""


class EraseUnit(_Model):
    """Return the state of one erase unit, with its units."""

    drive: Annotated[int, Field(ge=0, lt=DRIVES_MAX)] = 0
    index: Annotated[int, Field(ge=0)]


class View(_Model):
    """What the pictures of this page show; `frames` is false if the page shows no picture."""

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
    """The command of that name with its arguments. Raises InputError, which names what is wrong."""
    model = COMMANDS.get(name) if isinstance(name, str) else None
    if model is None:
        raise InputError(f"{name!r} is not a command of the live page; known: {', '.join(COMMANDS)}")
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "arguments"
        raise InputError(f"{name}: {where} = {first.get('input')!r}: {first['msg']}") from None
