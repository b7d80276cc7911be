"""The table of a drive's namespaces on the page of a run."""

from collections.abc import Sequence
from fractions import Fraction

from ssdlab.presentation.report import parts, wording
from ssdlab.presentation.report.page import Section
from ssdlab.simulator.results.latency import Latency
from ssdlab.simulator.results.namespaces import Alone, Counted, NamespaceResult

_HEADS = (
    "namespace",
    "size",
    "host writes",
    "NAND writes",
    "WAF",
    "part of the wear",
    "median write",
    "99 % write",
    "median read",
    "99 % read",
)
_NOTE = (
    "The last stage; the part of the wear is that of the whole run. NAND writes are those of the namespace's own data; "
    "the WAF has its part of parity and padding too."
)
_ALONE_NOTE = (
    " Alone: the same jobs on a drive of the namespace's share, where the size is its part of the blocks. Its reserve "
    "and open erase units are as many as the whole drive's, so that a small share has less spare area left."
)


def section(results: Sequence[NamespaceResult], scale: Fraction) -> Section:
    """A section with one row for each namespace, and one for its separate drive if that was run.

    Bytes are those of the full-size drive.
    """
    rows: list[list[str]] = []
    for each in results:
        wear = wording.EM_DASH if each.wear_share is None else wording.share(each.wear_share)
        size = wording.size(float(each.namespace.size_bytes / scale))
        rows.append(
            [each.namespace.name, size, *_amounts(each.last_stage, scale), wear, *_two(each.write), *_two(each.read)]
        )
        if alone := each.alone:
            name = f"{each.namespace.name}, alone"
            rows.append(
                [name, wording.share(alone.share), *_amounts(alone, scale), "", *_two(alone.write), *_two(alone.read)]
            )
    note = _NOTE + (_ALONE_NOTE if any(each.alone for each in results) else "")
    return Section("Namespaces", parts.paragraphs(note) + parts.table("Namespaces", _HEADS, rows))


def _amounts(counted: Counted | Alone, scale: Fraction) -> tuple[str, str, str]:
    waf = wording.EM_DASH if counted.waf is None else wording.waf(counted.waf)
    written, programmed = (float(each / scale) for each in (counted.host_written_bytes, counted.programmed_bytes_total))
    return wording.size(written), wording.size(programmed), waf


def _two(latency: Latency | None) -> list[str]:
    """The text of the median and the 99th percentile."""
    values = [latency.percentile_ns(rank) if latency else None for rank in (50, 99)]
    return [wording.EM_DASH if value is None else wording.duration(value) for value in values]
