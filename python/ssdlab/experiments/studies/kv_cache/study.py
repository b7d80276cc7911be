"""The effect of placement handles on the KV cache of a language model server."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.kv_cache import comparison


def run(context: Context) -> StudyResult:
    """Simulates the published runs and variants of the assumptions; life by hit rate, cache size and spare area."""
    return comparison.run(context)


STUDY = Study(
    name="kv-cache",
    title="What does a language model's KV cache do to a drive, and do placement handles help?",
    source="LMCache, pull request 4016, 2026: a trace replay on a Samsung PM9D3a with flexible data placement, with a "
    "handle for each kind of worker and without",
    assumptions=(
        Assumption(
            "chats and random prompts are evicted first in, first out; long contexts, shared prefixes and metadata "
            "in random order, chosen in view of the figures",
            "The source names the workers and sizes of objects, not the order in which these die. What returns is "
            "kept while it is hit, so that its age says little about its end. A table varies the order: it decides.",
        ),
        Assumption(
            "each worker writes in proportion to its space",
            "The source does not say. A table has other shares.",
        ),
        Assumption(
            "28 % of spare area beyond the 960 GiB, fitted to both figures", "It is not published. A table varies it."
        ),
        Assumption(
            "garbage collection takes the reclaim unit with the least live data, chosen in view of the figures",
            "As in the study of flash caches on a drive of the same family. A table shows cost-benefit.",
        ),
        Assumption(
            "the rest of the 960 GiB keeps what the first fill wrote",
            "The source fills 960 GiB in sequence and then writes to 855 GiB of them.",
        ),
        Assumption(
            "objects that shrink with the drive, as many reclaim units as the real drive has, and no clock",
            "Write amplification depends on ratios: of objects to reclaim units, of reclaim units to the spare area.",
        ),
        Assumption(
            "a server that asks for 20 TB of keys and values a day, and writes what it does not find",
            "For the table of lives alone. The hit rate is given, not simulated.",
        ),
    ),
    jobs=("cache.fio",),
    run=run,
)
