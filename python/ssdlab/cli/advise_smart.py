"""`ssdlab advise --smart`: SMART reports of a drive instead of a workload."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from ssdlab.errors import InputError
from ssdlab.field.health.concerns import duration
from ssdlab.field.health.table import name_of
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes, format_share
from ssdlab.presentation.terminal import text_columns
from ssdlab.theory import endurance_class

if TYPE_CHECKING:
    from ssdlab.experiments.advice.setting import Setting


@dataclass(frozen=True)
class OwnWorkload:
    """The workload inferred from a drive's reports, in the form of options of `ssdlab advise`."""

    skew: str
    writes_per_day: str | None


# Below it garbage collection moves too little for its model.
_WAF_MIN = 1.1


def _why_not(waf: float, *, reduces: bool) -> str:
    if reduces:
        return "the drive reduces data"
    if waf < _WAF_MIN:
        return f"a write amplification of {waf:.2f} is too close to 1"
    return f"no random writes on a drive of this spare area have a write amplification of {waf:.1f}"


def own_workload(places: Sequence[str], setting: "Setting | None", left_empty: Sequence[float]) -> OwnWorkload:
    """Prints what is inferred and returns the workload. Raises InputError if the reports give no WAF."""
    import polars as pl

    from ssdlab.field.health import one_drive, what_if
    from ssdlab.field.health.survey import surveyed

    where = f"--smart {' '.join(places)}"
    with surveyed(places, workers=1) as spool:
        rows = spool.rows().filter(pl.col("unread").is_null()).collect().to_dicts()
    row = one_drive.row_of(rows, where, "ssdlab fleet --smart")
    waf = row["recent_waf"] or row["waf"]
    if waf is None:
        raise InputError(f"{where}: no write amplification: {row['waf_reason']}")
    own = setting.at(None, None).capacity.over_provisioning if setting else None
    found = what_if.of(row, own, left_empty)
    said = [
        f"{name_of(row)}: write amplification {waf:.2f}" + (" lately" if row["recent_waf"] else " since it was new")
    ]
    if row["host_bytes_per_day"]:
        said.append(f"{format_bytes(round(row['host_bytes_per_day']))} a day from the host")
    if row["years_left"] is not None:
        said.append(f"{duration(row['years_left'])} left, by {row['years_by']}")
    _say(f"{', '.join(said)}.")
    if row["drive_writes_per_day"] is not None:
        sentence = endurance_class.sentence(row["drive_writes_per_day"])
        _say(sentence[0].upper() + sentence[1:])
    for each in found:
        _say(f"- {each.sentence()}")
    if not found:
        _say(f"The effect of more spare area cannot be inferred: {_why_not(waf, reduces=row['reduces_data'])}.")
    else:
        _say(_inference(row, found[0].zipf_theta, own))
    theta = found[0].zipf_theta if found else None
    pace = row["host_bytes_per_day"]
    return OwnWorkload(f"zipf:{theta:.2f}" if theta else "uniform", f"{round(pace)}B" if pace else None)


def _inference(row: TableRow, theta: float | None, own: float | None) -> str:
    from ssdlab.field.health.what_if import over_provisioning_of

    share = over_provisioning_of(row["capacity_bytes"]) if own is None else own
    taken = f"{format_share(share)} of spare area" + (
        "" if own is not None else " (flash assumed to be a power of two)"
    )
    skew = f"a skew of zipf {theta:.2f} explains it" if theta else "no skew of random writes explains it"
    return (
        f"This is an inference: counters do not show why a drive amplifies. At {taken}, {skew}; the range covers "
        "that, uniform writes with a different effective spare area, and partly sequential writes."
    )


def _say(text: str) -> None:
    typer.echo("\n".join(textwrap.wrap(text, text_columns(), subsequent_indent="  " if text.startswith("- ") else "")))
