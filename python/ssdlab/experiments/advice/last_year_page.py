"""The page of a life to its end: spare area, write amplification and speed in the last year, in one picture."""

import json
from pathlib import Path

from ssdlab.experiments.advice.to_the_end import HEADS, Life, assumptions, bound, digits
from ssdlab.foundation.quantities import format_share
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.charts.published import Line, Panel, published_panels
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.results import page_folder

_POINTS = 241


def write(life: Life, daily_bytes: float, standing: str, directory: Path, line: str) -> list[str]:
    """Writes `report.html`, the picture and `result.json`. Returns the names. Either all files are written or none."""
    moments = life.moments(daily_bytes)
    last = moments[-1]
    whole = page.Page(
        title=f"Read-only after {digits(last['years'], 2)} years and {digits(last['written_tb'], 2)} TB",
        subtitle=f"{life.drive.name}, {wording.size(daily_bytes)} written a day",
        summary=assumptions(life, daily_bytes),
        notices=[standing],
        before=[],
        figures=[_figure(life, daily_bytes)],
        after=[
            page.Section("From new to read-only", parts.table("Life", HEADS, life.rows(daily_bytes))),
            page.Section("Words", parts.definitions(_WORDS)),
            page.Section("How to reproduce", parts.command(line)),
        ],
    )
    content = {"assumptions": assumptions(life, daily_bytes), "moments": moments}
    return page_folder.write(directory, whole, {"result.json": json.dumps(content, indent=2) + "\n"})


_WORDS = [
    ("OP", "spare area: (flash - capacity for the host) / capacity for the host, without the lost erase units"),
    ("WAF", "write amplification: bytes written to the flash for each byte that the host writes"),
    ("erase unit", "the blocks of all dies that are erased together; lost when one of them has failed and its plane "
     "has no block to replace it"),
    ("writes/s", "what the drive can do at that moment, in the steady state, not what is asked of it"),
]  # fmt: skip


def _figure(life: Life, daily_bytes: float) -> Figure:
    year = life.last_year(daily_bytes, _POINTS)
    panels = [
        Panel("OP, %", [Line("spare area", [(months, 100 * each["over_provisioning"]) for months, each in year])]),
        Panel("WAF", [Line("write amplification", [(months, each["waf"]) for months, each in year])]),
    ]
    speeds = [(months, each["iops"] / 1000) for months, each in year if each["iops"] is not None]
    if speeds:
        panels.append(Panel("1,000 writes/s", [Line("speed", speeds)]))
    first, last = year[0][1], year[-1][1]
    whole = first["written_tb"] == 0
    span = "from new until it turns read-only" if whole else "in the year before it turns read-only"
    return published_panels(
        name="last-year",
        title=f"In {'its life' if whole else 'the last year'} spare area falls from "
        f"{format_share(first['over_provisioning'], 3)} to {format_share(last['over_provisioning'], 2)}, and WAF rises "
        f"from {digits(first['waf'], 2)} to {bound(last['waf'], 'over')}",
        caption=f"A drive that is written {wording.size(daily_bytes)} a day, {span}. "
        "The last WAF and speed are those of the run with the least spare area.",
        panels=panels,
        x_title=f"months of {'its life' if whole else 'the last year'}",
    )
