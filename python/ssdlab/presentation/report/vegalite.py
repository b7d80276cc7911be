"""Vega-Lite, the language of the pictures, as plain data: views, channels and what they are put together from.

The names are those of Vega-Lite and of Altair, with which a reader changes the pictures (`Figure.plot`). Altair itself
takes longer to load than a short comparison runs, and copies every part whenever one is added to another, so that it is
loaded only there; tests check each kind of picture against its schema.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import polars as pl

from ssdlab.foundation.foreign import JsonObject

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_TYPES = {"Q": "quantitative", "N": "nominal"}


class Channel(JsonObject):
    """What one channel of a mark shows: a field and its settings.

    The field is "name:Q" for a quantity and "name:N" for a name; the second end of a mark has the type of the first.
    """

    channel: ClassVar[str]

    def __init__(self, field: str, **settings: Any) -> None:
        name, _, kind = field.partition(":")
        super().__init__({"field": name} | ({"type": _TYPES[kind]} if kind else {}) | settings)


class X(Channel):
    channel = "x"


class X2(Channel):
    channel = "x2"


class Y(Channel):
    channel = "y"


class Y2(Channel):
    channel = "y2"


class Color(Channel):
    channel = "color"


class Fill(Channel):
    channel = "fill"


class Shape(Channel):
    channel = "shape"


class StrokeDash(Channel):
    channel = "strokeDash"


class Text(Channel):
    channel = "text"


class Order(Channel):
    channel = "order"


class Detail(Channel):
    channel = "detail"


class Row(Channel):
    channel = "row"


class Tooltip(Channel):
    channel = "tooltip"


class Value(JsonObject):
    """A channel with the same value for all marks, such as a place in pixels."""

    def __init__(self, channel: str, value: float, **settings: Any) -> None:
        super().__init__(value=value, **settings)
        self.channel = channel


class Datum(JsonObject):
    """A channel at one value of its axis."""

    def __init__(self, channel: str, datum: float) -> None:
        super().__init__(datum=datum)
        self.channel = channel


Encoding = Channel | Value | Datum


class Scale(JsonObject):
    """A scale, by its properties in Vega-Lite."""


class Axis(JsonObject):
    """An axis, by its properties in Vega-Lite."""


class Legend(JsonObject):
    """A legend, by its properties in Vega-Lite."""


class Picture(JsonObject):
    """A view: one kind of mark, layers of them, or pictures below each other. Methods give a changed copy."""

    def properties(self, **settings: Any) -> Self:
        return type(self)(self | settings)

    def add_params(self, *parameters: JsonObject) -> Self:
        """With parameters, before those that it has."""
        return self.properties(params=[*parameters, *self.get("params", [])])


class Chart(Picture):
    """Marks, one for each row."""

    def mark(self, kind: str, **settings: Any) -> Self:
        """With this kind of mark, such as "bar"."""
        return self.properties(mark={"type": kind, **settings})

    def encode(self, *channels: Encoding, tooltip: Sequence[Tooltip] = ()) -> Self:
        """With these channels, and the lines that the pointer shows."""
        added = {each.channel: each for each in channels} | ({"tooltip": list(tooltip)} if tooltip else {})
        return self.properties(encoding=self.get("encoding", {}) | added)

    def transform(self, **step: Any) -> Self:
        """With one more step by which its rows are changed, such as `filter="datum.x > 0"`."""
        return self.properties(transform=[*self.get("transform", []), step])

    def calculate(self, field: str, expression: str) -> Self:
        """With a field that is computed from the others."""
        return self.transform(calculate=expression, **{"as": field})

    def facet(self, row: Row, *, spacing: float, independent: str) -> Picture:
        """A picture for each value of a field, below each other, each with its own scale of one channel."""
        parts = {"data": self["data"], "spec": Picture({key: self[key] for key in self if key != "data"})}
        resolve = {"scale": {independent: "independent"}}
        return Picture(parts, facet={"row": row}, spacing=spacing, resolve=resolve)


def chart_of(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """A chart of these rows; a figure that is none is empty."""
    # A frame, because rows of different kinds get the same columns.
    frame = pl.DataFrame(list(rows), strict=False, infer_schema_length=None).fill_nan(None)
    return Chart(data={"values": frame.to_dicts()})


def layer(*layers: Picture, **settings: Any) -> Picture:
    """Charts on top of each other, on the same axes."""
    return Picture(layer=list(layers), **settings)


def vconcat(*parts: Picture, spacing: float) -> Picture:
    """Pictures below each other."""
    return Picture(vconcat=list(parts), spacing=spacing)


def specification(picture: Picture) -> JsonObject:
    """The picture in full, a new object. Rows that several of its layers share are written once, and what follows the
    pointer on a layer stands at the top, with the name of the layer."""
    datasets: dict[str, tuple[str, Any]] = {}
    selections: list[JsonObject] = []

    def shared(node: Any) -> Any:
        if isinstance(node, list):
            return [shared(item) for item in node]
        if not isinstance(node, dict):
            return node
        parts: JsonObject = {key: named(value) if key == "data" else shared(value) for key, value in node.items()}
        if "mark" in parts and "params" in parts:
            parts["name"] = f"view-{len(selections)}"
            selections.extend({**each, "views": [parts["name"]]} for each in parts.pop("params"))
        return parts

    def named(data: JsonObject) -> JsonObject:
        rows = data["values"]
        name, _ = datasets.setdefault(repr(rows), (f"data-{len(datasets)}", rows))
        return {"name": name}

    whole: JsonObject = shared({key: picture[key] for key in picture if key != "params"})
    whole["$schema"] = _SCHEMA
    whole["params"] = [*picture.get("params", []), *selections]
    whole["datasets"] = dict(datasets.values())
    return whole
