"""Coverage-guided fuzzing of the parsers of job files, of file-system scripts and of drives' reports, by atheris.

Called by `make fuzz` with `jobs`, `scripts` or `reports`, a name and libFuzzer's own arguments. Whatever text comes in,
it gives the engine's jobs, or readings, or an InputError; anything else is a finding. Not for the tests: these have
tests/simulator/workloads/jobs/test_fuzz.py and tests/hardware/smart/test_field_sample.py.
"""
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import re
import sys
from collections.abc import Callable

import atheris

with atheris.instrument_imports(
    include=[
        "ssdlab.simulator.workloads.jobs",
        "ssdlab.simulator.workloads.filesystem",
        "ssdlab.foundation.quantities",
        "ssdlab.hardware.smart",
        "ssdlab.field.health",
    ]
):
    from ssdlab.field.health.drive import row_of
    from ssdlab.hardware.smart import formats, reading
    from ssdlab.simulator.workloads import filesystem, jobs
    from ssdlab.simulator.workloads.filesystem import session  # noqa: F401
    from ssdlab.simulator.workloads.jobs import resolve  # noqa: F401

from ssdlab.errors import InputError
from ssdlab.simulator.workloads import Workload

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


def one_report(data: bytes) -> None:
    """What is called with every input that may be a report."""
    try:
        for report in formats.recognised(data, "input"):
            row_of(reading.parse(report, "input"), "input")
    except InputError as error:
        assert str(error).startswith("input")


def main() -> None:
    """The first argument says which parser, the second how this was called; all others are libFuzzer's."""
    _, kind, called, *arguments = sys.argv
    targets = {"jobs": one_input(jobs.parse), "scripts": one_input(filesystem.parse), "reports": one_report}
    atheris.Setup([called, *arguments], targets[kind])
    atheris.Fuzz()


main()
