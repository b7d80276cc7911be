"""Objects have typed keys: `dict[str, Any]` is used only for foreign formats, and in one alias for each.

It hides misspelt keys from the type checkers. Data that crosses an interface within ssdlab is a TypedDict, a dataclass
or a struct; the engine's objects are in `ssdlab/simulator/engine/plain.py`.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "python/ssdlab"
NAMELESS = "dict[str, Any]"

FORMATS = {
    "simulator/engine/plain.py": "parameters of a policy, which each policy has of its own",
    "simulator/engine/types.py": "the same",
    "foundation/foreign.py": "the aliases for JSON and TOML of others and for rows of polars",
    "presentation/report/theme.py": "the alias for Vega-Lite's specifications",
}


def nameless() -> set[str]:
    """The files of the library that contain `dict[str, Any]`."""
    return {
        str(path.relative_to(LIBRARY)) for path in LIBRARY.rglob("*.py") if NAMELESS in path.read_text(encoding="utf-8")
    }


def test_only_formats_of_others_have_dictionaries_of_anything() -> None:
    new = nameless() - FORMATS.keys()
    assert not new, (
        f"write a TypedDict, or, for a format of others, ssdlab.foundation.foreign.JsonObject: {sorted(new)}"
    )


def test_the_list_names_no_file_without_one() -> None:
    gone = FORMATS.keys() - nameless()
    assert not gone, f"take these off the list: {sorted(gone)}"
