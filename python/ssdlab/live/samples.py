"""The rows of charts over time: one for each short interval, with a limited number for runs of any length.

Rows contain amounts, not rates, so that neighbours can be merged exactly: requests, bytes and seconds add up.
Percentiles are merged as means weighted by requests, as in the reports.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.live.messages import Figures
from ssdlab.simulator.results.ledger import PARTS


@dataclass(frozen=True)
class Column:
    """One column of the rows. The browser's page has this table too (`tools/browser_edition.py`)."""

    path: tuple[str, ...]
    """Where its value is in the figures of the native module; what is missing there is None."""
    kind: str = "moment"
    """How two intervals are merged: `moment`, the later value; `amount`, the sum; `programs`, the sum, of units that
    become bytes; or the name of the column by which their mean is weighted."""


def _column(path: str, kind: str = "moment") -> Column:
    return Column(tuple(path.split(".")), kind)


COLUMNS = {
    "simulated_seconds": _column("simulated_seconds"),
    "host_written_bytes": _column("ledger.host_written_bytes"),
    "waf": _column("waf"),
    "theory": _column("theory"),
    "free_erase_units": _column("free_erase_units"),
    "effective_over_provisioning": _column("capacity.effective_over_provisioning"),
    **{f"erase_count_{rank}": _column(f"erase_count.{rank}") for rank in ("min", "mean", "max")},
    "seconds": _column("since.simulated_seconds", "amount"),
    "requests": _column("since.requests", "amount"),
    # Completed requests; without a clock they are not counted.
    "reads": _column("since.read_latency.count", "amount"),
    "writes": _column("since.write_latency.count", "amount"),
    "read_bytes": _column("since.ledger.host_read_bytes", "amount"),
    "written_bytes": _column("since.ledger.host_written_bytes", "amount"),
    **{f"programmed_{part}": _column(f"since.ledger.programmed_units.{part}", "programs") for part in PARTS},
    **{
        f"{way}_latency_ns_{rank}": _column(f"since.{way}_latency.{rank}_ns", f"{way}s")
        for way in ("read", "write")
        for rank in ("p50", "p99", "p999")
    },
}
_PLACES = {name: place for place, name in enumerate(COLUMNS)}

Row = list[float | None]

ROWS_MAX = 1200
REQUESTS_MIN = 500
"""Of fewer requests, a rate says nothing: at 20 requests a second, as in a lecture, an interval has two, and one that
waited for no garbage collection would be shown as ten million a second. The page has this number too (`series.js`)."""


class History:
    """The rows of one drive, oldest first."""

    def __init__(self, rows_max: int = ROWS_MAX, requests_min: int = REQUESTS_MIN) -> None:
        self.rows: list[Row] = []
        self.epoch = 0
        """Increases when older rows change; a reader must then read all rows again."""
        self._rows_max = rows_max
        self._requests_min = requests_min
        self._whiles_per_row = 1
        self._whiles_in_last = 0

    def add(self, row: Row) -> bool:
        """Adds one interval. Returns whether it began a new row; otherwise it was merged into the last one, as are all
        until that has enough requests."""
        if self.rows and (self.rows[-1][_PLACES["requests"]] or 0) < self._requests_min:
            self.rows[-1] = joined(self.rows[-1], row)
            return False
        if self._whiles_in_last and self._whiles_in_last < self._whiles_per_row:
            self.rows[-1] = joined(self.rows[-1], row)
            self._whiles_in_last += 1
            return False
        self.rows.append(row)
        self._whiles_in_last = 1
        if len(self.rows) > self._rows_max:
            pairs = range(0, len(self.rows) - 1, 2)
            rest = self.rows[len(pairs) * 2 :]
            self.rows = [joined(self.rows[index], self.rows[index + 1]) for index in pairs] + rest
            self._whiles_in_last = 2 * self._whiles_per_row if not rest else self._whiles_in_last
            self._whiles_per_row *= 2
            self.epoch += 1
        return True


def joined(first: Sequence[float | None], second: Sequence[float | None]) -> Row:
    """Merges two consecutive rows."""
    row: Row = []
    for before, after, column in zip(first, second, COLUMNS.values(), strict=True):
        if column.kind == "moment":
            row.append(after)
        elif column.kind in ("amount", "programs"):
            row.append(None if before is None or after is None else before + after)
        else:
            weight = _PLACES[column.kind]
            row.append(_mean((before, first[weight]), (after, second[weight])))
    return row


def _mean(*values: tuple[float | None, float | None]) -> float | None:
    known = [(value, weight or 0.0) for value, weight in values if value is not None]
    weights = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / weights if weights else None


def row_of(figures: Figures, theory: float | None) -> Row:
    """The row for figures, of which `figures["since"]` is the interval."""
    known: JsonObject = {**figures, "theory": theory}
    unit_bytes = figures["capacity"]["counted_unit_bytes"]
    row: Row = []
    for column in COLUMNS.values():
        value: Any = known
        for name in column.path:
            value = None if value is None else value.get(name)
        row.append((value or 0) * unit_bytes if column.kind == "programs" else value)
    return row
