"""The pages of the site, gathered from the whole repository, link only to existing pages and headings."""

import re
from pathlib import Path

import website

_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors that mkdocs creates for headings."""
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in _HEADING.findall(text)}


def test_every_link_of_the_site_leads_to_a_page_or_heading(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    website.gather(folder, has_live=False)
    lost, seen = [], 0
    for page in folder.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for name, anchor in _LINK.findall(re.sub(r"`[^`]*`", "", text)):
            seen += 1
            target = page.parent / name if name else page
            if not target.is_file() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
                lost.append(f"{page.relative_to(folder)}: {name}#{anchor}")
    assert not lost
    assert seen > 50


def test_every_page_is_in_one_tab(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    website.gather(folder, has_live=False)
    placed = [page for tab in website.navigation(folder) for pages in tab.values() for page in pages]
    assert sorted(placed) == sorted(str(page.relative_to(folder)) for page in folder.rglob("*.md"))
