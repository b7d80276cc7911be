"""The rest before jobs whose write amplification and speed are compared with simulations.

Between two jobs a drive works on: it writes its buffer back, empties an SLC cache, and collects the garbage that it is
late with. How long it has for that depends on the host. After a rest that suffices for all of it, the drive and its
model begin a job in the same state.
"""

from ssdlab.hardware.identification.bench import Bench

REST_S, REST_S_MAX = 5.0, 120.0
"""The length of a rest, and the longest one, beside an SLC cache."""
_PER_CACHE = 3.0
"""The time for an SLC cache relative to that of writing its content in sequence: it is read and written, and both
speeds are the drive's best."""


def rest(bench: Bench) -> str:
    """The option of a job that begins it with a rest."""
    cache, rate = bench.value("slc_cache_bytes"), bench.facts["fill"]["direct_mean_bytes_per_second"]
    seconds = REST_S + (_PER_CACHE * float(cache) / rate if cache is not None else 0.0)
    return f"startdelay={min(seconds, REST_S_MAX):.0f}"
