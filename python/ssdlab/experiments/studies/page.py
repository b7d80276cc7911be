"""The pages of one study and of all studies: finding, rows, pictures, assumptions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from ssdlab.experiments.studies import sources, wording
from ssdlab.experiments.studies.contract import Row, Study, StudyResult, Table, Verdict
from ssdlab.presentation.report import page, parts
from ssdlab.simulator.specification import Specification

PAGE_NAME = "report.html"
NAMED_MAX = 3
"""The maximum number of fitted parameters that are listed by name."""
_SCALES_MAX = 3
JOBS_MAX = 64
"""The maximum number of jobs that the page lists of a specification."""


def study_page(
    study: Study, result: StudyResult, specifications: Mapping[str, Specification], command_line: str
) -> page.Page:
    """The page of one study, with the pictures first, because readers look at these first."""
    is_published = any(row.published is not None for row in result.rows)
    after = [page.Section("Published and simulated" if is_published else "Simulated", rows_html(result.rows))]
    after += [_table_section(table) for table in result.tables]
    after.append(page.Section("What is assumed", parts.definitions([(a.what, a.why) for a in study.assumptions])))
    if notes := notes_html(result.notes, result.rows):
        after.append(page.Section("Notes", notes))
    after.append(page.Section("Source", parts.paragraphs(study.source)))
    after += page.reproduced(command_line)
    after.append(page.specification({label: _json(specified) for label, specified in specifications.items()}))
    title, summary = wording.headline(result.finding)
    return page.Page(
        title=title,
        subtitle=f"{study.title} Study {study.name}" + (f"; {wording.verdict(result.rows)}" if is_published else ""),
        summary=summary,
        notices=scale_notice(specifications.values()),
        figures=result.figures,
        after=after,
    )


def all_page(results: Sequence[tuple[Study, StudyResult]], scales: Sequence[str], command_line: str) -> page.Page:
    """The page of all studies: findings, rows and pictures, with links to the studies' own pages."""
    before = _sources(results)
    for study, result in results:
        heading, rest = wording.headline(result.finding)
        texts = parts.paragraphs(*(text for text in (study.title, rest) if text))
        link = parts.link(f"{study.name}/{PAGE_NAME}", "Its own page")
        before.append(page.Section(heading, texts + rows_html(result.rows) + link, study.name))
    figures = [
        # Names are file names and identifiers on the page, so the study's name makes them unique.
        replace(figure, name=f"{study.name}-{figure.name}")
        for study, result in results
        for figure in result.figures
    ]
    rows = [row for _, result in results for row in result.rows]
    return page.Page(
        title=wording.overall(rows),
        subtitle=f"The published experiments, repeated: {len(results)} studies; {wording.verdict(rows)}",
        summary="What was measured on real drives, and what the simulated ones say, row by row.",
        notices=list(scales),
        before=before,
        figures=figures,
        after=page.reproduced(command_line),
    )


def _sources(results: Sequence[tuple[Study, StudyResult]]) -> list[page.Section]:
    """Every line of the documents whose studies were run, first on the page; nothing if there is none."""
    found = sources.documents(each for study, result in results for each in sources.judge(study, result))
    if not found:
        return []
    body: list[list[str] | str] = []
    for document in found:
        body.append(document.title)
        for line in document.lines:
            cells = (line.claim.says, line.claim.command, line.verdict, line.figures, line.deviation, line.why)
            body.append([*cells, parts.within(f"#{document.study}", "its study")])
    heads = [
        "line",
        "command",
        "verdict",
        "shown, for published",
        "deviation",
        "what is missing or must be known",
        "study",
    ]
    table = parts.table("Every line of the documents", heads, body, wraps=True)
    said = sources.counted(line for document in found for line in document.lines)
    return [page.Section("The documents, line by line", parts.paragraphs(f"{said}.") + table)]


def notes_html(notes: Sequence[str], rows: Sequence[Row]) -> Markup:
    """Notes, and the notes of the rows, each once with the rows it applies to. Empty if there are none."""
    by_note: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.note:
            by_note.setdefault(row.note, {})[row.what] = None
    said = [*notes, *(f"{'; '.join(whats)}: {note}" for note, whats in by_note.items())]
    return parts.paragraphs(*said)


