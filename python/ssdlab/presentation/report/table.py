"""The table of all variants, one row each; a missing value is an em dash with a reason below the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import present_parts, variants_key
from ssdlab.presentation.report.findings import theory_deviation
from ssdlab.presentation.report.template import render
from ssdlab.presentation.report.variant import PARTS, ComparedVariant, WearStatistics

# The reasons for missing values if the caller gives none.
_USUAL_REASONS = {
    "effective_over_provisioning": "not measured",
    "waf": "the last stage wrote nothing",
    "waf_parts": "the last stage wrote nothing",
    "speed": "not timed, or fewer than ten reads and writes",
    "theory": "no closed form applies to this workload and these policies",
    "tbw_bytes": "needs write amplification and rated erase cycles",
    "watts_mean": "the drive file has no energies in [power], or there is no clock",
    "co2e_g_per_host_tb": "the drive file has no energies in [power]",
    "joules_per_host_gib": "the drive file has no energies in [power], there is no clock, or the host moved nothing",
    "years": "needs write amplification, rated erase cycles and a daily write rate",
    "wear": "not measured",
    "deviation": "no closed form applies, or the run is not known to be in its steady state",
    "tail": "fewer than ten requests above it, or not timed",
    "steady_state": "the run did not search for a steady state",
}

Value = TypeVar("Value")


@dataclass(frozen=True)
class _Column:
    """One column: `text` returns the cell, or None if the value of `field` is missing."""

    heading: str
    field: str
    text: Callable[[ComparedVariant], str | None]
    help: str = ""


@dataclass(frozen=True)
class _Cell:
    """A text, or the reason why it is missing, with its number below the table."""

    text: str = ""
    reason: str = ""
    number: int = 0


@dataclass(frozen=True)
class _Row:
    label: str
    colour: str
    cells: Sequence[_Cell]


def variants_table(variants: Sequence[ComparedVariant]) -> Markup:
    """HTML of the table in a region that scrolls sideways, with the reasons for missing values below it."""
    columns = _columns(variants)
    reasons: dict[str, int] = {}
    entries = variants_key(variants).entries
    rows = [
        _Row(variant.label, entry.colour, [_cell(variant, column, reasons) for column in columns])
        for variant, entry in zip(variants, entries, strict=True)
    ]
    return render(
        "ssdlab.presentation.report",
        "variants.html",
        columns=columns,
        rows=rows,
        reasons=list(reasons),
        missing=wording.EM_DASH,
    )


def _cell(variant: ComparedVariant, column: _Column, reasons: dict[str, int]) -> _Cell:
    text = column.text(variant)
    if text is not None:
        return _Cell(text)
    reason = _reason(variant.missing, column.field)
    return _Cell(reason=reason, number=reasons.setdefault(reason, len(reasons) + 1))


def _reason(missing: Mapping[str, str], field: str) -> str:
    return missing.get(field, _USUAL_REASONS.get(field, "not measured"))


def _columns(variants: Sequence[ComparedVariant]) -> list[_Column]:
    columns = [
        _Column(
            "OP",
            "over_provisioning",
            lambda v: wording.share(v.over_provisioning),
            "(physical - host capacity) / host capacity",
        ),
        _Column(
            "effective OP",
            "effective_over_provisioning",
            lambda v: _text(v.effective_over_provisioning, wording.effective),
            "over-provisioning that garbage collection has; above 10 times: the drive holds nearly no data",
        ),
        _Column(
            "WAF",
            "waf",
            lambda v: v.waf_said,
            "bytes programmed to NAND per host byte; ± is half the width of its 95 % interval",
        ),
        *(_speed_columns() if any(variant.speed is not None for variant in variants) else ()),
        _Column("theory", "theory", lambda v: _text(v.theory, wording.waf), "WAF of the closed-form model"),
        _Column(
            "deviation",
            "deviation",
            lambda v: _text(theory_deviation(v) if v.steady_reached else None, wording.deviation),
            "(WAF - theory) / theory, of a steady state",
        ),
        _Column(
            "TBW",
            "tbw_bytes",
            lambda v: _text(v.tbw_bytes, wording.size),
            "host bytes until the flash is worn out",
        ),
        _Column(
            _years_heading(variants),
            "years",
            lambda v: _text(v.years, lambda years: wording.significant(years, 2)),
        ),
        *(_energy_columns() if any(variant.joules_per_host_gib for variant in variants) else ()),
        *((_CO2E,) if any(variant.co2e_g_per_host_tb is not None for variant in variants) else ()),
        *(_part_column(part) for part in present_parts(variants)),
        _Column(
            "host writes",
            "host_written_bytes",
            lambda v: wording.size(v.host_written_bytes),
            "what the host wrote in the whole run, before the last stage too",
        ),
        _Column(
            "NAND writes",
            "nand_programmed_bytes",
            lambda v: wording.size(v.nand_programmed_bytes),
            "what was programmed to NAND in the whole run",
        ),
        _Column(
            "drive writes to settle",
            "steady_state",
            _steady,
            "host writes until the steady state, in multiples of the drive's capacity",
        ),
        _Column(
            "erase counts", "wear", lambda v: _erase_counts(v.wear), "minimum, mean and maximum erase count of blocks"
        ),
    ]
    if any(variant.slc_mode_wear for variant in variants):
        meaning = "the same of erases after use in SLC mode, which are not among the others"
        columns.append(_Column("in SLC mode", "wear", lambda v: _erase_counts(v.slc_mode_wear), meaning))
    if len({variant.drive for variant in variants}) > 1 and any(v.drive not in v.label for v in variants):
        columns.insert(0, _Column("drive", "drive", lambda v: v.drive))
    return columns


def _speed_columns() -> list[_Column]:
    return [
        _Column(
            "IOPS",
            "speed",
            lambda v: None if v.speed is None else wording.estimated(v.speed.estimate),
            "requests per simulated second in the compared window",
        ),
        _Column(
            "mean latency",
            "speed",
            lambda v: None if v.speed is None else _text(v.speed.mean, wording.estimated_duration),
            "of writes, or of reads if there are no writes",
        ),
        _Column(
            "99 % latency",
            "tail",
            lambda v: None if v.speed is None else _text(v.speed.p99, wording.estimated_duration),
            "the 99th percentile of all writes in the compared window, or of the reads if there are no writes",
        ),
        _Column(
            "99.9 % latency",
            "tail",
            lambda v: None if v.speed is None else _text(v.speed.p999, wording.estimated_duration),
            "the 99.9th percentile of all writes in the compared window, or of the reads if there are no writes",
        ),
    ]


_CO2E = _Column(
    "g CO2e/TB",
    "co2e_g_per_host_tb",
    lambda v: _text(v.co2e_g_per_host_tb, wording.significant),
    "g of CO2e of its energy for each TB (10^12 B) that the host wrote or read in the last stage",
)


def _energy_columns() -> list[_Column]:
    def joules(cause: str) -> Callable[[ComparedVariant], str | None]:
        return lambda v: _text(v.joules_per_host_gib.get(cause), wording.significant)

    return [
        _Column(
            "mean W",
            "watts_mean",
            lambda v: _text(v.watts_mean, wording.significant),
            "power in the last stage",
        ),
        *(
            _Column(heading, "joules_per_host_gib", joules(cause), help)
            for cause, heading, help in (
                ("total", "J/GiB", "joules per GiB that the host wrote or read in the last stage"),
                ("host", "J/GiB host", "of it by requests of the host"),
                ("gc", "J/GiB gc", "of it by garbage collection"),
                ("other", "J/GiB other", "of it by other work of the drive"),
                ("idle", "J/GiB idle", "of it by the power without requests"),
            )
        ),
    ]


def _part_column(part: str) -> _Column:
    return _Column(
        PARTS[part],
        "waf_parts",
        lambda v: f"{v.determined_waf_parts.get(part, 0.0):,.{v.waf_decimals}f}" if v.determined_waf_parts else None,
        "a part of the WAF: bytes programmed for this cause per host byte; where the WAF has an interval, its own is"
        " as wide",
    )


def _years_heading(variants: Sequence[ComparedVariant]) -> str:
    rates = {variant.dwpd for variant in variants if variant.dwpd is not None}
    return f"years at {rates.pop():g}{wording.NO_BREAK_SPACE}DWPD" if len(rates) == 1 else "years"


def _steady(variant: ComparedVariant) -> str | None:
    if variant.steady_reached is None:
        return None
    if not variant.steady_reached or variant.steady_at_host_bytes is None:
        return "not reached"
    return wording.significant(variant.drive_writes(variant.steady_at_host_bytes))


def _erase_counts(wear: WearStatistics | None) -> str | None:
    if wear is None:
        return None
    return f"{wear.erase_count_min:,} / {wording.significant(wear.erase_count_mean)} / {wear.erase_count_max:,}"


def _text(value: Value | None, text: Callable[[Value], str]) -> str | None:
    return None if value is None else text(value)
