"""Writes that must survive a loss of power, with and without capacitors; see README.md."""
