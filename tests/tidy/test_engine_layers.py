"""The engine's modules import only from lower ones, in the order that ARCHITECTURE.md lists.

A module is a file or folder of `crates/engine/src/`; paths that begin with `crate::` count, wherever they stand outside
of tests. Files inside a folder may import each other, but not in circles.
"""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "crates/engine/src"

_USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_NAMES = re.compile(r"\bcrate::(?:\{([^;]*)\}|(\w+))")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{")


def layers(architecture: str) -> list[list[str]]:
    """The modules of each layer, the lowest first."""
    (block,) = re.findall(r"^The engine's modules.*?```\n(.*?)```", architecture, re.DOTALL | re.MULTILINE)
    return [line.split() for line in block.splitlines()][::-1]


def imports(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Each import of one module of the engine by another: importer, imported, and the file."""
    for path in sorted(folder.rglob("*.rs")):
        inner = path.relative_to(folder)
        if path.name in ("lib.rs", "tests.rs") or "tests" in inner.parts:
            continue
        importer = inner.parts[0].removesuffix(".rs")
        for group, name in _NAMES.findall(_TESTS.split(path.read_text(encoding="utf-8"))[0]):
            for imported in re.findall(r"(?:^|,)\s*(\w+)", group) if group else [name]:
                if imported != importer:
                    yield importer, imported, str(inner)


def against(order: list[list[str]], found: Iterator[tuple[str, str, str]]) -> list[str]:
    """The imports of a module of the same or a higher layer, and of one without a layer."""
    layer = {module: height for height, modules in enumerate(order) for module in modules}
    return [
        f"{path} imports {imported}"
        for importer, imported, path in found
        if layer.get(importer, -1) <= layer.get(imported, len(order))
    ]


def test_modules_of_the_engine_import_from_lower_ones() -> None:
    order = layers((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert {module for modules in order for module in modules} == {
        path.name.removesuffix(".rs") for path in ENGINE.iterdir() if path.name != "lib.rs"
    }
    assert against(order, imports(ENGINE)) == []


def test_an_import_upwards_is_found(tmp_path: Path) -> None:
    (tmp_path / "nand").mkdir()
    (tmp_path / "nand/mod.rs").write_text(
        "use crate::units::Lpn;\nuse crate::{ftl::Ftl, units};\n"
        "#[cfg(test)]\nmod tests {\n use crate::simulation::X;\n}\n"
    )
    order = layers("The engine's modules\n```\nsimulation\nftl\nnand\nunits\n```\n")
    assert against(order, imports(tmp_path)) == ["nand/mod.rs imports ftl"]


def files_below(folder: Path) -> dict[str, str]:
    """The text of each file outside of tests, by its path as a module."""
    found = {}
    for path in sorted(folder.rglob("*.rs")):
        inner = path.relative_to(folder)
        if path.name not in ("lib.rs", "tests.rs") and "tests" not in inner.parts:
            text = re.split(r"#\[cfg\(test\)\]\s*(?:pub\(super\) )?mod \w+ \{", path.read_text(encoding="utf-8"))[0]
            found[str(inner.with_suffix("")).removesuffix("/mod")] = text
    return found


def used(tree: str, before: str = "") -> Iterator[str]:
    """The paths of a `use` with braces."""
    start, brace, rest = tree.strip().partition("{")
    if not brace:
        yield before + start.split(" as ")[0]
        return
    depth, part = 0, ""
    for character in rest[: rest.rindex("}")] + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if part.strip():
                yield from used(part, before + start)
            part = ""
        else:
            part += character


def arrows(files: dict[str, str]) -> dict[str, set[str]]:
    """The files that each file uses; a name that a module passes on counts as its own file's."""
    passed_on: dict[str, str] = {}
    uses: dict[str, set[str]] = {name: set() for name in files}
    for name, text in files.items():
        for public, tree in _USE.findall(text):
            for path in used(tree):
                if target := _absolute(name, path, files):
                    if public:
                        passed_on[f"{name}/{target.rsplit('/', 1)[-1]}"] = target
                    else:
                        uses[name].add(target)
    return {name: {_file_of(target, files, passed_on) for target in uses[name]} - {name, ""} for name in files}


def _absolute(name: str, path: str, files: dict[str, str]) -> str | None:
    place, parts = name, path.split("::")
    if parts[0] == "crate":
        return "/".join(parts[1:])
    while parts[0] == "super":
        place, parts = place.rpartition("/")[0], parts[1:]
    target = "/".join(filter(None, (place, *parts)))
    return target if path.startswith("super") or f"{place}/{parts[0]}" in files else None


def _file_of(target: str, files: dict[str, str], passed_on: dict[str, str]) -> str:
    while target in passed_on:
        target = passed_on[target]
    while target and target not in files:
        target = target.rpartition("/")[0]
    return target


def test_files_of_the_engine_use_each_other_in_no_circle() -> None:
    TopologicalSorter(arrows(files_below(ENGINE))).prepare()


def test_a_circle_is_found() -> None:
    found = arrows({"a": "use crate::b::{c::C, D};", "b": "mod c;\npub use c::C;", "b/c": "use super::super::a::A;"})
    assert found == {"a": {"b/c", "b"}, "b": set(), "b/c": {"a"}}
    with pytest.raises(CycleError, match="nodes are in a cycle"):
        TopologicalSorter(found).prepare()
