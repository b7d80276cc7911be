"""Every option of fio's job language: one entry each, with its name, aliases, parser, meaning and effect here.

To support an option that is `unsupported` so far, give it a name and a default here, as the first group has, and
read it in `resolve.py`. The names are those of fio 3.33 (`fio --cmdhelp`), those that it hides and those of its common
engines.
"""

from typing import Any

from ssdlab.jobs.option import Effect, Option
from ssdlab.jobs.patterns import Distribution, Pattern, SizeShare, distribution, pattern, size_mix
from ssdlab.jobs.values import (
    LARGEST,
    Amount,
    Parser,
    PerDirection,
    Refused,
    amount,
    any_text,
    anything,
    block_bytes,
    duration,
    flag,
    per_direction,
    percentage,
    required,
    truth,
    whole_number,
    words,
)

# fio's own limit on jobs (REAL_MAX_JOBS).
JOBS_MAX = 4096

COUNT = whole_number(0, LARGEST)
COUNTS = per_direction(COUNT)
NO_COUNTS = PerDirection(0, 0, 0)


def _kept_where_empty(old: PerDirection[int | None], new: PerDirection[int | None]) -> PerDirection[int | None]:
    def chosen(was: int | None, now: int | None) -> int | None:
        return was if now is None else now

    return PerDirection(chosen(old.read, new.read), chosen(old.write, new.write), chosen(old.trim, new.trim))


def _one_file(text: str | None, _kilobyte: int) -> str:
    name = required(text)
    if ":" in name.replace("\\:", ""):
        raise Refused("one file; the simulated drive stands for it, and several are not supported yet")
    return name


def _kilobyte(text: str | None, _kilobyte: int) -> int:
    if text not in ("1000", "1024"):
        raise Refused("1024 or 1000")
    return int(text)


# Options that shape the requests or name them.
_A = Effect.ACTS
RW = Option("rw", pattern, "direction, and whether in sequence", _A, Pattern("read", True), ("readwrite",))
BS = Option(
    "bs", per_direction(block_bytes), "length of a request, by direction", _A,
    PerDirection[int | None](4096, 4096, 4096), ("blocksize",), merge=_kept_where_empty,
)  # fmt: skip
BLOCKALIGN = Option(
    "ba", per_direction(block_bytes), "random offsets are multiples of this; default: the least length", _A,
    PerDirection[int | None](None, None, None), ("blockalign",), merge=_kept_where_empty,
)  # fmt: skip
BSSPLIT = Option(
    "bssplit", size_mix, "mix of lengths with percentages, by direction; goes before bs", _A,
    PerDirection[tuple[SizeShare, ...]]((), (), ()),
)  # fmt: skip
RWMIXREAD = Option("rwmixread", percentage, "percent of reads; the later of the two counts", _A, 50)
RWMIXWRITE = Option("rwmixwrite", percentage, "percent of writes; the later of the two counts", _A, 50)
SIZE = Option("size", amount, "extent of the range; default: to the drive's end", _A, Amount(size_bytes=0))
IO_SIZE = Option(
    "io_size", amount, "how much to transfer; default: size", _A, Amount(size_bytes=0), ("io_limit",)
)  # fmt: skip
OFFSET = Option("offset", amount, "where the range begins", _A, Amount(size_bytes=0), ("fileoffset",))
NUMBER_IOS = Option("number_ios", COUNT, "most requests; 0: no limit", _A, 0)
LOOPS = Option("loops", whole_number(0, 2**31 - 1), "times the amount is done; 0 counts as 1", _A, 1)
DISTRIBUTION = Option("random_distribution", distribution, "where random requests fall", _A, Distribution())
NORANDOMMAP = Option("norandommap", flag, "let random blocks repeat before all were visited", _A, False)
RANDREPEAT = Option("randrepeat", truth, "same random numbers in every run: always so here", _A, True)
ALLRANDREPEAT = Option("allrandrepeat", truth, "as randrepeat, for everything random", _A, False)
RANDSEED = Option[int | None]("randseed", COUNT, "seed of the random numbers, instead of the run's", _A, None)
IODEPTH = Option("iodepth", whole_number(1, 2**32 - 1), "requests outstanding at a time", _A, 1)
NUMJOBS = Option("numjobs", whole_number(1, JOBS_MAX), "clones of the job, side by side", _A, 1)
STONEWALL = Option("stonewall", flag, "wait for all jobs before this one", _A, False, ("wait_for_previous",))
KB_BASE = Option("kb_base", _kilobyte, "what k means: 1024, or 1000", _A, 1024)
NAME = Option("name", any_text, "the job's name instead of its section's", Effect.REPORTED, "")
GROUP_REPORTING = Option("group_reporting", flag, "report clones and groups together", Effect.REPORTED, False)
FILENAME = Option("filename", _one_file, "the device: the drive stands for it", Effect.MEANINGLESS, "")


