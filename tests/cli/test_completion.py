"""`ssdlab --install-completion`: three shells get a script, and its queries return commands and options."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ASKED = {
    "bash": {"COMP_WORDS": "ssdlab com", "COMP_CWORD": "1"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "ssdlab com"},
    "fish": {"_TYPER_COMPLETE_ARGS": "ssdlab com", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


def _answer(folder: Path, shell: str, instruction: str, **environment: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'ssdlab'; from ssdlab.cli import main; main()"],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"HOME": str(folder), "_SSDLAB_COMPLETE": f"{instruction}_{shell}", **environment},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("shell", _ASKED)
def test_a_shell_completes_commands(tmp_path: Path, shell: str) -> None:
    assert "compare" in _answer(tmp_path, shell, "complete", **_ASKED[shell])
    script = _answer(tmp_path, shell, "source")
    assert f"complete_{shell}" in script and "_SSDLAB_COMPLETE" in script
