"""AnandTech 3690 (2010): a SandForce drive with 28 % and with 13 % of spare area.

This file has the study object and the order of the study's parts; each part is in its own file.
"""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult, joined
from ssdlab.experiments.studies.spare_area_sandforce import replay, synthetic, tables


def run(context: Context) -> StudyResult:
    """Runs all parts of the study."""
    return joined([replay.run(context), synthetic.run(context), tables.run(context)])


STUDY = Study(
    name="spare-area-sandforce",
    title="Does a SandForce drive need 28 % of spare area, or is 13 % enough?",
    source='AnandTech 3690, "The Impact of Spare Area on SandForce", 2010',
    assumptions=(
        Assumption(
            "the workloads have the published statistics, and lie within 20 GB",
            "Counts, sizes, sequential share, depth and duration are published, the traces are not. The same 20 GB on "
            "every drive, so that all states meet the same requests.",
        ),
        Assumption(
            "requests come in bursts of 32,768, the rest of the published duration is idle",
            "Only the duration is published. That is six bursts of the heavy workload, of 0.4 GB of writes each; the "
            "light one writes as much in a burst and has two. The gaming workload's length is not published: ten "
            "minutes.",
        ),
        Assumption(
            "a dirty drive has ten minutes to itself before a workload",
            "The article does not say. Intel's two runs are the exception: one straight after the dirtying, one later.",
        ),
        Assumption(
            "a desktop's data compresses by 46 %; the fill and the dirtying do not",
            "The article fills with incompressible data; what the workloads' data are like it does not say.",
        ),
        Assumption(
            "idle time keeps 256 MiB erased on the SandForce drives, 1 GiB on Intel's, none on the others",
            "Not published. The picture of the erased pool shows what other sizes do: with none the 13 % drive "
            "loses 20 points under the heavy workload, with a GiB less than one.",
        ),
        Assumption(
            "new means secure erased and then written where the workload works",
            "Without that its reads would be of addresses that hold nothing, which take no flash operation.",
        ),
    ),
    jobs=("new.fio", "full.fio", "dirty.fio", "synthetic-new.fio", "synthetic-dirty.fio"),
    run=run,
)
