"""What every table of a drive file is made of: bounded numbers, their units, and where a value comes from."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["datasheet", "measured", "fitted", "assumed"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_U32_MAX = 2**32 - 1
Count = Annotated[int, Field(ge=1, le=_U32_MAX)]
CountOrNone = Annotated[int, Field(ge=0, le=_U32_MAX)]
Bytes = Annotated[int, Field(ge=0, le=2**63 - 1)]
PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NumberOrZero = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]


def required(unit: str, description: str) -> Any:
    """A required key with the unit and the words that listings show."""
    return Field(description=description, json_schema_extra={"unit": unit})


def optional(default: object, unit: str, description: str) -> Any:
    """A key with what it is where the file does not say it, and its unit and words as above."""
    return Field(default=default, description=description, json_schema_extra={"unit": unit})


class Table(BaseModel):
    """A table of a drive file: no unknown keys, no silent conversions, no changes after reading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def unit(cls, key: str) -> str:
        """The unit of a key, as listings show it; empty for a name or a choice."""
        extra = cls.model_fields[key].json_schema_extra
        return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


class Source(Table):
    """Where a value comes from.

    `datasheet`: published by the maker. `measured`: by somebody, on the drive. `fitted`: chosen so that the model
    repeats measurements. `assumed`: by the author of the file, from what is usual.
    """

    kind: Kind
    source: Text
