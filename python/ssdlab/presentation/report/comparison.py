"""The report of `ssdlab compare`: its pictures, and the page with their findings."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ssdlab.evidence.clock import UNTIMED
from ssdlab.evidence.scale import tails_said
from ssdlab.presentation.report import findings, page, parts, wording
from ssdlab.presentation.report.charts.against_over_provisioning import (
    curve_names,
    iops_against_over_provisioning,
    latency_against_over_provisioning,
    waf_against_over_provisioning,
)
from ssdlab.presentation.report.charts.encodings import parts_key, variants_key
from ssdlab.presentation.report.charts.latency_parts import latency_parts_key, listed_kinds, parts_of_latency
from ssdlab.presentation.report.charts.over_host_writes import spare_over_host_writes, waf_over_host_writes
from ssdlab.presentation.report.charts.over_time import (
    LATENCY_POINTS_MAX,
    drawn_percentiles,
    iops_over_time,
    latency_over_time,
    shown_direction,
)
from ssdlab.presentation.report.charts.parts import parts_of_nand_writes
from ssdlab.presentation.report.charts.wear import wear_histogram
from ssdlab.presentation.report.chosen import picture_files
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.files import write_atomically
from ssdlab.presentation.report.table import variants_table
from ssdlab.presentation.report.thinning import merge_windows
from ssdlab.presentation.report.variant import SERIES_COLUMNS, ComparedVariant, VariantSpeed, WearStatistics

__all__ = ["ComparedVariant", "VariantSpeed", "WearStatistics", "comparison_figures", "write_comparison"]

PAGE_NAME = "report.html"


def write_comparison(
    variants: Sequence[ComparedVariant],
    directory: Path,
    *,
    title: str,
    subtitle: str,
    command_line: str | None = None,
) -> list[Path]:
    """Writes `report.html` into `directory`, and the chosen files of each picture into its `pictures/`.

    Returns the paths, the page last. Everything is drawn before the first file is written, and each file is written
    completely or not at all.
    """
    _check(variants)
    figures = comparison_figures(variants)
    contents: list[tuple[str, str | bytes]] = list(picture_files(figures))
    contents.append((PAGE_NAME, comparison_page(variants, figures, title, subtitle, command_line).html()))
    for name, _ in contents:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
    return [write_atomically(directory / name, content) for name, content in contents]


def comparison_figures(variants: Sequence[ComparedVariant]) -> list[Figure]:
    """The pictures for which the variants have data; those over time need a clock."""
    thinned = [merge_windows(variant.series) for variant in variants]
    series = [frame for frame, _ in thinned]
    merged_max = max((factor for _, factor in thinned), default=1)
    key = variants_key(variants)
    charts = [
        (
            "waf-over-host-writes",
            findings.settling(variants),
            _over_writes_caption(variants, merged_max),
            waf_over_host_writes(variants, series),
            (key,),
        ),
        (
            "waf-against-over-provisioning",
            findings.spare_area_effect(variants),
            _against_caption(variants),
            waf_against_over_provisioning(variants),
            (key,),
        ),
        (
            "iops-over-time",
            findings.speed(variants),
            _over_time_caption(variants),
            iops_over_time(variants),
            (key,),
        ),
        (
            "latency-over-time",
            findings.tails(variants),
            _latency_caption(variants),
            latency_over_time(variants),
            (key,),
        ),
        (
            "latency-by-part",
            findings.waits(variants),
            f"Breakdown of the latency in the whole last stage: {listed_kinds(variants)}. Garbage collection: waiting "
            "for the drive's own work on the die. Other host operations: waiting for other requests.",
            parts_of_latency(variants),
            (latency_parts_key(variants),),
        ),
        (
            "iops-against-over-provisioning",
            findings.speed_against_over_provisioning(variants),
            f"Requests per simulated second{_of_window(variants)}.",
            iops_against_over_provisioning(variants),
            (key,),
        ),
        (
            "latency-against-over-provisioning",
            findings.latency_against_over_provisioning(variants),
            f"Latency of the {shown_direction(variants)}s{_of_window(variants)}: circles show the mean, triangles the "
            "99.9th percentile.",
            latency_against_over_provisioning(variants),
            (key,),
        ),
        (
            "nand-writes-by-part",
            findings.causes(variants),
            "Units programmed to NAND per unit that the host wrote, by cause; the length of a bar is the WAF."
            + (" The vertical mark is the closed-form value." if any(v.theory is not None for v in variants) else ""),
            parts_of_nand_writes(variants),
            (parts_key(variants),),
        ),
        (
            "wear",
            findings.wear(variants),
            "Distribution of the erase counts of blocks at the end of the run. The variants may differ in the amount "
            "written.",
            wear_histogram(variants),
            (key,),
        ),
        (
            "spare-area-over-host-writes",
            findings.spare_room(variants),
            "Free erase units, and effective over-provisioning: spare, trimmed and never-written space, less reserve, "
            "unwritten part of open erase units, parity and bad blocks. The start of a fresh drive is not shown.",
            spare_over_host_writes(variants, series),
            (key,),
        ),
    ]
    return [
        Figure(name, wording.unbroken(finding), caption, chart, keys)
        for name, finding, caption, chart, keys in charts
        if chart is not None
    ]


def _over_writes_caption(variants: Sequence[ComparedVariant], merged_max: int) -> str:
    sentences = ["WAF in each window of host writes; the figure at the end of a line is the WAF of the result."]
    if any(variant.steady_at_host_bytes is not None for variant in variants):
        sentences.append("Diamond: the steady state by SNIA's rule.")
    if any(variant.theory is not None for variant in variants):
        sentences.append("Dashed: theory.")
    if merged_max > 1:
        sentences.append(f"A point is the mean of up to {merged_max} windows.")
    return " ".join(sentences)


def _over_time_caption(variants: Sequence[ComparedVariant]) -> str:
    what = f"{shown_direction(variants).capitalize()}s per simulated second since the start of the last stage"
    return f"{what}; the figure at the end of a line is that{_of_window(variants)}."


def _latency_caption(variants: Sequence[ComparedVariant]) -> str:
    caption = (
        f"Latency of the {shown_direction(variants)}s over simulated time since the start of the last stage: "
        f"{wording.listed(drawn_percentiles(variants) or ['median'])}. A point has ten requests or more above it."
    )
    intervals = max((frame.height for v in variants if (frame := v.timing_series) is not None), default=0)
    return caption + (" Neighbouring intervals are merged to their mean." if intervals > LATENCY_POINTS_MAX else "")


def _of_window(variants: Sequence[ComparedVariant]) -> str:
    return (
        " of the whole stage" if any(variant.steady_reached is None for variant in variants) else " of the last rounds"
    )


def _against_caption(variants: Sequence[ComparedVariant]) -> str:
    curves = curve_names(variants)
    return "Points: simulated." + (
        f" Dashed: theory ({curves})." if curves else " No closed form applies to this workload."
    )


def comparison_page(
    variants: Sequence[ComparedVariant], figures: Sequence[Figure], title: str, subtitle: str, command_line: str | None
) -> page.Page:
    """The page of these variants with these pictures."""
    after = []
    notes = list(dict.fromkeys((variant.label, note) for variant in variants for note in variant.notes))
    if notes:
        after.append(page.Section("Notes", parts.definitions(_grouped(notes, len(variants)))))
    if command_line is not None:
        after.append(page.Section("How to reproduce", parts.command(command_line)))
    specified = {
        variant.label: json.dumps(variant.specification, indent=2, ensure_ascii=False)
        for variant in variants
        if variant.specification is not None
    }
    if specified:
        after.append(page.specification(specified))
    return page.Page(
        title=title,
        subtitle=subtitle,
        summary=wording.unbroken(findings.summary(variants)),
        notices=[*_standing_notices(variants), *_clock_notice(variants), *_scale_notice(variants)],
        before=[page.Section("All variants", variants_table(variants))],
        figures=figures,
        after=after,
    )


def _grouped(notes: Sequence[tuple[str, str]], variants: int) -> list[tuple[str, str]]:
    """Pairs (labels, note); a note that every variant has is listed once."""
    labels: dict[str, list[str]] = {}
    for label, note in notes:
        labels.setdefault(note, []).append(label)
    return [("all variants" if len(who) == variants else wording.listed(who), note) for note, who in labels.items()]


def _standing_notices(variants: Sequence[ComparedVariant]) -> list[str]:
    """What stands behind the name of each drive, once."""
    said = [f"{variant.drive}: {variant.standing}." for variant in variants if variant.standing]
    return list(dict.fromkeys(said))


def _clock_notice(variants: Sequence[ComparedVariant]) -> list[str]:
    without = [variant.label for variant in variants if variant.is_untimed and variant.waf is not None]
    if not without:
        return []
    return [_as_sentence(UNTIMED) if len(without) == len(variants) else f"{wording.listed(without)}: {UNTIMED}."]


def _scale_notice(variants: Sequence[ComparedVariant]) -> list[str]:
    scaled = {variant.label: variant.scale for variant in variants if variant.scale is not None}
    if not scaled:
        return []
    who = "" if len(scaled) == len(variants) else f" ({wording.listed(list(scaled))})"
    scales = wording.listed(sorted(set(scaled.values())))
    timed = [each for each in variants if each.scale is not None and each.speed]
    alike = (
        "a smaller drive and workload with the same ratios. Bytes are multiplied up to the drive as sold; shares, WAF "
        "and IOPS are nearly the same. Simulated time is not multiplied."
    )
    unlike = (
        "a smaller drive under the whole trace, which is not scaled: host and NAND writes are its own, and WAF and "
        "IOPS are not those of the drive as sold."
    )
    is_alike = all(each.is_workload_scaled for each in variants if each.scale is not None)
    return [
        f"Simulated at a scale of {scales}{who}: {alike if is_alike else unlike}",
        *([tails_said((each.drive for each in timed), [_directions(timed)])] if timed else []),
        *dict.fromkeys(_as_sentence(each.scale_chosen) for each in variants if each.scale_chosen),
    ]


def _directions(timed: Sequence[ComparedVariant]) -> set[Literal["read", "write"]]:
    """The directions in which any variant had requests."""
    found: set[Literal["read", "write"]] = set()
    for speed in (each.speed for each in timed if each.speed):
        if speed.direction == "write":
            found.add("write")
        # The rate of both directions is larger than that of one only if the other has requests: reads.
        if speed.direction == "read" or speed.estimate.value > 1.001 * speed.direction_iops:
            found.add("read")
    return found


def _as_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _check(variants: Sequence[ComparedVariant]) -> None:
    """Raises ValueError for errors of the caller: no variants, equal labels, or missing columns of series."""
    if not variants:
        raise ValueError("a comparison needs at least one variant")
    labels = [variant.label for variant in variants]
    if len(set(labels)) != len(labels):
        raise ValueError(f"the labels of variants must differ: {labels}")
    for variant in variants:
        absent = [column for column in SERIES_COLUMNS if column not in variant.series.columns]
        if absent:
            raise ValueError(f"the series of {variant.label!r} lacks the columns {absent}")
