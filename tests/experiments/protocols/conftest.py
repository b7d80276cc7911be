"""Protocols are tested on the drives that the tests of measurements serve."""

from served import serve

__all__ = ["serve"]
