"""The choices that the page offers: drives, policies, job files. They do not change while the page is open."""

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ssdlab.errors import InputError, near
from ssdlab.live.messages import Catalogue, OfferedDrive
from ssdlab.simulator import drives, engine

_OFFERED_POLICIES = ("victim", "placement")


@dataclass(frozen=True)
class ShippedJob:
    """A job file shipped with ssdlab."""

    name: str
    summary: str
    text: str


def shipped_jobs() -> dict[str, ShippedJob]:
    """The job files by name without suffix. The first line of each file, a comment, is its summary."""
    folder = files("ssdlab.live").joinpath("jobs")
    found = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".fio"):
            text = file.read_text(encoding="utf-8")
            name = file.name.removesuffix(".fio")
            found[name] = ShippedJob(name, text.partition("\n")[0].lstrip("# "), text)
    return found


def job_named(name: str) -> ShippedJob:
    """The job file of that name. Raises InputError if there is none."""
    jobs = shipped_jobs()
    if name not in jobs:
        raise InputError(f"{name!r} is not a job file of ssdlab{near(name, jobs)}; known: {', '.join(jobs)}")
    return jobs[name]


def catalogue() -> Catalogue:
    """The catalogue as plain JSON values, for the page."""
    policies = json.loads(engine.native().policies())
    return {
        "drives": [_drive(name) for name in drives.names()],
        "policies": {
            kind: [
                {"name": policy["name"], "summary": policy["summary"]} for policy in policies if policy["kind"] == kind
            ]
            for kind in _OFFERED_POLICIES
        },
        "jobs": [{"name": job.name, "summary": job.summary} for job in shipped_jobs().values()],
    }


def _drive(name: str) -> OfferedDrive:
    drive = drives.load(name)
    return {"name": name, "description": drive.description, "cell": drive.nand.cell}


def page_files() -> dict[str, bytes]:
    """The files for the browser, by name."""
    folder = files("ssdlab.live").joinpath("page")
    return {file.name: file.read_bytes() for file in folder.iterdir() if Path(file.name).suffix in CONTENT_TYPES}


CONTENT_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
