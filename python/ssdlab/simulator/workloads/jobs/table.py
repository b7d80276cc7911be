"""The options of fio's job language: one entry each, with name, aliases, parser, meaning and effect in ssdlab.

To support an option that is `unsupported` so far, define it with a name and a default, as in the first group, and read
it in `resolve.py`. The names are those of fio 3.33 (`fio --cmdhelp`), including hidden ones and those of its common
engines.
"""

from typing import Any

from ssdlab.simulator.workloads.jobs import (
    access,
    contents,
    ending,
    engines,
    latency_target,
    limits,
    logs,
    newer,
    pace,
    placement,
    verification,
    zones,
)
from ssdlab.simulator.workloads.jobs.distributions import Distribution, distribution
from ssdlab.simulator.workloads.jobs.files import FILES_MAX, FileSizes, Service, file_sizes, filenames, service
from ssdlab.simulator.workloads.jobs.option import OR_ON_A_REAL_DRIVE, Effect, Option
from ssdlab.simulator.workloads.jobs.patterns import (
    LengthRange,
    Pattern,
    SizeShare,
    length_range,
    one_length,
    pattern,
    size_mix,
)
from ssdlab.simulator.workloads.jobs.values import (
    LARGEST,
    Amount,
    Parser,
    PerDirection,
    Refused,
    T,
    amount,
    any_text,
    anything,
    block_bytes,
    duration_ns,
    flag,
    per_direction,
    percentage,
    percentage_or_sign,
    truth,
    whole_number,
    words,
)

# fio's own limit on jobs (REAL_MAX_JOBS).
JOBS_MAX = 4096

COUNT = whole_number(0, LARGEST)


def _kept_where_empty(old: PerDirection[T | None], new: PerDirection[T | None]) -> PerDirection[T | None]:
    def chosen(was: T | None, now: T | None) -> T | None:
        return was if now is None else now

    return PerDirection(chosen(old.read, new.read), chosen(old.write, new.write), chosen(old.trim, new.trim))


def _kilobyte(text: str | None, _kilobyte: int) -> int:
    if text not in ("1000", "1024"):
        raise Refused("1024 or 1000")
    return int(text)


