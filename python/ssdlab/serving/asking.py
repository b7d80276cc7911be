"""Sends questions about running drives to other processes of this user, over the sockets of `watching`."""

import json
import socket
import threading
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from ssdlab.errors import InputError, RunFailed

_ANSWER_SECONDS_MAX = 30.0


class Question(TypedDict):
    """A question to the process that serves a drive, or a command to it."""

    ask: Literal["description", "figures", "marks", "cells", "erase-unit", "command", "statistics", "smart"]
    by: NotRequired[str]
    """The quantity that the cells show."""
    index: NotRequired[int]
    """The number of the erase unit."""
    line: NotRequired[str]
    """The command line."""


class Asked:
    """A connection to one process. All methods can be called from any thread."""

    def __init__(self, socket_path: Path) -> None:
        """Connects. Raises OSError if no process answers."""
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
        """Returns the answer. Raises RunFailed if the drive is no longer served, InputError if the question is
        refused."""
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
