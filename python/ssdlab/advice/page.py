"""The page of an advice: the recommendation in plain words on top, the curve with its limits, every run."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from ssdlab.advice.search import Found
from ssdlab.advice.trials import Trials, mean
from ssdlab.advice.words import Sentence, commands, figure
from ssdlab.report import headlines, page, wording
from ssdlab.report.charts.published import Line, Marks, published_lines
from ssdlab.report.figure import Figure
from ssdlab.report.files import write_figures
from ssdlab.results.files import staged

_AXES = {
    "waf": ("WAF (NAND bytes / host bytes)", 1.0),
    "years": ("years of life", 1.0),
    "write_mb_s": ("MB/s written", 1.0),
    "price_per_gb": ("price per usable GB", 1.0),
}

# Columns in addition to the limits: figure and unit.
_EXTRA = {"TBW": ("tbw_bytes", 1e12), "price per TB written": ("price_per_tb_written", 1.0)}


def write(
    trials: Trials, found: Found, head: Sentence, said: Sequence[Sentence], directory: Path, *, question: str, line: str
) -> list[str]:
    """`report.html`, pictures, `result.json` with the advice and every trial; all or none. Returns the names."""
    drawn = figures(trials, found)
    said_limits = [limit.said for limit in trials.limits]
    whole = page.Page(
        title=headlines.of_advice(found.over_provisioning, found.own, said_limits),
        subtitle=f"{question}; {trials.setting.file.name}; limits: {wording.listed(said_limits)}",
        summary=wording.unbroken(head.text),
        notices=["Runs of a smaller drive with the same ratios; each states its scale."] if _is_scaled(trials) else [],
        before=[page.Section("Supporting runs", _list(said))] if said else [],
        figures=drawn,
        after=[
            *_how_to(trials, found),
            *([page.Section("All runs", _table(trials))] if trials.done else []),
            page.Section("How to reproduce", page.command(line)),
        ],
    )
    with staged(directory) as place:
        write_figures(drawn, place)
        text = getattr(trials.workload, "text", None)
        if text:
            (place / "workload.fio").write_text(text, encoding="utf-8")
        (place / "result.json").write_text(_json(trials, found, head, said), encoding="utf-8")
        (place / "report.html").write_text(whole.html(), encoding="utf-8")
        return sorted(path.name for path in place.iterdir())


def figures(trials: Trials, found: Found) -> list[Figure]:
    """A picture a limit; none where nothing was run."""
    return [_figure(trials, found, limit.figure) for limit in trials.limits if len(found.curve) > 1]


def _figure(trials: Trials, found: Found, name: str) -> Figure:
    limit = next(limit for limit in trials.limits if limit.figure == name)
    title, factor = _AXES.get(name, (f"{name.replace('.', ', ')}, ms", 1e-6))
    points, spread = [], []
    for share, runs in found.curve:
        values = [value * factor for trial in runs if (value := trial.figure(name)) is not None]
        if values:
            points.append((share * 100, sum(values) / len(values)))
            spread.append((share * 100, min(values), max(values)))
    ends = points[0][0], points[-1][0]
    lines = [
        Line("simulated", points, spread),
        Line(f"limit: {limit.said}", [(end, limit.bound * factor) for end in ends]),
    ]
    marks, finding = [], f"{limit.said} cannot be met"
    if found.over_provisioning is not None:
        value = mean(found.evidence, name)
        marks += [Marks("recommended", [(found.over_provisioning * 100, value * factor)])] if value else []
        finding = f"{limit.said} is met at {wording.share(found.over_provisioning)} or more"
    if found.binding is not None and found.binding.figure != name and marks:
        finding = f"{limit.said} is met with margin at {wording.share(found.over_provisioning or 0)}"
    return published_lines(
        name=name.replace(".", "-").replace("_", "-"),
        title=finding,
        caption=f"{title} against over-provisioning; band: minimum and maximum over seeds.",
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
    return [page.Section("How to leave it empty (one of these)", page.command("\n".join(lines)))]


def _list(said: Sequence[Sentence]) -> str:
    return f"<ul>{''.join(f'<li>{_item(sentence)}</li>' for sentence in said)}</ul>"


def _item(sentence: Sentence) -> str:
    detail = f"<br><small>{escape(sentence.detail)}</small>" if sentence.detail else ""
    return escape(str(sentence)) + detail


def _table(trials: Trials) -> str:
    limits = trials.limits
    heads = "".join(
        f'<th scope="col">{escape(head)}</th>'
        for head in ("OP", "scale", "seed", *(limit.figure for limit in limits), *_EXTRA)
    )
    rows = []
    for trial in trials.done:
        cells = [wording.share(trial.over_provisioning), str(trial.scale or 1), str(trial.seed)]
        cells += [figure(limit, trial.figure(limit.figure)) for limit in limits]
        cells += [
            "-" if (value := trial.figure(name)) is None else wording.significant(value / unit)
            for name, unit in _EXTRA.values()
        ]
        rows.append(
            f'<tr title="{escape(trial.command)}"><th scope="row">{trial.name}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
        )
    return (
        '<div class="scroll" role="region" aria-label="All runs" tabindex="0"><table>'
        f'<thead><tr><th scope="col">run</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _is_scaled(trials: Trials) -> bool:
    return any(trial.scale for trial in trials.done)


def _json(trials: Trials, found: Found, head: Sentence, said: Sequence[Sentence]) -> str:
    plain: dict[str, Any] = {
        "advice": asdict(head),
        "sentences": [asdict(sentence) for sentence in said],
        "drive": trials.setting.file.name,
        "limits": [asdict(limit) for limit in trials.limits],
        "over_provisioning": found.over_provisioning,
        "over_provisioning_as_sold": found.own,
        "over_provisioning_by_closed_form": found.theory,
        "binding": found.binding.said if found.binding else None,
        "runs": [{**asdict(trial), "scale": str(trial.scale or 1)} for trial in trials.done],
    }
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
