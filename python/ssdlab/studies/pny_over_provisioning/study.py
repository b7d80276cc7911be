"""PNY's white paper of 2015: what 7 % of over-provisioning do to a drive with 128 GiB of flash.

The study's object and the order of its parts; each part is in its own file.
"""

from ssdlab.studies.context import Context
from ssdlab.studies.contract import Assumption, Study, StudyResult, joined
from ssdlab.studies.pny_over_provisioning import endurance, performance, reliability


def run(context: Context) -> StudyResult:
    """All parts of the study."""
    return joined([performance.run(context), endurance.run(context), reliability.run(context)])


STUDY = Study(
    name="pny-over-provisioning",
    title="What do 7 % of over-provisioning do to the speed and the life of a 120 GB drive?",
    source='PNY, "The Benefits of Over-Provisioning on Solid-State Drives", white paper, 2015',
    assumptions=(
        Assumption(
            "the two drives differ in nothing but spare area",
            "The white paper names 128 GiB of flash in both, one sold as 120 GB, the other as 128 GB; it names neither "
            "the controller nor the flash. Geometry and times are those usual for MLC of 2015, for both the same.",
        ),
        Assumption(
            "every address is written before the random writes begin",
            "The tester of the white paper makes its test file first, which writes the whole drive. Without that, "
            "addresses that no random write has reached within four hours act as spare area; both are simulated.",
        ),
        Assumption(
            "random writes are independent and uniform",
            "The white paper says fully random; a tester that visits every block once a pass would write less.",
        ),
        Assumption(
            "the endurance workload is JESD219A's enterprise mix with an additional log",
            "The standard's client workload is a recorded trace that may not be copied. Its sizes and zones are taken "
            "from the enterprise one; a quarter of the commands is sequential, and a share of the written bytes goes "
            "in sequence to a log on 2 % of the addresses, as journals, caches and page files of a client do. The "
            "table of assumptions shows what each of these does.",
        ),
        Assumption(
            "both controllers learn how often data is updated",
            "Sixteen open erase units by update frequency, and victims by space gained and age, as published "
            "translation layers of the time do. With one open erase unit the standard's mix gives 8.2 and 4.9.",
        ),
    ),
    jobs=(
        "random-writes.fio",
        "random-writes-fresh.fio",
        "endurance.fio",
        "endurance-log.fio",
        "steady-writes.fio",
        "until-worn-out.fio",
    ),
    run=run,
)
