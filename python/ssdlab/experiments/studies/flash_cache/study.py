"""The effect of placement handles on a flash cache of small and large objects."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.flash_cache import comparison


def run(context: Context) -> StudyResult:
    """Varies the cache's share of the drive, then the share of small objects, with and without handles."""
    return comparison.run(context)


STUDY = Study(
    name="flash-cache",
    title="Do placement handles let a flash cache use the whole drive?",
    source='M. Allison et al., "Towards Efficient Flash Caches with Emerging NVMe Flexible Data Placement SSDs", '
    "EuroSys 2025: CacheLib on a Samsung PM9D3 of 1.88 TB",
    assumptions=(
        Assumption(
            "two thirds of the bytes written are small objects, chosen in view of the figures",
            "The share is not among the published figures used here. A table varies it.",
        ),
        Assumption(
            "17.5 % of spare area, fitted",
            "It is not published. A table varies it.",
        ),
        Assumption(
            "garbage collection takes the reclaim unit with the least live data, chosen in view of the figures",
            "A table shows other choices: first in, first out moves the log of large objects, as the drive does not.",
        ),
        Assumption(
            "small objects are rewritten uniformly at random, large ones from the first region to the last",
            "A bucket is chosen by a hash, a log is overwritten first in, first out. What is popular decides what is "
            "read, and a little what is written.",
        ),
        Assumption(
            "a drive smaller than the real one, with as many reclaim units, and no clock",
            "Write amplification depends on ratios.",
        ),
        Assumption(
            "the host writes what wears the drive out in its five years at a write amplification of 1; a GB costs "
            "0.10 USD",
            "Carbon and cost then grow with write amplification. The price is no more than a unit: the ratios count.",
        ),
    ),
    jobs=("cache.fio",),
    run=run,
)
