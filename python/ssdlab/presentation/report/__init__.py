"""Pictures and pages of results. The input is plain data; this package does not depend on drives, jobs or engines.

The import is fast, for callers that only need the colours; the modules that draw pictures are loaded at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.presentation.report.comparison import write_comparison
    from ssdlab.presentation.report.variant import ComparedVariant, VariantSpeed, WearStatistics

__all__ = ["ComparedVariant", "VariantSpeed", "WearStatistics", "write_comparison"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        # The types are plain data; only what draws needs the library that draws.
        module = "comparison" if name == "write_comparison" else "variant"
        return getattr(import_module(f"ssdlab.presentation.report.{module}"), name)
    raise AttributeError(f"module 'ssdlab.presentation.report' has no attribute {name!r}")
