"""Loads modules while the runs are at work: what draws takes as long to load as a small comparison to run."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Thread

DRAWING = "ssdlab.presentation.report.comparison"


@contextmanager
def loading(*modules: str) -> Iterator[None]:
    """Loads the modules in a thread during the block, and waits for them at its end."""

    def load() -> None:
        for module in modules:
            import_module(module)

    thread = Thread(target=load, name="loading")
    thread.start()
    try:
        yield
    finally:
        thread.join()
