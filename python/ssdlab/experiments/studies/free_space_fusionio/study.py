"""The MySQL performance blog's curve of 2010: random writes against space in use, on two striped Fusion-io devices."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult, joined
from ssdlab.experiments.studies.free_space_fusionio import curve, other_cards


def run(context: Context) -> StudyResult:
    """Simulates the curve, the leave-one-out fits, and the cost of a copy; and the curves of other cards."""
    of_two = curve.run(context)
    return joined([of_two, other_cards.run(context, _speeds(context, of_two))])


def _speeds(context: Context, of_two: StudyResult) -> list[tuple[float, float]]:
    """GiB in use and MiB/s of the two cards, formatted to all of their space."""
    rows = of_two.series["curve"].rows(named=True)
    return [
        (float(row["space_in_use_gib"]), float(row["mib_s"]))
        for row in rows
        if row["variant"] == curve.FORMATTED and row["seed"] == context.seed
    ]


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
            "Files are written on a formatted card; what they do not use was never written and serves as spare area. "
            "The Intel 320 is shown a second time as well, over the data of the first, which was never trimmed.",
        ),
        Assumption(
            "another card's flash, and what of it is spare, is its generation's",
            "Published are what the cards sell, their channels and their rated speeds; of the MLC card also how fast "
            "it is when full, to which the flash that it hides is fitted.",
        ),
    ),
    jobs=("random-writes.fio", "random-writes-on-used.fio"),
    run=run,
)
