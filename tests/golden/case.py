"""The kinds of cases in the corpus, and how each is run on a native module.

A case describes its input as JSON, and the corpus stores its hash. Its outcome is JSON that is independent of the
machine and its clock. A rejection by the engine has an outcome too: the key that the error names.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from nbd_client import Client
from parts import Json


class Case(Protocol):
    def described(self) -> Json:
        """The complete input of the case."""
        ...

    def outcome(self, engine: Any, folder: Path) -> Json:
        """Runs the case on a native module, with an empty folder for its files."""
        ...


@dataclass(frozen=True)
class Run:
    """A specification, run completely."""

    specification: Json

    def described(self) -> Json:
        return self.specification

    def outcome(self, engine: Any, folder: Path) -> Json:
        return _refusals(engine, lambda: json.loads(engine.run(json.dumps(self.specification))))


@dataclass(frozen=True)
class Resumed:
    """Two runs; the second starts from the final state of the first, optionally magnified."""

    first: Json
    second: Json
    times: int = 1

    def described(self) -> Json:
        return {"first": self.first, "second": self.second, "times": self.times}

    def outcome(self, engine: Any, folder: Path) -> Json:
        path = str(folder / "state")

        def both() -> Json:
            first = json.loads(engine.run(json.dumps(self.first), save_state=path))
            second = json.loads(engine.run(json.dumps(self.second), from_state=(path, self.times)))
            # It repeats what the first run counted, and is no part of the row.
            if began := second.pop("began", None):
                assert began["ledger"] == _magnified(first["ledger"], self.times)
            return {"first": first, "second": second}

        return _refusals(engine, both)


def _magnified(counters: Json, times: int) -> Json:
    """Those of a drive with erase units that are so many times larger, and as many."""
    found = {
        name: _magnified(value, times) if isinstance(value, dict) else value * times for name, value in counters.items()
    }
    return found | {name: counters[name] for name in ("erased_erase_units",) if name in counters}


@dataclass(frozen=True)
class Replay:
    """A trace with these lines, after the jobs of the specification."""

    specification: Json
    trace: Json
    """As given to `replay`, without files."""
    text: str

    def described(self) -> Json:
        return {"specification": self.specification, "trace": self.trace, "text": self.text}

    def outcome(self, engine: Any, folder: Path) -> Json:
        path = folder / "trace"
        path.write_text(self.text)
        trace = {"files": [{"path": str(path), "name": "trace"}]} | self.trace
        return _refusals(engine, lambda: json.loads(engine.replay(json.dumps(self.specification), json.dumps(trace))))


@dataclass(frozen=True)
class Live:
    """A run in steps: calls of methods of a `LiveDrive`, with their arguments. The outcome contains all answers."""

    specification: Json
    calls: list[list[Json]]

    def described(self) -> Json:
        return {"specification": self.specification, "calls": self.calls}

    def outcome(self, engine: Any, folder: Path) -> Json:
        def all_answers() -> Json:
            live = engine.LiveDrive(json.dumps(self.specification))
            return [_answer(engine, partial(_called, live, *call)) for call in self.calls]

        return _refusals(engine, all_answers)


@dataclass(frozen=True)
class Served:
    """A drive that stores written data, with one client over NBD.

    The steps are requests of the client, `command` with a line for the drive, `reopen` after an orderly end, and other
    methods of a `Device`.
    """

    drive: Json
    options: Json
    steps: list[list[Json]]

    def described(self) -> Json:
        return {"drive": self.drive, "options": self.options, "steps": self.steps}

    def outcome(self, engine: Any, folder: Path) -> Json:
        options = dict(self.options)
        if options.get("contents") == "file":
            options["contents"] = {"file": str(folder / "flash")}

        def all_answers() -> Json:
            with _ServedDrive(engine, self.drive, options, folder) as served:
                return [_answer(engine, partial(served.step, *step)) for step in self.steps]

        return _refusals(engine, all_answers)


class _ServedDrive:
    """A drive and its client, until the drive is reopened or the steps end."""

    def __init__(self, engine: Any, drive: Json, options: Json, folder: Path) -> None:
        self._open: Callable[[], Any] = lambda: engine.Device(json.dumps(drive), json.dumps({"drive": options}))
        self._socket = folder / "socket"

    def __enter__(self) -> "_ServedDrive":
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _begin(self) -> None:
        self._device = self._open()
        self._server = self._device.serve_at_socket(str(self._socket), connections_max=4)
        self._client = Client(self._socket)

    def _end(self) -> None:
        self._client.close()
        self._server.stop()

    def step(self, name: str, *arguments: Json) -> Json:
        match name:
            case "read" | "write" | "trim" | "zero" | "flush":
                return getattr(self._client, name)(*arguments)
            case "reopen":
                self._end()
                self._device.close()
                del self._device
                self._begin()
                return None
        return _called(self._device, name, *arguments)


def _refusals(engine: Any, run: Callable[[], Json]) -> Json:
    """Replaces the outcome of a rejected run by the error's key; the message is not part of it."""
    try:
        return run()
    except engine.SpecificationError as error:
        return {"refused": error.args[0]}
    except engine.TraceError as error:
        return {"refused": error.args[0]}


def _called(native: Any, name: str, *arguments: Json) -> Json:
    """The answer of a native object; jobs are passed as JSON text."""
    answer = getattr(native, name)(*(json.dumps(told) if isinstance(told, dict) else told for told in arguments))
    if isinstance(answer, bytes):
        return answer.hex()
    return json.loads(answer) if isinstance(answer, str) else answer


def _answer(engine: Any, call: Callable[[], Json]) -> Json:
    try:
        return call()
    except engine.SpecificationError as error:
        return {"refused": error.args[0]}
    except (IndexError, ValueError, OSError) as error:
        return {"refused": type(error).__name__}
