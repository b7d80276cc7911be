"""Findings of axe-core on a page, by the rules of WCAG 2, for users with a screen reader, a keyboard or weak sight."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def all_findings(page: Page) -> list[str]:
    """The findings, the minor ones too, one line each with the first elements concerned."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [_in_a_line(rule) for rule in found]


def _in_a_line(rule: dict[str, Any]) -> str:
    places = [f"{node['html'][:120]} [{node['failureSummary'].splitlines()[-1].strip()}]" for node in rule["nodes"][:3]]
    return f"{rule['id']} ({len(rule['nodes'])}): {rule['help']}: {'; '.join(places)}"
