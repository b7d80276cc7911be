"""Classes of endurance in which drives are sold, in drive writes per day (DWPD) over the warranty.

The classes are those of makers' data sheets: 0.3 (client drives and QLC), 1 (read intensive), 3 (mixed use), 10 (write
intensive), and above those of drives with other media.
"""

from collections.abc import Sequence

CLASSES = (0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 100.0)
WAF_MAX = 5.0
"""The largest write amplification for which a class is named. A rating counts the host's bytes under the workload of
JESD219, so that a drive whose flash programs many times more wears out before."""


def class_of(drive_writes_per_day: float, waf: float | None = None) -> float | None:
    """The lowest class that allows a rate; None if none does, or the write amplification is too large for ratings."""
    if waf is not None and waf > WAF_MAX:
        return None
    return next((each for each in CLASSES if drive_writes_per_day <= each), None)


def sentence(drive_writes_per_day: float, waf: float | None = None) -> str:
    """`0.42 drive writes a day, which a rating of 1 drive write a day allows.`

    Whether that is enough, the drive's own wear tells.
    """
    found = class_of(drive_writes_per_day, waf)
    rate = f"{drive_writes_per_day:.2f}" if drive_writes_per_day >= 0.01 else "less than 0.01"
    if found is None and waf is not None and waf > WAF_MAX:
        return (
            f"{rate} drive writes a day; no rating is named for it, because ratings are for a write amplification of "
            f"up to about {WAF_MAX:g}, not {waf:.3g}."
        )
    if found is None:
        return f"{rate} drive writes a day: more than any class of drives is rated for ({CLASSES[-1]:g})."
    return f"{rate} drive writes a day, which a rating of {found:g} drive write{'s' * (found != 1)} a day allows."


def sentence_of_drives(rates: Sequence[float], wafs: Sequence[float | None] | None = None) -> str:
    """`A rating of 1 drive write a day allows the rate of 31 of 35, one of 3 that of all.`; empty without rates.

    `wafs` are the drives' write amplification; no class is named for one above `WAF_MAX`.
    """
    found = [class_of(rate, waf) for rate, waf in zip(rates, wafs or [None] * len(rates), strict=True)]
    needed = sorted({each for each in found if each is not None})
    beyond = sum(rate > CLASSES[-1] for rate in rates)
    amplified = found.count(None) - beyond
    amplify = (
        f"{amplified:,} amplif{'ies' if amplified == 1 else 'y'} more than ratings are for (WAF {WAF_MAX:g}), so that "
        f"none is named for {'it' if amplified == 1 else 'them'}"
    )
    if not needed:
        said = f"All write more than any class of drives is rated for ({CLASSES[-1]:g})."
        if amplified:
            said = f"No rating is named: {amplify}."
        return said if rates else ""
    counts = [(each, sum(other is not None and other <= each for other in found)) for each in needed]
    (first, enough), *others = [
        (each, "all" if count == len(rates) else f"{count:,} of {len(rates):,}") for each, count in counts
    ]
    said = f"A rating of {first:g} drive write{'s' * (first != 1)} a day allows the rate of {enough}"
    said += "".join(f", one of {each:g} that of {count}" for each, count in others)
    said += f"; {amplify}" if amplified else ""
    return f"{said}; {beyond:,} write{'s' * (beyond == 1)} more than any class is rated for." if beyond else f"{said}."
