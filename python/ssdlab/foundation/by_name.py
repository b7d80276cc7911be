"""Finds an experiment by its name in a list of names. Each experiment has a module of its own.

The module is imported only when it is used, so that printing the list of names costs nothing.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ssdlab.errors import InputError, near


def by_name(kind: str, name: str, names: Sequence[str], module: str) -> Any:
    """The attribute of the experiment's module that has the name of the kind in capitals.

    `module` is the module's path, with `{}` in place of the name. Raises InputError, with the known names, if `name` is
    not in `names`.
    """
    if name not in names:
        raise InputError(f"no {kind} {name!r}{near(name, names)} (known: {', '.join(names)})")
    return getattr(import_module(module.format(name.replace("-", "_"))), kind.upper())
