"""Does drawing under a memory limit end in an error? A regression: it ended the process by SIGTRAP, with 30 lines from
V8."""

import subprocess
import sys
from pathlib import Path

import pytest

from ssdlab.errors import RunFailed
from ssdlab.foundation import available_memory
from ssdlab.presentation.report import drawing

_CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
from ssdlab.cli import main
sys.argv[1:] = ["model", "--op", "7%", "--victim", "greedy", "--units-per-erase-unit", "256", "--output", sys.argv[1]]
main()
"""


def test_a_limit_of_address_space_is_an_error(tmp_path: Path) -> None:
    picture = tmp_path / "model.svg"
    ended = subprocess.run([sys.executable, "-c", _CHILD, picture], capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    assert "error: drawing reserves 66 GiB of addresses" in ended.stderr
    assert not picture.exists()


def test_little_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 50 << 20)
    with pytest.raises(RunFailed, match=r"up to 128 MiB of memory, 50 MiB are available"):
        drawing.check()
