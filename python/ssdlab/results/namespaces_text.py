"""The table of a drive's namespaces in the text of `ssdlab run`."""

from collections.abc import Sequence

from ssdlab.quantities import format_bytes, format_share
from ssdlab.results.latency import Latency
from ssdlab.results.namespaces import NamespaceResult


def namespace_lines(results: Sequence[NamespaceResult]) -> list[str]:
    """A row a namespace, for the last stage, and one for what it has alone, where that was run; the part of the wear
    is that of the whole run."""
    width = max(5, *(len(each.namespace.name) for each in results))
    lines = [
        "Namespaces (last stage; wear: part of all data programmed in the run):",
        f"  nsid  {'name':<{width}}  {'size':>10}  {'written':>10}  {'programmed':>10}  {'waf':>8}  {'wear':>7}"
        f"  {'write p50':>10}  {'p99':>10}  {'read p50':>10}  {'p99':>10}",
    ]
    for each in results:
        counted, namespace, alone = each.last_stage, each.namespace, each.alone
        wear = "-" if each.wear_share is None else format_share(each.wear_share)
        lines.append(
            f"  {namespace.number:4}  {namespace.name:<{width}}  {format_bytes(namespace.size_bytes):>10}"
            + _amounts(counted.host_written_bytes, counted.programmed_bytes_total, counted.waf)
            + f"  {wear:>7}{_two(each.write)}{_two(each.read)}"
        )
        if alone:
            lines.append(
                f"        {'alone':<{width}}  {format_share(alone.share):>10}"
                + _amounts(alone.host_written_bytes, alone.programmed_bytes_total, alone.waf)
                + f"  {'':>7}{_two(alone.write)}{_two(alone.read)}"
            )
    return lines


def _amounts(written_bytes: int, programmed_bytes: int, waf: float | None) -> str:
    waf_text = "-" if waf is None else f"{waf:.4f}"
    return f"  {format_bytes(written_bytes):>10}  {format_bytes(programmed_bytes):>10}  {waf_text:>8}"


def _two(latency: Latency | None) -> str:
    """The median and the 99th percentile, in microseconds."""
    values = latency.percentiles_ns((50, 99)) if latency and latency.count else [None, None]
    return "".join(f"  {'-' if value is None else f'{value / 1000:.0f} us':>10}" for value in values)
