"""Loop devices of the tests' own, over files of their own, always taken away again."""

from own_devices import devices, loop

__all__ = ["devices", "loop"]
