"""Loop devices over files created by the tests, always removed."""

from own_devices import devices, loop

__all__ = ["devices", "loop"]
