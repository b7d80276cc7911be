"""The comparison in the terminal: one table, or several with the same rows if one is too wide."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ssdlab.evidence import Estimate, estimate
from ssdlab.evidence.clock import UNTIMED
from ssdlab.evidence.estimate import WIDE
from ssdlab.evidence.scale import tails_said
from ssdlab.experiments.comparison.variant import Variant
from ssdlab.foundation.quantities import format_deviation, format_effective, format_share, is_nearly_empty, rounded
from ssdlab.presentation.terminal import fits, show
from ssdlab.simulator.drives import standing
from ssdlab.simulator.results import PARTS, drive_state
from ssdlab.simulator.results.latency import Latency

if TYPE_CHECKING:
    from rich.console import Console

MISSING = "-"
BYTES_PER_TB = 10**12
# Below this difference, the WAF of the whole stage and of the steady state are the same figure in the table.
_WAF_STEP = 0.005
# The maximum number of labels that are listed; more are counted.
_LABELS_MAX = 2


@dataclass(frozen=True)
class _Column:
    heading: str
    cell: Callable[[Variant], str]


def print_table(variants: Sequence[Variant], console: "Console") -> None:
    """Prints the variants and, below, the meaning of the figures and the reasons for missing ones."""
    parts = [columns for make in (_write_columns, _speed_columns, _life_columns) if (columns := make(variants))]
    whole = _table(variants, [column for columns in parts for column in columns])
    tables = [_table(variants, columns) for columns in parts]
    if fits(whole, console) or not all(fits(table, console) for table in tables):
        tables = [whole]
    for table in tables:
        show(table, console)
    for line in _legend(variants):
        console.print(line, highlight=False, markup=False)


def _write_columns(variants: Sequence[Variant]) -> list[_Column]:
    columns = [
        _Column("OP", lambda variant: format_share(variant.result.capacity.over_provisioning)),
        _Column("effective OP", _effective),
        _Column("WAF", _waf),
    ]
    columns += [_Column(_PART_HEADINGS.get(part, part), _part_cell(part)) for part in _present(variants)]
    if _stage_differs(variants):
        columns.append(
            _Column(
                "WAF, whole stage",
                lambda variant: _number(variant.result.last_stage_ledger.waf, _waf_decimals(variant)),
            )
        )
    if any(variant.expectation.value is not None for variant in variants):
        columns.append(_Column("theory", lambda variant: _number(variant.expectation.value, 3)))
        columns.append(_Column("off theory", _deviation))
    return columns


def _present(variants: Sequence[Variant]) -> list[str]:
    """The parts of the WAF that at least one variant has."""
    return [part for part in PARTS if any((_parts(variant) or {}).get(part) for variant in variants)]


def _speed_columns(variants: Sequence[Variant]) -> list[_Column]:
    """Columns of rates and latencies; empty without a clock, and without directions that have no requests."""
    if not any(variant.speed for variant in variants):
        return []
    columns = [
        _Column("IOPS", lambda variant: _estimate(variant.speed.estimate if variant.speed else None)),
        _Column("MB/s", _mb_s),
    ]
    for name in ("read", "write"):
        of_direction = [getattr(variant.speed, name) for variant in variants if variant.speed]
        if any(direction.iops for direction in of_direction):
            columns += [
                _Column(f"{name} mean", _latency_cell(name, lambda latency: latency.mean_estimate)),
                _Column(f"{name} p99", _latency_cell(name, lambda latency: latency.estimate(99))),
                _Column(f"{name} p99.9", _latency_cell(name, lambda latency: latency.estimate(99.9))),
            ]
    return columns


def _mb_s(variant: Variant) -> str:
    """As certain as the requests per second."""
    speed = variant.speed
    return MISSING if speed is None else _estimate(speed.estimate.times(speed.mb_s / speed.iops if speed.iops else 0.0))


def _latency_cell(name: str, figure: Callable[[Latency], Estimate | None]) -> Callable[[Variant], str]:
    return lambda variant: MISSING if variant.speed is None else _latency(figure(getattr(variant.speed, name).latency))


def _life_columns(variants: Sequence[Variant]) -> list[_Column]:
    columns = [
        *(_ENERGY if any(variant.result.last_stage_energy for variant in variants) else ()),
        *(_CO2E if any(variant.co2e_g_per_host_tb is not None for variant in variants) else ()),
        _Column("host TB", lambda variant: _terabytes(variant.moved_as_sold(variant.result.ledger.host_written_bytes))),
        _Column("NAND TB", lambda variant: _terabytes(variant.moved_as_sold(variant.result.ledger.programmed_bytes))),
        _Column("TBW", lambda variant: _terabytes(variant.tbw_bytes)),
        _Column("years", lambda variant: _significant(variant.years)),
        _Column("erases", _erases),
    ]
    if any(variant.result.steady_state for variant in variants):
        columns.append(_Column("steady at", _steady))
    return columns


def _watts(variant: Variant) -> str:
    energy = variant.result.last_stage_energy
    return _significant(energy.watts_mean if energy else None)


def _joules(variant: Variant) -> str:
    energy = variant.result.last_stage_energy
    return _significant(energy.per_host_gib("total") if energy else None)


_ENERGY = (_Column("mean W", _watts), _Column("J/GiB", _joules))
_CO2E = (_Column("g CO2e/TB", lambda variant: _significant(variant.co2e_g_per_host_tb)),)
_PART_HEADINGS = {"wear_leveling": "wear", "metadata": "meta", "slc_fold": "SLC"}


def _table(variants: Sequence[Variant], columns: Sequence[_Column]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("variant", overflow="fold")
    for column in columns:
        table.add_column(column.heading, justify="right", no_wrap=True)
    for variant in variants:
        # No line break between a number and its percent sign.
        table.add_row(
            Text(variant.label.replace(" %", "\N{NO-BREAK SPACE}%")),
            *(Text(column.cell(variant)) for column in columns),
        )
    return table


def _legend(variants: Sequence[Variant]) -> list[str]:
    lines = []
    if any(variant.result.steady_state for variant in variants):
        lines.append(
            "WAF: mean of the rounds behind the last change of trend, to the digits that its 95 % interval allows"
            + ("; WAF, whole stage: of all of the last stage." if _stage_differs(variants) else ".")
        )
        lines += _imprecise(variants)
        lines.append(
            "steady at: host bytes written until the steady state by SNIA's rule / host capacity; >: not reached."
        )
    else:
        lines.append("WAF: of the whole last stage; the run did not search for a steady state.")
    shares = [variant.result.capacity.effective_over_provisioning for variant in variants]
    empty = any(share is not None and is_nearly_empty(share) for share in shares)
    lines.append(
        "effective OP: the over-provisioning that garbage collection has: spare, trimmed and never-written space"
        + ("; above 10 times: the drive holds nearly no data." if empty else ".")
    )
    if headings := [_PART_HEADINGS.get(name, name) for name in _present(variants)]:
        is_wide = any(each.share >= WIDE for variant in variants if (each := variant.result.waf_estimate))
        within = "; where it has an interval, theirs is as wide" if is_wide else ""
        lines.append(f"{', '.join(headings)}: what the WAF is made of, by cause{within}.")
    if untold := [each.label for each in variants if (waf := each.result.waf_estimate) and waf.has_only_ends]:
        who = "" if len(untold) == len(variants) else f" of {', '.join(untold)}"
        lines.append(f"no parts of the WAF{who}: {drive_state.PARTS_UNDETERMINED}.")
    if not all(variant.result.timing_series is not None for variant in variants):
        lines.append(f"{UNTIMED}.")
    elif few := [variant.label for variant in variants if not variant.speed]:
        who = "" if len(few) == len(variants) else f" for {', '.join(few)}"
        lines.append(f"no IOPS{who}: fewer than ten reads and writes.")
    formulas = dict.fromkeys(variant.expectation.formula for variant in variants if variant.expectation.formula)
    if formulas:
        lines.append(
            f"theory: {'; '.join(str(formula) for formula in formulas)}, at the effective OP; off theory: how far "
            "the simulated WAF is from it."
        )
    for reason in dict.fromkeys(
        variant.expectation.reason for variant in variants if variant.expectation.value is None
    ):
        without = [variant.label for variant in variants if variant.expectation.reason == reason]
        who = f"{len(without)} variants" if len(without) > _LABELS_MAX else ", ".join(without)
        who = "" if len(without) == len(variants) else f" for {who}"
        lines.append(f"no theory{who}: {reason}.")
    for window in dict.fromkeys(variant.speed.window for variant in variants if variant.speed):
        lines.append(
            f"IOPS, MB/s, latencies: simulated, over all requests of the {window}, to the digits that their 95 % "
            "intervals allow; rates and means need ten requests, percentiles ten above."
        )
    lines.append("host TB, NAND TB: written in the whole run, before the last stage too.")
    rates = dict.fromkeys(variant.drive_writes_per_day for variant in variants)
    lines.append(
        f"TBW: rated erase cycles x flash / WAF; years: at a DWPD of {', '.join(f'{rate:g}' for rate in rates)}; "
        "erases: minimum to maximum of a block."
    )
    written = [variant for variant in variants if variant.result.settled_waf is not None]
    if short := [variant.label for variant in written if not drive_state.tells_life(variant.result)]:
        who = "" if len(short) == len(written) else f" for {', '.join(short)}"
        lines.append(f"no TBW{who}: {drive_state.TELLS_NO_LIFE}.")
    if any(variant.result.last_stage_energy for variant in variants):
        lines.append("mean W, J/GiB: power in the last stage, and joules per GiB that the host wrote or read; [power].")
    for co2e in dict.fromkeys(variant.co2e_g_per_kwh for variant in variants if variant.co2e_g_per_host_tb is not None):
        lines.append(f"g CO2e/TB: of these joules, at {co2e:g} g a kWh, for each TB that the host wrote or read.")
    if any(variant.planned.drive.file.has_slc_cache for variant in variants):
        lines.append("erases: those after use in SLC mode, which wear a block less, are not among them.")
    specifications = [variant.result.specification for variant in variants]
    for scale, is_whole_trace in dict.fromkeys((each.scale, each.moved_times == 1) for each in specifications):
        if scale != "1":
            lines.append(
                f"Simulated on {scale} of the drive; the trace is not scaled: host TB and NAND TB are its own, and WAF "
                "and IOPS are not those of the drive as sold."
                if is_whole_trace
                else f"Simulated on {scale} of the drive; TB and TBW are multiplied up to the drive as sold; shares, "
                "WAF and IOPS are nearly the same."
            )
    lines += dict.fromkeys(
        f"{each.drive['name']}: {standing.behind(each.drive, each.scale)}." for each in specifications
    )
    if scaled := [each.planned.drive for each in variants if each.speed and each.planned.drive.scale < 1]:
        lines.append(tails_said((drive.name for drive in scaled), [_directions(variants)]))
    results = [(variant.label, variant.result) for variant in variants]
    lines += [f"{label}: {one.failure_kind.upper()}: {one.failure}" for label, one in results if one.failure]
    return lines


def _directions(variants: Sequence[Variant]) -> list[Literal["read", "write"]]:
    """The directions in which any variant had requests."""
    names: tuple[Literal["read", "write"], ...] = ("read", "write")
    return [name for name in names if any(each.speed and getattr(each.speed, name).iops for each in variants)]


def _parts(variant: Variant) -> dict[str, float] | None:
    parts = variant.result.determined_waf_parts
    return dict(parts) if parts else None


def _part_cell(part: str) -> Callable[[Variant], str]:
    return lambda variant: _number((_parts(variant) or {}).get(part), _waf_decimals(variant))


def _waf_decimals(variant: Variant) -> int:
    """Parts of a write amplification are not more certain than the whole."""
    found = variant.result.waf_estimate
    return 3 if found is None else max(0, estimate.decimals(found))


def _stage_differs(variants: Sequence[Variant]) -> bool:
    pairs = ((variant.result.settled_waf, variant.result.last_stage_ledger.waf) for variant in variants)
    return any(
        settled is not None and whole is not None and abs(settled - whole) >= _WAF_STEP for settled, whole in pairs
    )


def _imprecise(variants: Sequence[Variant]) -> list[str]:
    """A line for the variants whose rates or write amplification stay uncertain."""
    labels = [
        variant.label
        for variant in variants
        if (steady := variant.result.steady_state) and steady.reached and not steady.is_precise
    ]
    if not labels:
        return []
    who = f"{len(labels)} variants" if len(labels) > _LABELS_MAX else ", ".join(labels)
    return [f"{who}: the figures still change by more than 1 % from round to round; their intervals are wider."]


def _waf(variant: Variant) -> str:
    found = variant.result.waf_estimate
    return MISSING if found is None else estimate.text(found)


def _effective(variant: Variant) -> str:
    effective = variant.result.capacity.effective_over_provisioning
    return MISSING if effective is None else format_effective(effective)


def _deviation(variant: Variant) -> str:
    return MISSING if variant.deviation is None else format_deviation(variant.deviation, 2)


def _erases(variant: Variant) -> str:
    counts = variant.result.wear["erase_count"]
    return f"{counts['min']}-{counts['max']}"


def _steady(variant: Variant) -> str:
    steady = variant.result.steady_state
    if steady is None:
        return MISSING
    reached = steady.at_host_bytes is not None
    at = steady.at_host_bytes if steady.at_host_bytes is not None else variant.result.ledger.host_written_bytes
    return f"{'' if reached else '> '}{at / variant.result.capacity.user_bytes:.1f} x"


def _number(value: float | None, decimals: int) -> str:
    return MISSING if value is None else f"{value:.{decimals}f}"


def _terabytes(count_bytes: float | None) -> str:
    return _significant(None if count_bytes is None else count_bytes / BYTES_PER_TB)


def _estimate(found: Estimate | None) -> str:
    """At most three digits, or fewer if its interval allows no more, and the interval where it is wide."""
    return MISSING if found is None else estimate.text(found, digits_max=3)


def _latency(latency_ns: Estimate | None) -> str:
    """A latency such as `5.02 us`, in the unit that gives one to three digits before the point."""
    if latency_ns is None:
        return MISSING
    for unit, ns in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if latency_ns.value >= 0.9995 * ns:
            return f"{_estimate(latency_ns.times(1 / ns))} {unit}"
    return f"{_estimate(latency_ns)} ns"


def _significant(value: float | None) -> str:
    """The number with three digits, or a dash for None."""
    return MISSING if value is None else rounded(value)
