"""Estimates a drive's write amplification and life if a part of its capacity had been left unpartitioned."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.field.health.concerns import YEARS_SAID_MAX, bounded_years
from ssdlab.field.health.drive import Row
from ssdlab.foundation.quantities import format_share, rounded
from ssdlab.hardware.smart.lifetime_waf import sums_kinds_of_cells
from ssdlab.theory import field_inference

LEFT_EMPTY = (0.07, 0.14, 0.28)
# Below it garbage collection moves too little for its model.
_WAF_MIN = 1.1


@dataclass(frozen=True)
class WhatIf:
    """The effect of leaving a share of the capacity empty. Results are ranges, because the cause of the drive's write
    amplification is not known."""

    left_empty: float
    waf: float
    """The current write amplification."""
    waf_low: float
    waf_high: float
    years_more_low: float | None
    """At the drive's pace; None if it is not known, 0 if all of the rated life is used."""
    years_more_high: float | None
    zipf_theta: float | None
    """The skew of writes that explains the figure; None if no skew does."""

    def sentence(self) -> str:
        """`28 % unpartitioned would give a WAF of 1.5 to 1.9 instead of 3.9, and 4.2 to 6.0 more years.`"""
        said = f"{self.effect()} instead of {self.waf:.1f}"
        if self.years_more_low is not None and self.years_more_high:
            said += f", and {_years(self.years_more_low, self.years_more_high)} more years"
        return f"{said}."

    def effect(self) -> str:
        """`28 % unpartitioned would give a WAF of 1.5 to 1.9`, or `of 1.1 at best` if the range ends at the present
        one."""
        waf = _range(self.waf_low, self.waf_high) if self.is_lower else f"{self.waf_low:.1f} at best"
        return f"{format_share(self.left_empty)} unpartitioned would give a WAF of {waf}"

    @property
    def is_lower(self) -> bool:
        """Whether the whole range is visibly below the present write amplification."""
        return round(self.waf_high, 1) < round(self.waf, 1)


def over_provisioning_of(capacity_bytes: int) -> float:
    """Over-provisioning of a drive whose flash is the next power of two in GiB, as on most drives that state it."""
    flash_bytes = 1 << 30
    while flash_bytes <= capacity_bytes:
        flash_bytes *= 2
    return flash_bytes / capacity_bytes - 1


def of(row: Row, over_provisioning: float | None = None, left_empty: Sequence[float] = LEFT_EMPTY) -> list[WhatIf]:
    """The effects for a drive's row; empty if its write amplification is not known or cannot be reduced.

    The recent write amplification is used if two reports give it. `over_provisioning` is that of the drive, estimated
    from its capacity if None.
    """
    waf = row["recent_waf"] or row["waf"]
    if waf is None or row["reduces_data"] or not row["capacity_bytes"] or sums_kinds_of_cells(row["waf_source"]):
        return []
    own = over_provisioning_of(row["capacity_bytes"]) if over_provisioning is None else over_provisioning
    found = []
    for share in left_empty:
        inferred = field_inference.with_more(waf, own, share)
        if inferred is not None:
            years = bounded_years(row)
            found.append(
                WhatIf(
                    share,
                    waf,
                    inferred.waf_low,
                    inferred.waf_high,
                    None if years is None else years * (inferred.life_factor_low - 1),
                    None if years is None else years * (inferred.life_factor_high - 1),
                    inferred.zipf_theta,
                )
            )
    return found


def _years(low: float, high: float) -> str:
    """Years with two digits, up to `YEARS_SAID_MAX`."""
    if low > YEARS_SAID_MAX:
        return f"more than {YEARS_SAID_MAX:g}"
    first, last = (rounded(round(each, 1), 2) for each in (low, min(high, YEARS_SAID_MAX)))
    if high > YEARS_SAID_MAX:
        return f"{first} to more than {YEARS_SAID_MAX:g}"
    return first if first == last else f"{first} to {last}"


def basis(row: Row, found: Sequence[WhatIf], over_provisioning: float | None = None) -> str:
    """What the ranges of `of` rest on; without any, why nothing can be inferred. The write amplification is known."""
    if not found:
        return f"The effect of more spare area cannot be inferred: {_why_not(row)}."
    own = over_provisioning_of(row["capacity_bytes"]) if over_provisioning is None else over_provisioning
    taken = f"{format_share(own)} of spare area"
    if over_provisioning is None:
        taken += " (flash assumed to be a power of two)"
    theta = found[0].zipf_theta
    skew = f"a skew of zipf {theta:.2f} explains it" if theta else "no skew of random writes explains it"
    return (
        f"This is an inference: counters do not show why a drive amplifies. At {taken}, {skew}; the range covers "
        "that, uniform writes with a different effective spare area, and partly sequential writes."
    )


def _why_not(row: Row) -> str:
    waf = row["recent_waf"] or row["waf"]
    if row["reduces_data"]:
        return "the drive reduces data"
    if not row["capacity_bytes"]:
        return "its capacity is not known"
    if sums_kinds_of_cells(row["waf_source"]):
        return (
            "its NAND writes are those of cells in SLC mode and of the others together, and what an SLC cache moves to "
            "the others is written whatever the spare area is"
        )
    if waf < _WAF_MIN:
        return f"a write amplification of {waf:.2f} is too close to 1"
    return f"no random writes on a drive of this spare area have a write amplification of {waf:.1f}"


def _range(low: float, high: float) -> str:
    return f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"
