"""The rooms of the library, and the packages in them, import only from lower layers, which ARCHITECTURE.md lists.

Every import statement counts: at the top of a file, inside a function and under TYPE_CHECKING, because a reader must
know the imported module first in each case. `from ssdlab.simulator import drives` counts for `simulator.drives`, and
`from ssdlab import run` for the library, `ssdlab/__init__.py`. `import_module` with a string does not count, nor does
the implicit run of a package's `__init__.py` before any of its modules. Cycles of modules within a package without
subpackages are not checked.
"""

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
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


@cache
def own_imports() -> list[Import]:
    """All imports within the library, which take seconds to read."""
    return imports(LIBRARY)


def _names(node: ast.AST) -> list[str]:
    """The modules or names that a statement imports; `from a import b` gives a.b."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: imports are absolute"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def layers(page: str) -> list[set[str]]:
    """The layers that ARCHITECTURE.md lists, the lowest first; each a set of packages and modules.

    A line is a layer. `room: a b / c` is two layers of a room, `room.a` and `room.b` above `room.c`.
    """
    listed = re.search(r"^## Layers\n.*?^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert listed, "ARCHITECTURE.md has no list of layers"
    found = []
    for line in reversed(listed[1].splitlines()):
        room, colon, inside = line.rpartition(":")
        prefix = f"{room}." if colon else ""
        found += [{prefix + name for name in layer.split()} for layer in reversed(inside.split("/"))]
    return found


def unit(module: str, listed: list[set[str]]) -> str:
    """The listed package or module that contains a module; the module's own name if none does."""
    library, _, inner = module.partition(".")
    if not inner:
        return library
    parts = inner.split(".")
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if any(name in layer for layer in listed)), inner)


def upward(found: list[Import], listed: list[set[str]]) -> list[str]:
    """The imports that do not go to a lower layer; the library's `__init__` has the library's name."""
    height = {name: place for place, layer in enumerate(listed) for name in layer}
    between = [(each, unit(each.importer, listed), unit(each.imported, listed)) for each in found]
    return [str(each) for each, above, below in between if above != below and height[above] <= height[below]]


def rooms(listed: list[set[str]]) -> set[str]:
    """The packages that ARCHITECTURE.md lists with their contents."""
    return {name.partition(".")[0] for layer in listed for name in layer if "." in name}


def circle(found: list[Import], package: str) -> list[str]:
    """A cycle among the direct children of a package; empty if there is none."""
    graph: dict[str, set[str]] = defaultdict(set)
    inside = f"{package}."
    for each in found:
        if each.importer.startswith(inside) and each.imported.startswith(inside):
            above, below = (name.removeprefix(inside).partition(".")[0] for name in (each.importer, each.imported))
            if above != below:
                graph[above].add(below)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


LISTED = layers((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))


def test_each_package_is_in_one_layer() -> None:
    listed = [name for layer in LISTED for name in layer]
    present = {unit(name, LISTED) for name in sources(LIBRARY)} - rooms(LISTED)
    assert sorted(listed) == sorted(present)


def test_imports_go_to_lower_layers() -> None:
    found = own_imports()
    assert len(found) > 1000, "the imports are found"
    assert not upward(found, LISTED)


def test_rooms_of_packages_load_nothing() -> None:
    """Their `__init__.py` is a docstring: what it imported would be loaded with each module of the room."""
    assert len(rooms(LISTED)) > 5
    for room in rooms(LISTED):
        assert len(ast.parse((LIBRARY / room / "__init__.py").read_text(encoding="utf-8")).body) == 1, room


@pytest.mark.parametrize("room", sorted(path.parent.name for path in LIBRARY.glob("*/__init__.py")))
def test_a_room_states_what_it_may_import(room: str) -> None:
    """A line of its docstring names the rooms from which its modules may import."""
    tree = ast.parse((LIBRARY / room / "__init__.py").read_text(encoding="utf-8"))
    stated = re.search(r"^Imports from: (.*)\.$", ast.get_docstring(tree) or "", re.MULTILINE)
    assert stated, f"{room}/__init__.py does not say what it may import"
    allowed = set() if stated[1] == "nothing" else set(stated[1].split(", "))
    used = {
        each.imported.split(".")[1]
        for each in own_imports()
        if each.importer.startswith(f"ssdlab.{room}.") and each.imported != "ssdlab"
    }
    # These two are below all rooms.
    assert used - {room, "errors", "_engine"} <= allowed
    unknown = allowed - {path.name for path in LIBRARY.iterdir() if path.is_dir()}
    assert not unknown


def test_packages_within_packages_are_in_no_circle() -> None:
    found = own_imports()
    packages = [name for name, path in sources(LIBRARY).items() if path.name == "__init__.py"]
    holders = {name.rpartition(".")[0] for name in packages if name.count(".") > 1}
    assert {"ssdlab.simulator", "ssdlab.simulator.workloads", "ssdlab.hardware.identification"} <= holders
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
    _write(library, {"below": statement, "above/__init__": "from ssdlab import below", "above/inner": ""})
    found = imports(library)
    (seen,) = upward(found, [{"below"}, {"above"}, {"ssdlab"}])
    assert seen.startswith("ssdlab.below:")
    assert set(circle(found, "ssdlab")) == {"above", "below"}


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("low/a", "from ssdlab.high import c"),
        ("low/a", "from ssdlab.high.c import x"),
        ("low/b", "from ssdlab.low import a"),
        ("high/c", "import ssdlab"),
    ],
)
def test_an_import_upward_between_and_within_rooms_is_seen(tmp_path: Path, importer: str, statement: str) -> None:
    listed = layers("## Layers\n\n```\nssdlab\nhigh: c\nlow: a / b\n```\n")
    assert listed == [{"low.b"}, {"low.a"}, {"high.c"}, {"ssdlab"}]
    assert rooms(listed) == {"low", "high"}
    library = tmp_path / "ssdlab"
    downward = {"low/a": "from ssdlab.low import b", "low/b": "", "high/c": "from ssdlab.low.a import x"}
    empty = {"low/__init__": "", "high/__init__": ""}
    _write(library, {**empty, **downward})
    assert not upward(imports(library), listed)
    _write(library, {**empty, **downward, importer: statement})
    (seen,) = upward(imports(library), listed)
    assert seen.startswith(f"ssdlab.{importer.replace('/', '.')}:")


def _write(library: Path, texts: dict[str, str]) -> None:
    for name, text in {"__init__": "", **texts}.items():
        path = library / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
