"""A checked job file as job files for fio: one per stage, with file names that ssdlab chooses.

Only options that affect requests, reports or timing are passed on. Options that reach outside the measured place, such
as commands to run, other devices or another user, are rejected or left out: a job file from an untrusted source must
not be able to overwrite other data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.hardware.device import joblogs
from ssdlab.simulator.workloads.jobs.jobfile import JobFile, Section, Setting
from ssdlab.simulator.workloads.jobs.option import Effect
from ssdlab.simulator.workloads.jobs.placement import SCHEME, scheme_file
from ssdlab.simulator.workloads.jobs.seeds import clone_seed
from ssdlab.simulator.workloads.jobs.table import BS, BY_NAME, FILENAME, NRFILES, RANDSEED, STONEWALL
from ssdlab.simulator.workloads.jobs.values import PerDirection

ENGINES = ("libaio", "io_uring", "sync", "psync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap")
PASSTHROUGH = "io_uring_cmd"
"""The engine of NVMe commands, with which fio sends placement identifiers. It needs the namespace's generic device."""
DEFAULTS = {"ioengine": "libaio", "direct": "1"}
"""Options of a job that does not set them. Direct I/O, because otherwise the page cache would be measured."""

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
# A generic device has no page cache, and fio cannot open it with O_DIRECT.
_NOT_PASSED_THROUGH = {"direct", "buffered"}
_OFF_AT_0 = {"unlink", "unlink_each_loop", "allow_mounted_write"}
# The place that is measured determines the files, the stages replace `stonewall`, and `joblogs.py` sets logs.
_OURS = {
    "filename", "directory", "filename_format", "unique_filename", "nrfiles", "openfiles", "stonewall", "name",
    "randseed", "randrepeat", "allrandrepeat", "zipf_like_fio", "write_iolog", "lockfile",
    "create_serialize", "create_on_open", "allow_file_create",
    "log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_offset", "per_job_logs", "log_entries",
    "log_compression", "log_compression_cpus", "log_store_compressed",
    *(f"write_{kind}_log" for kind in ("bw", "lat", "hist", "iops")),
}  # fmt: skip

Name = Callable[[str], Path]
"""Returns the path of a file by its name in the job file ("" for the drive itself)."""
Generic = Callable[[], Path]
"""Returns the path of the generic device. Raises InputError for a place without."""


@dataclass(frozen=True)
class Stage:
    """Jobs that run concurrently: one call of fio, and one phase of the result."""

    name: str
    text: str
    sections: Sequence[Section]
    files: tuple[Path, ...]


def stages(
    job_file: JobFile, path_of: Name, generic: Generic | None = None, *, seed: int = 1, logs: bool = True
) -> list[Stage]:
    """The stages of a job file in order. Raises InputError, with the line, for options not allowed on a real drive.

    Jobs with the engine of NVMe commands use the path from `generic`; without, they are refused.

    Each job gets a `randseed` from `seed` and its index in the file, so that two stages do not draw the same addresses,
    and `randrepeat=0`, because fio would otherwise repeat the sequence in each loop. A simulated drive does the same.
    With `logs`, fio writes rates and latencies of each second in addition to its report.
    """
    grouped: list[list[tuple[int, Section]]] = []
    for index, section in enumerate(job_file.sections):
        if section.get(STONEWALL) or not grouped:
            grouped.append([])
        grouped[-1].append((index, section))
    found = []
    for group in grouped:
        own = [_paths(section, path_of, generic) for _, section in group]
        written = [
            _section(job_file.source, section, index, files, seed)
            for (index, section), files in zip(group, own, strict=True)
        ]
        head = "[global]\nthread=1\n" + (_LOGS if logs else "")
        files = {file for files in own for file in files}
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
    """The files that the job file names, in order, without repetitions; "" for the drive itself."""
    return list(dict.fromkeys(name for section in job_file.sections for name in names_in(section)))


def names_in(section: Section) -> Sequence[str]:
    """The files that a section names; "" for the drive itself."""
    named = section.get(FILENAME)
    if named:
        return named
    count = section.get(NRFILES)
    return [f"{section.name}.{number}" for number in range(count)] if count > 1 else [""]


def _paths(section: Section, path_of: Name, generic: Generic | None) -> list[Path]:
    paths = [path_of(name) for name in names_in(section)]
    if not _is_passthrough(section):
        return paths
    setting = section.settings["ioengine"]
    if generic is None:
        raise InputError(f"{setting.raw.where}: {setting.written}: allowed here: {', '.join(ENGINES)}")
    try:
        return [generic() for _ in paths]
    except InputError as error:
        raise InputError(f"{setting.raw.where}: {error}") from None


def _is_passthrough(section: Section) -> bool:
    setting = section.settings.get("ioengine")
    return setting is not None and _engine(setting) == PASSTHROUGH


def _engine(setting: Setting) -> str:
    return str(setting.raw.text).partition(":")[0]


def _section(source: str, section: Section, index: int, files: Sequence[Path], seed: int) -> str:
    lines = [f"[{section.name}]"]
    left_out = _NOT_PASSED_THROUGH if _is_passthrough(section) else set()
    for key, setting in sorted(section.settings.items(), key=lambda entry: entry[1].order):
        if key not in left_out:
            lines += _lines(source, key, setting)
    given = left_out | {line.partition("=")[0] for line in lines}
    lines += [f"{key}={text}" for key, text in DEFAULTS.items() if key not in given and not _is_buffered(section)]
    lines.append(f"filename={':'.join(str(file).replace(':', chr(92) + ':') for file in files)}")
    # fio's seeds are signed 64-bit numbers. Without randrepeat=0 each loop would repeat the addresses of the first.
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
    if name == "ioengine" and _engine(setting) not in (*ENGINES, PASSTHROUGH):
        allowed = ", ".join((*ENGINES, PASSTHROUGH))
        raise InputError(f"{setting.raw.where}: {setting.written}: allowed on a real drive: {allowed}")
    if name == "cmd_type" and text != "nvme":
        raise InputError(f"{setting.raw.where}: {setting.written}: allowed on a real drive: nvme")
    if name == SCHEME.name:
        return [f"{name}={scheme_file(str(text), source).absolute()}"]
    if option.effect is Effect.UNSUPPORTED and name in ("opendir", "read_iolog", "merge_blktrace_file", "profile"):
        raise InputError(f"{setting.raw.where}: {setting.written}: {option.reason or 'it names other files'}")
    if option.merge is not None and isinstance(setting.value, PerDirection):
        return _merged(key, setting)
    return [setting.written if text is not None else name]


def _merged(key: str, setting: Setting) -> list[str]:
    """Lines for an option with a value for each direction, some of which can come from [global]."""
    values: Sequence[Any] = [getattr(setting.value, name) for name in ("read", "write", "trim")]
    if key == BS.name:
        fixed = all(value.least_bytes == value.most_bytes for value in values)
        texts = [str(value.least_bytes) if fixed else f"{value.least_bytes}-{value.most_bytes}" for value in values]
        return [f"{'bs' if fixed else 'bsrange'}={','.join(texts)}"]
    if None in values:
        return [setting.written]
    return [f"{key}={','.join(map(str, values))}"]
