"""Zones managed by the host on an ordinary drive, a zoned drive, and garbage collection by the host."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.zones import comparison


def run(context: Context) -> StudyResult:
    """Simulates the published zones on an ordinary drive, a zoned drive, and garbage collection in a host's log."""
    return comparison.run(context)


STUDY = Study(
    name="zones",
    title="What do zones save on an ordinary drive and on a zoned one, and what does the host pay for it?",
    source='Haas, Lee, Bonnet, Leis, "SSD-iq: Uncovering the Hidden Side of SSD Performance", PVLDB 18, 2025, for '
    "zones on an ordinary drive; the artifact of ConfZNS++ (SYSTOR 2024) for commands of a real zoned drive; "
    "arithmetic and closed forms for the rest",
    assumptions=(
        Assumption(
            "the drive of the published figures is Micron's 7450 MAX of 800 GB as the catalogue has it",
            "The study of real drives measures the same one. Nothing of it was fitted to zones.",
        ),
        Assumption(
            "a zoned drive of 300 zones, each one erase unit with a parity of 63 + 1",
            "No real drive's inside is published. A table has zones that are no whole number of erase units.",
        ),
        Assumption(
            "a finish programs the rest of its zone, a reset erases all its blocks at once",
            "A job has no finishes: what they program is written here, at half of the rate of zone writes. Resets come "
            "at 31 a second, half of the highest rate with 16 ms for each (from memory of a paper on such a drive, "
            "CLUSTER 2023, not looked up). The measurement limited both to half of their highest rates.",
        ),
        Assumption(
            "a host that collects garbage in its log is a drive of the textbook whose erase units are the zones",
            "It moves what lives in a zone to the open one and resets it, which is what such a drive does.",
        ),
    ),
    jobs=("writes.fio", "log.fio", "commands.fio", "commands-resets.fio", "commands-finishes.fio"),
    run=run,
)
