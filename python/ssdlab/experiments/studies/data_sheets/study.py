"""What makers say of their drives, and what the catalogue's drives do under the same conditions."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.data_sheets import comparison


def run(context: Context) -> StudyResult:
    """Simulates every row of every data sheet in the catalogue, or of one drive."""
    return comparison.run(context, context.drive)


STUDY = Study(
    name="data-sheets",
    title="Do the catalogue's drives keep what their data sheets say?",
    source="the data sheets of the drives, or those who quote them; each row of [datasheet] names its own",
    assumptions=(
        Assumption(
            "reads and latencies are those of a drive that was written once in sequence",
            "Data sheets measure written drives; few say how. A row with another state says so. A new drive with an "
            "SLC cache is measured within half of that cache.",
        ),
        Assumption(
            "where a source gives no depth: 32 for sequential requests and on SATA, 256 for random ones on PCIe",
            "Ratings are of saturated drives.",
        ),
        Assumption(
            "a smaller drive, with as many erase units and dies as the real one",
            "Rates depend on ratios. Latencies at depth 1 do not depend on the size.",
        ),
        Assumption(
            "the drive's own latency, without the host's share",
            "Data sheets do not say whose driver they measured through.",
        ),
    ),
    jobs=("row.fio", "row-of-a-new-drive.fio"),
    run=run,
    takes_drive=True,
)
