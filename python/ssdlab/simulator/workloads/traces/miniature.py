"""A miniature of a trace: a sample of its addresses, for a drive that is smaller in the same ratio.

`crates/engine/src/simulation/addresses/sample.rs` documents how regions are selected. This module finds the regions
whose share of the writes is too large to select them by chance.
"""

from ssdlab.simulator.workloads.traces.profile import Profile
from ssdlab.simulator.workloads.traces.recording import Sample, Shuffle

# An incomplete stratum is used only if its hottest region has this many times the writes of the other regions.
_MUCH_HOTTER = 4
# Smaller pieces break up periods better; larger ones keep related requests together. An erase unit is this many pieces.
_PIECES_PER_ERASE_UNIT = 8


def sample_of(profile: Profile, one_in: int, *, region_bytes: int, seed: int) -> Sample | None:
    """A sample of one region in `one_in`; None for all. Hot regions require a profile with the same `region_bytes`."""
    if one_in == 1:
        return None
    hot = _hot(profile, one_in) if profile.region_bytes == region_bytes else ()
    return Sample(one_in, region_bytes, seed, hot)


def shuffle_of(erase_unit_bytes: int, seed: int) -> Shuffle:
    """The shuffle of a repeated trace on a drive with erase units of this size, scaled or not."""
    return Shuffle(max(1, erase_unit_bytes // _PIECES_PER_ERASE_UNIT), seed)


def _hot(profile: Profile, one_in: int) -> tuple[tuple[int, int, float], ...]:
    """The hottest regions in strata of `one_in` regions, ordered by their writes.

    One region of each stratum is kept, with as many writes as the stratum has on average; the others are left out.
    """
    listed = sum(writes for _, writes in profile.hottest)
    rest = (profile.units.written - listed) / max(1, profile.regions_written - len(profile.hottest))
    found: list[tuple[int, int, float]] = []
    taken: set[int] = set()
    for start in range(0, len(profile.hottest), one_in):
        stratum = profile.hottest[start : start + one_in]
        missing = one_in - len(stratum)
        if missing and stratum[0][1] < _MUCH_HOTTER * rest:
            break
        # Only one region of a group can be kept.
        region, writes = next((each for each in stratum if each[0] // one_in not in taken), stratum[0])
        taken.add(region // one_in)
        whole = sum(each for _, each in stratum) + rest * missing
        found.append((region // one_in, region % one_in, min(1.0, whole / one_in / writes)))
        found += [(other // one_in, other % one_in, 0.0) for other, _ in stratum if other != region]
    return tuple(found)
