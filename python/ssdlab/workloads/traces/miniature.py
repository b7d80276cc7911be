"""A miniature of a trace: a sample of its addresses that goes with a drive made smaller in the same ratio.

`crates/engine/src/simulation/addresses/sample.rs` says how regions are chosen. Here is what must be known beforehand:
which regions take so much of the writes that chance must not decide whether they are there.
"""

from ssdlab.workloads.traces.profile import Profile
from ssdlab.workloads.traces.recording import Sample, Shuffle

# An incomplete stratum has a place of its own where its hottest region is written so many times as often as the rest.
_MUCH_HOTTER = 4
# Smaller pieces break a period better, larger ones keep what belongs together: so many write an erase unit.
_PIECES_PER_ERASE_UNIT = 8


def sample_of(profile: Profile, one_in: int, *, region_bytes: int, seed: int) -> Sample | None:
    """One region in so many; None for all of them. The profile is to know of regions of this size."""
    if one_in == 1:
        return None
    hot = _hot(profile, one_in) if profile.region_bytes == region_bytes else ()
    return Sample(one_in, region_bytes, seed, hot)


def shuffle_of(erase_unit_bytes: int, seed: int) -> Shuffle:
    """Of a trace that is repeated on a drive of such erase units, scaled or not."""
    return Shuffle(max(1, erase_unit_bytes // _PIECES_PER_ERASE_UNIT), seed)


def _hot(profile: Profile, one_in: int) -> tuple[tuple[int, int, float], ...]:
    """The hottest regions in strata of `one_in`, by how often they are written.

    One stands for its stratum, with as many writes as that has on average; the others are left out.
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
        # Of a group only one region can be kept.
        region, writes = next((each for each in stratum if each[0] // one_in not in taken), stratum[0])
        taken.add(region // one_in)
        whole = sum(each for _, each in stratum) + rest * missing
        found.append((region // one_in, region % one_in, min(1.0, whole / one_in / writes)))
        found += [(other // one_in, other % one_in, 0.0) for other, _ in stratum if other != region]
    return tuple(found)
