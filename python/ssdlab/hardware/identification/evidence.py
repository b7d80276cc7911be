"""The results of experiments as plain values that can be stored: inferred values, charts, undetermined keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ssdlab.foundation.foreign import JsonObject
from ssdlab.presentation.report.lines import Line, Marks

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
    """A value with its 90 % interval. `key` is a key of the drive file or a derived one (`DERIVED` in `drive.py`).

    `low` and `high` equal the value if it is a word or certain.
    """

    key: str
    value: Value
    low: Value
    high: Value
    experiment: str

    def to_dict(self) -> InferredJson:
        """The value as an entry of `result.json`."""
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
        """The key and the reason as an entry of `result.json`."""
        return {"key": self.key, "reason": self.reason}


@dataclass(frozen=True)
class Picture:
    """A chart that shows the evidence for a mechanism. `finding` states the result."""

    name: str
    finding: str
    caption: str
    x_title: str
    y_title: str
    curves: Sequence[Line]
    marks: Sequence[Marks] = ()
    """Points that the model predicts, or the place of a detected step."""
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Written:
    """The text of jobs that wrote to the drive, and the bytes that they wrote."""

    jobs: str
    written_bytes: int


@dataclass
class Outcome:
    """The results of one experiment."""

    inferred: list[Inferred] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    undetermined: list[Undetermined] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    """Keys that an earlier experiment inferred, and whose value this one shows to be another; each has a reason in
    `undetermined`."""
    written: list[Written] = field(default_factory=list)
    """In the order of execution, so that a model can repeat them."""
    seconds: float = 0.0
    """Duration by the drive's clock."""
    facts: JsonObject = field(default_factory=dict)
    """Measurements that later experiments and the fit need, as plain JSON values."""

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Outcome":
        return cls(
            [Inferred(**each) for each in plain["inferred"]],
            [_picture(each) for each in plain["pictures"]],
            [Undetermined(**each) for each in plain["undetermined"]],
            list(plain["withdrawn"]),
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
