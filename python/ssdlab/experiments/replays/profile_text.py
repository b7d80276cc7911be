"""A profile as tables in the terminal, or as plain data."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.experiments.replays.theory import Form
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_bytes, format_bytes_binary, format_count, format_share, rounded
from ssdlab.presentation.terminal import show
from ssdlab.simulator.workloads.traces.profile import Profile, Totals
from ssdlab.simulator.workloads.traces.recording import earlier_said

if TYPE_CHECKING:
    from rich.console import Console

_MISSING = "-"
_FOR_SAMPLES = ("region_bytes", "regions_written", "hottest")
# The points shown of the update-frequency curve, which has 15 points.
_CURVE_SHOWN = (0.01, 0.05, 0.1, 0.2, 0.5)


def plain(
    profiles: Sequence[tuple[str | None, Profile, list[Form]]], over_provisionings: Sequence[float]
) -> list[JsonObject]:
    """A list with one object for each (volume, or None for all together; profile; theory)."""
    return [
        {"volume": name, **{key: value for key, value in asdict(profile).items() if key not in _FOR_SAMPLES}}
        | {
            "theory": {
                "over_provisioning": list(over_provisionings),
                "forms": [{"name": form.name, "waf": list(form.values), "reason": form.reason} for form in theory],
            }
        }
        for name, profile, theory in profiles
    ]


def print_profile(
    name: str, profile: Profile, theory: Sequence[Form], over_provisionings: Sequence[float], console: "Console"
) -> None:
    """Prints the requests of the trace, and below them what theory predicts."""
    console.print(name, style="bold")
    for line in _head(profile):
        console.print(line)
    show(_operations(profile), console)
    show(_sizes(profile), console)
    for line in _updates(profile):
        console.print(line)
    if any(form.values for form in theory):
        show(_theory(theory, over_provisionings), console)
        console.print("WAF in the steady state of a drive that holds only the units that the trace writes.")
    for reason in dict.fromkeys(form.reason for form in theory if form.reason):
        names = [form.name for form in theory if form.reason == reason]
        console.print(f"not applicable: {', '.join(names)}: {reason}.")


def _head(profile: Profile) -> list[str]:
    requests = f"{profile.requests:,} request{'s' * (profile.requests != 1)}"
    volumes = f"{len(profile.volumes):,} volume{'s' * (len(profile.volumes) != 1)}"
    lines = [
        f"{requests}, {', '.join(dict.fromkeys(profile.formats))}, {volumes}, "
        f"{profile.duration_ns / 1e9:,.3f} s, reaching over {format_bytes_binary(profile.span_bytes)}"
    ]
    if profile.flushes:
        lines.append(f"{profile.flushes:,} flush{'es' * (profile.flushes != 1)}")
    if profile.skipped:
        lines.append(f"{profile.skipped:,} malformed lines or records skipped")
    if profile.without_direction:
        lines.append(f"{profile.without_direction:,} requests without a direction omitted")
    return lines + earlier_said(profile.earlier, profile.earlier_ns_max)


def _operations(profile: Profile) -> Table:
    units = profile.units
    rows = {
        "requests": [format_count(totals.requests) for totals in _totals(profile)],
        "bytes": [format_bytes(totals.bytes) for totals in _totals(profile)],
        "unique, in units": [
            format_bytes(count * profile.unit_bytes)
            for count in (units.unique_read, units.unique_written, units.unique_trimmed)
        ],
        "sequential": [_share(totals.sequential_requests, totals.requests) for totals in _totals(profile)],
        f"aligned to {profile.unit_bytes} B": [
            _share(totals.aligned_requests, totals.requests) for totals in _totals(profile)
        ],
        "of what it wrote": [
            _share(units.read_of_written, units.read),
            _share(units.overwritten, units.written),
            _MISSING,
        ],
    }
    table = _table("", ">reads", ">writes", ">trims")
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return table


def _sizes(profile: Profile) -> Table:
    classes = sorted({length_bytes for totals in _totals(profile) for length_bytes, _ in totals.sizes})
    table = _table(">size up to", ">reads", ">writes", ">trims")
    for length_bytes in classes:
        counts = [dict(totals.sizes).get(length_bytes, 0) for totals in _totals(profile)]
        table.add_row(format_bytes_binary(length_bytes), *(f"{count:,}" if count else _MISSING for count in counts))
    return table


def _updates(profile: Profile) -> list[str]:
    if not profile.units.written:
        return []
    mean = profile.units.written / profile.units.unique_written
    most = max(writes for writes, _ in profile.updates)
    curve = dict(profile.update_curve)
    points = [f"{format_share(share)} take {format_share(curve[share])}" for share in _CURVE_SHOWN if share in curve]
    return [
        f"a written unit is written {rounded(mean)} times on average, {most:,} at most",
        f"of the writes the hottest units: {', '.join(points)}",
        "",
    ]


def _theory(theory: Sequence[Form], over_provisionings: Sequence[float]) -> Table:
    table = _table("theory at OP", *(f">{format_share(share)}" for share in over_provisionings))
    for form in theory:
        if form.values:
            table.add_row(form.name, *(f"{value:.3f}" for value in form.values))
    return table


def _totals(profile: Profile) -> tuple[Totals, Totals, Totals]:
    return profile.read, profile.write, profile.trim


def _share(part: int, whole: int) -> str:
    return format_share(part / whole) if whole else _MISSING


def _table(*columns: str) -> Table:
    """A table; columns whose name begins with `>` are right-aligned."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column.removeprefix(">"), justify="right" if column.startswith(">") else "left", no_wrap=True)
    return table
