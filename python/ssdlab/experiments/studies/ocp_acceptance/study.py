"""Which data-centre drives of the catalogue pass a large operator's acceptance test, and what stops the others."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.ocp_acceptance import comparison


def run(context: Context) -> StudyResult:
    """Runs the seven workloads of the protocol ocp on every data-centre NVMe drive, or on one drive."""
    return comparison.run(context)


STUDY = Study(
    name="ocp-acceptance",
    title="Would a data-centre drive pass a large operator's acceptance test?",
    source="the limits of OCP's Datacenter NVMe SSD Specification, appendix A.2, and of FioSynth's suites; the jobs "
    "are those of the protocol ocp, which says where each limit was found",
    assumptions=(
        Assumption(
            "each workload starts from a drive of which nine tenths were written in sequence and then, for the time of "
            "45 minutes of the full-size drive, with pauses a tenth as long",
            "FioSynth writes for 12 hours so, but trims the whole drive before each hour of preconditioning that "
            "follows, so that its drives are measured with most of their addresses unwritten.",
        ),
        Assumption(
            "a smaller drive at the rates of the full-size one, with trims shorter and more frequent",
            "Rates depend on dies, which the small drive keeps. Batches of garbage collection are shorter, so that "
            "maxima of the full-size drive can be longer.",
        ),
        Assumption(
            "reads never need a retry, and no die fails",
            "No drive of the catalogue has a source for how often it retries; retries lengthen the tail of reads.",
        ),
        Assumption(
            "trims take no time",
            "No drive of the catalogue says how long it works on a trim, so that the limits of trims are not judged.",
        ),
    ),
    jobs=(),
    run=run,
    takes_drive=True,
)
