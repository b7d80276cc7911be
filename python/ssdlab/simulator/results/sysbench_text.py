"""A result in the output format of sysbench 1.0: one block for each `sysbench fileio ... run` of the workload.

fsyncs are counted as in sysbench, one for each file at every call. Latencies are those of reads and writes only, not of
fsyncs.
"""

import shlex

from ssdlab.errors import InputError
from ssdlab.simulator.results.job_result import JobResult
from ssdlab.simulator.results.latency import merged
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.workloads.filesystem.sysbench import Fileio, parse_arguments

_TESTS = {
    "seqwr": "sequential write (creation)",
    "seqrewr": "sequential rewrite",
    "seqrd": "sequential read",
    "rndrd": "random read",
    "rndwr": "random write",
    "rndrw": "random r/w",
}
_MIB = 1 << 20
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def sysbench(result: Result) -> str:
    """The text, with a line break at its end. Raises InputError if the workload does not run sysbench."""
    runs = [(job, fileio) for job in result.jobs if (fileio := _fileio(job)) is not None]
    if not runs:
        raise InputError("--output-format sysbench: the workload has no `sysbench fileio ... run`")
    scale = result.specification.scale
    lines = [f"ssdlab {result.version}, sysbench 1.0's fileio" + ("" if scale == "1" else f", scaled to {scale}"), ""]
    for job, fileio in runs:
        lines += [*_options(fileio), "", *_figures(job, fileio), ""]
    return "\n".join(lines)


def _fileio(job: JobResult) -> Fileio | None:
    words = shlex.split(job.options.get("command", ""))
    if words[:1] != ["sysbench"]:
        return None
    fileio = parse_arguments(words[1:], "the job")
    return fileio if fileio.command == "run" else None


def _options(fileio: Fileio) -> list[str]:
    lines = [
        f"Number of threads: {fileio.threads}",
        f"Extra file open flags: {' '.join(fileio.file_extra_flags) or '(none)'}",
        f"{fileio.file_num} files, {_size(fileio.file_bytes)} each",
        f"{_size(fileio.file_bytes * fileio.file_num)} total file size",
        f"Block size {_size(fileio.file_block_size)}",
    ]
    if fileio.is_random:
        lines.append(f"Number of IO requests: {fileio.events}")
        lines.append(f"Read/Write ratio for combined random IO test: {fileio.file_rw_ratio:.2f}")
    if fileio.file_fsync_all:
        lines.append("Calling fsync() after each write operation.")
    elif fileio.file_fsync_freq:
        lines.append(f"Periodic FSYNC enabled, calling fsync() each {fileio.file_fsync_freq} requests.")
    if fileio.file_fsync_end and not fileio.file_fsync_all:
        lines.append("Calling fsync() at the end of test, Enabled.")
    return [*lines, "Using synchronous I/O mode", f"Doing {_TESTS[fileio.file_test_mode]} test"]


def _figures(job: JobResult, fileio: Fileio) -> list[str]:
    requests = job.read.total_ios + job.write.total_ios
    periodic, fsyncs = fileio.fsyncs(requests, job.write.total_ios)
    events = requests + periodic
    seconds = job.seconds
    if seconds is None or not seconds:
        return [
            f"File operations: {job.read.total_ios} reads, {job.write.total_ios} writes, {fsyncs} fsyncs",
            "Throughput, latency: not measured (no clock)",
        ]
    latency = merged([part for part in (job.read.latency, job.write.latency) if part is not None])
    sum_ms = (latency.mean_ns or 0.0) * latency.count / 1e6
    ranks = (latency.min_ns, latency.mean_ns, latency.max_ns, latency.percentiles_ns((95,))[0])
    names = ("min:", "avg:", "max:", "95th percentile:")
    values = {name: (value or 0) / 1e6 for name, value in zip(names, ranks, strict=True)} | {"sum:": sum_ms}
    threads = fileio.threads
    return [
        "File operations:",
        f"    reads/s:                      {job.read.total_ios / seconds:.2f}",
        f"    writes/s:                     {job.write.total_ios / seconds:.2f}",
        f"    fsyncs/s:                     {fsyncs / seconds:.2f}",
        "",
        "Throughput:",
        f"    read, MiB/s:                  {job.read.io_bytes / _MIB / seconds:.2f}",
        f"    written, MiB/s:               {job.write.io_bytes / _MIB / seconds:.2f}",
        "",
        "General statistics:",
        f"    total time:                          {seconds:.4f}s",
        f"    total number of events:              {events}",
        "",
        "Latency (ms):",
        *(f"         {name:<39}{value:>5.2f}" for name, value in values.items()),
        "",
        "Threads fairness:",
        f"    events (avg/stddev):           {events / threads:.4f}/0.00",
        f"    execution time (avg/stddev):   {seconds:.4f}/0.00",
    ]


def _size(size: int) -> str:
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.5g}{_UNITS[unit]}"
