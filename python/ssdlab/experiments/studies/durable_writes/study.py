"""What a write costs that must survive a loss of power: drives with capacitors, and drives without."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.durable_writes import comparison


def run(context: Context) -> StudyResult:
    """Simulates every published test of durable writes on a drive of the same class."""
    return comparison.run(context)


STUDY = Study(
    name="durable-writes",
    title="What does a write take that must survive a loss of power?",
    source="measurements of single drives that users published; each row names its own",
    assumptions=(
        Assumption(
            "a drive of the catalogue of the same class stands for each measured one",
            "No source gives more than the name of the drive, so a match to a factor is all that can be asked for.",
        ),
        Assumption(
            "the host's share of each command is 17.4 us on SATA and 2.8 us on NVMe",
            "What one write at a time takes beyond its completion latency on two SATA drives of the study "
            "queue-depths; Intel's figure for NVMe (AnandTech 7843, 2014). The sources measured through Linux, without "
            "a file system.",
        ),
        Assumption(
            "a sync write is a write and a flush on SATA, and a write with FUA on NVMe",
            "Linux does not use FUA on SATA drives unless libata.fua is set.",
        ),
        Assumption(
            "the drives are new, and each job writes its own part in sequence",
            "The tests write a few hundred MB; no source gives the state of the drive.",
        ),
    ),
    jobs=("writes.fio",),
    run=run,
)
