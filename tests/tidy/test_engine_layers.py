"""The engine's modules import only from lower ones, in the order that ARCHITECTURE.md lists.

A module is a file or folder of `crates/engine/src/`; paths that begin with `crate::` count, wherever they stand outside
of tests. Files inside a folder may import each other.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "crates/engine/src"

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
