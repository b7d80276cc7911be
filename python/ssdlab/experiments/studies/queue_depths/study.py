"""What a drive does at one queue depth, from what it does at two others."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.queue_depths import comparison


def run(context: Context) -> StudyResult:
    """Fits a drive to depths 1 and 32 of each ladder and predicts the others."""
    return comparison.run(context)


STUDY = Study(
    name="queue-depths",
    title="Do two queue depths of a drive tell the others?",
    source="fio-plot's benchmark data: SATA drives behind a SAS adapter, 2020",
    assumptions=(
        Assumption(
            "32 dies on 8 channels",
            "Makers do not publish it. One choice of 8, 16, 32, 64 and 128 for both drives, by the 99th percentiles of "
            "their reads at depth 32, which nothing else is fitted to.",
        ),
        Assumption(
            "two of three pages of a word line are read in the median's time, the third in that of the 99th percentile",
            "At depth 1 nothing waits, and the measured reads have two such times.",
        ),
        Assumption(
            "the host has a share of each request that completion latencies do not contain",
            "fio counts them from the submission on. The share is what one request at a time leaves, and is kept at "
            "all depths.",
        ),
        Assumption(
            "commands pass one after another, whatever they do",
            "At depth 32 the measured percentiles lie close together, as with one server; dies would spread them.",
        ),
        Assumption(
            "writes are to a new drive, reads from one written once in sequence",
            "The source does not say what the drives held.",
        ),
    ),
    jobs=("requests.fio",),
    run=run,
)