# Options that shape the requests or name them.
_A = Effect.ACTS
RW = Option("rw", pattern, "direction, sequential or random", _A, Pattern("read", True), ("readwrite",))
_LENGTH = LengthRange(4096, 4096)
BS = Option(
    "bs", per_direction(one_length), "length of a request, by direction", _A,
    PerDirection[LengthRange | None](_LENGTH, _LENGTH, _LENGTH), ("blocksize",), merge=_kept_where_empty,
)  # fmt: skip
BSRANGE = Option(
    "bsrange", per_direction(length_range, ","), "range of lengths, by direction; overrides bs in its section", _A,
    BS.default, ("blocksize_range",), merge=_kept_where_empty, stored_as=BS.name,
)  # fmt: skip
BS_UNALIGNED = Option(
    "bs_unaligned", flag, "lengths need not be multiples of the minimum; here they remain multiples of a sector", _A,
    False, ("blocksize_unaligned",),
)  # fmt: skip
BS_IS_SEQ_RAND = Option(
    "bs_is_seq_rand", truth, "of two lengths the first applies to sequential requests, the second to random ones",
    _A, False,
)  # fmt: skip
BLOCKALIGN = Option(
    "ba", per_direction(block_bytes), "alignment of random offsets; default: the minimum length", _A,
    PerDirection[int | None](None, None, None), ("blockalign",), merge=_kept_where_empty,
)  # fmt: skip
BSSPLIT = Option(
    "bssplit", size_mix, "mix of lengths with percentages, by direction; overrides bs", _A,
    PerDirection[tuple[SizeShare, ...]]((), (), ()),
)  # fmt: skip
RWMIXREAD = Option("rwmixread", percentage_or_sign, "percentage of reads; the later of the two options applies", _A, 50)
RWMIXWRITE = Option(
    "rwmixwrite", percentage_or_sign, "percentage of writes; the later of the two options applies", _A, 50
)
SIZE = Option("size", amount, "size of the range; default: to the end of the drive", _A, Amount(size_bytes=0))
IO_SIZE = Option(
    "io_size", amount, "amount to transfer; default: size", _A, Amount(size_bytes=0), ("io_limit",)
)  # fmt: skip
OFFSET = Option("offset", amount, "start of the range", _A, Amount(size_bytes=0), ("fileoffset",))
OFFSET_INCREMENT = Option(
    "offset_increment", amount, "distance between the ranges of clones", _A, Amount(size_bytes=0)
)  # fmt: skip
OFFSET_ALIGN = Option(
    "offset_align", COUNT, "alignment of an offset in percent, rounded up; default: the minimum length", _A, 0
)  # fmt: skip
FILENAME = Option[tuple[str, ...]](
    "filename", filenames, "the drive, or one of its namespaces; several files are consecutive on the drive", _A, ()
)  # fmt: skip
FILESIZE = Option[FileSizes | None](
    "filesize", file_sizes, "size of each file, or a range of sizes; size then sets the amount to transfer", _A, None
)  # fmt: skip
FILL_DEVICE = Option(
    "fill_device", truth, "write in sequence until the drive is full, or until size", _A, False, ("fill_fs",)
)
NRFILES = Option(
    "nrfiles", whole_number(1, FILES_MAX), "number of files of the job, consecutive on the drive", _A, 1, ("nr_files",)
)  # fmt: skip
FILE_SERVICE = Option("file_service_type", service, "selection of the next file", _A, Service())
NUMBER_IOS = Option("number_ios", COUNT, "maximum number of requests; 0: no limit", _A, 0)
LOOPS = Option("loops", whole_number(0, 2**31 - 1), "number of repetitions; 0 counts as 1", _A, 1)
RW_SEQUENCER = Option(
    "rw_sequencer", words("sequential", "identical"), "requests between two random offsets", _A,
    "sequential",
)  # fmt: skip
PERCENTAGE_RANDOM = Option(
    "percentage_random", per_direction(percentage), "percentage of random requests; the others are sequential", _A,
    PerDirection[int | None](100, 100, 100), merge=_kept_where_empty,
)  # fmt: skip
RANDOM_GENERATOR = Option(
    "random_generator", words("tausworthe", "lfsr", "tausworthe64"),
    "ssdlab's own generator; lfsr visits every block of one length once, regardless of norandommap", _A, "tausworthe",
)  # fmt: skip
ZIPF_LIKE_FIO = Option(
    "zipf_like_fio", truth, "fio's zipf, pareto and normal, bit by bit, which reach only a part of the blocks", _A,
    False, is_ours=True,
)  # fmt: skip
ZONED_SCATTER = Option(
    "zoned_scatter", truth, "the blocks of a zone of zoned are scattered over the range", _A, False, is_ours=True,
)  # fmt: skip
DISTRIBUTION = Option(
    "random_distribution", distribution, "address distribution of random requests", _A, Distribution()
)
NORANDOMMAP = Option("norandommap", flag, "random blocks may repeat before all have been visited", _A, False)
RANDREPEAT = Option("randrepeat", truth, "the same random numbers in every run; always on here", _A, True)
ALLRANDREPEAT = Option("allrandrepeat", truth, "as randrepeat, for all random numbers", _A, False)
RANDSEED = Option[int | None]("randseed", COUNT, "seed of the random numbers, instead of the run's", _A, None)
NUMJOBS = Option("numjobs", whole_number(1, JOBS_MAX), "number of concurrent clones of the job", _A, 1)
STONEWALL = Option("stonewall", flag, "wait for all earlier jobs", _A, False, ("wait_for_previous",))
RUNTIME = Option("runtime", duration_ns, "stop after this time; 0: never", Effect.CLOCK, 0, ("timeout",))
TIME_BASED = Option("time_based", flag, "repeat until the end of the runtime", Effect.CLOCK, False)
KB_BASE = Option("kb_base", _kilobyte, "value of k: 1024 or 1000", _A, 1024)
NAME = Option("name", any_text, "name of the job instead of that of its section", Effect.REPORTED, "")
GROUP_REPORTING = Option("group_reporting", flag, "report clones and groups together", Effect.REPORTED, False)
DIRECTORY = Option("directory", any_text, "folder of the files", Effect.MEANINGLESS, "")


def _rest(
    effect: Effect, parse: Parser[Any], meaning: str, *names: str, neutral: tuple[object, ...] = (), reason: str = "",
    hint: str = OR_ON_A_REAL_DRIVE,
) -> Option[Any]:  # fmt: skip
    return Option(names[0], parse, meaning, effect, None, names[1:], neutral, reason=reason, hint=hint)


_R, _M, _T, _D, _O, _U = (
    Effect.REPORTED, Effect.MEANINGLESS, Effect.TIMING, Effect.DETAIL, Effect.OUTPUT, Effect.UNSUPPORTED,
)  # fmt: skip
_OFF = (False, 0, "0", "none", "")
_TRACED = "a job generates its requests"
_REPLAY = (
    "`ssdlab replay {text} --drive NAME` replays the trace, with replay_no_stall as --arrival closed --iodepth N, "
    "with replay_time_scale=200 as --time-scale 0.5"
)
_ZONES = "a drive refuses what is beyond its limits"
_FLOWS = "jobs of a stage are scheduled by depth, not by flows"
_DEVICE = "it requires a file system or a device"

