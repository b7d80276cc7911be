"""What an SLC cache leaves of the speed of a full-span write: a law without a fit, and the simulation beside it."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.slc_caches import comparison


def run(context: Context) -> StudyResult:
    """Compares the law and the simulation with reviewed drives, and the generic QLC drive with reviewed ones."""
    return comparison.run(context)


STUDY = Study(
    name="slc-caches",
    title="Where does a drive with an SLC cache slow down when it is filled, and how far?",
    source="reviewers' full-span sequential writes (TechPowerUp, guru3d, ankmax); each row names its page",
    assumptions=(
        Assumption(
            "the cache of a drive is what it took before its rate dropped for the first time",
            "Makers publish no sizes. The first drop is therefore an input, and so are the first two rates.",
        ),
        Assumption(
            "writes go past a full cache, and are followed by folding when no erased block is left",
            "Three phases are what the reviews show. Where a review has no second drop, the law says one.",
        ),
        Assumption(
            "16 dies of four planes; program times from the first two rates",
            "A rate in sequence depends on what all dies program at a time, not on their number.",
        ),
    ),
    jobs=("fill.fio",),
    run=run,
)
