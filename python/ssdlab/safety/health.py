"""Whether a drive's own word lets a run go on: no critical warning, not too hot, SMART as readable as at the start."""

from ssdlab.safety.place import Place
from ssdlab.smart import source
from ssdlab.smart.reading import Reading

TEMPERATURE_MAX_C = 70
"""For a drive that tells no limit of its own: what makers state as the operating maximum of most client drives."""

# NVM Express Base Specification 2.0, figure 207: the bits of Critical Warning.
_WARNINGS = {
    0x01: "the spare area is below its threshold",
    0x02: "a temperature is beyond its threshold",
    0x04: "its reliability is degraded",
    0x08: "the media are read-only",
    0x10: "the backup of its volatile memory has failed",
    0x20: "its persistent memory region is read-only or unreliable",
}


def read(place: Place) -> source.Report | source.Unavailable:
    """The SMART of the disk that a place is or lies on."""
    if place.disk is None:
        return source.Unavailable(f"no disk can be seen under {place.path}")
    return source.read(place.disk, place.backing_file)


def trouble(reading: Reading) -> str | None:
    """Why a run must stop, in words; None while all is well."""
    if reading.critical_warning:
        if reading.is_nvme:
            bits = [words for bit, words in _WARNINGS.items() if reading.critical_warning & bit]
        else:
            bits = ["its own overall test of health has failed"]
        return f"the drive warns: {'; '.join(bits) or f'bits {reading.critical_warning:#x}'}"
    limit = TEMPERATURE_MAX_C if reading.temperature_max_c is None else reading.temperature_max_c
    if reading.temperature_c is not None and reading.temperature_c >= limit:
        return f"the drive is at {reading.temperature_c} °C, and its limit is {limit} °C; let it cool"
    return None
