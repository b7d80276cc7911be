"""Types of the native module: the simulated drive, one call a run."""

from collections.abc import Callable

__all__ = ["SpecificationError", "policies", "run", "version"]

class SpecificationError(ValueError):
    """The specification cannot be run. `args` is (key, value, allowed)."""

def run(specification_json: str, on_progress: Callable[[float, int], None] | None = None) -> str:
    """Run a specification to its end and return the outcome as JSON.

    `on_progress` gets the share that is done, 0 to 1, and the host bytes written so far, about ten times a second; what
    it raises ends the run and comes out of this call.
    """

def policies() -> str:
    """All policies as a JSON list of `{"kind", "name", "summary", "source", "parameters"}`."""

def version() -> str:
    """The version of the engine, as in `Cargo.toml`."""
