"""The list of studies, in the order in which `ssdlab study` lists them. A new study needs a folder and a line here."""

from pathlib import Path

from ssdlab.experiments.studies.contract import Study
from ssdlab.foundation.by_name import by_name

NAMES = (
    "over-provisioning-blog",
    "spare-area-sandforce",
    "free-space-fusionio",
    "internal-fragmentation",
    "pny-over-provisioning",
    "real-drives",
    "data-sheets",
    "durable-writes",
    "slc-caches",
    "queue-depths",
    "fdp-streams",
    "flash-cache",
    "kv-cache",
    "zones",
    "power",
    "read-wear",
    "ocp-acceptance",
)


def study(name: str) -> Study:
    """The study of that name. Raises InputError, with the known names, if there is none."""
    found: Study = by_name("study", name, NAMES, "ssdlab.experiments.studies.{}.study")
    return found


def studies() -> list[Study]:
    """All studies, in order."""
    return [study(name) for name in NAMES]


def folder(study: Study) -> Path:
    """The folder of the study's job files, figures and page."""
    return Path(__file__).parent / study.name.replace("-", "_")
