"""Fixtures for measurements: simulated drives that are served next to the tests and always removed."""

from served import serve

__all__ = ["serve"]
