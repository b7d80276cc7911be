"""Pictures and pages: what results look like. It takes plain data and knows nothing of drives, jobs or engines."""

from ssdlab.report.comparison import ComparedVariant, VariantSpeed, WearStatistics, write_comparison

__all__ = ["ComparedVariant", "VariantSpeed", "WearStatistics", "write_comparison"]
