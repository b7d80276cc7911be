"""Commands of `ssdlab` in the process of the tests, where their modules can be patched and their errors caught."""

from ssdlab.cli.commands import loaded


def call(name: str, *words: object) -> None:
    """`ssdlab NAME WORDS...`. Raises what the command raises, such as InputError; what it prints is printed."""
    loaded(name).main([str(word) for word in words], prog_name=f"ssdlab {name}", standalone_mode=False)
