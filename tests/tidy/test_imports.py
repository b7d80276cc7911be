"""Imports are at the top of a library file; only imports that would slow every start are inside functions.

Commands are loaded when they are called, so an import inside a function saves time only if it loads a slow package that
the top of its file does not load already. An import in a `try` can fail and is handled there. For any other reason, for
example a cycle within a package, a comment above the import must explain it. Imports under TYPE_CHECKING and
`import_module` with a string are not checked.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssdlab.foundation.extras import EXTRAS

LIBRARY = Path(__file__).parents[2] / "python/ssdlab"
SLOW = {"altair", "jinja2", "numpy", "polars", "scipy", "vl_convert", "ssdlab._engine", *EXTRAS}
"""Packages that draw, compute or belong to an extra; the native module, which tests replace."""

_BRINGS_ALONG = {"scipy": {"numpy"}}

_Import = ast.Import | ast.ImportFrom


class Library:
    """The modules of a library, and the modules that each loads on import."""

    def __init__(self, library: Path) -> None:
        paths = {
            ".".join(path.relative_to(library.parent).with_suffix("").parts).removesuffix(".__init__"): path
            for path in library.rglob("*.py")
        }
        self._name = library.name
        self._lines = {module: path.read_text(encoding="utf-8").splitlines() for module, path in paths.items()}
        self._trees = {module: ast.parse("\n".join(lines)) for module, lines in self._lines.items()}
        self._on_demand = {
            (module, name): source
            for module, tree in self._trees.items()
            if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)
            for name, source in _type_checking(tree)
        }
        self._loads = {
            module: {name for node, late, _ in _imports(tree) if not late for name in self._imported(node)}
            for module, tree in self._trees.items()
        }

    def needless(self) -> list[str]:
        """The imports inside functions that could be at the top."""
        return [
            f"{module}:{node.lineno} {ast.unparse(node)}"
            for module, tree in self._trees.items()
            for node, is_late, is_tried in _imports(tree)
            if is_late
            and not is_tried
            and not self._is_explained(module, node.lineno)
            and not self._slow(self._imported(node)) - self._slow({module})
        ]

    def _imported(self, node: _Import) -> set[str]:
        """The modules that a statement loads, without their parent packages."""
        if isinstance(node, ast.Import):
            return {alias.name for alias in node.names}
        assert node.module is not None, f"line {node.lineno}: imports are absolute"
        named = {(node.module, alias.name) for alias in node.names}
        inner = {f"{module}.{name}" for module, name in named} & {*self._trees, *SLOW}
        return {node.module} | inner | {self._on_demand[each] for each in named if each in self._on_demand}

    def _slow(self, modules: set[str]) -> set[str]:
        """The slow packages that these modules load."""
        waiting, seen = list(modules), set[str]()
        while waiting:
            module = waiting.pop()
            if module and module not in seen:
                seen.add(module)
                waiting += [module.rpartition(".")[0], *self._loads.get(module, ())]
        found = seen & SLOW
        return found.union(*(_BRINGS_ALONG.get(package, set()) for package in found))

    def _is_explained(self, module: str, number: int) -> bool:
        """Whether a comment is above the import, or above the imports right before it."""
        lines = [line.strip() for line in self._lines[module][: number - 1]]
        while lines and lines[-1].startswith(("import ", "from ")):
            lines.pop()
        return bool(lines) and lines[-1].startswith("#")


def _imports(node: ast.AST, late: bool = False, tried: bool = False) -> Iterator[tuple[_Import, bool, bool]]:
    """Each import, whether it is inside a function, and whether in a `try`; without imports for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Import):
            yield child, late, tried
        elif not _is_for_types(child):
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports(child, late or is_function, tried or isinstance(child, ast.Try))


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _type_checking(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that are imported for types only, and their modules."""
    for block in filter(_is_for_types, tree.body):
        for node in ast.walk(block):
            if isinstance(node, ast.ImportFrom):
                yield from ((alias.name, node.module or "") for alias in node.names)


def test_imports_stand_at_the_top() -> None:
    needless = Library(LIBRARY).needless()
    assert not needless, "move to the top of the file, or say in a comment above why not:\n" + "\n".join(needless)


@pytest.mark.parametrize(
    ("statement", "is_needless"),
    [
        ("from ssdlab.light import x", True),
        ("from ssdlab import light", True),
        ("import json", True),
        ("import polars", False),
        ("from polars import DataFrame", False),
        ("from ssdlab import slow", False),
        ("from ssdlab.package import Lazy", False),
        ("import numpy", True),
        ("# Importing it registers a signal handler.\n    import json", False),
        ("try:\n        import json\n    except ImportError:\n        pass", False),
    ],
)
def test_a_needless_import_inside_a_function_is_seen(tmp_path: Path, statement: str, is_needless: bool) -> None:
    library = tmp_path / "ssdlab"
    texts = {
        "__init__": "",
        "light": "import json\ndef late():\n    import altair",
        "slow": "from ssdlab.package import inner",
        "package/__init__": "if TYPE_CHECKING:\n    from ssdlab.package.inner import Lazy\ndef __getattr__(name): ...",
        "package/inner": "import polars",
        "asked": f"import scipy\ndef late():\n    {statement}",
    }
    for name, text in texts.items():
        path = library / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    assert [line.partition(":")[0] for line in Library(library).needless()] == ["ssdlab.asked"] * is_needless
