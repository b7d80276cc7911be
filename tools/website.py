"""Builds the documentation site: static pages with a search, and the live page with the engine in the browser.

    tools/website.py            into out/site; open index.html, or serve the folder for the live page

Pages come from docs/, site/pages/, the commands' help, the studies and, if `make gallery` was run, its pages. The live
page needs Rust's target wasm32-unknown-unknown. If it cannot be installed, the site is built without the live page,
with a message.
"""

import inspect
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from browser_edition import in_browser
from ssdlab.cli.commands import COMMANDS, loaded
from ssdlab.experiments.studies import registry
from ssdlab.live import catalogue
from ssdlab.presentation.report.theme import css_variables
from ssdlab.presentation.report.wording import unbroken

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "out/site-pages"
SITE = ROOT / "out/site"
GALLERY = ROOT / "out/gallery"
TARGET = "wasm32-unknown-unknown"
MODULE = ROOT / "target" / TARGET / "web/ssdlab_web.wasm"
HELP_COLUMNS = 100

_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
# The page of a study, whose folder has underscores.
_STUDY = re.compile(r"python/ssdlab/experiments/studies/([a-z_]+)/README\.md")
_OF_THE_REPOSITORY = ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")
# The place of the live page's link on the first page.
_LIVE_MARK = "<!-- live -->"
_WITH_LIVE = """<a class="md-button md-button--primary" href="live/index.html">A drive at work, in this browser</a>

The simulator itself runs in the page; nothing is sent anywhere. A page opened from a file cannot start it: the
folder of this site then needs a web server, which may be `python3 -m http.server`."""
_WITHOUT_LIVE = """This site was made without the live page, which needs Rust's target for WebAssembly; `ssdlab live` of
an installed ssdlab shows the same."""

# A cell of a table with nothing but a figure.
_FIGURE_CELL = re.compile(r"<td>(?=[-+]?\d[\d.,]*</td>)")
# The theme's script, before which a page loads what lets it search without a server.
_BUNDLE = re.compile(r'<script src="((?:\.\./)*|/)assets/javascripts/bundle')
_SEARCH_OF_FILE = "search_of_file.js"
# A dialog of the theme that has no name for screen readers.
_SEARCH = 'data-md-component="search" role="dialog"'

# The tabs of the site. The pages of a folder of docs/ that are not listed are in its tab; others are under Start.
NAVIGATION: list[tuple[str, list[str]]] = [
    ("Start", ["index.md", "tutorial.md", "how-to.md"]),
    ("Simulate", []),
    ("Real drives", []),
    ("Theory", []),
    ("Studies", ["studies.md"]),
    (
        "Reference",
        ["commands.md", "python.md", *(f"simulate/{name}.md" for name in ("drive-file", "jobs", "policies"))],
    ),
    ("Contribute", ["architecture.md", "contributing.md", "changelog.md"]),
]


def main() -> None:
    has_live = build_module()
    gather(PAGES, has_live)
    _make(navigation(PAGES))
    if has_live:
        live_page(SITE / "live")
    print(f"site: {SITE / 'index.html'}")
    if has_live:
        print(f"live: python3 -m http.server --directory {SITE.relative_to(ROOT)}, then http://localhost:8000/live/")