OPTIONS: tuple[Option[Any], ...] = (
    RW, RW_SEQUENCER, PERCENTAGE_RANDOM, BS, BSRANGE, BSSPLIT, BS_UNALIGNED, BS_IS_SEQ_RAND, BLOCKALIGN,
    RWMIXREAD, RWMIXWRITE, SIZE, IO_SIZE, OFFSET, OFFSET_INCREMENT, OFFSET_ALIGN, NUMBER_IOS, LOOPS,
    FILENAME, FILESIZE, FILL_DEVICE, NRFILES, FILE_SERVICE, DISTRIBUTION, NORANDOMMAP, RANDOM_GENERATOR, ZIPF_LIKE_FIO,
    ZONED_SCATTER, RANDREPEAT, ALLRANDREPEAT, RANDSEED, *access.OPTIONS, NUMJOBS, STONEWALL, RUNTIME, TIME_BASED,
    KB_BASE, NAME, GROUP_REPORTING, DIRECTORY, *pace.OPTIONS, *contents.OPTIONS, *logs.OPTIONS,
    *ending.OPTIONS, *limits.OPTIONS, *latency_target.OPTIONS, *placement.OPTIONS, *zones.OPTIONS,
    *verification.OPTIONS,
    _rest(_R, any_text, "text about the job", "description"),
    _rest(_R, flag, "starts a new reporting group", "new_group"),
    _rest(_R, words("none", "mixed", "both", "0", "1", "2"), "report directions together", "unified_rw_reporting"),
    # How a file is accessed.
    _rest(_M, flag, "threads instead of processes", "thread"),
    _rest(_M, any_text, "format of file names", "filename_format"),
    _rest(_M, truth, "a client's address in file names", "unique_filename"),
    _rest(_M, any_text, "locks on the file", "lockfile"),
    _rest(_M, COUNT, "files open at a time", "openfiles"),
    _rest(_M, any_text, "allocate the file first", "fallocate"),
    _rest(_M, any_text, "advice to the kernel", "fadvise_hint"),
    _rest(_M, COUNT, "a barrier every N writes", "write_barrier"),
    _rest(_M, any_text, "sync_file_range every N writes", "sync_file_range"),
    _rest(_M, truth, "whether files keep their blocks", "overwrite"),
    _rest(_M, truth, "drop the page cache first", "invalidate"),
    _rest(_M, truth, "read the file into the cache first", "pre_read"),
    _rest(_M, truth, "create files one after another", "create_serialize"),
    _rest(_M, truth, "an fsync after creating files", "create_fsync"),
    _rest(_M, truth, "create a file when it is opened", "create_on_open"),
    _rest(_M, truth, "may make files", "allow_file_create"),
    _rest(_M, truth, "may write to a mounted partition", "allow_mounted_write"),
    _rest(_M, truth, "remove files afterwards", "unlink"),
    _rest(_M, truth, "remove files after every loop", "unlink_each_loop"),
    _rest(_M, any_text, "the kernel's scheduler", "ioscheduler"),
    _rest(_M, truth, "continue without a map when memory is short", "softrandommap"),
    # The process, its memory, its processors.
    _rest(_M, any_text, "where buffers come from", "mem", "iomem"),
    _rest(_M, COUNT, "size of a huge page", "hugepage-size"),
    _rest(_M, COUNT, "memory to lock", "lockmem"),
    _rest(_M, anything, "process priority", "nice"),
    _rest(_M, COUNT, "request priority", "prio"),
    _rest(_M, COUNT, "class of request priority", "prioclass"),
    _rest(_M, COUNT, "processors, as a mask", "cpumask"),
    _rest(_M, any_text, "processors", "cpus_allowed"),
    _rest(_M, any_text, "how processors are shared out", "cpus_allowed_policy"),
    _rest(_M, any_text, "NUMA nodes", "numa_cpu_nodes"),
    _rest(_M, any_text, "NUMA memory policy", "numa_mem_policy"),
    _rest(_M, any_text, "command before", "exec_prerun"),
    _rest(_M, any_text, "command after", "exec_postrun"),
    _rest(_M, any_text, "control group", "cgroup"),
    _rest(_M, truth, "keep the control group", "cgroup_nodelete"),
    _rest(_M, COUNT, "weight of the control group", "cgroup_weight"),
    _rest(_M, COUNT, "user to run as", "uid"),
    _rest(_M, COUNT, "group to run as", "gid"),
    _rest(_M, any_text, "errors to overlook", "ignore_error"),
    _rest(_M, any_text, "errors to go on after", "continue_on_error"),
    _rest(_M, truth, "print each error", "error_dump"),
    _rest(_M, words("none", "not-set", "short", "medium", "long", "extreme"), "expected life of data", "write_hint"),
    *engines.OPTIONS,
    # Options of fio's built-in tests. fio accepts them in any job and ignores them.
    *(_rest(_M, parse, "an option of a built-in test", name) for name, parse in (
        ("threads", COUNT), ("block", COUNT), ("numruns", COUNT), ("dir", any_text),
    )),
    # Options whose effect the simulated host decides.
    _rest(_T, COUNT, "requests submitted at a time", "iodepth_batch", "iodepth_batch_submit"),
    _rest(_T, COUNT, "maximum completions to fetch", "iodepth_batch_complete_max"),
    _rest(_T, truth, "wait for requests that overlap", "serialize_overlap"),
    _rest(_T, any_text, "source of time", "clocksource"),
    _rest(_T, truth, "fewer clock reads", "gtod_reduce"),
    _rest(_T, COUNT, "processor that reads the clock", "gtod_cpu"),
    # The contents of the data.
    _rest(_D, COUNT, "size of compressible parts", "buffer_compress_chunk"),
    _rest(_D, words("repeat", "working_set"), "which data repeats", "dedupe_mode"),
    _rest(_D, percentage, "size of the repeated data", "dedupe_working_set_percentage"),
    _rest(_D, truth, "repeats across jobs", "dedupe_global"),
    # Logs and statistics.
    *(_rest(_O, anything, "a log or its format", name) for name in (
        "log_entries", "log_max_value", "log_prio", "log_compression", "log_compression_cpus",
        "log_store_compressed", "log_unix_epoch", "log_alternate_epoch", "log_alternate_epoch_clock_id", "write_iolog",
    )),
    _rest(_O, COUNT, "window of bandwidth", "bwavgtime"),
    _rest(_O, COUNT, "window of IOPS", "iopsavgtime"),
    _rest(_O, truth, "histogram of errors", "block_error_percentiles"),
    _rest(_O, truth, "keep statistics", "stats"),
    _rest(_O, COUNT, "digits in the report", "significant_figures"),
    _rest(_O, truth, "the disk's own statistics", "disk_util"),
    _rest(_O, truth, "no latency", "disable_lat"),
    _rest(_O, truth, "no completion latency", "disable_clat"),
    _rest(_O, truth, "no submission latency", "disable_slat"),
    _rest(_O, truth, "no bandwidth", "disable_bw_measurement", "disable_bw"),
    _rest(_O, words("0", "8", "1"), "bits or bytes in the report", "unit_base"),
    # Options that would change the run and are not supported yet.
    _rest(_U, any_text, "all files of a folder", "opendir", reason=_DEVICE),
    _rest(_U, truth, "begin at the file's end", "file_append", neutral=_OFF, reason=_DEVICE),
    _rest(_U, truth, "only create the files", "create_only", neutral=_OFF, reason=_DEVICE),
    _rest(_U, truth, "atomic writes", "atomic", neutral=_OFF, reason=_DEVICE),
    _rest(_U, any_text, "requests of a trace", "read_iolog", reason=_TRACED, hint=_REPLAY),
    *(_rest(_M, anything, "of read_iolog", name) for name in (
        "read_iolog_chunked", "replay_no_stall", "replay_redirect", "replay_scale", "replay_align",
        "replay_time_scale", "replay_skip", "merge_blktrace_file", "merge_blktrace_scalars", "merge_blktrace_iters",
    )),
    _rest(_U, any_text, "zones of a device", "ignore_zone_limits", neutral=_OFF, reason=_ZONES),
    *(_rest(_U, COUNT, "trims among checked writes", name, neutral=_OFF, reason="the drive stores no data to verify")
      for name in ("trim_percentage", "trim_backlog", "trim_backlog_batch")),
    _rest(_U, any_text, "a built-in test", "profile", reason="a built-in test generates its own requests"),
    _rest(_U, COUNT, "flow between jobs", "flow_id", neutral=_OFF, reason=_FLOWS),
    _rest(_U, anything, "weight in a flow", "flow", neutral=_OFF, reason=_FLOWS),
    _rest(_U, COUNT, "wait in a flow", "flow_sleep", neutral=_OFF, reason=_FLOWS),
    _rest(_U, COUNT, "imbalance of a flow", "flow_watermark", neutral=_OFF, reason=_FLOWS),
    *newer.OPTIONS,
)  # fmt: skip

BY_NAME: dict[str, Option[Any]] = {name: option for option in OPTIONS for name in option.names}
