"""The lines of `claims.toml` with their verdicts, for the page of the sources and that of all studies.

A line with rows that have a published figure has the verdict of the worst of them. One whose rows, pictures and tables
have none is shown, as is one that another command than `study` shows. What is missing, or cannot be shown, is said in
the file, with the reason; it only ever lowers a verdict, and never hides a missed figure.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.sources.claims import CLAIMS, Claim, sources
from ssdlab.experiments.studies.sources.judged import Judged, Kind

_WORST_FIRST = (Verdict.NOT_MEASURED, Verdict.MISSED, Verdict.INPUT, Verdict.SATURATED, Verdict.MET)
_SHOWN = "shown"
_IN_PART, _NOT_SHOWN, _NOT_TO_BE_HAD = "in part", "not shown", "not to be had"
VERDICTS = (*(str(verdict) for verdict in reversed(_WORST_FIRST)), _SHOWN, _IN_PART, _NOT_SHOWN, _NOT_TO_BE_HAD)


@dataclass(frozen=True)
class Line:
    """A claim with what a run says of it."""

    claim: Claim
    shown_by: Sequence[Judged]

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.claim.not_shown or self.claim.not_to_be_had:
            return _NOT_SHOWN if self.claim.not_shown else _NOT_TO_BE_HAD
        found = {each.verdict for each in self.shown_by}
        worst = next((verdict for verdict in _WORST_FIRST if verdict in found), None)
        if self.claim.in_part and worst not in (Verdict.NOT_MEASURED, Verdict.MISSED):
            return _IN_PART
        return str(worst or _SHOWN)

    @property
    def figures(self) -> str:
        """The shown figure beside the published one, if one row shows the line; otherwise how many do."""
        rows = [each for each in self.shown_by if each.kind == "row"]
        if len(rows) > 1:
            return f"{len(rows)} rows"
        if not rows:
            return ", ".join(f"{each.kind} {each.name}" for each in self.shown_by)
        (row,) = rows
        said = f"{row.shown} for {row.published}" if row.published and row.shown else row.shown or "-"
        return f"{said} {row.unit}".rstrip()

    @property
    def deviation(self) -> str:
        """The deviation from what was published, from the least to the greatest of the rows."""
        parts = []
        for in_points in (False, True):
            values = [
                each.deviation for each in self.shown_by if each.in_points == in_points and each.deviation is not None
            ]
            if values:
                ends = dict.fromkeys((_deviation(min(values), in_points), _deviation(max(values), in_points)))
                parts.append(" to ".join(ends) + (" points" if in_points else " %"))
        return ", ".join(parts)

    @property
    def why(self) -> str:
        """What is missing, and why, or what must be known; of a line in part also what is shown."""
        claim = self.claim
        if claim.in_part:
            return f"Shown: {claim.part} Not shown: {claim.in_part}"
        return claim.not_shown or claim.not_to_be_had or claim.note


@dataclass(frozen=True)
class Document:
    """A document and its lines."""

    study: str
    title: str
    lines: Sequence[Line]


def documents(found: Iterable[Judged]) -> list[Document]:
    """The documents whose studies are among `found`, in order. Raises ValueError for a line that nothing shows."""
    by_study: dict[str, list[Judged]] = {}
    for each in found:
        by_study.setdefault(each.study, []).append(each)
    return [
        Document(source.study, source.title, [_line(claim, by_study[source.study]) for claim in source.claims])
        for source in sources()
        if source.study in by_study
    ]


def counted(lines: Iterable[Line]) -> str:
    """How many lines have each verdict: "84 lines: 9 met, 8 missed"."""
    counts = Counter(line.verdict for line in lines)
    return f"{counts.total()} lines: " + ", ".join(f"{counts[name]} {name}" for name in VERDICTS if counts[name])


def _line(claim: Claim, found: Sequence[Judged]) -> Line:
    patterns: dict[Kind, tuple[str, ...]] = {"row": claim.rows, "picture": claim.pictures, "table": claim.tables}
    shown = []
    for kind, wanted in patterns.items():
        of_kind = [each for each in found if each.kind == kind]
        for pattern in wanted:
            matching = [each for each in of_kind if fnmatchcase(each.name, pattern)]
            if not matching:
                raise ValueError(f"{CLAIMS.name}: {claim.says!r}: the study has no {kind} {pattern!r}")
            shown += matching
    line = Line(claim, list(dict.fromkeys(shown)))
    if not line.shown_by and (not line.why or (claim.note and claim.command.startswith("ssdlab study"))):
        raise ValueError(f"{CLAIMS.name}: {claim.says!r}: nothing shows this; give rows, pictures, tables or a reason")
    return line


def _deviation(value: float, in_points: bool) -> str:
    return f"{value:+z.2f}" if in_points else f"{100 * value:+z.1f}"
