"""The study object of "Do I need to defragment an SSD?": ten drives read a file sequentially, fresh and rewritten."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult, joined
from ssdlab.experiments.studies.internal_fragmentation import comparison, database_table, placement


def run(context: Context) -> StudyResult:
    """Simulates all drives, fitted and not, a table on two of them, and a remedy inside the drive."""
    return joined([comparison.run(context), database_table.run(context), placement.run(context)])


STUDY = Study(
    name="internal-fragmentation",
    title="Does a file that was rewritten at random read slower in sequence, and why?",
    source='"Another look at the question: do I need defragmentation for SSD", 2020; ten drives',
    assumptions=(
        Assumption(
            "each drive holds nothing but the file",
            "The source does not say how full the drives were. On an empty one no garbage is collected in between.",
        ),
        Assumption(
            "flash of the drive's generation, in round numbers",
            "Makers publish neither dies nor their times. Capacity, interface and rated speed are the products'; the "
            "5200 ECO is taken as the one of 960 GB, P3520 and P4500 as those of 2 TB, which the source leaves open.",
        ),
        Assumption(
            "the link's rate is what a reader with one request outstanding gets",
            "dd waits for each block before it asks for the next; what host, driver and file system need in between is "
            "in the fitted rate, or the fitted time a command, of this study alone: the drives of the catalogue have "
            "their rated links, at which they would be faster than measured.",
        ),
        Assumption(
            "sequential reads are translated in segments of 256 KiB, within a window of 512 to 1024 KiB",
            "A controller reads ahead into a buffer of bounded size. 768 KiB serve eight of the drives.",
        ),
        Assumption(
            "XG5 and PM963 keep a map of extents, and 1 MiB of map pages of broken segments in memory",
            "Their readings slow down at once with the first rewrites and less with later ones, as a map fetch for "
            "each segment of 256 KiB that holds any does. The file's map pages would be 4 MiB, so that each reading "
            "fetches them again. With its whole map in memory XG5 would be a third faster after the first rewrites.",
        ),
        Assumption(
            "nothing is read from an SLC cache",
            "The PM981 and the XG5 have one. The source does not say how long before the readings the files were "
            "written.",
        ),
        Assumption(
            "years of updates write each page of the table five times, at random places",
            "The article gives neither their number nor their order. Pages are InnoDB's, of 16 KiB; the drive holds "
            "nothing but the table.",
        ),
        Assumption(
            "of the emulated drive of the remedy, four commands of a reading share the time of one",
            "A read of 1 MiB is divided at the largest command of 256 KiB. The emulator's time of a read is its "
            "configuration's; that the four wait for it side by side was chosen with the contiguous reading in view.",
        ),
        Assumption(
            "nothing happens in the hour of waiting",
            "The source found that background work repairs some drives and names none of these; no drive file here "
            "says that the drive puts data in order in idle time.",
        ),
    ),
    jobs=("rewrites.fio", "table.fio"),
    run=run,
)
