"""Which tests have one more try: those whose surroundings are real, and may disturb them though nothing is wrong.

A browser, a kernel's mounts and devices, and the moment at which a signal arrives are not the tests' own. A test that
has neither is the same each time, and must hold each time. Tries are shown in the summary, so that one that is needed
often is seen.
"""

import pytest

_MARKS = ("surroundings", "fuse", "loop")
_FIXTURES = {"browser", "devices", "loop", "mount", "serve"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & _FIXTURES or any(item.get_closest_marker(mark) for mark in _MARKS):
            item.add_marker(pytest.mark.flaky(reruns=1))
