"""Loop devices of the tests' own, over files of their own, always taken away again."""

from pathlib import Path

import pytest

from own_devices import devices, loop

__all__ = ["devices", "loop"]


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is remembered in a folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
