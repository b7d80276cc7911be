"""fio's command line, as an argument and in files, compared with fio's own reading of it (3.33)."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator import workloads
from ssdlab.simulator.workloads.jobs import load, parse
from ssdlab.simulator.workloads.jobs.access import IODEPTH
from ssdlab.simulator.workloads.jobs.jobfile import JobFile
from ssdlab.simulator.workloads.jobs.table import BS, NUMJOBS, RW, STONEWALL

CASES = Path(__file__).parent / "cases"
FIO = shutil.which("fio") or ""


def test_a_call_in_a_file_and_as_an_argument_is_the_same() -> None:
    """A regression: both were refused, although guides give hardly anything else."""
    path = CASES / "command-line.txt"
    for file in (load(path), load(path.read_text().strip()), load(f"sudo {path.read_text()}")):
        (job,) = file.sections
        assert (job.name, job.get(NUMJOBS), job.get(IODEPTH), job.get(RW).direction) == (
            "random-write",
            16,
            16,
            "write",
        )
    assert workloads.title(path.read_text().strip()) == "random-write"


def test_a_script_of_a_guide() -> None:
    file = load(CASES / "guide.sh")
    first, second = file.sections
    assert (first.name, first.get(IODEPTH), first.get(STONEWALL)) == ("write_throughput", 64, False)
    assert (second.name, second.get(IODEPTH), second.get(STONEWALL)) == ("iops-test-job", 256, True)
    assert second.options["filename"] == "/dev/nvme0n1"
    left_out = "only the calls of fio are taken; other commands and text are left out (line 3, 6, 7, 12)"
    assert left_out in file.notes(timed=True)


def test_options_of_one_call_do_not_reach_the_next() -> None:
    file = parse("fio --bs=16k --name=a --name=b --bs=8k\nfio --name=c\n")
    assert [(job.name, job.get(BS).read.least_bytes) for job in file.sections] == [  # type: ignore[union-attr]
        ("a", 16384), ("b", 8192), ("c", 4096),
    ]  # fmt: skip
    assert [job.get(STONEWALL) for job in file.sections] == [False, False, True]


def test_a_loop_over_words_is_a_call_for_each() -> None:
    file = parse(
        "for bs in 4k 8k; do\n  for rw in read write\n  do fio --name=$rw-$bs --bs=$bs --rw=$rw\n  done\ndone\n"
    )
    names = [job.name for job in file.sections]
    assert names == ["read-4k", "write-4k", "read-8k", "write-8k"]
    assert [job.get(STONEWALL) for job in file.sections] == [False, True, True, True]


def test_a_variable_of_options_is_several_options() -> None:
    """A regression: all options of `$COMMON` but the first were part of its value, without a word."""
    first, second = parse('COMMON="--bs=16k --rw=write"\nfio $COMMON --name=a\nfio --name=b $COMMON --bs=8k\n').sections
    assert [(job.get(RW).direction, job.get(BS).write.least_bytes) for job in (first, second)] == [  # type: ignore[union-attr]
        ("write", 16384), ("write", 8192),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        "O=(\n  --bs=16k  # a comment\n  --rw=write\n)",
        'D=/data\nO=(--bs=16k --filename="$D/x" --rw=write)',
        "O=(--bs=16k)\nO+=(--rw=write)",
        'O="--bs=16k"\nO+=" --rw=write"',
        "declare -a O=( --bs=16k \\\n  --rw='write' )",
    ],
)
def test_no_option_of_an_array_is_lost(given: str) -> None:
    """A regression: an array over several lines or with a variable was empty, and what `+=` appends was left out, so
    that the call read the drive from its start."""
    (job,) = parse(f"{given}\nfio --name=a ${{O[@]}}\n", environment={}).sections
    assert (job.get(BS).read.least_bytes, job.get(RW).direction) == (16384, "write")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "named",
    ["--filename=/dev/$(echo $1 | sed 's/nvme/ng/')", "--output=$(cat name).json", "--filename=`readlink -f x`"],
)
def test_no_option_behind_the_output_of_a_command_is_lost(named: str) -> None:
    """A regression: what only names was passed over, and with it every option behind it."""
    (job,) = parse(f"fio --name=a {named} \\\n  --bs=16k --rw=write | tee log\n", environment={}).sections
    assert (job.get(BS).read.least_bytes, job.get(RW).direction) == (16384, "write")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "for rw in write; do for bs in 8k; do fio --name=$rw --rw=$rw --bs=$bs; done; done\n",
        "if [ -x /usr/bin/fio ]; then fio --name=write --rw=write --bs=8k; fi\n",
        "for rw in write; do\nfio \\\n  --name ${rw} \\\n  --directory $where --rw=$rw --bs=8k\ndone\n",
        'job() { fio "$@"; }\njob --name=write --rw=write --bs=8k\n',
        "command:\n  - fio\nargs:\n  - --name=write\n  # bytes\n  - '--bs'\n  - 8k\n  - --rw=write # x\nname: x y\n",
        'command: ["/usr/bin/fio"]\nargs: ["--name=write", "--rw=write",\n  "--bs=8k"]\nname: x y\n',
        'command: ["sh", "-c", "fio --name=write --rw=write --bs=8k"]\n',
        "fio --name=write --rw=write --bs=8k --norandom --gro\n",
    ],
)
def test_forms_of_a_call(text: str) -> None:
    """Regressions: each was refused, most as lines before the first section of a job file."""
    (job,) = parse(text, environment={}).sections
    assert (job.name, job.get(BS).read.least_bytes, job.get(RW).direction) == ("write", 8192, "write")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("{1..3}", ["1", "2", "3"]),
        ("{8..2..3}", ["8", "5", "2"]),
        ("{4k,8k} 1m", ["4k", "8k", "1m"]),
        ("$(seq 3)", ["1", "2", "3"]),
        ("`seq 2 4`", ["2", "3", "4"]),
        ("$(seq 1 4 9)", ["1", "5", "9"]),
        ('"${ALL[@]}"', ["a", "b"]),
        ("$TWO", ["c", "d"]),
    ],
)
def test_the_lists_of_a_loop(words: str, values: list[str]) -> None:
    """A regression: a range was one word, and its loop one call."""
    text = f"ALL=(a b)\nTWO='c d'\nfor i in {words}; do fio --name=job-$i; done\n"
    assert [job.name for job in parse(text).sections] == [f"job-{value}" for value in values]
    with pytest.raises(InputError, match="line 1: 2,000 numbers; allowed: up to 1,000"):
        parse("for i in {1..2000}; do fio --name=$i; done\n")


def test_a_variable_within_the_value_of_another() -> None:
    """Regressions: `${1:-$BS}` was `$BS` itself, which no length is; and a folder without a value, which has no effect,
    was refused within a variable of options, but not in the call itself."""
    (job,) = parse("BS=8k\nfio --name=a --bs=${1:-$BS}\n", environment={}).sections
    assert job.get(BS).read.least_bytes == 8192  # type: ignore[union-attr]
    (job,) = parse('O="--filename ${MNT}/x --bs=16k"\nfio --name=a $O\n', environment={}).sections
    assert job.get(BS).read.least_bytes == 16384  # type: ignore[union-attr]


def test_functions_have_their_own_arguments() -> None:
    text = "outer() {\n  inner x-$1; fio --name=$1\n}\nfunction inner { fio --name=$1; }\nset -e\nouter a\nouter b\n"
    assert [job.name for job in parse(text).sections] == ["x-a", "a", "x-b", "b"]
    with pytest.raises(InputError, match=r"line 3: a: 16 functions deep; a function may not call itself"):
        parse("fio --name=x\na() {\n  a\n}\na\n")
    with pytest.raises(InputError, match=r"line 1: '--bs=\$2': \$2 is an argument of the script; write its value"):
        parse("fio --name=$1 --bs=$2\n")


def test_a_job_file_within_a_script_has_the_lines_of_the_script() -> None:
    """A regression: the sections of a here-document made the script a job file, which `cat` is no line of."""
    script = "for rw in read write; do\ncat > x-$rw.fio <<EOF\n[$rw]\nrw=$rw\n{}EOF\nfio x-$rw.fio --bs=8k\ndone\n"
    jobs = parse(script.format("")).sections
    assert [(job.name, job.get(RW).direction, job.line) for job in jobs] == [("read", "read", 3), ("write", "write", 3)]
    with pytest.raises(InputError, match=r"job file, line 5: 'iodepht' is not an option"):
        parse(script.format("iodepht=4\n"))


def test_an_engine_that_fio_does_not_have_is_noted() -> None:
    """A regression: `ioengine=libio` ran as an asynchronous engine without a word."""
    (note,) = [note for note in parse("[a]\nioengine=libio\ndirect=1\n").notes(timed=True) if "engine" in note]
    assert note.endswith("it acts as an asynchronous one here; did you mean 'libaio' or 'libblkio' or 'libiscsi'?")
    assert not [note for note in parse("[a]\nioengine=libaio\ndirect=1\n").notes(timed=True) if "engine" in note]
    (note,) = parse("[a]\nrw=write\nioengine=falloc\n").notes(timed=True)
    assert note.startswith("ioengine=falloc (line 3) reads and writes nothing on a drive in fio")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sysbench fileio --file-test-mode=rndrw run", "ssdlab run 'sysbench fileio"),
        (
            "dd if=/dev/zero of=test bs=1G count=1 oflag=dsync",
            "fio --name=dd --rw=write --bs=1G --size=1G --ioengine=psync --sync=dsync",
        ),
        (
            "sudo dd of=/dev/null if=/dev/sda bs=1M count=1024 iflag=direct",
            "fio --name=dd --rw=read --bs=1M --size='(1024*1M)' --ioengine=psync --direct=1",
        ),
    ],
)
def test_another_command_says_how_to_give_it(line: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        parse(f"{line}\n")
    if said.startswith("fio"):
        assert parse(said).sections[0].name == "dd"


def test_a_call_of_a_job_file(tmp_path: Path) -> None:
    (tmp_path / "two.fio").write_text("[x]\nrw=read\n[y]\nrw=write\n")
    path = tmp_path / "call.sh"
    path.write_text("fio two.fio --bs=16k --section=y\n")
    (job,) = load(path).sections
    assert (job.name, job.get(RW).direction, job.options) == ("y", "write", {"rw": "write"})


@pytest.mark.skipif(not FIO, reason="fio is not installed")
@pytest.mark.parametrize(
    "words",
    [
        "--name=a --rw=write",
        "-direct=1 -rw=randwrite -bs=4k -name=A --name=B --bs=8k",
        "--rw randread --bs 4k --direct 0 --norandommap --name a --time_based=0",
        "--name=a --bs=4k --name=global --bs=8k --name=c",
        "--output-format=json --eta=never --group_reporting --name=a --bssplit=4k/50:8k/50",
    ],
)
def test_fio_reads_the_call_the_same(tmp_path: Path, words: str) -> None:
    more = "--ioengine=null --size=1m --output-format=json"
    ran = subprocess.run(
        [FIO, *shlex.split(f"{more} {words}")], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    said = json.loads(ran.stdout[ran.stdout.index("{") :])
    file = parse(f"fio {more} {words}")
    if any("=global" in word for word in words.split()):
        assert [job.name for job in file.sections] == [job["jobname"] for job in said["jobs"]]
        return
    assert shown(file) == (said["global options"], [job["job options"] for job in said["jobs"]])


def shown(file: JobFile) -> tuple[dict[str, str], list[dict[str, str]]]:
    """What fio shows of a file: options with a value, and the name of each job among its own."""
    own = [{"name": job.name} | {key: text for key, text in job.options.items() if text} for job in file.sections]
    return {key: text for key, text in file.global_options.items() if text}, own


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fio --name=a --bsz=4k", r"the command line, line 1: 'bsz' is not an option .* did you mean"),
        ("fio --name=a --bs=0", r"line 1: bs=0: allowed is"),
        ("fio --name=a --bs=$BS", r"line 1: '--bs=\$BS': \$BS has no value; write BS=VALUE on a line above"),
        # Regressions: the message had the whole value of $A, or `iodepth=$2` as if it had been written so.
        ('A="--bs=4k --size=${M}"\nfio $A --name=a', r"line 2: '--size=\$\{M\}': \$M has no value; write M=VALUE"),
        ("D=$2\nfio --name=a --iodepth=$D", r"line 2: '--iodepth=\$2': \$2 is an argument of the script"),
        ("fio --name=a --bs=${A:-$B}", r"line 1: .*: \$B has no value; write B=VALUE"),
        ("fio --name=a --size=$(cat size)", r"is the output of a command, which is not run here"),
        ("A=$(cat size)\nfio --name=a --size=$A", r"line 2: '--size=\$A' is the output of a command"),
        ('A=(--bs=8k --size=$(cat size))\nfio --name=a "${A[@]}"', r"line 2: '--size=\$\(...\)' is the output"),
        (
            'declare -A A=([b]="--bs=8k")\nfio --name=a ${A[b]}',
            r"line 2: '\$\{A\[b\]\}': \$\{A\[b\]\} is not worked out",
        ),
        ("A=4k:1\nB=${A%%:*}\nfio --name=a --bs=$B", r"line 3: '--bs=\$B': \$\{A%%:\*\} is not worked out here"),
        (
            "#!/bin/sh\nprintf '\n[a]\nbs=4k\n' > a.fio\nfio a.fio",
            r"line 2: .* is a line of a script, and the sections below are of a job file that it contains",
        ),
        # Regressions: the first was said to have sections, and the others to need one above their first line.
        (
            "#!/bin/sh\nset -e\n$FIO $JOB --rw=read",
            r"line 2: 'set -e' is a line of a script without a call of fio that",
        ),
        ("kind: PVCBenchmark\nrw: write\n", r"line 1: 'kind: PVCBenchmark' is no option, and no line is a section"),
        ("\nfio --name=a 'x", r"line 2: .* is not a command of a shell: no closing quotation"),
        (
            "while true; do\nfio --name=a\ndone",
            r"line 1: while true: fio is called in a loop whose end only a shell knows",
        ),
        ("fio --version", r"calls fio without a job; add --name=NAME"),
        # A regression: it was said to call fio without a job.
        ('echo "Running fio with $B"\n"$FIO" --name=a --bs=$B\n', r"command line: has no call of fio that can be read"),
        ("fio missing.fio", r"missing\.fio: no such job file"),
        (f"fio {300 * 'x'}.fio", r"line 1: x{300}\.fio: File name too long"),
    ],
)
def test_errors_name_the_line_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text, "the command line", environment={})


def test_behind_two_dashes_a_call_needs_no_quotes(tmp_path: Path) -> None:
    call = "fio --name=x --rw=randwrite --ioengine=libaio --direct=1 --size=64m --io_size=1m"
    ran = subprocess.run(
        [sys.executable, "-m", "ssdlab", "run", "--drive", "generic-tlc-480", "--scale", "1/64", "--", *call.split()],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "x: (groupid=0, jobs=1): err= 0" in ran.stdout


def test_what_a_script_prints_is_no_call() -> None:
    said = 'echo "fio --name=said --rw=read --bs=4k"'
    (section,) = parse(f"{said}\nfio --name=done --rw=read --bs=4k\n").sections
    assert section.name == "done"
    (section,) = parse("fio --name=done --rw=read --exec_prerun='fio --name=within --rw=write'\n").sections
    assert section.name == "done"


def test_the_line_of_an_error_in_a_fence_is_that_of_the_text() -> None:
    with pytest.raises(InputError, match="line 5: "):
        parse("Look:\n\n```\n[a]\nrw=sideways\n```\n")