def rows_html(rows: Sequence[Row], had: str = "simulated") -> Markup:
    """The rows as a table that scrolls horizontally on a narrow screen. `had` is "simulated" or "measured"."""
    unfitted = any(row.unfitted is not None for row in rows)
    fitted = any(row.fitted for row in rows)
    tolerances = {wording.tolerance(row) for row in rows if row.tolerance is not None}
    # One tolerance for all is said below; a column of it takes the room of the rows' names.
    differs = len(tolerances) > 1
    is_published = any(row.published is not None for row in rows)
    headings = ["published", had, "deviation", *(["tolerance"] if differs else [])] if is_published else [had]
    headings += [*(["verdict"] if is_published else []), *(["parameters / points"] if fitted else [])]
    headings += ["with nothing fitted"] if unfitted else []
    body: list[list[str] | str] = []
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            body.append(group)
        judged = [
            wording.deviation(row),
            *([wording.tolerance(row)] if differs else []),
            wording.verdict_of(row),
        ]
        cells = [wording.figure(row), _with_spread(row)]
        if is_published:
            cells = [cells[0], wording.published(row), cells[1], *judged]
        cells += [wording.fitted(row)] if fitted else []
        cells += [wording.unfitted(row)] if unfitted else []
        body.append(cells)
    table = parts.table(f"Published and {had}", ["figure", *headings], body, wraps=True)
    if not is_published:
        return table + parts.paragraphs(*_fitted(rows))
    return table + parts.paragraphs(_explained(rows, "" if differs else "".join(tolerances)), *_fitted(rows))


def _explained(rows: Sequence[Row], tolerance: str) -> str:
    """An explanation of the verdicts, the tolerance if all rows have one, and the asterisk if it occurs."""
    said = [f"{wording.verdict(rows)}."]
    verdicts = {row.verdict for row in rows}
    if Verdict.INPUT in verdicts:
        said.append("Input: arithmetic on what was given.")
    if Verdict.SATURATED in verdicts:
        said.append("Saturated: as many parameters fitted as there are points, so it tests nothing.")
    if tolerance:
        said.append(f"Met: within {tolerance}.")
    if any(row.printed == "ours" for row in rows):
        said.append(f"{wording.OURS}.")
    return " ".join(said)


def _fitted(rows: Sequence[Row]) -> list[str]:
    """A sentence that says what the column of parameters and points counts, with the names where these are few."""
    found = dict.fromkeys((row.group, row.fitted.parameters) for row in rows if row.fitted)
    if not found:
        return []
    named: dict[tuple[str, ...], list[str]] = {}
    for group, parameters in found:
        named.setdefault(tuple(parameters), []).append(group)
    said = [
        f"{', '.join(names) if len(names) <= NAMED_MAX else f'{len(names)} keys of the drive file'} "
        f"({', '.join(filter(None, groups))})".removesuffix(" ()")
        for names, groups in named.items()
    ]
    return [f"Parameters / points: how many were fitted, to how many measured points. Fitted: {'; '.join(said)}."]


def scale_notice(specifications: Iterable[Specification]) -> list[str]:
    """A notice about the scale of the simulated drives; empty if none is scaled."""
    scales = sorted({each.scale for each in specifications} - {"1"}, key=Fraction)
    if not scales:
        return []
    said = " and ".join(scales) if len(scales) <= _SCALES_MAX else f"{scales[0]} to {scales[-1]}"
    return [
        f"Simulated at a scale of {said}: smaller drives and workloads of the same ratios. Shares, WAF and speeds "
        "stand for those of the full drives, percentiles of latency less exactly; bytes and times are given for the "
        "full drive. --full simulates those."
    ]


def _with_spread(row: Row) -> str:
    if row.spread is None:
        return wording.simulated(row)
    least, most = (wording.as_precise(row, value) for value in row.spread)
    return wording.simulated(row) + (f" ({least} to {most})" if least != most else "")


def _table_section(table: Table) -> page.Section:
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    html = parts.table(
        table.heading,
        # Names of workloads may break behind an underscore.
        [head.replace("_", "_\N{ZERO WIDTH SPACE}") for head in table.columns],
        rows,
        sentence=table.sentences,
        wraps=table.wraps,
        caption=table.caption,
    )
    return page.Section(table.heading, html)


def _cell(cell: str | float | None) -> str:
    if isinstance(cell, int):
        return f"{cell:,}"
    return cell if isinstance(cell, str) else wording.number(cell)


def _json(specification: Specification) -> str:
    """The specification as JSON. Of more than `JOBS_MAX` jobs, which only a generator writes, it has the first ones."""
    whole: Mapping[str, Any] = specification.to_dict()
    left_out = len(specification.jobs) - JOBS_MAX
    if left_out > 0:
        said = f"{left_out:,} more; result.json has all"
        engine = whole["engine"] | {"jobs": [*specification.jobs[:JOBS_MAX], said]}
        whole = {**whole, "engine": engine, "reporting": [*whole["reporting"][:JOBS_MAX], said]}
    return json.dumps(whole, indent=2, ensure_ascii=False)
