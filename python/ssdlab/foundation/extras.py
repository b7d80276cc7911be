"""Packages that only some commands need, and the extras that install each of them.

`pyproject.toml` defines the extras; `tests/tidy/test_extras.py` compares the two. Not for packages that every command
can need: those are dependencies.
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
"""For each optional package, the extras of ssdlab that install it."""


def in_words(error: ImportError) -> str | None:
    """The message that says how to install a missing module; None for other errors, or if no extra installs it."""
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package not in EXTRAS:
        return None
    commands = " or ".join(f"pip install 'ssdlab[{extra}]'" for extra in EXTRAS[package])
    return f"this command needs the package {package}, which is not installed; install it with {commands}"
