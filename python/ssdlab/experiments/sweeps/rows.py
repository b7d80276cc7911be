"""The stored data of a run: one row of plain columns for queries, and the whole result as JSON."""

import io
import json

import polars as pl

from ssdlab.evidence import Estimate
from ssdlab.experiments.sweeps.points import Point
from ssdlab.foundation.foreign import TableRow
from ssdlab.simulator.results import PARTS, Result, drive_state
from ssdlab.simulator.results.speed import speed
from ssdlab.theory import endurance


def column(axis: str) -> str:
    """The column of an axis: `ftl.victim` becomes `ftl_victim`, which SQL accepts without quotes."""
    return axis.replace(".", "_").replace("-", "_")


def within(figure: str) -> str:
    """The column with half the width of a figure's 95 % interval, as a share of the figure."""
    return f"{figure}_within"


def row(point: Point, result: Result, endurance_cycles: int) -> TableRow:
    """Columns in a fixed order: axes, then figures. Figures not measured are None; none depends on this machine."""
    found = speed(result)
    capacity, ledger, as_sold = result.capacity, result.ledger, result.specification.as_sold
    waf = result.settled_waf
    erases = result.wear["erase_count"]
    directions: dict[str, float | None] = {}
    for name in ("read", "write"):
        direction = getattr(found, name) if found else None
        directions |= {
            f"{name}_iops": direction and direction.iops,
            f"{name}_mb_s": direction and direction.mb_s,
            f"{name}_latency_us_mean": direction and _us(direction.latency_ns_mean),
            f"{name}_latency_us_p999": direction and _us(direction.latency_ns_p999),
            within(f"{name}_iops"): found.estimate.share if found and direction and direction.iops else None,
            within(f"{name}_latency_us_p999"): direction and _share(direction.latency.estimate(99.9)),
        }
    return {
        **{column(axis): value for axis, value in point.items()},
        "over_provisioning": capacity.over_provisioning,
        "spare_factor": capacity.spare_factor,
        "effective_over_provisioning": capacity.effective_over_provisioning,
        "physical_bytes": as_sold(capacity.physical_bytes),
        "user_bytes": as_sold(capacity.user_bytes),
        "waf": waf,
        within("waf"): _share(result.waf_estimate),
        **{f"waf_{part}": share for part, share in _parts(result).items()},
        "steady_reached": result.steady_state.reached if result.steady_state else None,
        "host_written_bytes": as_sold(ledger.host_written_bytes),
        "nand_programmed_bytes": as_sold(ledger.programmed_bytes),
        "iops": found and found.iops,
        **directions,
        "simulated_seconds": result.simulated_seconds,
        "tbw_bytes": None
        if waf is None or not drive_state.tells_life(result)
        else endurance.lifetime_bytes(endurance_cycles, as_sold(capacity.physical_bytes), waf),
        "erase_count_mean": erases["mean"],
        "erase_count_max": erases["max"],
        "failure": result.failure,
        "scale": result.specification.scale,
        "version": result.version,
        "specification_sha256": result.specification.hash(),
        "result_json": json.dumps(result.to_dict(), ensure_ascii=False, separators=(",", ":")),
    }


def parquet(content: TableRow) -> bytes:
    """One row as a Parquet file; equal rows give equal bytes."""
    buffer = io.BytesIO()
    frame = pl.DataFrame({name: [value] for name, value in content.items()}, schema_overrides=_types(content))
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _types(content: TableRow) -> dict[str, type[pl.DataType]]:
    """Types of columns that do not depend on missing values."""
    kept_as_text: dict[str, type[pl.DataType]] = {"failure": pl.String, "steady_reached": pl.Boolean}
    figures: dict[str, type[pl.DataType]] = {
        name: pl.Float64 for name, value in content.items() if value is None and name not in kept_as_text
    }
    return figures | {name: kind for name, kind in kept_as_text.items() if name in content}


def _parts(result: Result) -> dict[str, float | None]:
    parts = result.settled_waf_parts
    return {name: parts[name] if parts else None for name in PARTS}


def _share(estimate: Estimate | None) -> float | None:
    return estimate.share if estimate else None


def _us(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1000
