"""Does a replayed trace have the same effect on the drive as its requests from any other source?"""

import gzip
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.simulator.workloads.traces.specification import DriveWrites

Request = tuple[str, int, int]
UNIT = 4096
# The capacity of `tiny.toml`.
TINY_BYTES = 1 << 20
FIO = shutil.which("fio")
needs_fio = pytest.mark.skipif(FIO is None, reason="no fio")


def fio_log(folder: Path, *options: str) -> list[Request]:
    """Runs the real fio on a small file, with `fio.log` as its log. Returns the requests in it, in order."""
    (folder / "fio.log").unlink(missing_ok=True)
    places = (f"--filename={folder / 'data'}", f"--write_iolog={folder / 'fio.log'}")
    command = [str(FIO), "--name=job", "--ioengine=psync", f"--size={TINY_BYTES}", *places, *options]
    subprocess.run(command, check=True, capture_output=True)
    words = [line.split() for line in (folder / "fio.log").read_text().splitlines()[1:]]
    return [(line[2], int(line[3]), int(line[4])) for line in words if line[2] in ("read", "write", "trim")]


def last_job(result: Any) -> Any:
    return result.jobs[-1]


def own_jobs(folder: Path, text: str, **options: Any) -> Any:
    (folder / "own.fio").write_text(text)
    return ssdlab.run(folder / "own.fio", ssdlab.drive(folder / "tiny.toml"), timed=False, **options)


@needs_fio
@pytest.mark.parametrize("precondition", ["fill", "none"])
def test_a_sequential_job_of_fio(folder: Path, replayed: Any, precondition: Any) -> None:
    """For sequential requests the real fio and the engine are identical, so whole jobs can be compared."""
    fio_log(folder, "--rw=write", "--bs=16k", "--loops=5")
    from_log = replayed("fio.log", precondition=precondition)
    own = own_jobs(folder, "[job]\nrw=write\nbs=16k\nloops=5\n", precondition=precondition)
    assert last_job(own).write.total_ios == 5 * TINY_BYTES // 16384
    assert last_job(from_log).ledger == last_job(own).ledger
    assert from_log.ledger == own.ledger
    assert from_log.wear == own.wear


@needs_fio
def test_a_random_job_of_fio_request_by_request(folder: Path, replayed: Any) -> None:
    """fio's random addresses differ from ours. The reference run has each request as a separate job in its own
    stage."""
    mix = ("--rw=randrw", "--rwmixread=30", "--bsrange=512-16k", "--norandommap", "--number_ios=600")
    requests = fio_log(folder, *mix, "--io_size=100m")
    assert len(requests) > 300
    sections = ["[fill]\nrw=write\nbs=128k\n"]
    sections += [
        f"[request{index}]\nstonewall\nrw={operation}\nbs={length}\noffset={at}\nsize={length}\n"
        for index, (operation, at, length) in enumerate(requests)
    ]
    own = own_jobs(folder, "\n".join(sections))
    from_log = replayed("fio.log", precondition="fill")
    assert own.ledger.programmed_units["gc"] > 100, "so short a run would prove little"
    assert from_log.ledger == own.ledger
    assert from_log.wear == own.wear


def some_requests(count: int, seed: int = 1) -> list[Request]:
    chosen = random.Random(seed)
    operations = chosen.choices(("read", "write", "trim"), (3, 6, 1), k=count)
    return [
        (operation, chosen.randrange(TINY_BYTES // 512 - 32) * 512, chosen.choice((512, 4096, 16384)))
        for operation in operations
    ]


def test_every_form_of_the_same_requests_gives_the_same_ledger(folder: Path, replayed: Any, write_trace: Any) -> None:
    requests = some_requests(3000)
    plain = write_trace("whole.log", requests).read_bytes()
    (folder / "whole.log.gz").write_bytes(gzip.compress(plain))
    write_trace("first.log", requests[:1111])
    write_trace("second.log", requests[1111:])
    sectors = [(operation, at // 512, length // 512) for operation, at, length in requests]
    letters = {"read": "R", "write": "W", "trim": "D"}
    (folder / "blkparse.txt").write_text(
        "".join(
            f"  8,0    1 {index:8} {index:5}.000000001  4711  Q  {letters[operation]} {at} + {length} [test]\n"
            for index, (operation, at, length) in enumerate(sectors)
        )
    )
    whole = replayed("whole.log")
    assert whole.ledger.programmed_units["gc"] > 1000
    for names in (["whole.log.gz"], ["first.log", "second.log"], ["blkparse.txt"]):
        assert replayed(*names).ledger == whole.ledger, names
    counts = {name: sum(operation == name for operation, _, _ in requests) for name in letters}
    assert {name: getattr(last_job(whole), name).total_ios for name in letters} == counts


@pytest.mark.parametrize("address_map", ["fold", "compact"])
def test_a_repeated_trace_is_the_trace_written_out_again(replayed: Any, write_trace: Any, address_map: Any) -> None:
    """With packed addresses it is split at places unrelated to the drive, and trims addresses not yet accessed."""
    requests = some_requests(2000)
    how: dict[str, Any] = {"address_map": address_map}
    if address_map == "compact":
        requests = [(operation, at // 65536 * (1 << 34) + at % 65536, length) for operation, at, length in requests]
        how["on"] = "small.toml"
    write_trace("once.log", requests)
    repeated = replayed("once.log", loop_until=DriveWrites(None, 40_000_000 // UNIT * UNIT), **how)
    amount, written, count = repeated.specification.trace["loop_until_written_bytes"], 0, 0
    for operation, _, length in requests * 5:
        count += 1
        written += length if operation == "write" else 0
        if written >= amount:
            break
    assert repeated.trace_counts["passes"] == -(-count // len(requests)) > 1
    assert last_job(repeated).ledger.host_written_bytes == written, "to the request"
    write_trace("cut.log", (requests * 5)[:count])
    written_out = replayed("cut.log", **how)
    assert written_out.ledger == repeated.ledger
    assert written_out.trace_counts == repeated.trace_counts | {"passes": 1}
    assert (address_map == "compact") == (repeated.trace_counts["split"] > 0 < repeated.trace_counts["moved"])
