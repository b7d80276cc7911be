"""`ssdlab advise smart`: the effect of leaving a part of a real drive empty, by its SMART reports."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from ssdlab.errors import InputError
from ssdlab.field.health import one_drive, what_if
from ssdlab.field.health.concerns import life_left, used_share
from ssdlab.field.health.survey import surveyed
from ssdlab.field.health.table import name_of
from ssdlab.field.health.what_if import WhatIf
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes
from ssdlab.presentation.report import page, parts
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.results import page_folder
from ssdlab.theory import endurance_class


@dataclass(frozen=True, repr=False)
class OwnDrive(Shown):
    """What the reports of a drive say of leaving a part of it empty."""

    row: TableRow
    """The drive in `ssdlab health`."""
    waf: float
    what_ifs: Sequence[WhatIf]
    state: Sequence[str]
    """What the drive does, as sentences."""
    inference: str
    """What the ranges rest on."""

    def __repr__(self) -> str:
        return f"<OwnDrive: {name_of(self.row)}, WAF {self.waf:.2f}, {len(self.what_ifs)} shares left empty>"

    @property
    def skew(self) -> str:
        """The skew of random writes that explains the write amplification, as for `--skew`."""
        theta = self.what_ifs[0].zipf_theta if self.what_ifs else None
        return f"zipf:{theta:.2f}" if theta else "uniform"

    @property
    def writes_per_day(self) -> str | None:
        """What the host writes a day, as for `--writes-per-day`; None if it is not known."""
        pace = self.row["host_bytes_per_day"]
        return f"{round(pace)}B" if pace else None

    @property
    def sentences(self) -> Sequence[str]:
        """Everything that is said, each effect with a hyphen."""
        return [*self.state, *(f"- {each.sentence()}" for each in self.what_ifs), self.inference]

    def title(self) -> str:
        """The effect of the largest share, if the whole range is below the present write amplification; otherwise what
        the page is about."""
        name = name_of(self.row)
        if not self.what_ifs:
            return f"What free space is worth to {name} cannot be inferred"
        most = max(self.what_ifs, key=lambda each: each.left_empty)
        if not most.is_lower:
            return f"Leaving a part of {name} empty"
        return f"{name}: {most.effect()} instead of {most.waf:.1f}"

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each share left empty.

        Columns: left_empty (share), waf (the present one), waf_low, waf_high, years_more_low, years_more_high,
        zipf_theta (the skew of random writes that explains the present one; null if none does).
        """
        schema = dict.fromkeys(WhatIf.__dataclass_fields__, pl.Float64)
        return pl.DataFrame([asdict(each) for each in self.what_ifs], schema=schema)

    def figures(self) -> Sequence[Figure]:
        """No pictures."""
        return ()

    def to_dict(self) -> dict[str, object]:
        """The object of `result.json`."""
        return {
            "drive": name_of(self.row),
            "waf": self.waf,
            "host_bytes_per_day": self.row["host_bytes_per_day"],
            "years_left": self.row["years_left"],
            "left_empty": [asdict(each) for each in self.what_ifs],
            "sentences": list(self.sentences),
        }

    def write(self, directory: str | Path, *, command_line: str = "") -> list[str]:
        """Writes report.html and result.json, all or none. Returns their names, the page last."""
        effects = [parts.bullets([each.sentence() for each in self.what_ifs])] if self.what_ifs else []
        whole = page.Page(
            title=self.title(),
            subtitle="From its SMART reports",
            summary=" ".join(self.state),
            notices=[self.inference],
            before=[page.Section("Effect", effect) for effect in effects],
            after=[page.Section("How to reproduce", parts.command(command_line))],
        )
        return page_folder.write(Path(directory), whole, {"result.json": json.dumps(self.to_dict(), indent=2) + "\n"})


def own_drive(places: Sequence[str], over_provisioning: float | None, left_empty: Sequence[float]) -> OwnDrive:
    """The effect of each share of `left_empty` on the drive of the reports.

    `over_provisioning` is that of the drive, estimated from its capacity if None. Raises InputError if the reports are
    of several drives or give no write amplification.
    """
    where = " ".join(places)
    with surveyed(places, workers=1) as spool:
        rows = spool.rows().filter(pl.col("unread").is_null()).collect().to_dicts()
    row = one_drive.row_of(rows, where, "ssdlab fleet smart")
    waf = row["recent_waf"] or row["waf"]
    if waf is None:
        raise InputError(f"{where}: no write amplification: {row['waf_reason']}")
    found = what_if.of(row, over_provisioning, left_empty)
    return OwnDrive(row, waf, found, _state(row, waf), what_if.basis(row, found, over_provisioning))


def _state(row: TableRow, waf: float) -> list[str]:
    since = " lately" if row["recent_waf"] else " since it was new"
    doubt = f" ({row['waf_doubt']})" if row["waf_doubt"] else ""
    said = [f"{name_of(row)}: write amplification {waf:.2f}{since}{doubt}"]
    if row["host_bytes_per_day"]:
        said.append(f"{format_bytes(round(row['host_bytes_per_day']))} a day from the host")
    if row["used_percent"] is not None and row["used_percent"] >= 100:
        said.append(f"past its rated life ({used_share(row)} used)")
    elif left := life_left(row):
        said.append(f"{left} left, by {row['years_by']}")
    sentences = [f"{', '.join(said)}."]
    if row["drive_writes_per_day"] is not None:
        sentence = endurance_class.sentence(row["drive_writes_per_day"], waf)
        sentences.append(sentence[0].upper() + sentence[1:])
    return sentences
