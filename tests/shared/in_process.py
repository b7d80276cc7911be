"""A command of ssdlab in the process of the test, given the words of its command line."""

from ssdlab.cli.commands import loaded


def call(name: str, *words: object) -> None:
    """Raises what the command raises: InputError, RunFailed, and click's exceptions for what it cannot read."""
    loaded(name).main([str(word) for word in words], prog_name=f"ssdlab {name}", standalone_mode=False)