def gather(folder: Path, has_live: bool) -> None:
    """Copies all pages to a folder, as Markdown, with links between them adapted."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    shutil.copytree(ROOT / "site/pages", folder, dirs_exist_ok=True)
    for name in _OF_THE_REPOSITORY:
        shutil.copy(ROOT / f"{name}.md", folder / f"{name.lower()}.md")
    (folder / "commands.md").write_text(commands_page(), encoding="utf-8")
    (folder / "python.md").write_text(python_page(), encoding="utf-8")
    _studies(folder)
    for page in folder.rglob("*.md"):
        place = page.relative_to(folder).as_posix()
        text = _LINK.sub(partial(_within, place), page.read_text(encoding="utf-8"))
        page.write_text(text.replace(_LIVE_MARK, _WITH_LIVE if has_live else _WITHOUT_LIVE), encoding="utf-8")


def _within(page: str, link: re.Match[str]) -> str:
    """A link of a page, as in the repository, converted to one on the site, where `page` is its path."""
    of_repository = page.removesuffix(".md").upper() in _OF_THE_REPOSITORY
    there = posixpath.normpath(posixpath.join("" if of_repository else posixpath.dirname(f"docs/{page}"), link[1]))
    if study := _STUDY.fullmatch(there):
        target = f"studies/{study[1].replace('_', '-')}.md"
    elif there.removesuffix(".md") in _OF_THE_REPOSITORY:
        target = there.lower()
    elif there.startswith("docs/"):
        target = there.removeprefix("docs/")
    else:
        return link[0]
    return f"]({posixpath.relpath(target, posixpath.dirname(page) or '.')}{link[2] or ''})"


def commands_page() -> str:
    """The help of every command, as printed on a terminal of that width."""
    parts = ["# Commands\n\nMade from the commands' own help.\n"]
    for name in COMMANDS:
        command = loaded(name)
        title = f"ssdlab {name}"
        context = command.context_class(
            command, info_name=title, terminal_width=HELP_COLUMNS, max_content_width=HELP_COLUMNS
        )
        parts.append(f"## {title}\n\n```text\n{command.get_help(context).strip()}\n```\n")
    return "\n".join(parts)


def python_page() -> str:
    """The interface of `import ssdlab`, from its docstrings."""
    import ssdlab

    parts = [f"# From Python\n\n{inspect.getdoc(ssdlab)}\n"]
    for name in ssdlab.__all__:
        value = getattr(ssdlab, name)
        signature = "" if inspect.isclass(value) else str(inspect.signature(value))
        parts.append(f"## {name}\n\n```python\n{name}{signature}\n```\n\n{inspect.getdoc(value) or ''}\n")
    return "\n".join(parts)


def _studies(folder: Path) -> None:
    """Writes a page per study, an index of them, and the pages of the gallery, if built."""
    (folder / "studies").mkdir()
    rows = []
    for study in registry.studies():
        text = (registry.folder(study) / "README.md").read_text(encoding="utf-8")
        made = GALLERY / study.name
        if made.is_dir():
            shutil.copytree(made, folder / "gallery" / study.name)
            text += f"\n[The result, with its pictures](../gallery/{study.name}/report.html)\n"
        (folder / f"studies/{study.name}.md").write_text(text, encoding="utf-8")
        link = f"[{study.name}](studies/{study.name}.md)"
        rows.append(f"| {link} | {unbroken(study.title)} | {unbroken(study.source)} |\n")
    missing = "" if GALLERY.is_dir() else "\nThis site was made without the results; `make gallery` runs the studies.\n"
    listed = "# Studies\n\n| study | question | source |\n|---|---|---|\n" + "".join(rows) + missing
    (folder / "studies.md").write_text(listed, encoding="utf-8")


def navigation(folder: Path) -> list[dict[str, list[str]]]:
    """The tabs with their pages, including all pages in the folder."""
    placed = {page for _, pages in NAVIGATION for page in pages}
    tabs = {tab: list(pages) for tab, pages in NAVIGATION}
    for page in sorted(page.relative_to(folder).as_posix() for page in folder.rglob("*.md")):
        if page not in placed:
            tab = posixpath.dirname(page).split("/")[0].replace("-", " ").capitalize()
            tabs.get(tab, tabs["Start"]).append(page)
    return [{tab: pages} for tab, pages in tabs.items()]


def _make(tabs: list[dict[str, list[str]]]) -> None:
    settings = PAGES.parent / "mkdocs.json"
    # JSON is valid YAML.
    settings.write_text(json.dumps({"INHERIT": "../site/mkdocs.yml", "nav": tabs}), encoding="utf-8")
    # The theme prints an advertisement in each build.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(settings)]
    if subprocess.run(command, env=environment, check=False).returncode:
        raise SystemExit("site: mkdocs could not make the pages")
    index = (SITE / "search/search_index.json").read_text(encoding="utf-8")
    # On pages opened from a file the theme reads the index from this script.
    (SITE / "search/search_index.js").write_text(f"var __index = {index};\n", encoding="utf-8")
    for page in SITE.rglob("*.html"):
        text = page.read_text(encoding="utf-8").replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
        text = _FIGURE_CELL.sub('<td class="figure">', text)
        page.write_text(_BUNDLE.sub(rf'<script src="\1{_SEARCH_OF_FILE}"></script>\g<0>', text), encoding="utf-8")


def build_module() -> bool:
    """Builds the engine as WebAssembly. Returns False, with a message, if the target is not available."""
    if not _has_target():
        print(f"site: Rust's target {TARGET} is not installed and rustup cannot fetch it; made without the live page")
        return False
    command = [
        "cargo",
        "build",
        "--locked",
        "--quiet",
        "--profile",
        "web",
        "--target",
        TARGET,
        "--package",
        "ssdlab-web",
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return True


def _has_target() -> bool:
    def installed() -> bool:
        root = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=True)
        return (Path(root.stdout.strip()) / "lib/rustlib" / TARGET).is_dir()

    if not installed() and shutil.which("rustup"):
        subprocess.run(["rustup", "--quiet", "target", "add", TARGET], cwd=ROOT, check=False, capture_output=True)
    return installed()


def live_page(folder: Path) -> None:
    """Writes the page of `ssdlab live`, whose drives run in a worker of the browser."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in catalogue.page_files().items():
        if not name.startswith("sweep"):
            (folder / name).write_bytes(content)
    (folder / "theme.css").write_text(css_variables(), encoding="utf-8")
    for script in (ROOT / "site/live").glob("*.js"):
        shutil.copy(script, folder)
    shutil.copy(MODULE, folder / "engine.wasm")
    (folder / "catalogue.json").write_text(json.dumps(in_browser()), encoding="utf-8")


if __name__ == "__main__":
    main()
