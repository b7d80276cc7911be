"""Writes the files of a study, all or none: report.html, its pictures if chosen, result.json, series in data/."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import RowJson, Study, StudyResult
from ssdlab.experiments.studies.page import PAGE_NAME, all_page, scale_notice, study_page
from ssdlab.presentation.report.chosen import write_figures
from ssdlab.simulator.results.files import data_file, data_name, staged
from ssdlab.simulator.specification import Specification, SpecificationJson


class SpecifiedJson(SpecificationJson):
    """A specification with its hash."""

    sha256: str


class TableJson(TypedDict):
    heading: str
    columns: list[str]
    rows: list[list[str | float | None]]
    caption: str


class AssumptionJson(TypedDict):
    what: str
    why: str


class StudyJson(TypedDict):
    """The content of a study's `result.json`."""

    study: str
    title: str
    source: str
    seed: int
    full: bool
    finding: str | None
    rows: list[RowJson]
    tables: list[TableJson]
    assumptions: list[AssumptionJson]
    notes: list[str]
    specifications: dict[str, SpecifiedJson]


def write(study: Study, result: StudyResult, context: Context, directory: Path, command_line: str) -> list[str]:
    """Writes the files of one study into `directory` and returns their names, the page last."""
    with staged(directory) as place:
        (place / "result.json").write_text(_json(study_dict(study, result, context)), encoding="utf-8")
        names = ["result.json"]
        for name, frame in result.series.items():
            frame.write_parquet(data_file(place, f"series-{name}"))
            names.append(data_name(f"series-{name}"))
        names.extend(write_figures(result.figures, place))
        page = study_page(study, result, context.specifications, command_line)
        (place / PAGE_NAME).write_text(page.html(), encoding="utf-8")
        return [*names, PAGE_NAME]


def write_all(results: Sequence[tuple[Study, StudyResult, Context]], directory: Path, command_line: str) -> list[str]:
    """Writes the page of all studies, and their rows in one `result.json`. Each study's own files are in the folder of
    its name, written by `write`."""
    specifications: list[Specification] = [
        each for _, _, context in results for each in context.specifications.values()
    ]
    page = all_page([(study, result) for study, result, _ in results], scale_notice(specifications), command_line)
    with staged(directory) as place:
        content = [study_dict(*each) for each in results]
        (place / "result.json").write_text(_json(content), encoding="utf-8")
        (place / PAGE_NAME).write_text(page.html(), encoding="utf-8")
    return ["result.json", PAGE_NAME]


def study_dict(study: Study, result: StudyResult, context: Context) -> StudyJson:
    """The JSON object of a study: rows, tables, assumptions, and the specification of every run."""
    return {
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "seed": context.seed,
        "full": context.full,
        "finding": result.finding,
        "rows": [row.to_dict() for row in result.rows],
        "tables": [
            {
                "heading": table.heading,
                "columns": list(table.columns),
                "rows": [list(row) for row in table.rows],
                "caption": table.caption,
            }
            for table in result.tables
        ],
        "assumptions": [{"what": each.what, "why": each.why} for each in study.assumptions],
        "notes": list(result.notes),
        "specifications": {label: _specified(each) for label, each in context.specifications.items()},
    }


def _specified(specification: Specification) -> SpecifiedJson:
    return {**specification.to_dict(), "sha256": specification.hash()}


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
