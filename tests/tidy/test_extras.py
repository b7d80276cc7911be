"""Packages of extras agree with pyproject.toml, and a command that lacks one names the extra that has it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ssdlab.foundation.extras import EXTRAS

ROOT = Path(__file__).parents[2]


def test_the_list_is_that_of_pyproject() -> None:
    listed: dict[str, list[str]] = {}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra, requirements in extras.items():
        for requirement in requirements:
            package = re.match(r"[a-z-]+", requirement)
            assert package
            if package.group() != "ssdlab":
                listed.setdefault(package.group(), []).append(extra)
    assert listed == EXTRAS


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("starlette", ["live", "--no-browser"], "ssdlab[live]"),
        ("fsspec", ["sweep", "sweeps/spare-area.toml"], "ssdlab[sweep]"),
        ("distributed", ["sweep", "sweeps/spare-area.toml", "--cluster", "tcp://127.0.0.1:9"], "ssdlab[cluster]"),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(
    package: str, arguments: list[str], extra: str, tmp_path: Path
) -> None:
    # Simulates a package that is not installed.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {package!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    output = [] if arguments[0] == "live" else ["--output", str(tmp_path / "runs")]
    ended = subprocess.run(
        [sys.executable, "-m", "ssdlab", *arguments, *output],
        cwd=ROOT,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, extra in ended.stderr) == (2, True), ended.stderr
    assert "Traceback" not in ended.stderr
