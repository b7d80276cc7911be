"""What a case of the corpus is, and how each kind is run on a native module.

A case describes all that it does as JSON, of which the corpus keeps the hash. Its outcome is JSON in which nothing
depends on the machine or its clock. What the engine refuses has an outcome too: the key that the error names.
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
        """All that the outcome depends on."""
        ...

    def outcome(self, engine: Any, folder: Path) -> Json:
        """Runs it on a native module, with an empty folder for its files."""
        ...


@dataclass(frozen=True)
class Run:
    """A specification from its start to its end."""

    specification: Json

    def described(self) -> Json:
        return self.specification

    def outcome(self, engine: Any, folder: Path) -> Json:
        return _refusals(engine, lambda: json.loads(engine.run(json.dumps(self.specification))))


@dataclass(frozen=True)
class Resumed:
    """Two runs, the second from the state in which the first left the drive, or from that magnified."""

    first: Json
    second: Json
    times: int = 1

    def described(self) -> Json:
        return {"first": self.first, "second": self.second, "times": self.times}

    def outcome(self, engine: Any, folder: Path) -> Json:
        path = str(folder / "state")

        def both() -> Json:
            first = engine.run(json.dumps(self.first), save_state=path)
            second = engine.run(json.dumps(self.second), from_state=(path, self.times))
            return {"first": json.loads(first), "second": json.loads(second)}

        return _refusals(engine, both)


@dataclass(frozen=True)
class Replay:
    """A trace of these lines, after the jobs of the specification."""

    specification: Json
    trace: Json
    """As `replay` takes it, without files."""
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
    """A run in steps: calls of a `LiveDrive` by name, with their arguments; the outcome has all their answers."""

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
    """A drive that keeps what is written to it, with one client over NBD.

    The steps are requests of the client, `command` with a line for the drive, `reopen` after an orderly end, and what
    else a `Device` can be asked for.
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
    """A drive and its client, until the drive is opened again or the steps are over."""

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
    """What is refused counts by the key; the words of the message are free."""
    try:
        return run()
    except engine.SpecificationError as error:
        return {"refused": error.args[0]}
    except engine.TraceError as error:
        return {"refused": error.args[0]}


def _called(native: Any, name: str, *arguments: Json) -> Json:
    """What a native object answers; jobs are told as JSON text."""
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
