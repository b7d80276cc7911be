"""What experiments give, as plain values to keep on disk: inferred values, pictures, what could not be determined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ssdlab.foreign import JsonObject
from ssdlab.report.lines import Line, Marks

Number = float | int
Value = Number | str | bool


class InferredJson(TypedDict):
    key: str
    value: Value
    low: Value
    high: Value
    experiment: str


class UndeterminedJson(TypedDict):
    key: str
    reason: str


@dataclass(frozen=True)
class Inferred:
    """A value with its 90 % interval. `key` is one of the drive file, or derived (`DERIVED` of `drive.py`).

    `low` and `high` equal the value where it is a word or certain.
    """

    key: str
    value: Value
    low: Value
    high: Value
    experiment: str

    def to_dict(self) -> InferredJson:
        """As in `result.json`."""
        return {
            "key": self.key,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "experiment": self.experiment,
        }


@dataclass(frozen=True)
class Undetermined:
    """A key that could not be inferred."""

    key: str
    reason: str

    def to_dict(self) -> UndeterminedJson:
        """As in `result.json`."""
        return {"key": self.key, "reason": self.reason}


@dataclass(frozen=True)
class Picture:
    """The evidence for a mechanism. `finding` says what it shows."""

    name: str
    finding: str
    caption: str
    x_title: str
    y_title: str
    curves: Sequence[Line]
    marks: Sequence[Marks] = ()
    """What the model says, or where a step was found."""
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Written:
    """Jobs that wrote, as they were run."""

    jobs: str
    written_bytes: int


@dataclass
class Outcome:
    """What one experiment gave."""

    inferred: list[Inferred] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    undetermined: list[Undetermined] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    """In their order, for a model to repeat."""
    seconds: float = 0.0
    """On the clock of the drive."""
    facts: JsonObject = field(default_factory=dict)
    """Measurements that later experiments and the fit need, as plain JSON values."""

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Outcome":
        return cls(
            [Inferred(**each) for each in plain["inferred"]],
            [_picture(each) for each in plain["pictures"]],
            [Undetermined(**each) for each in plain["undetermined"]],
            [Written(**each) for each in plain["written"]],
            float(plain["seconds"]),
            dict(plain["facts"]),
        )


def _picture(plain: Mapping[str, Any]) -> Picture:
    curves = [Line(each["label"], _points(each)) for each in plain["curves"]]
    marks = [Marks(each["label"], _points(each)) for each in plain["marks"]]
    return Picture(**{**plain, "curves": curves, "marks": marks})


def _points(plain: Mapping[str, Any]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in plain["points"]]