def _rest(
    effect: Effect, parse: Parser[Any], meaning: str, *names: str, neutral: tuple[object, ...] = ()
) -> Option[Any]:
    return Option(names[0], parse, meaning, effect, None, names[1:], neutral)


_R, _M, _T, _C, _O, _N, _U = (
    Effect.REPORTED, Effect.MEANINGLESS, Effect.TIMING, Effect.CONTENT, Effect.OUTPUT, Effect.OWN_RANDOM,
    Effect.UNSUPPORTED,
)  # fmt: skip
_OFF = (False, 0, "0", "none", "")

OPTIONS: tuple[Option[Any], ...] = (
    RW, BS, BLOCKALIGN, BSSPLIT, RWMIXREAD, RWMIXWRITE, SIZE, IO_SIZE, OFFSET, NUMBER_IOS, LOOPS, DISTRIBUTION,
    NORANDOMMAP, RANDREPEAT, ALLRANDREPEAT, RANDSEED, IODEPTH, NUMJOBS, STONEWALL, KB_BASE, NAME,
    GROUP_REPORTING, FILENAME,
    _rest(_R, any_text, "text about the job", "description"),
    _rest(_R, flag, "starts a group of the report", "new_group"),
    _rest(_R, words("none", "mixed", "both", "0", "1", "2"), "report directions together", "unified_rw_reporting"),
    # Where and how a file is reached.
    _rest(_M, any_text, "how requests reach the device", "ioengine"),
    _rest(_M, truth, "past the page cache", "direct"),
    _rest(_M, truth, "through the page cache", "buffered"),
    _rest(_M, flag, "threads instead of processes", "thread"),
    _rest(_M, any_text, "folder of the files", "directory"),
    _rest(_M, any_text, "how files are called", "filename_format"),
    _rest(_M, truth, "a client's address in file names", "unique_filename"),
    _rest(_M, any_text, "locks on the file", "lockfile"),
    _rest(_M, anything, "order in which files take turns", "file_service_type"),
    _rest(_M, COUNT, "files open at a time", "openfiles"),
    _rest(_M, any_text, "allocate the file first", "fallocate"),
    _rest(_M, any_text, "advice to the kernel", "fadvise_hint"),
    _rest(_M, COUNT, "an fsync every so many writes", "fsync"),
    _rest(_M, COUNT, "an fdatasync every so many writes", "fdatasync"),
    _rest(_M, COUNT, "a barrier every so many writes", "write_barrier"),
    _rest(_M, any_text, "sync_file_range every so many writes", "sync_file_range"),
    _rest(_M, any_text, "synchronous writes", "sync"),
    _rest(_M, truth, "an fsync at the end", "end_fsync"),
    _rest(_M, truth, "an fsync when a file is closed", "fsync_on_close"),
    _rest(_M, truth, "whether files keep their blocks", "overwrite"),
    _rest(_M, truth, "drop the page cache first", "invalidate"),
    _rest(_M, truth, "read the file into the cache first", "pre_read"),
    _rest(_M, truth, "lay files out one after the other", "create_serialize"),
    _rest(_M, truth, "an fsync after laying out", "create_fsync"),
    _rest(_M, truth, "lay a file out when it is opened", "create_on_open"),
    _rest(_M, truth, "may make files", "allow_file_create"),
    _rest(_M, truth, "may write to a mounted partition", "allow_mounted_write"),
    _rest(_M, truth, "remove files afterwards", "unlink"),
    _rest(_M, truth, "remove files after every loop", "unlink_each_loop"),
    _rest(_M, any_text, "the kernel's scheduler", "ioscheduler"),
    _rest(_M, flag, "requests off sector bounds", "bs_unaligned", "blocksize_unaligned"),
    _rest(_M, truth, "go on without a map when memory is short", "softrandommap"),
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
    _rest(_M, flag, "stop all jobs on an error", "exitall_on_error"),
    _rest(_M, truth, "say each error", "error_dump"),
    _rest(_M, words("none", "not-set", "short", "medium", "long", "extreme"), "expected life of data", "write_hint"),
    # Engines' own options.
    *(_rest(_M, anything, "an option of an I/O engine", name) for name in (
        "userspace_reap", "hipri", "hipri_percentage", "fixedbufs", "registerfiles", "sqthread_poll",
        "sqthread_poll_cpu", "nonvectored", "uncached", "nowait", "force_async", "cmdprio", "cmdprio_percentage",
        "cmdprio_class", "cmdprio_bssplit", "cmd_type", "readfua", "writefua", "sg_write_mode", "stream_id", "thp",
    )),
    # What only a clock could obey.
    _rest(Effect.CLOCK, duration, "stop after this time", "runtime", "timeout"),
    _rest(Effect.CLOCK, flag, "go on until the time is over", "time_based"),
    _rest(Effect.CLOCK, duration, "do not count the first part", "ramp_time"),
    _rest(_T, COUNT, "requests handed over at a time", "iodepth_batch", "iodepth_batch_submit"),
    _rest(_T, COUNT, "least completions to fetch", "iodepth_batch_complete_min", "iodepth_batch_complete"),
    _rest(_T, COUNT, "most completions to fetch", "iodepth_batch_complete_max"),
    _rest(_T, COUNT, "depth at which to fill up again", "iodepth_low"),
    _rest(_T, truth, "wait for requests that overlap", "serialize_overlap"),
    _rest(_T, words("inline", "offload"), "who hands requests over", "io_submit_mode"),
    _rest(_T, any_text, "most latency", "max_latency"),
    _rest(_T, any_text, "source of time", "clocksource"),
    _rest(_T, truth, "fewer looks at the clock", "gtod_reduce"),
    _rest(_T, COUNT, "processor that reads the clock", "gtod_cpu"),
    # The random numbers.
    _rest(_N, words("tausworthe", "lfsr", "tausworthe64"), "random generator", "random_generator"),
    # What the data are.
    _rest(_C, flag, "zeroes", "zero_buffers"),
    _rest(_C, flag, "new data in every request", "refill_buffers"),
    _rest(_C, truth, "slightly new data in every request", "scramble_buffers"),
    _rest(_C, any_text, "a pattern", "buffer_pattern"),
    _rest(_C, percentage, "how compressible", "buffer_compress_percentage"),
    _rest(_C, COUNT, "extent of what compresses", "buffer_compress_chunk"),
    _rest(_C, percentage, "how much repeats", "dedupe_percentage"),
    _rest(_C, words("repeat", "working_set"), "what repeats", "dedupe_mode"),
    _rest(_C, percentage, "extent of what repeats", "dedupe_working_set_percentage"),
    _rest(_C, truth, "repeats across jobs", "dedupe_global"),
    # Logs and statistics.
    *(_rest(_O, anything, "a log or how it is kept", name) for name in (
        "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_entries", "log_avg_msec",
        "log_hist_msec",
        "log_hist_coarseness", "log_max_value", "log_offset", "log_prio", "log_compression", "log_compression_cpus",
        "log_store_compressed", "log_unix_epoch", "log_alternate_epoch", "log_alternate_epoch_clock_id", "write_iolog",
    )),
    _rest(_O, truth, "one log a job", "per_job_logs"),
    _rest(_O, COUNT, "window of bandwidth", "bwavgtime"),
    _rest(_O, COUNT, "window of IOPS", "iopsavgtime"),
    _rest(_O, truth, "histogram of errors", "block_error_percentiles"),
    _rest(_O, truth, "keep statistics", "stats"),
    _rest(_O, truth, "percentiles of completion latency", "clat_percentiles"),
    _rest(_O, truth, "percentiles of latency", "lat_percentiles"),
    _rest(_O, truth, "percentiles of submission latency", "slat_percentiles"),
    _rest(_O, any_text, "which percentiles", "percentile_list"),
    _rest(_O, COUNT, "digits in the report", "significant_figures"),
    _rest(_O, truth, "the disk's own statistics", "disk_util"),
    _rest(_O, truth, "no latency", "disable_lat"),
    _rest(_O, truth, "no completion latency", "disable_clat"),
    _rest(_O, truth, "no submission latency", "disable_slat"),
    _rest(_O, truth, "no bandwidth", "disable_bw_measurement", "disable_bw"),
    _rest(_O, words("0", "8", "1"), "bits or bytes in the report", "unit_base"),
    # What would change the run and cannot be obeyed yet.
    _rest(_U, any_text, "wait for one job", "wait_for"),
    _rest(_U, any_text, "all files of a folder", "opendir"),
    _rest(_U, any_text, "range of lengths", "bsrange", "blocksize_range"),
    _rest(_U, truth, "lengths for sequence and random", "bs_is_seq_rand", neutral=_OFF),
    _rest(_U, words("sequential", "identical"), "where an offset comes from", "rw_sequencer", neutral=("sequential",)),
    _rest(_U, COUNTS, "share of random requests", "percentage_random", neutral=(PerDirection(100, 100, 100),)),
    _rest(_U, any_text, "size of each file", "filesize"),
    _rest(_U, COUNT, "number of files", "nrfiles", "nr_files", neutral=(1,)),
    _rest(_U, truth, "write until the device is full", "fill_device", "fill_fs", neutral=_OFF),
    _rest(_U, truth, "begin at the file's end", "file_append", neutral=_OFF),
    _rest(_U, amount, "step of offset from clone to clone", "offset_increment", neutral=(Amount(0), Amount(percent=0))),
    _rest(_U, COUNT, "alignment of a percent offset", "offset_align", neutral=_OFF),
    _rest(_U, truth, "only make the files", "create_only", neutral=_OFF),
    _rest(_U, truth, "atomic writes", "atomic", neutral=_OFF),
    _rest(_U, any_text, "begin later", "startdelay", neutral=_OFF),
    _rest(_U, flag, "end all jobs with the first", "exitall", neutral=_OFF),
    _rest(_U, words("group", "stonewall", "all"), "which jobs end together", "exit_what", neutral=("group",)),
    _rest(_U, duration, "pause between requests", "thinktime", neutral=_OFF),
    _rest(_U, duration, "busy part of the pause", "thinktime_spin", neutral=_OFF),
    _rest(_U, COUNT, "requests between pauses", "thinktime_blocks", neutral=(1,)),
    _rest(_U, words("complete", "issue"), "what counts between pauses", "thinktime_blocks_type", neutral=("complete",)),
    _rest(_U, duration, "time between pauses", "thinktime_iotime", neutral=_OFF),
    *(_rest(_U, COUNTS, "limit of the rate", *names, neutral=(NO_COUNTS,)) for names in (
        ("rate",), ("rate_min", "ratemin"), ("rate_iops",), ("rate_iops_min",),
    )),
    _rest(_U, words("linear", "poisson"), "how a rate is spread", "rate_process", neutral=("linear",)),
    _rest(_U, COUNT, "window of a rate's limit", "rate_cycle", "ratecycle", neutral=(1000,)),
    _rest(_U, truth, "pauses outside the rate", "rate_ignore_thinktime", neutral=_OFF),
    _rest(_U, duration, "depth to suit a latency", "latency_target", neutral=_OFF),
    *(_rest(_U, any_text, "of latency_target", name, neutral=_OFF) for name in (
        "latency_window", "latency_percentile", "latency_run",
    )),
    *(_rest(_U, any_text, "requests from or to a trace", name, neutral=neutral) for name, neutral in (
        ("read_iolog", ()), ("read_iolog_chunked", _OFF), ("replay_no_stall", _OFF), ("replay_redirect", ()),
        ("replay_scale", ("1",)), ("replay_align", _OFF), ("replay_time_scale", ("100",)), ("replay_skip", ()),
        ("merge_blktrace_file", ()), ("merge_blktrace_scalars", ()), ("merge_blktrace_iters", ()),
    )),
    *(_rest(_U, any_text, "zones of a device or a stride", name, neutral=_OFF) for name in (
        "zonemode", "zonesize", "zonecapacity", "zonerange", "zoneskip", "read_beyond_wp", "max_open_zones",
        "job_max_open_zones", "ignore_zone_limits", "zone_reset_threshold", "zone_reset_frequency",
    )),
    _rest(_U, any_text, "check what was written", "verify", neutral=_OFF),
    _rest(_U, any_text, "check against a pattern", "verify_pattern"),
    _rest(_U, flag, "only check", "verify_only", neutral=_OFF),
    *(_rest(_M, anything, "of verify", name) for name in (
        "do_verify", "verifysort", "verifysort_nr", "verify_interval", "verify_offset", "verify_fatal",
        "verify_dump", "verify_async", "verify_async_cpus", "experimental_verify", "verify_state_load",
        "verify_state_save", "trim_verify_zero",
    )),
    *(_rest(_U, COUNT, "checks or trims among the writes", name, neutral=_OFF) for name in (
        "verify_backlog", "verify_backlog_batch", "trim_percentage", "trim_backlog", "trim_backlog_batch",
    )),
    _rest(_U, any_text, "a built-in test", "profile"),
    _rest(_U, COUNT, "flow between jobs", "flow_id", neutral=_OFF),
    _rest(_U, anything, "weight in a flow", "flow", neutral=_OFF),
    _rest(_U, COUNT, "wait in a flow", "flow_sleep", neutral=_OFF),
    _rest(_U, COUNT, "imbalance of a flow", "flow_watermark", neutral=_OFF),
    _rest(_U, any_text, "end at a steady state", "steadystate", "ss"),
    _rest(_U, duration, "length of a steady state", "steadystate_duration", "ss_dur", neutral=_OFF),
    _rest(_U, duration, "time before a steady state", "steadystate_ramp_time", "ss_ramp", neutral=_OFF),
    # Newer than 3.33.
    *(_rest(_U, anything, "placement of data by the host", name, neutral=_OFF) for name in (
        "fdp", "fdp_pli", "plids", "plid_select", "fdp_pli_select", "dataplacement", "dp_scheme",
    )),
    _rest(_U, truth, "precondition in one pass", "sprandom", neutral=_OFF),
)  # fmt: skip

BY_NAME: dict[str, Option[Any]] = {name: option for option in OPTIONS for name in option.names}
