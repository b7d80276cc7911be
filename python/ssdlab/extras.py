"""Packages that only some commands need, and what installs each.

`pyproject.toml` has the extras; `tests/tidy/test_extras.py` compares the two. Not for packages that every command may
need: those are dependencies.
"""

EXTRAS = {
    "distributed": ["cluster"],
    "duckdb": ["sweep"],
    "fsspec": ["sweep"],
    "ipykernel": ["notebook"],
    "pydantic": ["live", "sweep"],
    "starlette": ["live"],
    "uvicorn": ["live"],
    "websockets": ["live"],
}
"""The extras of ssdlab that install a package."""


def in_words(error: ImportError) -> str | None:
    """What to install for a module that was not found; None where no extra has it."""
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package not in EXTRAS:
        return None
    commands = " or ".join(f"pip install 'ssdlab[{extra}]'" for extra in EXTRAS[package])
    return f"this command needs the package {package}, which is not installed; install it with {commands}"
