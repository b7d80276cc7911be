"""How an experiment is found by its name: one of a list of names, in a module of its own.

The module is imported when it is asked for, so that a list costs nothing.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ssdlab.errors import InputError, near


def by_name(kind: str, name: str, names: Sequence[str], module: str) -> Any:
    """What that module calls by the kind's name in capitals; `module` has `{}` where the name stands.

    Raises InputError with the names there are.
    """
    if name not in names:
        raise InputError(f"no {kind} {name!r}{near(name, names)} (known: {', '.join(names)})")
    return getattr(import_module(module.format(name.replace("-", "_"))), kind.upper())
