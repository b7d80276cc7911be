"""The power of a drive through its first garbage collection and by size of reads."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.power import comparison


def run(context: Context) -> StudyResult:
    """Simulates the published random writes, and computes the watts from published speeds and simulated programs."""
    return comparison.run(context)


STUDY = Study(
    name="power",
    title="What does a drive draw, and what does garbage collection add?",
    source="van der Vlugt et al., PowerSensor3, ISPASS 2025, and its results, nlesc-recruit/powersensor3-results: an "
    "NVMe drive, not named, under random writes after one sequential fill, and under random reads by size",
    assumptions=(
        Assumption(
            "1 TB for the host and some 1 TiB of flash",
            "The source names no drive. The first fall in speed comes after 97 GiB: what 1 TiB has beyond 1 TB, and "
            "little more.",
        ),
        Assumption(
            "the power that does not grow with speed is taken as idle power",
            "The source has no drive at rest. Without requests it draws less.",
        ),
        Assumption(
            "watts are computed from the published speeds, programs for each host byte from a run without a clock",
            "So that the watts do not inherit the errors of the simulated speeds, which are compared on their own.",
        ),
    ),
    jobs=("random-writes.fio",),
    run=run,
)
