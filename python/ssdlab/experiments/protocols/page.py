"""The page of a protocol: a picture for each of its columns, the table, and the command lines of every step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ssdlab.experiments.protocols import drawing
from ssdlab.experiments.protocols.contract import DriveTests, Matrix, Protocol
from ssdlab.experiments.protocols.figures import COLUMNS, Figures
from ssdlab.foundation.quantities import measured
from ssdlab.presentation.report import wording

if TYPE_CHECKING:
    from markupsafe import Markup

    from ssdlab.presentation.report.figure import Figure
    from ssdlab.presentation.report.page import Page, Section

PAGE_NAME = "report.html"
# A longer finding stands below the title.
_TITLE_CHARACTERS_MAX = 110
QUANTITIES = {
    "waf": "write amplification",
    **{
        f"{one}_{key}": said.format(one=one, several=several)
        for one, several in (("read", "reads"), ("write", "writes"), ("flush", "flushes"), ("trim", "trims"))
        for key, said in (
            ("iops", "{several} per second"),
            ("mb_s", "{one} bandwidth, MB/s"),
            ("mean_us", "{one} latency, mean, \N{MICRO SIGN}s"),
            ("p99_us", "{one} latency, 99th percentile, \N{MICRO SIGN}s"),
            ("p999_us", "{one} latency, 99.9th percentile, \N{MICRO SIGN}s"),
            ("p9999_us", "{one} latency, 99.99th percentile, \N{MICRO SIGN}s"),
            ("p999999_us", "{one} latency, 99.9999th percentile, \N{MICRO SIGN}s"),
            ("max_us", "{one} latency, maximum, \N{MICRO SIGN}s"),
        )
    },
}
"""The names of the columns in full, with units."""


_UNITS = (", \N{MICRO SIGN}s", ", MB/s")


@dataclass(frozen=True)
class Extra:
    """Additional content of the page and of `result.json`: the rows of a study."""

    content: Mapping[str, Any] = field(default_factory=dict)
    question: str | None = None
    """The question of the study; None for a protocol without a study."""
    finding: str | None = None
    figures: "Sequence[Figure]" = ()
    sections: "Sequence[Section]" = ()


def pictures(protocol: Protocol, tested: Sequence[DriveTests]) -> "list[Figure]":
    """The pictures as the protocol draws them; otherwise one of bars for each column that has values for at least two
    steps, and the rounds of steps that ran until steady."""
    drawn = list(protocol.draw(tested)) if protocol.draw else []
    return drawn or [*_bars(protocol, tested), *drawing.rounds(tested)]


def _bars(protocol: Protocol, tested: Sequence[DriveTests]) -> "list[Figure]":
    from ssdlab.presentation.report.charts.published import Bar, published_bars

    made = []
    for column in protocol.columns:
        bars = []
        for place, step in enumerate(tested[0].runs[0]):
            for each in tested:
                # What brings the drive into its state is no measurement, if there are others.
                if step.rounds is not None and any(other.rounds is None and other.shown for other in tested[0].runs[0]):
                    continue
                values = [COLUMNS[column][1](run[place]) for run in each.runs if place < len(run)]
                known = [value for value in values if value is not None]
                if step.shown and known and len(known) == len(each.runs):
                    label = "measured" if len(tested) == 1 else each.label
                    spread = (min(known), max(known)) if len(known) > 1 else None
                    bars.append(Bar(name_of(step), label, sum(known) / len(known), spread=spread))
        if len(bars) < 2 or not any(bar.value for bar in bars):
            continue
        least, most = min(bars, key=lambda bar: bar.value), max(bars, key=lambda bar: bar.value)
        named = QUANTITIES[column]
        quantity, _, unit = named.rpartition(", ") if named.endswith(_UNITS) else (named, "", "")
        low, high = (
            f"{measured(each.value)} {unit}".rstrip()
            + f" ({each.category}{f', {each.label}' if len(tested) > 1 else ''})"
            for each in (least, most)
        )
        is_flat = measured(least.value) == measured(most.value)
        span = f"{measured(least.value)} {unit}".rstrip() + " in every step" if is_flat else f"from {low} to {high}"
        bands = f" {said}." if (said := drawing.repetitions(tested)) else ""
        made.append(
            published_bars(
                name=column.replace("_", "-"),
                title=f"{wording.capitalized(quantity)}: {span}",
                caption=f"{protocol.title.rstrip('.?')}: one bar per measuring step.{bands}",
                bars=bars,
                x_title=QUANTITIES[column],
                said=QUANTITIES[column],
            )
        )
    return made


def protocol_page(
    protocol: Protocol,
    figures: Sequence[Figures],
    drawn: "Sequence[Figure]",
    *,
    target: str,
    quick: bool,
    extra: Extra,
    command_line: str,
    drives: Sequence[DriveTests] = (),
    notices: Sequence[str] = (),
) -> "Page":
    """The page of a protocol. `target` is the name of the target, `drawn` are the pictures, `drives` what they show."""
    from ssdlab.presentation.report import page, parts

    reasons = waf_reasons(protocol, figures)
    # Only the pictures show the other drives too.
    whose = f" of {drives[0].label}" if len(drives) > 1 else ""
    tables = [page.Section(f"{each.title}{whose}", matrix_html(each)) for each in protocol.tabulate(figures)]
    after = [*extra.sections, *tables, page.Section(f"Every step{whose}", table_html(protocol, figures))]
    if reasons:
        after.append(page.Section("Not measured", parts.definitions([("WAF", each) for each in reasons])))
    after.append(page.Section("Source", parts.paragraphs(protocol.source)))
    after.append(page.Section("How to reproduce", parts.command(command_line)))
    commands = {name_of(each): "\n".join([*each.commands, *each.job_texts]) for each in figures}
    after.append(
        page.Section(
            "Commands to repeat it manually",
            parts.folds(commands, f"{len(commands)} steps" if len(commands) > 8 else ""),
        )
    )
    question = extra.question or f"{protocol.title}."
    found = extra.finding or protocol.conclude(figures) or (drawn[0].title if drawn else None)
    of = f"{'Study' if extra.question else 'Protocol'} {protocol.name} on {target}"
    if len(drives) > 1 or any(len(each.runs) > 1 for each in drives):
        # One drive's conclusion is no title of a picture of several.
        found = drawn[0].title if drawn else None
        after.insert(0, page.Section("Tests shown", tests_html(protocol, drives)))
        of = f"Protocol {protocol.name} on {wording.listed([each.label for each in drives])}"
    # The first sentence of a long finding is the title; one that is too long stands below the question.
    head, _, rest = (found or "").partition(". ")
    if not head or len(head) > _TITLE_CHARACTERS_MAX:
        head, rest = question.removesuffix("."), found or ""
        if found and drawn and protocol.draw and len(drawn[0].title) <= _TITLE_CHARACTERS_MAX:
            head = drawn[0].title
    title = head
    return page.Page(
        title=title,
        # Without a short finding the question is the title.
        subtitle=of if question.startswith(title) else f"{question} {of}",
        summary=f"{rest}." if rest else "",
        notices=[*([f"Quick form; omitted: {protocol.quick_gives_up}."] if quick else []), *notices],
        figures=[*extra.figures, *drawn],
        after=after,
    )


def waf_reasons(protocol: Protocol, figures: Sequence[Figures]) -> list[str]:
    """Why steps have no write amplification, if the protocol shows it; that a step only reads is no reason."""
    if "waf" not in protocol.columns:
        return []
    found = {each.waf_reason for each in figures if each.shown and each.waf is None and each.waf_reason}
    return sorted(found - {"nothing was written"})


def table_html(protocol: Protocol, figures: Sequence[Figures]) -> "Markup":
    """A table with one row per step shown, as in the terminal."""
    from ssdlab.presentation.report import parts

    rows = []
    for each in figures:
        if each.shown:
            values = [COLUMNS[name][1](each) for name in protocol.columns]
            rows.append([name_of(each), *map(_figure, values)])
    return parts.table("Every step", ["step", *(QUANTITIES[name] for name in protocol.columns)], rows, wraps=True)


def tests_html(protocol: Protocol, drives: "Sequence[DriveTests]") -> "Markup":
    """What each test of each drive gave, in a sentence."""
    from ssdlab.presentation.report import parts

    rows = [
        [each.label, f"{number} of {len(each.runs)}", protocol.conclude(run) or "-"]
        for each in drives
        for number, run in enumerate(each.runs, 1)
    ]
    return parts.table("Tests shown", ["drive", "test", "finding"], rows, sentence=2, wraps=True)


def matrix_html(matrix: Matrix) -> "Markup":
    """A table of two dimensions, as in the terminal."""
    from ssdlab.presentation.report import parts

    rows = [[name, *(_figure(value) for value in values)] for name, values in matrix.rows]
    return parts.table(matrix.title, [matrix.corner, *matrix.columns], rows)


def _figure(value: float | None) -> str:
    return "-" if value is None else measured(value)


def name_of(figures: Figures) -> str:
    """The name of the step, after that of its point if it has a name."""
    return f"{figures.point}, {figures.step}" if figures.point else figures.step
