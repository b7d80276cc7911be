"""Types of the native module: the simulated drive, one call a run."""

from collections.abc import Callable

__all__ = [
    "SpecificationError",
    "TraceError",
    "policies",
    "profile",
    "replay",
    "run",
    "survey",
    "trace_formats",
    "version",
]

class SpecificationError(ValueError):
    """The specification cannot be run. `args` is (key, value, allowed)."""

class TraceError(ValueError):
    """A trace cannot be read or replayed. `args` is (kind, name of the file or None, message)."""

def run(specification_json: str, on_progress: Callable[[float, int], None] | None = None) -> str:
    """Run a specification to its end and return the outcome as JSON.

    `on_progress` gets the share that is done, 0 to 1, and the host bytes written so far, about ten times a second; what
    it raises ends the run and comes out of this call.
    """

def replay(specification_json: str, trace_json: str, on_progress: Callable[[float, int], None] | None = None) -> str:
    """As `run`, and after the specification's jobs, of which there may be none, a trace.

    `trace_json` has `files` (a list of `path` and `name`), `format`, `skip_bad_max`, `volume`, `map` ("fold", "compact"
    or "strict") and `loop_until_written_bytes`; `format`, `volume` and the last may be null. The outcome also has a key
    `trace`.
    """

def survey(trace_json: str) -> str:
    """Read a trace once, in constant memory: its formats and volumes, as JSON."""

def profile(trace_json: str) -> str:
    """Read a trace once: what `survey` gives, and what its requests are like, as JSON."""

def trace_formats() -> str:
    """All trace formats as a JSON list of `{"name", "aliases", "description"}`."""

def policies() -> str:
    """All policies as a JSON list of `{"kind", "name", "summary", "source", "parameters"}`."""

def version() -> str:
    """The version of the engine, as in `Cargo.toml`."""
