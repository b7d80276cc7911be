"""The Python packages import only from lower layers, which ARCHITECTURE.md lists: there are no cycles.

Every import statement counts: at the top of a file, inside a function and under TYPE_CHECKING, because a reader must
know the imported module first in each case. `from ssdlab import drives` counts for `drives`, `from ssdlab import run`
for the library, `ssdlab/__init__.py`. `import_module` with a string does not count, nor does the implicit run of
`ssdlab/__init__.py` before any of its modules. Cycles of modules within a package without subpackages are not checked.
"""

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "python/ssdlab"


@dataclass(frozen=True)
class Import:
    """An import of one module by another, with their full names."""

    importer: str
    line: int
    imported: str

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def sources(library: Path) -> dict[str, Path]:
    """The modules of the library in this folder by their full names; for the native module its stub."""
    found = [*library.rglob("*.py"), *library.rglob("*.pyi")]
    return {
        ".".join(path.relative_to(library.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in found
    }


def imports(library: Path) -> list[Import]:
    """All imports from one module of the library in this folder by another."""
    paths = sources(library)
    found = []
    for importer, path in paths.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for name in _names(node):
                imported = name if name in paths or not isinstance(node, ast.ImportFrom) else name.rpartition(".")[0]
                if imported.partition(".")[0] == library.name and imported != importer:
                    found.append(Import(importer, getattr(node, "lineno", 0), imported))
    return found


def _names(node: ast.AST) -> list[str]:
    """The modules or names that a statement imports; `from a import b` gives a.b."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: imports are absolute"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def layers(page: str) -> list[set[str]]:
    """The layers that ARCHITECTURE.md lists, the lowest first; each a set of packages and modules."""
    listed = re.search(r"^## Layers\n.*?^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert listed, "ARCHITECTURE.md has no list of layers"
    return [set(line.split()) for line in reversed(listed[1].splitlines())]


def upward(found: list[Import], listed: list[set[str]]) -> list[str]:
    """The imports that do not go to a lower layer; the library's `__init__` has the library's name."""
    height = {name: place for place, layer in enumerate(listed) for name in layer}
    between = [(each, _child(each.importer), _child(each.imported)) for each in found]
    return [str(each) for each, above, below in between if above != below and height[above] <= height[below]]


def _child(module: str, package: str = "") -> str:
    """The child of the package that contains a module; by default of the whole library."""
    package = package or module.partition(".")[0]
    return package if module == package else module.removeprefix(f"{package}.").partition(".")[0]


def circle(found: list[Import], package: str) -> list[str]:
    """A cycle among the direct children of a package; empty if there is none."""
    graph: dict[str, set[str]] = defaultdict(set)
    for each in found:
        if each.importer.startswith(f"{package}.") and each.imported.startswith(f"{package}."):
            above, below = _child(each.importer, package), _child(each.imported, package)
            if above != below:
                graph[above].add(below)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_each_package_is_in_one_layer() -> None:
    listed = [name for layer in layers((ROOT / "ARCHITECTURE.md").read_text()) for name in layer]
    assert sorted(listed) == sorted({_child(name) for name in sources(LIBRARY)})


def test_imports_go_to_lower_layers() -> None:
    found = imports(LIBRARY)
    assert len(found) > 1000, "the imports are found"
    assert not upward(found, layers((ROOT / "ARCHITECTURE.md").read_text()))


def test_packages_within_packages_are_in_no_circle() -> None:
    found = imports(LIBRARY)
    packages = [name for name, path in sources(LIBRARY).items() if path.name == "__init__.py"]
    holders = {name.rpartition(".")[0] for name in packages if name.count(".") > 1}
    assert {"ssdlab.workloads", "ssdlab.targets"} <= holders
    assert not {name: found_circle for name in holders if (found_circle := circle(found, name))}


@pytest.mark.parametrize(
    "statement",
    [
        "from ssdlab.above import x",
        "from ssdlab import above",
        "import ssdlab.above.inner",
        "def late():\n    from ssdlab.above import inner",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ssdlab.above.inner import Y",
    ],
)
def test_an_import_upward_is_seen(tmp_path: Path, statement: str) -> None:
    library = tmp_path / "ssdlab"
    texts = {"__init__": "", "below": statement, "above/__init__": "from ssdlab import below", "above/inner": ""}
    for name, text in texts.items():
        path = library / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    found = imports(library)
    (seen,) = upward(found, [{"below"}, {"above"}, {"ssdlab"}])
    assert seen.startswith("ssdlab.below:")
    assert set(circle(found, "ssdlab")) == {"above", "below"}
