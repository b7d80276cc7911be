"""The engines that produce outcomes: the package's native module, another one by its path, or a cargo build."""

import contextlib
import importlib.machinery
import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
CARGO = "cargo"


def engine(where: str | None) -> Any:
    """`None`: the package's module; `cargo`; or the path of a native module. Raises FileNotFoundError."""
    if where is None:
        from ssdlab import _engine

        return _engine
    return Cargo() if where == CARGO else _module(Path(where))


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no native module")
    loader = importlib.machinery.ExtensionFileLoader("_engine", str(path))
    found = importlib.util.spec_from_file_location("_engine", path, loader=loader)
    assert found is not None
    module = importlib.util.module_from_spec(found)
    loader.exec_module(module)
    return module


class Cargo:
    """Runs specifications with the engine's example `outcomes`, which cargo builds in seconds, with assertions enabled.

    It supports only runs: no traces, states, steps or served drives.
    """

    class SpecificationError(ValueError):
        """Corresponds to the native module's exception."""

    TraceError = SpecificationError

    def __init__(self) -> None:
        command = ["cargo", "run", "--quiet", "--locked", "-p", "ssdlab-engine", "--example", "outcomes"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, specification_json: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(specification_json + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"the engine ended with {self._process.wait()}")
        outcome = json.loads(answer)
        if isinstance(outcome, dict) and "refused" in outcome:
            raise self.SpecificationError(outcome["refused"])
        return answer
