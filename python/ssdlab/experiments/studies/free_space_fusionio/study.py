"""The MySQL performance blog's curve of 2010: random writes against space in use, on two striped Fusion-io devices."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.free_space_fusionio import curve


def run(context: Context) -> StudyResult:
    """Simulates the curve, the leave-one-out fits, and the cost of a copy."""
    return curve.run(context)


STUDY = Study(
    name="free-space-fusionio",
    title="How does the speed of random writes depend on the free space of two striped Fusion-io cards?",
    source='"Free space and write performance", MySQL performance blog, 2010 (ioDrive Duo 320 GB SLC)',
    assumptions=(
        Assumption(
            "all flash is what the card sells: 298 GiB",
            "What it holds beyond that was not published. More of it and dearer copies trade against each other.",
        ),
        Assumption(
            "fresh writes run at the rated 600 MB/s a device",
            "The data sheet's 500 to 600 MB/s, as reviews of 2008 quote it; the program time is set to give it.",
        ),
        Assumption(
            "the two devices are striped in chunks of 64 KiB",
            "The source says that they are striped in software, not how. No aligned write of 16 KiB crosses such a "
            "chunk; other sizes of chunks send the same share of random writes to each device.",
        ),
        Assumption(
            "free space is erased space",
            "Files are written on a formatted card; what they do not use was never written and serves as spare area.",
        ),
    ),
    jobs=("random-writes.fio",),
    run=run,
)
