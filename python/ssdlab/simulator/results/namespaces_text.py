"""The table of a drive's namespaces in the text output of `ssdlab run`, which fits 80 columns."""

from collections.abc import Sequence

from ssdlab.foundation.quantities import format_bytes, format_share, significant
from ssdlab.simulator.results.latency import Latency
from ssdlab.simulator.results.namespaces import NamespaceResult


def namespace_lines(results: Sequence[NamespaceResult]) -> list[str]:
    """The lines of each namespace, and of its separate drive if that was run: a row, and latencies with a clock.

    The values are those of the last stage, except for the part of the wear, which is that of the whole run.
    """
    width = max(5, *(len(each.namespace.name) for each in results))
    lines = [
        "Namespaces (last stage; wear: part of all data programmed in the run):",
        f"  nsid  {'name':<{width}}  {'size':>10}  {'written':>10}  {'programmed':>10}  {'waf':>8}  {'wear':>7}",
    ]
    for each in results:
        counted, namespace, alone = each.last_stage, each.namespace, each.alone
        wear = "-" if each.wear_share is None else format_share(each.wear_share)
        lines.append(
            f"  {namespace.number:4}  {namespace.name:<{width}}  {format_bytes(namespace.size_bytes):>10}"
            + _amounts(counted.host_written_bytes, counted.programmed_bytes_total, counted.waf)
            + f"  {wear:>7}"
        )
        lines += _latencies(each.write, each.read)
        if alone:
            lines.append(
                f"        {'alone':<{width}}  {format_share(alone.share):>10}"
                + _amounts(alone.host_written_bytes, alone.programmed_bytes_total, alone.waf)
            )
            lines += _latencies(alone.write, alone.read)
    return lines


def _amounts(written_bytes: int, programmed_bytes: int, waf: float | None) -> str:
    waf_text = "-" if waf is None else f"{waf:.4f}"
    return f"  {format_bytes(written_bytes):>10}  {format_bytes(programmed_bytes):>10}  {waf_text:>8}"


def _latencies(write: Latency | None, read: Latency | None) -> list[str]:
    """A line with the median and the 99th percentile of each direction that had requests."""
    found = []
    for direction, latency in (("write", write), ("read", read)):
        if latency and latency.count:
            median, tail = (_microseconds(latency.percentile_ns(rank)) for rank in (50, 99))
            found.append(f"{direction} p50 {median}, p99 {tail}")
    return [f"        latency: {'; '.join(found)}"] if found else []


def _microseconds(ns: float | None) -> str:
    return "-" if ns is None else f"{significant(ns / 1000)} us"
