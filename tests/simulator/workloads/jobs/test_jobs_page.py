"""Does the page of fio's options agree with the parser's table?"""

from pathlib import Path

import jobs_page
from ssdlab.simulator.workloads.jobs import OPTIONS

PAGE = Path(__file__).parents[4] / "docs/simulate/jobs.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == jobs_page.page(), "run make docs"


def test_every_option_stands_once_in_the_tables() -> None:
    tables = jobs_page.page().partition("## Options that act")[2]
    for option in OPTIONS:
        for name in option.names:
            assert tables.count(f"`{name}`") == 1, name
