"""The host's own share of a command's time: system call, block layer and driver, for jobs with one request at a time.

Off by default: a simulated latency is then the drive's own. Not for jobs with deeper queues, where the host prepares
one command while the drive executes others.
"""

from dataclasses import replace
from typing import Literal

from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import Specification

Host = Literal["none", "linux"]
SATA_NS, NVME_NS = 17_400, 2_800
"""SATA: what one write at a time takes beyond its completion latency in fio-plot's benchmark data, commit 62de2243e:
the mean of 22.5 us (Intel D3-S4610) and 12.4 us (Samsung PM883). NVMe: Intel's figure, AnandTech 7843, Testing SATA
Express (2014), page 4, which has 6.0 us for AHCI's driver alone."""


def host_ns(drive: plain.Drive) -> int:
    """The time of Linux for a command to this drive."""
    return SATA_NS if drive["host_link"]["interface"].startswith("sata") else NVME_NS


def with_host(specification: Specification, host: Host) -> Specification:
    """The same run with the host's share in every latency of its jobs with one request at a time."""
    if host == "none":
        return specification
    jobs = [job.copy() for job in specification.engine["jobs"]]
    for job in jobs:
        if job.get("iodepth", 1) == 1:
            job["host_ns"] = host_ns(specification.drive)
    return replace(specification, engine={**specification.engine, "jobs": jobs})
