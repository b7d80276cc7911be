"""A blog's experiment with a consumer drive: random writes to 140 GiB of files, full and with unpartitioned space.

This file has the study object; the runs are in `runs.py`, rows and pictures in `findings.py`.
"""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult, joined
from ssdlab.experiments.studies.over_provisioning_blog import findings, runs, weeks


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the result."""
    return joined([findings.result(runs.simulate(context), context), weeks.run(context)])


STUDY = Study(
    name="over-provisioning-blog",
    title="Why does a full consumer drive collapse after 5 GB of random writes, but not with unpartitioned space?",
    source="A blog on over-provisioning by unpartitioned space: Intel SSD 545s 256 GB, ext4, sysbench fileio; neither "
    "firmware nor the drive's inner sizes are published",
    assumptions=(
        Assumption(
            "how much of the flash serves the data",
            "Flash of 256 GiB sold as 256 GB would leave 19 GB of hidden spare area; with the 5 GB that are free the "
            "fall would come after more than 20 GB. Four accounts of why it comes after 5 are simulated: a reserve "
            "for the drive's own use (15.7 GB, so that hardly any is spare), a spare area that holds stale data and of "
            "which garbage collection in idle time keeps 5 GB erased, an SLC cache of 5 GB over 15 GB of TLC, and an "
            "SLC cache of 4 GB and a share of the free space.",
        ),
        Assumption(
            "a flush of the drive's memory follows every two writes",
            "sysbench calls fsync on each of its 128 files after every 100 requests of 16 KiB. These fall on 70 files, "
            "1.4 requests a file, and each fsync of a file that was written to is a flush. The nearest whole numbers "
            "are 1 and 2; with 1 the flushes take so much time that garbage collection is hidden. The "
            "other end, one flush behind all 100, is simulated as well.",
        ),
        Assumption(
            "free space of 5 GB",
            "The blog's own copies, of 80 files, leave 6.7 GB of addresses unwritten; copies of 82 files leave 5 GB, "
            "as published. Both are simulated. Of 186 GiB the simulated file system leaves room for 38 copies instead "
            "of 40.",
        ),
        Assumption(
            "the over-provisioned drive begins empty",
            "In the experiment fstrim and the new partition follow on the first runs. A drive whose addresses are all "
            "trimmed differs from a new one by the erases of garbage collection. The blog's own order, with the file "
            "system shrunk after the first runs, is a row.",
        ),
        Assumption(
            "the dirty spare area comes from 60 GiB of earlier random writes",
            "For the second account only, and before the copies: what the drive went through before is not published.",
        ),
    ),
    jobs=("small.files", "unpartitioned.files", "over-provisioned.files", "shrunk.files", "weeks.files"),
    run=run,
)
