"""Compares the published shares of slow reads of two drives that are only read with simulated retries.

The law has two numbers for each drive, fitted to the share of reads beyond a millisecond in two rounds, and a severity
more for each other limit. Not for what drives write: `comparison.py`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, Table, published
from ssdlab.simulator.drives import drive
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
FIGURES = published(FOLDER / "slow-reads.csv")
EXPONENT = 1.71
"""Of reads, in raw bit errors of 72-layer TLC: Kim, Choi and Min, "Design Tradeoffs for SSD Reliability", FAST 2019."""
ROUNDS_IN_ONE = {"Toshiba TR200 120GB": 25, "Crucial BX500 120GB": 5}
"""A simulated round stands for so many: a run takes seconds, and the number of reads is smaller in proportion."""
BLOCKS = 640
FACTOR = 1.5
"""The allowed factor, in both directions."""
MAIN = 2
"""The retries of a read beyond a millisecond, in all rows that the law is fitted to."""
# With a retry a read exceeds a limit and not the next one: the times of the retries are not fitted.
_LIMITS_US = {
    "Toshiba TR200 120GB": (400, 1000, 2000),
    "Crucial BX500 120GB": (300, 1000, 1500),
}


@dataclass(frozen=True)
class Law:
    """The numbers of a drive, with reads counted in rounds."""

    rounds: float
    """Rounds after which the severity is 1."""
    spread: float
    severities: tuple[float, float, float]


def share_of_retries(name: str, retries: int, at_round: int) -> float:
    """Published reads beyond the limit of so many retries, less those before any round counts."""
    rows = [each for each in FIGURES if each["drive"] == name and each["retries"] == str(retries)]
    (base,) = (float(each["percent"]) for each in rows if each["use"] == "input")
    (found,) = (float(each["percent"]) for each in rows if each["round"] == str(at_round))
    return (found - base) / 100


def law(name: str) -> Law:
    """Fits a Weibull distribution to two rounds of the main limit, and a severity to one round of each other limit."""
    early, last = sorted(int(each["round"]) for each in _rows(name, MAIN) if each["use"] == "fit")
    hazards = [-math.log1p(-share_of_retries(name, MAIN, at_round)) for at_round in (early, last)]
    exponent = math.log(hazards[1] / hazards[0]) / math.log(last / early)
    spread = exponent / EXPONENT
    rounds = last / hazards[1] ** (1 / exponent)
    others = [-math.log1p(-share_of_retries(name, retries, last)) for retries in (1, 3)]
    first, third = ((hazards[1] / other) ** (1 / spread) for other in others)
    return Law(rounds, spread, (first, 1.0, third))


def specification(context: Context, name: str) -> "Specification":
    """A fill, and rounds of reads, of which those at the published rounds are measured."""
    found, in_one = law(name), ROUNDS_IN_ONE[name]
    small = drive(FOLDER / "drive.toml").file.nand
    first, second, third = _LIMITS_US[name]
    settings = {
        "background.read_disturb_reads": "0",
        "nand.blocks_per_plane": str(BLOCKS),
        "ftl.user_bytes": str(BLOCKS * 4 // 5 * small.pages_per_block * small.page_bytes),
        "read_retries.retry_us": f"[{first}, {second - first}, {third - second}]",
        "read_retries.severities": str(list(found.severities)),
        "read_retries.spread": str(found.spread),
        "read_retries.reads_exponent": str(EXPONENT),
        "read_retries.reads": str(found.rounds / in_one * small.pages_per_block),
    }
    job = context.job(FOLDER / "slow-reads.fio", **_rounds(name))
    return specify(job, drive(FOLDER / "drive.toml", settings=settings), seed=context.seed)


def rows(results: Mapping[str, "Result"]) -> list[Row]:
    """The rows of the drives in the order of the figures, without those that are input."""
    return [_row(figure, results[figure["drive"]]) for figure in FIGURES if figure["use"] != "input"]


def table() -> Table:
    """The fitted numbers."""
    found: list[list[str | float]] = []
    for name in ROUNDS_IN_ONE:
        numbers = law(name)
        found.append([name, numbers.rounds, numbers.spread, numbers.severities[0], numbers.severities[2]])
    return Table(
        "The law of slow reads of each drive",
        ("drive", "rounds for a severity of 1", "read_retries.spread", "severity of the first retry", "of the third"),
        found,
        "Two numbers fitted to two rounds, and one to the last round for each other limit. The severity of the second "
        "retry is 1, read_retries.reads the rounds times the pages of a block.",
    )


def within_factor(row: Row) -> bool:
    """Whether a figure is within the factor of the published one."""
    assert isinstance(row.published, float)
    assert row.simulated is not None
    return row.published / FACTOR <= row.simulated <= row.published * FACTOR


def _rows(name: str, retries: int) -> list[dict[str, str]]:
    return [each for each in FIGURES if each["drive"] == name and each["retries"] == str(retries)]


def _rounds(name: str) -> dict[str, str]:
    """Rounds before each measured one, as variables of the job file."""
    measured = sorted(int(each["round"]) for each in _rows(name, MAIN) if each["use"] != "input")
    # The reads of a measured round go on counting while it lasts, so that it stands for its middle.
    starts = [round(at_round / ROUNDS_IN_ONE[name] - 0.5) for at_round in measured]
    between = [after - before - 1 for before, after in zip([-1, *starts], starts, strict=False)]
    return {f"ROUNDS_{number}": str(max(1, count)) for number, count in enumerate(between, 1)}


def _row(figure: Mapping[str, str], result: "Result") -> Row:
    name, limit_us, at_round = figure["drive"], int(figure["limit_us"]), int(figure["round"])
    measured = sorted(int(each["round"]) for each in _rows(name, MAIN) if each["use"] != "input")
    job = next(job for job in result.jobs if job.name == f"round-{measured.index(at_round) + 1}")
    latency = job.read.latency
    assert latency is not None
    (base,) = (float(each["percent"]) for each in _rows(name, int(figure["retries"])) if each["use"] == "input")
    above = latency.percent_above(limit_us * 1000)
    assert above is not None
    value, share = base + above, float(figure["percent"])
    parameters: tuple[str, ...] = ("read_retries.reads", "read_retries.spread", "the share before any round")
    if figure["retries"] != str(MAIN):
        parameters += ("a severity",)
    return Row(
        f"round {at_round}, over {limit_us / 1000:g} ms",
        share,
        value,
        "%",
        tolerance=FACTOR - 1 if value > share else 1 - 1 / FACTOR,
        fitted=Fitted(parameters, len(parameters)),
        is_left_out=figure["use"] == "predict",
        group=name,
        note="predicted" if figure["use"] == "predict" else "",
    )
