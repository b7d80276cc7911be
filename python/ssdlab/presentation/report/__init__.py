"""Pictures and pages of results. The input is plain data; this package does not depend on drives, jobs or engines.

The import is fast, for callers that only need the colours; the modules that draw pictures are loaded at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.presentation.report.comparison import ComparedVariant, VariantSpeed, WearStatistics, write_comparison

__all__ = ["ComparedVariant", "VariantSpeed", "WearStatistics", "write_comparison"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("ssdlab.presentation.report.comparison"), name)
    raise AttributeError(f"module 'ssdlab.presentation.report' has no attribute {name!r}")
