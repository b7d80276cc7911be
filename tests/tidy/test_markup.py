"""HTML is only in templates, which escape inserted values; Python strings contain no tags."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TAG = re.compile(
    r"</?(?:a|b|code|dd|details|div|dl|dt|em|figure|h[1-6]|img|li|ol|p|pre|section|small|span|strong|summary|table|"
    r"tbody|td|th|thead|tr|ul)(?: [^<>]*)?>"
)


def tags(source: str) -> list[str]:
    """The tags in the strings of a Python source, except docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    return [
        found[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        for found in TAG.finditer(node.value)
    ]


def test_a_tag_in_a_string_is_found() -> None:
    assert tags('"""A page of <p>."""\nsaid = f"<li>{1}</li>"') == ["<li>", "</li>"]
    assert tags("missing = 'expected <file> and <p> below'") == ["<p>"]


def test_python_has_no_html() -> None:
    found = {
        str(path.relative_to(ROOT)): there
        for path in sorted((ROOT / "python/ssdlab").rglob("*.py"))
        if (there := tags(path.read_text(encoding="utf-8")))
    }
    assert found == {}, "put these into a template, see report/parts.py"
