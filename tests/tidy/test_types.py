"""Objects say their keys: `dict[str, Any]` stands only where a format is another's, and in one alias for each of these.

Such a dictionary hides a misspelt key from the type checkers. What crosses a boundary of ssdlab's own is a TypedDict, a
dataclass or a struct; the objects of the engine are in `ssdlab/engine/plain.py`.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "python/ssdlab"
NAMELESS = "dict[str, Any]"

FORMATS = {
    "engine/plain.py": "parameters of a policy, which each policy has of its own",
    "engine/types.py": "the same",
    "foreign.py": "the aliases for JSON and TOML of others and for rows of polars",
    "report/theme.py": "the alias for Vega-Lite's specifications",
}


def nameless() -> set[str]:
    """The files of the library that have such a dictionary."""
    return {
        str(path.relative_to(LIBRARY)) for path in LIBRARY.rglob("*.py") if NAMELESS in path.read_text(encoding="utf-8")
    }


def test_only_formats_of_others_have_dictionaries_of_anything() -> None:
    new = nameless() - FORMATS.keys()
    assert not new, f"write a TypedDict, or, for a format of others, ssdlab.foreign.JsonObject: {sorted(new)}"


def test_the_list_names_no_file_without_one() -> None:
    gone = FORMATS.keys() - nameless()
    assert not gone, f"take these off the list: {sorted(gone)}"
