"""Coverage-guided fuzzing of the parsers of job files and of file-system scripts, by atheris.

Called by `make fuzz` with `jobs` or `scripts`, a name and libFuzzer's own arguments. Whatever text comes in, it gives
the engine's jobs or an InputError; anything else is a finding. Not for the tests: these have tests/jobs/test_fuzz.py.
"""
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import re
import sys
from collections.abc import Callable

import atheris

with atheris.instrument_imports(include=["ssdlab.jobs", "ssdlab.filesystem", "ssdlab.quantities"]):
    from ssdlab import filesystem, jobs
    from ssdlab.filesystem import session  # noqa: F401
    from ssdlab.jobs import resolve  # noqa: F401

from ssdlab.errors import InputError
from ssdlab.workloads import Workload

USER_BYTES = 1 << 30
# An inclusion reads what lies on this machine; thousands of clones, files and repetitions only take time.
LEFT_OUT = re.compile(r"include|(?:numjobs|nrfiles|nr_files|count|file-num)\s*=\s*\d{3}|repeat\s+\d{3}")


def one_input(parse: Callable[[str, str], Workload]) -> Callable[[bytes], None]:
    """What is called with every input."""

    def run(data: bytes) -> None:
        text = data.decode("utf-8", errors="replace")
        if LEFT_OUT.search(text):
            return
        try:
            parse(text, "input").resolve(USER_BYTES, seed=1)
        except InputError as error:
            # A message is for people: it has something to say.
            assert str(error).strip()

    return run


def main() -> None:
    """The first argument says which parser, the second how this was called; all others are libFuzzer's."""
    _, kind, called, *arguments = sys.argv
    parse = {"jobs": jobs.parse, "scripts": filesystem.parse}[kind]
    atheris.Setup([called, *arguments], one_input(parse))
    atheris.Fuzz()


main()
