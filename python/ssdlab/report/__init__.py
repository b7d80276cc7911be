"""Pictures and pages: what results look like. It takes plain data and knows nothing of drives, jobs or engines.

Importing this is light, for those who only want the colours; what draws pictures is loaded when it is named.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.report.comparison import ComparedVariant, VariantSpeed, WearStatistics, write_comparison

__all__ = ["ComparedVariant", "VariantSpeed", "WearStatistics", "write_comparison"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("ssdlab.report.comparison"), name)
    raise AttributeError(f"module 'ssdlab.report' has no attribute {name!r}")
