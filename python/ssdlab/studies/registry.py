"""The list of studies, in the order in which `ssdlab study` shows them. A new study is its folder and its line here."""

from pathlib import Path

from ssdlab.by_name import by_name
from ssdlab.studies.contract import Study

NAMES = (
    "over-provisioning-blog",
    "spare-area-sandforce",
    "free-space-fusionio",
    "internal-fragmentation",
    "pny-over-provisioning",
    "real-drives",
    "fdp-streams",
    "flash-cache",
    "kv-cache",
    "zones",
)


def study(name: str) -> Study:
    """The study of that name. Raises InputError with the names there are."""
    found: Study = by_name("study", name, NAMES, "ssdlab.studies.{}.study")
    return found


def studies() -> list[Study]:
    """All of them."""
    return [study(name) for name in NAMES]


def folder(study: Study) -> Path:
    """Where the study's job files, figures and page are."""
    return Path(__file__).parent / study.name.replace("-", "_")
