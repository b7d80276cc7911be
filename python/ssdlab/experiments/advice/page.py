"""The page of an advice: the recommendation at the top, the curve with its limits, and all runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from markupsafe import Markup

from ssdlab.experiments.advice.limits import LimitJson
from ssdlab.experiments.advice.placement import PlacementJson
from ssdlab.experiments.advice.search import Found
from ssdlab.experiments.advice.trials import Trial, TrialJson, Trials, mean
from ssdlab.experiments.advice.words import Sentence, SentenceJson, amount, commands, size_of
from ssdlab.presentation.report import headlines, page, parts, wording
from ssdlab.presentation.report.charts.published import Line, Marks, published_lines
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.results import page_folder

_HEADS = {"waf": "WAF", "years": "life", "write_mb_s": "written", "price_per_gb": "price"}
_PURPOSES = {"miniature runs": "curve", "verification runs": "verification"}

_AXES = {
    "waf": ("WAF (NAND bytes / host bytes)", 1.0),
    "years": ("years of life", 1.0),
    "write_mb_s": ("MB/s written", 1.0),
    "price_per_gb": ("price per usable GB", 1.0),
}

# Columns in addition to those of the limits: figure and unit.
_EXTRA = {"TBW, TB": ("tbw_bytes", 1e12), "price per TB written": ("price_per_tb_written", 1.0)}


def write(
    trials: Trials,
    found: Found,
    head: Sentence,
    said: Sequence[Sentence],
    directory: Path,
    *,
    placement: PlacementJson | None,
    question: str,
    line: str,
) -> list[str]:
    """Writes `report.html`, pictures and `result.json` with the advice and all trials. Returns the names.

    Either all files are written or none.
    """
    drawn = figures(trials, found)
    limits = [limit.words for limit in trials.limits]
    whole = page.Page(
        title=headlines.of_advice(found.over_provisioning, found.own, limits),
        subtitle=f"{question}; {trials.setting.file.name}; limits: {wording.listed(limits)}",
        summary=head.text,
        notices=[
            trials.setting.standing,
            *(["Runs of a smaller drive with the same ratios; each states its scale."] if _is_scaled(trials) else []),
        ],
        before=[page.Section("Supporting runs", _list(said))] if said else [],
        figures=drawn,
        after=[
            *_how_to(trials, found),
            *([page.Section("All runs", _table(trials))] if trials.done else []),
            page.Section("How to reproduce", parts.command(line)),
        ],
    )
    texts = {"result.json": _json(trials, found, head, said, placement)}
    if text := getattr(trials.workload, "text", None):
        texts["workload.fio"] = text
    return page_folder.write(directory, whole, texts)


def figures(trials: Trials, found: Found) -> list[Figure]:
    """One picture for each limit; none if nothing was run."""
    return [_figure(trials, found, limit.figure) for limit in trials.limits if len(found.curve) > 1]


def _figure(trials: Trials, found: Found, name: str) -> Figure:
    limit = next(limit for limit in trials.limits if limit.figure == name)
    title, factor = _AXES.get(name, (f"{name.replace('.', ', ')}, ms", 1e-6))
    points = [(share * 100, value * factor) for share, runs in found.curve if (value := mean(runs, name)) is not None]
    ends = points[0][0], points[-1][0]
    lines = [
        Line("simulated", points, dotted=True),
        Line(f"limit: {limit.words}", [(end, limit.bound * factor) for end in ends]),
    ]
    marks, finding = [], f"{limit.words} cannot be met"
    if found.over_provisioning is not None:
        value = mean(found.evidence, name)
        marks += [Marks("recommended", [(found.over_provisioning * 100, value * factor)])] if value else []
        finding = f"{limit.words} needs {wording.share(found.over_provisioning)} over-provisioning"
        if found.over_provisioning <= found.own:
            # Smaller spare areas than the drive's own are not tried.
            finding = f"{limit.words} is met by the drive as sold"
    if found.binding is not None and found.binding.figure != name and marks:
        finding = f"{limit.words} is met with margin at {wording.share(found.over_provisioning or 0)}"
    return published_lines(
        name=name.replace(".", "-").replace("_", "-"),
        title=wording.capitalized(finding),
        caption=f"{wording.capitalized(title)} against over-provisioning. Each dot is a simulated spare area, the mean "
        "of its runs.",
        marked="simulated",
        lines=lines,
        marks=marks,
        x_title="over-provisioning, % of the host's capacity",
        y_title=title,
        scale="log"
        if min(y for _, y in points) > 0 and max(y for _, y in points) > 20 * min(y for _, y in points)
        else "linear",
    )


def _how_to(trials: Trials, found: Found) -> list[page.Section]:
    if found.over_provisioning is None or found.over_provisioning == found.own:
        return []
    lines = [f"# {what}\n{line}" for what, line in commands(trials, found.over_provisioning)]
    return [page.Section("How to leave it empty (one of these)", parts.command("\n".join(lines)))]


def _list(said: Sequence[Sentence]) -> Markup:
    return parts.bullets([str(sentence) for sentence in said])


def _table(trials: Trials) -> Markup:
    """Every run and its purpose; columns without values are left out."""
    columns: dict[str, list[str]] = {
        "what for": [_purpose(trial) for trial in trials.done],
        "OP": [wording.share(trial.over_provisioning) for trial in trials.done],
        "scale": [size_of(trial) for trial in trials.done],
        "seed": [str(trial.seed) for trial in trials.done],
    }
    for limit in trials.limits:
        values = [trial.figure(limit.figure) for trial in trials.done]
        if any(value is not None for value in values):
            head = _HEADS.get(limit.figure, limit.figure.replace(".", " "))
            columns[head] = ["-" if value is None else amount(limit, value) for value in values]
    for head, (name, unit) in _EXTRA.items():
        values = [trial.figure(name) for trial in trials.done]
        if any(value is not None for value in values):
            columns[head] = ["-" if value is None else wording.significant(value / unit) for value in values]
    rows = [[str(trial.name), *cells] for trial, *cells in zip(trials.done, *columns.values(), strict=True)]
    return parts.table("All runs", ["run", *columns], rows, sentence=1, titles=[trial.command for trial in trials.done])


def _purpose(trial: Trial) -> str:
    return _PURPOSES.get(trial.purpose, trial.purpose)


def _is_scaled(trials: Trials) -> bool:
    return any(trial.scale for trial in trials.done)


class AdviceJson(TypedDict):
    """The `result.json` of an advice."""

    advice: SentenceJson
    sentences: list[SentenceJson]
    drive: str
    standing: str
    """What stands behind the name of the drive."""
    limits: list[LimitJson]
    over_provisioning: float | None
    over_provisioning_as_sold: float
    over_provisioning_by_closed_form: float | None
    binding: str | None
    placement: PlacementJson | None
    runs: list[TrialJson]


def _json(
    trials: Trials, found: Found, head: Sentence, said: Sequence[Sentence], placement: PlacementJson | None
) -> str:
    advice: AdviceJson = {
        "advice": head.to_dict(),
        "sentences": [sentence.to_dict() for sentence in said],
        "drive": trials.setting.file.name,
        "standing": trials.setting.standing,
        "limits": [limit.to_dict() for limit in trials.limits],
        "over_provisioning": found.over_provisioning,
        "over_provisioning_as_sold": found.own,
        "over_provisioning_by_closed_form": found.theory,
        "binding": found.binding.said if found.binding else None,
        "placement": placement,
        "runs": [trial.to_dict() for trial in trials.done],
    }
    return json.dumps(advice, indent=2, ensure_ascii=False) + "\n"
