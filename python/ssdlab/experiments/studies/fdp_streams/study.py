"""The effect of placement handles for two loads on an FDP drive."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.fdp_streams import comparison


def run(context: Context) -> StudyResult:
    """Simulates two sequential streams and a database, each with and without handles."""
    return comparison.run(context)


STUDY = Study(
    name="fdp-streams",
    title="When does it help that the host says which data belong together?",
    source="A. N. Tietgen, thesis, IT University of Copenhagen, 2025: a Samsung NVMe drive with flexible data "
    "placement; figures from its job files and logs, MIT licence",
    assumptions=(
        Assumption(
            "a capacity of 4.2 TB, fitted",
            "It is not published. A drive of 3.84 TB with less flash in proportion, to which 8.6 % less is written a "
            "second than the job files ask for, shows the same write amplification.",
        ),
        Assumption(
            "a drive smaller than the real one, with as many reclaim units, and as much less time",
            "Write amplification depends on ratios. Requests and rates are those of the source.",
        ),
        Assumption(
            "the drive is empty at the beginning",
            "The database runs begin with write amplification of parity alone for more than an hour.",
        ),
        Assumption(
            "what garbage collection moves goes to one reclaim unit for all handles",
            "Initially isolated, as the drives known so far are.",
        ),
    ),
    jobs=("two-streams.fio", "database.fio"),
    run=run,
)
