"""The rows of charts over time: one for each short interval, with a limited number for runs of any length.

Rows contain amounts, not rates, so that neighbours can be merged exactly: requests, bytes and seconds add up.
Percentiles are merged as means weighted by requests, as in the reports.
"""

from collections.abc import Sequence

from ssdlab.live.messages import FiguresShown, Rank
from ssdlab.simulator.results.ledger import PARTS

PERCENTILES: tuple[Rank, ...] = ("p50", "p99", "p999")

# Values at the end of the interval.
_MOMENTARY = (
    "simulated_seconds",
    "host_written_bytes",
    "waf",
    "theory",
    "free_erase_units",
    "effective_over_provisioning",
    "erase_count_min",
    "erase_count_mean",
    "erase_count_max",
)
# Values within the interval.
_AMOUNTS = (
    "seconds",
    "requests",
    "reads",
    "writes",
    "read_bytes",
    "written_bytes",
    *(f"programmed_{part}" for part in PARTS),
)
_LATENCIES = tuple(f"{way}_latency_ns_{rank}" for way in ("read", "write") for rank in PERCENTILES)
COLUMNS = (*_MOMENTARY, *_AMOUNTS, *_LATENCIES)

Row = list[float | None]

ROWS_MAX = 1200


class History:
    """The rows of one drive, oldest first."""

    def __init__(self, rows_max: int = ROWS_MAX) -> None:
        self.rows: list[Row] = []
        self.epoch = 0
        """Increases when older rows change; a reader must then read all rows again."""
        self._rows_max = rows_max
        self._whiles_per_row = 1
        self._whiles_in_last = 0

    def add(self, row: Row) -> bool:
        """Adds one interval. Returns whether it began a new row; otherwise it was merged into the last one."""
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
    for index, name in enumerate(COLUMNS):
        before, after = first[index], second[index]
        if name in _MOMENTARY:
            row.append(after)
        elif name in _AMOUNTS:
            row.append(None if before is None or after is None else before + after)
        else:
            requests = COLUMNS.index("reads" if name.startswith("read") else "writes")
            row.append(_mean((before, first[requests]), (after, second[requests])))
    return row


def _mean(*values: tuple[float | None, float | None]) -> float | None:
    known = [(value, weight or 0.0) for value, weight in values if value is not None]
    weights = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / weights if weights else None


def row_of(figures: FiguresShown, theory: float | None) -> Row:
    """The row for figures (`ssdlab.live.figures`); `figures["since"]` is the interval."""
    since = figures["since"]
    erases = figures["erase_count"]
    values: dict[str, float | None] = {
        "simulated_seconds": figures["simulated_seconds"],
        "host_written_bytes": figures["host_written_bytes"],
        "waf": figures["waf"],
        "free_erase_units": figures["free_erase_units"],
        "effective_over_provisioning": figures["effective_over_provisioning"],
        "erase_count_min": erases["min"],
        "erase_count_mean": erases["mean"],
        "erase_count_max": erases["max"],
        "theory": theory,
        "seconds": since["seconds"],
        "requests": since["requests"],
        "reads": since["reads"],
        "writes": since["writes"],
        "read_bytes": since["read_bytes"],
        "written_bytes": since["written_bytes"],
        **{f"programmed_{part}": since["programmed_bytes"][part] for part in PARTS},
    }
    for way, latency in (("read", since["read_latency_ns"]), ("write", since["write_latency_ns"])):
        values |= {f"{way}_latency_ns_{rank}": latency[rank] if latency else None for rank in PERCENTILES}
    return [values[name] for name in COLUMNS]
