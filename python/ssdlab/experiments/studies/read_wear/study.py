"""What months of reading alone wrote to the flash of four drives."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.read_wear import comparison


def run(context: Context) -> StudyResult:
    """Simulates drives that are only read, with one number of reads for each."""
    return comparison.run(context)


STUDY = Study(
    name="read-wear",
    title="How much does a drive write that is only read?",
    source='"Prolonging 3D NAND SSD Lifetime via Read Latency Relaxation", ASPLOS 2021, and the counters '
    "published with it: four drives read at random for half a year",
    assumptions=(
        Assumption(
            "a block is rewritten after a number of reads of its pages, and nothing else writes",
            "One number for each drive. Retention and wear levelling would add writes that do not grow with reads.",
        ),
        Assumption(
            "the drives were read at an even rate, but for the last month of the two ADATA drives",
            "Reads are published as totals only. In that month the SU800 wrote 4.2 times as much a day as before; the "
            "SP550 is taken to have been read faster by the same factor.",
        ),
        Assumption(
            "reads become slow because their block is read, and need one, two or three retries",
            "Two numbers for each drive, and one more for each further limit. The data also became older, by days that "
            "are not published: with reads at an even rate both count together.",
        ),
        Assumption(
            "small drives, with the same number of reads of the whole drive between two rewrites",
            "Only the pages of a block over the reads that it endures count.",
        ),
    ),
    jobs=("reads.fio", "slow-reads.fio"),
    run=run,
)
