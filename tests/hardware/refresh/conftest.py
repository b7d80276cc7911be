"""Loop devices over files created by the tests, always removed."""

from pathlib import Path

import pytest

from own_devices import devices, loop

__all__ = ["devices", "loop"]


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores progress in a folder of the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
