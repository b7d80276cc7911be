"""A large operator's acceptance test for data-centre NVMe drives: seven workloads with limits, and rates of trims."""

from collections.abc import Sequence

from ssdlab.evidence.estimate import SEEDS_DIFFER
from ssdlab.experiments.protocols.catalogue.ocp import limits
from ssdlab.experiments.protocols.catalogue.ocp.limits import Limit
from ssdlab.experiments.protocols.catalogue.ocp.workloads import points
from ssdlab.experiments.protocols.contract import Protocol
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.foundation.quantities import format_share

_FIGURE = {"p99": "p99_us", "p99.99": "p9999_us", "p99.9999": "p999999_us", "max": "max_us"}


def value_of(limit: Limit, figures: Figures) -> float | None:
    """The figure that a limit is for, in its unit; None if the target does not report it, or of too few requests."""
    rates = getattr(figures, limit.direction)
    if rates is None:
        return None
    if limit.is_minimum:
        return None if rates.mb_s is None else float(rates.mb_s) * 1e6 / 2**20
    found: float | None = getattr(rates, _FIGURE[limit.quantity])
    return found


def conclude(figures: Sequence[Figures]) -> str | None:
    """How many latency limits hold, and which fail. Limits of rates need the capacity, which figures do not have.

    As in the study `ocp-acceptance`, a limit that is missed by at most `SEEDS_DIFFER` is not judged, and named.
    """
    measured = [
        (limit, value, limit.verdict(value, 0))
        for each in figures
        if each.shown
        for limit in limits.of(each.step)
        if not limit.is_minimum and (value := value_of(limit, each)) is not None
    ]
    if not measured:
        return None
    kept, failed, near = (
        [_said(limit, value) for limit, value, verdict in measured if verdict is wanted]
        for wanted in (True, False, None)
    )
    judged = len(kept) + len(failed)
    said = f"{len(kept)} of {judged} limits of latency that can be judged hold" if judged else "no limit can be judged"
    if failed:
        said += f"; these fail: {', '.join(failed)}"
    if near:
        said += f"; missed by at most {format_share(SEEDS_DIFFER)}, which another run may not: {', '.join(near)}"
    return said


def _said(limit: Limit, value: float) -> str:
    return f"{limit.workload} {limit.direction} {limit.quantity} {value:,.0f} of {limit.value:,.0f} \N{MICRO SIGN}s"


PROTOCOL = Protocol(
    name="ocp",
    title="A large operator's acceptance test for data-centre NVMe drives",
    source="FioSynth's suites HE_Flash_Short_wTRIM_2H20, Cache_2H20, Search_2H20 and WSF, with the limits of OCP's "
    "Datacenter NVMe SSD Specification, appendix A; `limits.csv` says where each limit was found. FioSynth trims the "
    "whole drive before each of its hours of preconditioning; here each workload is preconditioned by itself",
    quick_gives_up="six of the seven workloads, and all but 10 s of the other",
    points=points,
    needs_device=True,
    columns=(
        "read_mb_s", "read_p99_us", "read_p9999_us", "read_p999999_us", "read_max_us",
        "write_mb_s", "write_p9999_us", "write_p999999_us", "write_max_us", "trim_mb_s", "trim_p99_us", "waf",
    ),
    conclude=conclude,
)  # fmt: skip
