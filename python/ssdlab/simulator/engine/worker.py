"""A worker process of `ssdlab.simulator.runs`: receives specifications, runs them and sends the outcomes.

Separate from it, so that a worker loads nothing but what calls the native module.
"""

from multiprocessing.connection import Connection
from typing import Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.simulator import engine


def work(fd: int) -> None:
    """The main loop of a worker: receives a specification, runs it and sends the outcome, until the connection ends."""
    connection = Connection(fd)
    try:
        while True:
            asked: engine.Work = connection.recv()
            try:
                message: tuple[Any, ...] = (
                    "outcome",
                    *engine.simulate(asked, lambda share, host_bytes: connection.send(("progress", share, host_bytes))),
                )
            except InputError as error:
                message = ("input", str(error))
            except RunFailed as error:
                message = ("failed", str(error))
            except OSError:
                raise
            except Exception as error:
                message = ("failed", f"{type(error).__name__}: {error}")
            connection.send(message)
    except (EOFError, OSError):
        # The first process has ended or has closed the connection.
        return
