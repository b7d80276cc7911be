"""Checks by SMART whether a run is allowed to continue: no critical warning, and not too hot."""

from ssdlab.hardware.safety.place import Place
from ssdlab.hardware.smart import source
from ssdlab.hardware.smart.reading import Reading, limit_c, warnings_of


def read(place: Place) -> source.Report | source.Unavailable:
    """The SMART data of the disk that a place is or lies on."""
    if place.disk is None:
        return source.Unavailable(f"no disk is visible under {place.path}")
    return source.read(place.disk, place.backing_file)


def trouble(reading: Reading) -> str | None:
    """The reason why a run must stop, or None if the drive is healthy."""
    warnings = warnings_of(reading)
    if warnings:
        return f"SMART reports a critical warning: {'; '.join(warnings)}"
    limit = limit_c(reading)
    if reading.temperature_c is not None and reading.temperature_c >= limit:
        return f"the drive is at {reading.temperature_c} °C; its limit is {limit} °C; let it cool"
    return None
