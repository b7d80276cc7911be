"""A question to another process of this user about the drives that it has at work, over the sockets of `watching`."""

import json
import socket
import threading
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from ssdlab.errors import InputError, RunFailed

_ANSWER_SECONDS_MAX = 30.0


class Question(TypedDict):
    """What another process wants to know of a drive, or to be done with it."""

    ask: Literal["description", "figures", "marks", "cells", "erase-unit", "command", "statistics", "smart"]
    by: NotRequired[str]
    """Which cells."""
    index: NotRequired[int]
    """Which erase unit."""
    line: NotRequired[str]
    """Which command."""


class Asked:
    """One process. All calls may come from any thread."""

    def __init__(self, socket_path: Path) -> None:
        """Raises OSError when nobody answers there."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_ANSWER_SECONDS_MAX)
        try:
            self._socket.connect(str(socket_path))
        except OSError:
            self._socket.close()
            raise
        self._answers = self._socket.makefile("rb")
        self._asking = threading.Lock()

    def ask(self, question: Question) -> bytes:
        """Raises RunFailed when the process no longer serves the drive, InputError when it refuses the question."""
        try:
            with self._asking:
                self._socket.sendall(json.dumps(question).encode() + b"\n")
                header = json.loads(self._answers.readline() or b"null")
                if header is None:
                    raise RunFailed("the drive is no longer served")
                body = self._answers.read(header["bytes"])
        except (OSError, ValueError) as error:
            raise RunFailed(f"the drive is no longer served ({error})") from None
        if header["error"] is not None:
            raise InputError(header["error"])
        return body

    def close(self) -> None:
        self._answers.close()
        self._socket.close()
