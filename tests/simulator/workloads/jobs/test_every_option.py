"""Does fio accept every option that ssdlab accepts, by each of its names? Compared with fio itself (3.33)."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import OPTIONS, Effect, Option, newer, parse
from ssdlab.simulator.workloads.jobs.values import Refused

FIO = shutil.which("fio") or ""
pytestmark = pytest.mark.skipif(not FIO, reason="fio is not installed")

# Options unknown to fio 3.33: newer ones, and those of I/O engines, which it knows only with their engine.
NEWER = newer.NAMES | {
    "fdp",
    "dataplacement",
    "plids",
    "fdp_pli",
    "plid_select",
    "fdp_pli_select",
    "dp_scheme",
    "writefua",
}
# A value that both accept, for options that accept none of the values tried in turn.
EXAMPLES = {
    "rw": "randread", "readwrite": "randread", "bsrange": "4k-8k", "blocksize_range": "4k-8k", "bssplit": "4k/60:8k/40",
    "rw_sequencer": "identical", "random_generator": "lfsr", "random_distribution": "zipf:1.2", "kb_base": "1000",
    "file_service_type": "random", "rate_process": "poisson", "sync": "dsync", "ss": "iops:5%",
    "steadystate": "iops:5%",
    "zonemode": "none", "exit_what": "stonewall", "thinktime_blocks_type": "issue", "percentile_list": "50:99",
    "unified_rw_reporting": "mixed", "write_hint": "short", "io_submit_mode": "offload", "dedupe_mode": "repeat",
    "buffer_pattern": "0xdeadbeef", "cpus_allowed_policy": "shared", "numa_mem_policy": "default", "mem": "malloc",
    "iomem": "malloc", "lockfile": "none", "fallocate": "none", "clocksource": "clock_gettime", "ignore_error": "EIO",
    "continue_on_error": "none", "ioengine": "null", "ioscheduler": "noop", "fadvise_hint": "1", "cpumask": "1",
    "wait_for": "first", "sync_file_range": "write:1", "unit_base": "8", "prioclass": "1", "hugepage-size": "4k",
    "numa_cpu_nodes": "0", "cgroup_weight": "100", "log_entries": "1024", "log_compression": "1m",
    "verify_interval": "4k", "verify_offset": "512", "latency_percentile": "99.5", "cpus_allowed": "0", "verify": "0",
}  # fmt: skip
TRIED = ("1", "4k", None)


def taken_by_us(name: str, value: str | None) -> bool:
    """Whether ssdlab accepts the option alone in a job, after another job that it can name."""
    try:
        parse(f"[first]\n[second]\n{line(name, value)}\n")
    except InputError:
        return False
    return True


def line(name: str, value: str | None) -> str:
    return name if value is None else f"{name}={value}"


def taken_by_fio(folder: Path, name: str, lines: list[str]) -> tuple[bool, str]:
    path = folder / f"{name}.fio"
    path.write_text("[first]\n" + "".join(f"[job{number}]\n{each}\n" for number, each in enumerate(lines)))
    ended = subprocess.run([FIO, "--parse-only", path], capture_output=True, text=True, cwd=folder)
    return ended.returncode == 0, ended.stderr


def test_fio_takes_every_option_that_we_take(tmp_path: Path) -> None:
    names = [
        name
        for option in OPTIONS
        if not option.is_ours
        and option.effect is not Effect.UNSUPPORTED
        and option.meaning != "an option of an I/O engine"
        for name in option.names
        if name not in NEWER
    ]
    chosen = {}
    for name in names:
        values = [EXAMPLES[name]] if name in EXAMPLES else [each for each in TRIED if taken_by_us(name, each)]
        assert values and taken_by_us(name, values[0]), name
        chosen[name] = line(name, values[0])
    assert len(chosen) > 190
    agrees, said = taken_by_fio(tmp_path, "all", list(chosen.values()))
    assert agrees, [words for words in said.splitlines() if "fio" in words]


def test_what_is_no_value_to_us_is_none_to_fio(tmp_path: Path) -> None:
    """The form of every value, tested with an invalid value; one fio run for each, because it stops at the first
    error."""

    def refused_by_us(option: Option[Any]) -> bool:
        try:
            option.parse("@@", 1024)
        except Refused:
            return True
        return False

    known = [option for option in OPTIONS if not option.is_ours and option.name not in NEWER]
    asked = [option for option in known if option.effect is not Effect.UNSUPPORTED and refused_by_us(option)]
    assert len(asked) > 100

    def taken(option: Option[Any]) -> bool:
        return taken_by_fio(tmp_path, re.sub(r"\W", "-", option.name), [line(option.name, "@@")])[0]

    with ThreadPoolExecutor(4) as pool:
        assert not [option.name for option, is_taken in zip(asked, pool.map(taken, asked), strict=True) if is_taken]


def test_options_of_every_engine_of_fio_are_known() -> None:
    """A regression: `port=8765` with `ioengine=net` was reported as "not an option of fio's job language", but it is
    one of the engine's."""
    names = [
        line.partition(":")[0].strip()
        for engine in engines()
        for line in asked_of(f"--enghelp={engine}").splitlines()
        if ":" in line
    ]
    assert {"port", "hostname", "uri", "cpuload", "donorname"} <= set(names)
    known = {name for option in OPTIONS for name in option.names}
    assert sorted(set(names) - known) == []


def engines() -> list[str]:
    """The engines listed by `fio --enghelp`."""
    return [line.strip() for line in asked_of("--enghelp").splitlines()[1:] if line.strip()]


def asked_of(argument: str) -> str:
    """The output of fio. For an engine without options it prints a message and fails."""
    return subprocess.run([FIO, argument], capture_output=True, text=True, check=False).stdout
