"""Loop devices of the tests' own, over files of their own, always taken away again."""

import pytest

from own_devices import devices, loop, skip_without_loop_devices

__all__ = ["devices", "loop"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip_without_loop_devices(items)
