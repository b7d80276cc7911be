"""All ladders of a file, fitted to two depths and predicted at the others: for the study and for `ssdlab fit`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from ssdlab.experiments.studies.contract import Row
from ssdlab.experiments.studies.queue_depths import fitting
from ssdlab.experiments.studies.queue_depths.fitting import LadderFit
from ssdlab.experiments.studies.queue_depths.ladders import Ladder, Step

if TYPE_CHECKING:
    import polars as pl

    from ssdlab.experiments.studies.context import Context
    from ssdlab.experiments.studies.contract import RowJson
    from ssdlab.simulator.drives import DriveFile


class LadderJson(TypedDict):
    """A ladder as JSON. `medians` are shares over the predicted depths; empty without such depths."""

    ladder: str
    parameters: list[str]
    fitted_to_figures: int
    host_us: float
    medians: dict[str, float]


class PredictedJson(TypedDict):
    """The result as JSON."""

    ladders: list[LadderJson]
    rows: "list[RowJson]"


@dataclass(frozen=True)
class Predicted:
    """Fits by label, and the simulated figures of each depth."""

    fits: Mapping[str, LadderFit]
    steps: Mapping[str, Mapping[int, Step]]

    @property
    def finding(self) -> str:
        """The medians over the predicted depths."""
        return fitting.finding(self.fits, self.steps)

    @property
    def rows(self) -> list[Row]:
        """Each figure, measured and simulated."""
        return [row for label, found in self.fits.items() for row in fitting.rows(found, self.steps[label])]

    def frame(self) -> "pl.DataFrame":
        """A line for each figure: ladder, figure, unit, measured, simulated, deviation (a share), predicted."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "ladder": row.group,
                    "figure": row.what,
                    "unit": row.unit,
                    "measured": row.published,
                    "simulated": row.simulated,
                    "deviation": row.deviation,
                    "predicted": row.is_left_out,
                }
                for row in self.rows
            ]
        )

    def to_dict(self) -> PredictedJson:
        ladders: list[LadderJson] = [
            {
                "ladder": label,
                "parameters": list(found.parameters),
                "fitted_to_figures": found.fitted.points,
                "host_us": found.host_us,
                "medians": fitting.medians(found, self.steps[label]),
            }
            for label, found in self.fits.items()
        ]
        return {"ladders": ladders, "rows": [row.to_dict() for row in self.rows]}


def predict(context: "Context", ladders: Sequence[Ladder], base: "DriveFile") -> Predicted:
    """Fits the base to each ladder and simulates every depth. Raises InputError."""
    fits = {ladder.label: fitting.fit(ladder, base) for ladder in ladders}
    return Predicted(fits, fitting.simulate(context, fits))
