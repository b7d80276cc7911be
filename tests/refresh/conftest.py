"""Loop devices of the tests' own, over files of their own, always taken away again."""

from pathlib import Path

import pytest

from own_devices import devices, loop, skip_without_loop_devices

__all__ = ["devices", "loop"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip_without_loop_devices(items)


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is remembered in a folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
