"""How a job's requests reach the drive: fio's I/O engine, how many of them are outstanding, and the page cache.

A simulated drive receives every request directly. What remains of the options is the depth of synchronous engines, and
notes on what fio would do otherwise.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.errors import near
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.values import any_text, truth, whole_number, words

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section, Setting

SYNCHRONOUS = (
    "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libpmem", "ftruncate", "falloc",
    "filecreate", "filestat", "filedelete",
)  # fmt: skip
"""Engines with one outstanding request at most: those at which fio 3.33 notes that it caps the depth."""
_OTHERS = (
    "", "null", "cpuio", "net", "netsplice", "exec", "posixaio", "e4defrag", "gfapi", "gfapi_async", "mtd", "sg",
    "io_uring", "io_uring_cmd", "nbd", "libaio", "rdma", "rados", "rbd", "pmemblk", "dev-dax", "windowsaio",
    "solarisaio", "libiscsi", "nfs", "http", "libhdfs", "dfs", "libblkio", "libcufile", "librpma_apm_client",
    "librpma_apm_server", "librpma_gpspm_client", "librpma_gpspm_server", "libzbc", "guasi", "ime_psync",
    "ime_psyncv", "ime_aio", "xnvme", "spdk", "spdk_nvme", "spdk_bdev",
)  # fmt: skip
"""All other engines: `fio --enghelp` of fio 3.33, its HOWTO, and SPDK's plugins. Any other name is that of a file with
an engine, or a slip of the pen."""
_WITHOUT_DATA = ("cpuio", "net", "netsplice", "exec", "filecreate", "filestat", "filedelete", "falloc", "ftruncate")
"""Engines that read and write nothing on a drive: fio's HOWTO, "I/O engine"."""
CACHED = ("", "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libaio", "posixaio", "io_uring")
"""Engines whose requests go through the page cache without direct=1."""

IOENGINE = Option(
    "ioengine", any_text, "how requests reach the device; with a synchronous engine the depth is 1", Effect.ACTS, ""
)
IODEPTH = Option("iodepth", whole_number(1, 2**32 - 1), "requests outstanding at a time", Effect.ACTS, 1)
SUBMIT_MODE = Option(
    "io_submit_mode", words("inline", "offload"), "which thread submits requests; offload keeps the depth of a "
    "synchronous engine", Effect.TIMING, "inline",
)  # fmt: skip
DIRECT = Option("direct", truth, "bypass the page cache; always on here", Effect.ACTS, False)
BUFFERED = Option("buffered", truth, "through the page cache; always off here", Effect.ACTS, True)

OPTIONS: tuple[Option[Any], ...] = (IODEPTH, IOENGINE, SUBMIT_MODE, DIRECT, BUFFERED)


def depth(section: "Section") -> int:
    """The requests that the job has outstanding at a time."""
    return 1 if _is_synchronous(section) else section.get(IODEPTH)


def notes(sections: Sequence["Section"]) -> list[str]:
    """Where the depth or the way of the requests is not what the file says, or not fio's, one sentence each."""
    found = (note for section in sections for note in (_capped(section), _unknown(section)) if note)
    capped = dict.fromkeys(found)
    cached = [section.name for section in sections if is_cached(section)]
    if not cached:
        return list(capped)
    of_whom = "" if len(cached) == len(sections) else f" (of {', '.join(dict.fromkeys(cached))})"
    return [
        *capped,
        f"without direct=1, fio sends the requests{of_whom} through the page cache; here each goes to the drive itself",
    ]


def _capped(section: "Section") -> str:
    engine, given = section.setting(IOENGINE), section.setting(IODEPTH)
    if given is None or given.value == 1:
        return ""
    if engine is None:
        return (
            f"{_at(given)} acts as with an asynchronous engine such as libaio; without ioengine, fio on Linux uses "
            "psync, which is synchronous and caps the depth at 1"
        )
    if _is_synchronous(section):
        return f"{_at(engine)} is a synchronous engine, so {_at(given)} is capped at 1, as in fio"
    return ""


def _is_synchronous(section: "Section") -> bool:
    return _engine(section) in SYNCHRONOUS and section.get(SUBMIT_MODE) != "offload"


def is_cached(section: "Section") -> bool:
    """Whether fio's requests would go through the page cache. The later of `direct` and `buffered` applies."""
    direct, buffered = section.setting(DIRECT), section.setting(BUFFERED)
    if direct is not None and (buffered is None or direct.order > buffered.order):
        is_direct = section.get(DIRECT)
    else:
        is_direct = not section.get(BUFFERED)
    return not is_direct and _engine(section) in CACHED


def uses_files(section: "Section") -> bool:
    """Whether the engine reads and writes files, or devices by their names."""
    return _engine(section) in (*CACHED, "windowsaio", "solarisaio", "guasi")


def _engine(section: "Section") -> str:
    """The engine by its own name: fio takes `aio` and `linuxaio` as libaio (ioengines.c)."""
    name = section.get(IOENGINE)
    return "libaio" if name.startswith(("aio", "linuxaio")) else name


def _unknown(section: "Section") -> str | None:
    """A note on an engine that fio does not have, or that moves no data."""
    setting = section.setting(IOENGINE)
    name = _engine(section)
    if setting is not None and name in _WITHOUT_DATA:
        return f"{_at(setting)} reads and writes nothing on a drive in fio; here the job's requests reach the drive"
    if setting is None or name in (*SYNCHRONOUS, *_OTHERS) or "/" in name or ":" in name:
        return None
    meant = near(name, (*SYNCHRONOUS, *_OTHERS))
    return f"{_at(setting)} is no engine of fio 3.33, which would refuse it; it acts as an asynchronous one here{meant}"


def _at(setting: "Setting") -> str:
    return f"{setting.written} (line {setting.raw.line})"
