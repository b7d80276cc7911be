"""Runs a command of ssdlab in the process of the test, with the words of its command line."""

from ssdlab.cli.commands import loaded


def call(name: str, *words: object) -> None:
    """Raises the command's exceptions: InputError, RunFailed, and click's exceptions for unreadable input."""
    loaded(name).main([str(word) for word in words], prog_name=f"ssdlab {name}", standalone_mode=False)
