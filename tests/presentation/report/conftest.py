"""Fixtures for reports: invented data, and one written report that the tests only read."""

from pathlib import Path

import pytest

from made_up import made_up_variant
from ssdlab.presentation.report import ComparedVariant, write_comparison
from ssdlab.presentation.report.chosen import choosing

COMMAND_LINE = "ssdlab compare jobs/randwrite.fio --op 7%,28% > '</script><b>'"


@pytest.fixture(scope="session")
def variants() -> list[ComparedVariant]:
    return [
        made_up_variant("7\u00a0%", 0.07, specification={"drive": {"name": "</script><i>"}}),
        made_up_variant("12.7\u00a0%", 0.127, with_theory=False, steady=False, extra_parts=True),
        made_up_variant(
            "28\u00a0%", 0.28, scale="1/16", tbw_bytes=None, years=None, missing={"years": "no rated cycles"}
        ),
    ]


@pytest.fixture(scope="session")
def report(variants: list[ComparedVariant], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("report") / "new"
    with choosing("all"):
        return write_comparison(
            variants, directory, title="Spare <area>", subtitle="made up", command_line=COMMAND_LINE
        )
