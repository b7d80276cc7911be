"""Checks the repository's text for problems that linters do not find, so that reviewers need not look for them."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import drive_file_page
import engine_types
import policies_page
import sources_page
import traces_page
from ssdlab import _engine
from ssdlab.simulator import drives

ROOT = Path(__file__).parents[2]
THIS = Path(__file__).relative_to(ROOT)
POLICIES = json.loads(_engine.policies())

# Split, so that this file does not match itself.
LEFT_OVER = {
    "a note to oneself": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b"),
    "a debug print": re.compile(r"\b(?:db" + r"g!\(|breakpoint\(\)|import pdb|console\.log\()"),
    "a conflict": re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE),
    "a path of one machine": re.compile(r"(?<![\w.$}/-])/(?:home|root|work|Users|opt/wheels|tmp)/[\w.]"),
    "a path out of the repository": re.compile(r"\.\./sha" + r"red/"),
}
# Printing is the purpose of these.
MAY_PRINT = re.compile(r"crates/\w+/(?:benches|examples|tests)/|python/ssdlab/cli/|benches/|tools/|tests/")


def repository_files() -> list[Path]:
    """All files that git tracks or would track, by path from the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git work tree")
    return sorted(path for path in map(Path, listed.stdout.split("\0")[:-1]) if (ROOT / path).is_file())


def texts(*suffixes: str) -> Iterator[tuple[Path, str]]:
    """The repository's text files with their content, optionally only those with one of the suffixes."""
    for path in repository_files():
        if suffixes and path.suffix not in suffixes:
            continue
        try:
            yield path, (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


@pytest.mark.parametrize("kind", LEFT_OVER)
def test_nothing_is_left_over(kind: str) -> None:
    found = [
        f"{path}:{line_of(text, match.start())}: {match.group()}"
        for path, text in texts()
        if path.name not in ("uv.lock", "Cargo.lock") and path != THIS
        for match in LEFT_OVER[kind].finditer(text)
    ]
    assert not found, f"{kind}: {found}"


def test_only_commands_and_benchmarks_print() -> None:
    prints = re.compile(r"^\s*(?:e?println!|print)\(", re.MULTILINE)
    found = [
        f"{path}:{line_of(text, match.start())}"
        for path, text in texts(".rs", ".py")
        if not MAY_PRINT.match(str(path))
        for match in prints.finditer(text)
    ]
    assert not found


def test_lock_files_name_public_registries_only() -> None:
    addresses = re.compile(r"https?://[^/\"\s]+")
    for name, public in {
        "uv.lock": {"https://pypi.org", "https://files.pythonhosted.org"},
        "Cargo.lock": {"https://github.com"},
    }.items():
        text = (ROOT / name).read_text()
        assert set(addresses.findall(text)) == public, name
        assert "file:" not in text


def test_every_source_says_what_it_is_for() -> None:
    silent = [
        str(path)
        for path, text in texts(".rs", ".py", ".pyi")
        if text.strip() and not text.lstrip().startswith(("//!", '"""', "#!"))
    ]
    assert not silent


def test_no_file_is_called_after_nothing() -> None:
    assert not [
        path
        for path in repository_files()
        if {"utils", "util", "misc", "helpers", "old", "v0"} & {path.stem, *path.parts}
    ]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy['kind']}-{policy['name']}")
def test_every_policy_is_described(policy: dict[str, str]) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", policy["name"])
    assert policy["summary"].strip()
    assert policy["source"].strip()
    assert f"| `{policy['name']}` |" in (ROOT / "docs/simulate/policies.md").read_text()


def test_every_policy_file_is_in_the_list_of_its_kind() -> None:
    """A policy that is not in its list is dead code that no test reaches."""
    listed = {policy["name"] for policy in POLICIES}
    for path, text in texts(".rs"):
        if "crates/engine/src/policies/" in str(path):
            names = set(re.findall(r'const NAME: &\'static str = "([^"]+)"', text))
            assert names <= listed, path


def test_generated_pages_are_up_to_date() -> None:
    assert (ROOT / "docs/simulate/drive-file.md").read_text() == drive_file_page.page(), "run make docs"
    assert (ROOT / "docs/simulate/policies.md").read_text() == policies_page.page(), "run make docs"
    assert (ROOT / "docs/simulate/traces.md").read_text() == traces_page.page(), "run make docs"
    assert (ROOT / "docs/theory/sources.md").read_text() == sources_page.page(), "run make docs"


def test_generated_types_are_up_to_date() -> None:
    for name, module in (("types.py", engine_types.module), ("plain.py", engine_types.plain_module)):
        command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", name, "-"]
        made = subprocess.run(command, cwd=ROOT, input=module(), capture_output=True, text=True, check=True)
        assert (ROOT / "python/ssdlab/simulator/engine" / name).read_text() == made.stdout, "run make docs"


def test_every_key_of_a_drive_file_is_described() -> None:
    definitions = json.loads(_engine.schema())["$defs"]
    file = definitions["DriveFile"]["properties"]
    tables = {name: node["$ref"].rpartition("/")[2] for name, node in file.items() if "$ref" in node}
    assert len(tables) == 18
    for table, name in tables.items():
        assert definitions[name]["description"].strip()
        for key in definitions[name]["required"]:
            node = definitions[name]["properties"][key]
            target = definitions.get(node.get("$ref", "").rpartition("/")[2], {})
            assert {"description", "examples", "allowed"} <= node.keys() | target.keys(), f"{table}.{key}"


@pytest.mark.parametrize("name", drives.names())
def test_every_drive_is_documented(name: str) -> None:
    text = (ROOT / f"python/ssdlab/simulator/drives/catalogue/{name}.toml").read_text()
    drive = tomllib.loads(text)
    assert drive["name"] == name
    assert drive["description"].strip()


def test_links_between_pages_lead_somewhere() -> None:
    links = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
    broken = [
        f"{path}: {link}"
        for path, text in texts(".md")
        # These are beside docs/ only on the site: `test_site_pages.py`.
        if path.parts[:2] != ("site", "pages")
        for link in links.findall(text)
        if not (ROOT / path.parent / link).exists()
    ]
    assert not broken


def test_paths_that_pages_name_exist() -> None:
    """If a file is moved, the pages that mention it must be updated."""
    named = re.compile(r"`((?:crates|python|tests|tools|docs|jobs)/[\w./-]*\w/?)`")
    missing = [
        f"{path}: {place}"
        for path, text in texts(".md")
        for place in named.findall(text)
        if not (ROOT / place).exists()
    ]
    assert not missing


def test_the_two_commands_are_the_readmes() -> None:
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert {"demo", "test"} <= set(re.findall(r"^make (\w+)", readme, re.MULTILINE))
