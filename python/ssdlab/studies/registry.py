"""The list of studies, in the order in which `ssdlab study` shows them. A new study is its folder and its line here."""

from importlib import import_module
from pathlib import Path

from ssdlab.errors import InputError, near
from ssdlab.studies.contract import Study

NAMES = (
    "over-provisioning-blog",
    "spare-area-sandforce",
    "free-space-fusionio",
    "internal-fragmentation",
    "pny-over-provisioning",
)


def study(name: str) -> Study:
    """The study of that name. Raises InputError with the names there are."""
    if name not in NAMES:
        raise InputError(f"no study {name!r}{near(name, NAMES)} (known: {', '.join(NAMES)})")
    found: Study = import_module(f"ssdlab.studies.{name.replace('-', '_')}.study").STUDY
    return found


def studies() -> list[Study]:
    """All of them."""
    return [study(name) for name in NAMES]


def folder(study: Study) -> Path:
    """Where the study's job files, figures and page are."""
    return Path(__file__).parent / study.name.replace("-", "_")
