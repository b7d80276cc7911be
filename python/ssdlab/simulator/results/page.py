"""The page of one run: headline, figures and pictures, as a comparison with one variant."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from ssdlab.presentation.report import headlines, wording
from ssdlab.presentation.report.chosen import write_page
from ssdlab.presentation.report.comparison import comparison_figures, comparison_page
from ssdlab.simulator.results import drive_state, namespaces_page
from ssdlab.simulator.results.compared import of_result, outcome
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.results.speed import speed

# Values that only a comparison computes.
_OF_COMPARISONS = ("theory", "tbw_bytes", "years")
_WHERE = "not counted for a single run; ssdlab compare does"


def _of_last_stage(result: Result) -> str:
    """That the page's figures are of the last stage, beside the terminal's of the whole run, if that differs."""
    if len(result.stages) < 2 or result.waf is None:
        return ""
    return f"; figures of the last stage, the whole run has a WAF of {wording.waf(result.waf)}"


def write(
    result: Result, directory: Path, *, job: str, start: str, notes: Sequence[str], command_line: str
) -> list[str]:
    """Writes `report.html` and the chosen files of its pictures, and returns their names, the page last.

    `start` is how the drive began, in the words of `drive_state`; `notes` are remarks for the reader.
    """
    name = str(result.specification.drive["name"])
    variant = of_result(result, name, notes)
    variants = [replace(variant, missing={**variant.missing, **dict.fromkeys(_OF_COMPARISONS, _WHERE)})]
    page = comparison_page(
        variants,
        comparison_figures(variants),
        headlines.of_variants([outcome(name, result, speed(result))]) + drive_state.caveat(result, start),
        f"{job} on {name}, {wording.share(result.capacity.over_provisioning)} spare area; "
        f"seed {result.specification.engine['seed']}{_of_last_stage(result)}",
        command_line,
    )
    if result.namespaces:
        section = namespaces_page.section(result.namespaces, Fraction(result.specification.scale))
        page = replace(page, before=[*page.before, section])
    return write_page(page, directory)
