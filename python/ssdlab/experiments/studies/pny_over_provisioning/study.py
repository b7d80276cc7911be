"""PNY's white paper of 2015: the effect of 7 % over-provisioning on a drive with 128 GiB of flash.

This file has the study object and the order of the study's parts; each part is in its own file.
"""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult, joined
from ssdlab.experiments.studies.pny_over_provisioning import endurance, performance, reliability


def run(context: Context) -> StudyResult:
    """Runs all parts of the study."""
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
            "random writes are independent and uniform",
            "The white paper says fully random; a tester that visits every block once a pass would write less.",
        ),
        Assumption(
            "the endurance workload is JESD219A's enterprise mix, and a share of bytes that is never copied",
            "The standard's client workload is a recorded trace that may not be copied. Its sizes and zones are taken "
            "from the enterprise one. The share stands for files that are written in sequence and deleted or "
            "overwritten before garbage collection reaches them. It is fitted.",
        ),
        Assumption(
            "both drives keep 3 GB of their flash from data",
            "Firmware, tables, and blocks that replace bad ones: 2.2 % of the flash. The white paper does not give it; "
            "it is fitted, and the same for both. Pictures show what other reserves would give.",
        ),
    ),
    jobs=(
        "random-writes.fio",
        "random-writes-fresh.fio",
        "endurance.fio",
        "steady-writes.fio",
        "until-worn-out.fio",
    ),
    run=run,
)
