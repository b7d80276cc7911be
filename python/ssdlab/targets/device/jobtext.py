"""A checked job file as fio is given it: one file a stage, with the files' names put in by us.

Only what shapes requests, reports or timing goes through. What would reach outside the place that is measured, a
command to run, another device's name, another user, is refused or left out: a job file that somebody found on the web
must not decide what is overwritten.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.targets.device import joblogs
from ssdlab.workloads.jobs.jobfile import JobFile, Section, Setting
from ssdlab.workloads.jobs.option import Effect
from ssdlab.workloads.jobs.seeds import clone_seed
from ssdlab.workloads.jobs.table import BS, BY_NAME, FILENAME, NRFILES, RANDSEED, STONEWALL
from ssdlab.workloads.jobs.values import PerDirection

ENGINES = ("libaio", "io_uring", "sync", "psync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap")
DEFAULTS = {"ioengine": "libaio", "direct": "1"}
"""What a job gets that says nothing of it: past the page cache, or memory would be measured."""

_REFUSED = {
    "exec_prerun": "runs a command",
    "exec_postrun": "runs a command",
    "uid": "changes the user",
    "gid": "changes the user",
    "cgroup": "changes control groups",
    "cgroup_weight": "changes control groups",
    "ioscheduler": "changes a setting of the system",
    "lockmem": "locks memory",
    "allow_mounted_write": "writes to a mounted device",
    "unlink": "removes files",
    "unlink_each_loop": "removes files",
}
_OFF_AT_0 = {"unlink", "unlink_each_loop", "allow_mounted_write"}
# Where files lie is said by the place that is measured; `stonewall` by the stages; logs by `joblogs.py`.
_OURS = {
    "filename", "directory", "filename_format", "unique_filename", "nrfiles", "openfiles", "stonewall", "name",
    "randseed", "randrepeat", "allrandrepeat", "zipf_like_fio", "write_iolog", "lockfile",
    "create_serialize", "create_on_open", "allow_file_create",
    "log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_offset", "per_job_logs", "log_entries",
    "log_compression", "log_compression_cpus", "log_store_compressed",
    *(f"write_{kind}_log" for kind in ("bw", "lat", "hist", "iops")),
}  # fmt: skip

Name = Callable[[str], Path]
"""From a file's name in the job file ("" for the drive itself) to its path."""


@dataclass(frozen=True)
class Stage:
    """Jobs that run side by side: one call of fio, and one phase of the result."""

    name: str
    text: str
    sections: Sequence[Section]
    files: tuple[Path, ...]


def stages(job_file: JobFile, path_of: Name, *, seed: int = 1, logs: bool = True) -> list[Stage]:
    """The stages of a job file in their order. InputError names the line of what may not be asked of a real drive.

    Every job gets a `randseed` from `seed` and its place in the file, so that two stages do not draw the same places,
    and with `randrepeat=0` goes on drawing where fio would start again with each loop: as on a simulated drive.
    With `logs` fio writes rates and latencies of each second in addition to its report.
    """
    grouped: list[list[tuple[int, Section]]] = []
    for index, section in enumerate(job_file.sections):
        if section.get(STONEWALL) or not grouped:
            grouped.append([])
        grouped[-1].append((index, section))
    found = []
    for group in grouped:
        written = [_section(job_file.source, section, index, path_of, seed) for index, section in group]
        head = "[global]\nthread=1\n" + (_LOGS if logs else "")
        files = {file for _, section in group for file in _files(section, path_of)}
        found.append(
            Stage(
                "+".join(dict.fromkeys(section.name for _, section in group)),
                head + "".join(written),
                [section for _, section in group],
                tuple(sorted(files)),
            )
        )
    return found


_LOGS = f"log_avg_msec={joblogs.SERIES_WINDOW_MS}\nper_job_logs=1\nwrite_bw_log=series\nwrite_lat_log=series\n"


def names_of(job_file: JobFile) -> list[str]:
    """The files that the job file names, in their order; "" for the drive itself."""
    return list(dict.fromkeys(name for section in job_file.sections for name in names_in(section)))


def names_in(section: Section) -> Sequence[str]:
    """The files that a section names; "" for the drive itself."""
    named = section.get(FILENAME)
    if named:
        return named
    count = section.get(NRFILES)
    return [f"{section.name}.{number}" for number in range(count)] if count > 1 else [""]


def _files(section: Section, path_of: Name) -> list[Path]:
    return [path_of(name) for name in names_in(section)]


def _section(source: str, section: Section, index: int, path_of: Name, seed: int) -> str:
    lines = [f"[{section.name}]"]
    for key, setting in sorted(section.settings.items(), key=lambda entry: entry[1].order):
        lines += _lines(source, key, setting)
    given = {line.partition("=")[0] for line in lines}
    lines += [f"{key}={text}" for key, text in DEFAULTS.items() if key not in given and not _is_buffered(section)]
    lines.append(f"filename={':'.join(str(file).replace(':', chr(92) + ':') for file in _files(section, path_of))}")
    # fio's seeds have 64 bits with a sign. Without randrepeat=0 each loop would repeat the places of the first.
    lines.append("randrepeat=0")
    lines.append(f"randseed={clone_seed(seed, section.get(RANDSEED), index, 0) >> 1}")
    return "\n".join([*lines, *joblogs.options(section)]) + "\n"


def _is_buffered(section: Section) -> bool:
    setting = section.settings.get("buffered")
    return setting is not None and bool(setting.value)


def _lines(source: str, key: str, setting: Setting) -> list[str]:
    option = BY_NAME[setting.raw.key]
    name, text = option.name, setting.raw.text
    if name in _OURS or option.is_ours:
        return []
    if name in _REFUSED and not (name in _OFF_AT_0 and text == "0"):
        raise InputError(f"{setting.raw.where}: {setting.written} {_REFUSED[name]}, which `ssdlab measure` does not do")
    if name == "ioengine" and str(text).partition(":")[0] not in ENGINES:
        raise InputError(f"{setting.raw.where}: {setting.written}: allowed on a real drive: {', '.join(ENGINES)}")
    if option.effect is Effect.UNSUPPORTED and name in ("opendir", "read_iolog", "merge_blktrace_file", "profile"):
        raise InputError(f"{setting.raw.where}: {setting.written}: {option.reason or 'it names other files'}")
    if option.merge is not None and isinstance(setting.value, PerDirection):
        return _merged(key, setting)
    return [setting.written if text is not None else name]


def _merged(key: str, setting: Setting) -> list[str]:
    """A value by direction, of which the section may have said only a part and [global] the rest."""
    values: Sequence[Any] = [getattr(setting.value, name) for name in ("read", "write", "trim")]
    if key == BS.name:
        fixed = all(value.least_bytes == value.most_bytes for value in values)
        texts = [str(value.least_bytes) if fixed else f"{value.least_bytes}-{value.most_bytes}" for value in values]
        return [f"{'bs' if fixed else 'bsrange'}={','.join(texts)}"]
    if None in values:
        return [setting.written]
    return [f"{key}={','.join(map(str, values))}"]
