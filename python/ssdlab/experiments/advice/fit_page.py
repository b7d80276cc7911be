"""A fit as a page: the fitted values with their confidence, and each point, measured and fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.presentation.report import parts, wording
from ssdlab.presentation.report.page import Page, Section, reproduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.experiments.advice.fitting import Fitted
    from ssdlab.presentation.report.figure import Figure


def page(fitted: Fitted, figures: Sequence[Figure], notices: Sequence[str], command_line: str) -> Page:
    """The page of a fit."""
    count, points = len(fitted.parameters) + len(fitted.chosen), len(fitted.points)
    said = f"{count} value{'s' * (count != 1)} fitted to {points} point{'s' * (points != 1)}"
    if fitted.fit.is_misfit:
        said = "no drive within the bounds reproduces the points"
    return Page(
        title=f"{', '.join(fitted.drives)}: {said}",
        subtitle="Keys of the drive file that make simulations reproduce measured points",
        summary=(
            f"The best of them is {fitted.fit.off} off, root mean square: no value is determined."
            if fitted.fit.is_misfit
            else f"The points are reproduced within {wording.share(fitted.fit.deviation_max, 2)}, "
            f"{fitted.fit.off} root mean square."
        ),
        notices=notices,
        before=[
            Section("Fitted values", parts.table("Fitted values", _HEADS, [*_values(fitted), *_choices(fitted)])),
            Section("Points", parts.table("Points", _POINT_HEADS, _points(fitted))),
        ],
        figures=figures,
        after=reproduced(command_line),
    )


_HEADS = ("key", "fitted", "95 % confidence", "bounds")
_POINT_HEADS = ("point", "metric", "measured", "simulated", "deviation", "")


def _values(fitted: Fitted) -> list[list[str]]:
    return [
        [each.name, *fitted.fit.cells(index), f"{each.low:g} to {each.high:g}"]
        for index, each in enumerate(fitted.parameters)
    ]


def _choices(fitted: Fitted) -> list[list[str]]:
    return [
        [name, value, "chosen", ", ".join(dict.fromkeys(each.chosen[name] for each in fitted.combinations))]
        for name, value in fitted.chosen.items()
    ]


def _points(fitted: Fitted) -> list[list[str]]:
    pairs = [(point, value, "fitted to") for point, value in zip(fitted.points, fitted.fit.simulated, strict=True)]
    pairs += [(each.point, each.value, "predicted") for each in fitted.held_out]
    return [
        [
            point.title,
            point.metric,
            f"{point.value:.5g}",
            f"{value:.5g}",
            f"{100 * (value / point.value - 1):+.1f} %",
            what,
        ]
        for point, value, what in pairs
    ]
