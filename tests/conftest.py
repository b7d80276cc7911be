"""What holds for every folder: which tests are skipped on this machine, and which have one more try.

A test that needs root, /dev/fuse or loop devices says so by a mark, and is skipped with the reason where there is none.

One more try have those whose surroundings are real, and may disturb them though nothing is wrong: a browser, a kernel's
mounts and devices, and the moment at which a signal arrives are not the tests' own. A test that has none of these is
the same each time, and must hold each time. Tries are shown in the summary, so that one that is needed often is seen.
"""

import os
from pathlib import Path

import pytest

_NEEDS = {"fuse": "/dev/fuse", "loop": "/dev/loop-control"}
_FIXTURES = {"browser", "devices", "loop", "mount", "serve"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marks = {mark for mark in (*_NEEDS, "surroundings") if item.get_closest_marker(mark)}
        for reason in filter(None, map(_missing, marks & _NEEDS.keys())):
            item.add_marker(pytest.mark.skip(reason=reason))
        if marks or _FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=1))


def _missing(mark: str) -> str | None:
    if not Path(_NEEDS[mark]).exists():
        return f"no {_NEEDS[mark]}"
    return None if os.geteuid() == 0 else "not root"
