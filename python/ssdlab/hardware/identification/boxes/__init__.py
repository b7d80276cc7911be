"""Implementations of a box: a simulated drive, or a real device or file. The experiments use only `box.Box`."""
