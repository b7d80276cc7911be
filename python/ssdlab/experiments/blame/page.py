"""The page of an answer: one picture from the program to the flash, the causes, the changes, and all figures."""

import json
from pathlib import Path

from ssdlab.experiments.blame.blaming import Blamed
from ssdlab.experiments.blame.words import EFFECT_HEADS, LEVELS, MEANINGS, PARTS, effect_rows, headline, rows, sentences
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.charts.levels import Part, stacked_levels
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.results import page_folder

_MB = 1e6


def write(blamed: Blamed, directory: Path, line: str) -> list[str]:
    """Writes `report.html`, the picture and `result.json`. Returns the names. Either all files are written or none."""
    content = json.dumps(blamed.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return page_folder.write(directory, _page(blamed, figures(blamed), line), {"result.json": content})


def _present(blamed: Blamed) -> list[tuple[str, str, float]]:
    """Level, part and bytes. A part of less than a byte is rounding."""
    return [
        (level, name, value)
        for level, values in blamed.levels.items()
        for name, value in values.items()
        if value >= 0.5
    ]


def figures(blamed: Blamed) -> list[Figure]:
    """The picture; none if nothing was written."""
    found = [Part(LEVELS[level], PARTS[name], value / _MB) for level, name, value in _present(blamed)]
    if len({part.level for part in found}) < 2:
        return []
    return [
        stacked_levels(
            name="levels",
            title=wording.capitalized(headline(blamed)),
            caption="The bytes that each level writes: what the program asks, what the file system makes of it, and "
            "what the drive's flash translation layer (FTL) programs into its flash.",
            parts=found,
            x_title="MB written",
        )
    ]


def _calls(blamed: Blamed) -> str:
    """Which calls the runs are of."""
    return "reconstructed" if any(each.basis == "guessed" for each in blamed.causes) else "same"


def _page(blamed: Blamed, drawn: list[Figure], line: str) -> page.Page:
    after = []
    for heading, effects in (("Causes", blamed.causes), ("Changes", blamed.changes)):
        if effects:
            table = parts.table(heading, EFFECT_HEADS, effect_rows(effects), sentence=4)
            after.append(page.Section(heading, table))
    if blamed.programs:
        listed = [[name, wording.size(io.asked_bytes), wording.size(io.written_bytes)] for name, io in blamed.programs]
        after.append(page.Section("Programs", parts.table("Programs", ["program", "asked", "became dirty"], listed)))
    after += [
        page.Section(
            "What the figures rest on",
            parts.table("Figures", ["figure", "value", "rests on", "note"], rows(blamed), sentence=3),
        ),
        page.Section("Parts", parts.definitions([(PARTS[name], MEANINGS[name]) for _, name, _ in _present(blamed)])),
        page.Section("Guessed", parts.bullets(blamed.guesses)),
        page.Section("How to reproduce", parts.command(line)),
    ]
    scale = f" at {blamed.scale}" if blamed.scale else ""
    return page.Page(
        title=wording.capitalized(headline(blamed)),
        subtitle=f"{blamed.program}, {blamed.seconds:,.1f} s, on {blamed.drive}{scale}",
        summary=f"Causes and changes are runs of the {_calls(blamed)} calls without the cause or with the change; "
        "causes overlap.",
        notices=["Interrupted: what was seen until then."] if blamed.interrupted else [],
        before=[page.Section("In short", parts.bullets(sentences(blamed)))] if sentences(blamed) else [],
        figures=drawn,
        after=after,
    )
