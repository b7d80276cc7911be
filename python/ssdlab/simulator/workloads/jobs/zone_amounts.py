"""Amounts in zones, such as `size=16z` and `offset=2z`, as bytes. What jobs do with zones is in `zones.py`."""

from dataclasses import replace
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs.jobfile import JobFile, Section
from ssdlab.simulator.workloads.jobs.scaling import scaled_bytes
from ssdlab.simulator.workloads.jobs.table import BS, IO_SIZE, OFFSET, OFFSET_INCREMENT, SIZE
from ssdlab.simulator.workloads.jobs.values import Amount
from ssdlab.simulator.workloads.jobs.zones import ZONEMODE, ZONESIZE

_IN_ZONES = (SIZE, IO_SIZE, OFFSET, OFFSET_INCREMENT)


def in_bytes(job_file: JobFile, drive_zone_bytes: int, scale: Fraction) -> JobFile:
    """The job file with amounts in zones as bytes of the full drive.

    `drive_zone_bytes` is the size of the drive's zones, scaled; 0: a job's `zonesize` applies, as in fio. Raises
    InputError if a job has amounts in zones, or keeps to zones, but neither it nor the drive has any.
    """
    return replace(
        job_file, sections=tuple(_in_bytes(section, drive_zone_bytes, scale) for section in job_file.sections)
    )


def _in_bytes(section: Section, drive_zone_bytes: int, scale: Fraction) -> Section:
    settings = dict(section.settings)
    for option in _IN_ZONES:
        setting = section.setting(option)
        if setting is None or setting.value.zones is None:
            continue
        given_bytes = section.get(ZONESIZE)
        if section.get(ZONEMODE) == "none" or not (given_bytes or drive_zone_bytes):
            raise InputError(
                f"{setting.raw.where}: {setting.written} is a number of zones, which needs zonemode=zbd or strided, "
                "and zonesize where the drive has no zones"
            )
        zone_bytes = drive_zone_bytes or scaled_bytes(given_bytes, scale, _least_bytes(section))
        settings[option.name] = replace(
            setting, value=Amount(size_bytes=round(setting.value.zones * zone_bytes / scale))
        )
    mode = section.setting(ZONEMODE)
    if mode is not None and mode.value == "zbd" and not (section.get(ZONESIZE) or drive_zone_bytes):
        raise InputError(
            f"{mode.raw.where}: {mode.written}: the drive has no zones, and zonesize does not say how large those are "
            "that the host keeps; add zonesize=SIZE, such as 256m, or take a drive with zones"
        )
    return replace(section, settings=settings)


def _least_bytes(section: Section) -> int:
    lengths = section.get(BS)
    return min(each.least_bytes for each in (lengths.read, lengths.write, lengths.trim) if each is not None)
