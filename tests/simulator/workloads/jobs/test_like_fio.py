"""Are fio's seeds and the blocks that its scatter reaches reproduced? The engine's tests compare the sequences."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import parse
from ssdlab.simulator.workloads.jobs.like_fio import reached_blocks, seed

FIO = shutil.which("fio") or ""
KIB = 1 << 10
SCATTER = 0x61C8864680B583EB


def test_the_seed_is_the_one_found_in_fio() -> None:
    # Found by trying all 2^32 seeds on fio 3.33's log of a job with filename=dev.
    assert seed("dev", 1) == 0x44F6263E
    assert seed("dev", 3) == 3 * 0x44F6263E & 0xFFFFFFFF


def rank_blocks(count: int, ranks: int) -> set[int]:
    return {rank * SCATTER % (1 << 64) % count for rank in range(ranks)}


@pytest.mark.parametrize("count", [1, 2, 256, 1000, 1024, 10_007, 15_625])
def test_the_reach_is_counted_rank_by_rank(count: int) -> None:
    for law, parameter in (("zipf", 0.6), ("zipf", 1.2), ("pareto", 0.2), ("normal", 10.0)):
        # fio's zipf has one rank too many, which results only from the highest of the 2^32 draws.
        wanted = rank_blocks(count, count + 1 if law == "zipf" and count > 2 else count)
        assert reached_blocks(law, parameter, count) == len(wanted), (law, parameter)


def test_a_large_drive_is_reached_even_less() -> None:
    # Draws are further apart than ranks here: the sparse tail is simulated separately, draw by draw.
    count = 1 << 24
    reached = reached_blocks("zipf", 2.5, count)
    assert reached is not None
    zeta = sum(k**-2.5 for k in range(1, 3000))
    eta = (1 - (2 / count) ** -1.5) / (1 - (1 + 0.5**2.5) / zeta)
    last = (1 << 32) - 1

    def rank(draw: int) -> int:
        return int(count * (eta * (draw / last) - eta + 1) ** (1 / -1.5))

    # Bounds: every rank below the first gap, and one for each draw after the last pair that shares a rank.
    draw = last
    sparse = 0
    while rank(draw) - rank(draw - 1) > 1:
        draw -= 1
        sparse += 1
        if sparse > 200_000:
            break
    assert reached < count / 10
    assert reached > min(sparse, 200_000)


def test_too_many_blocks_are_not_counted() -> None:
    assert reached_blocks("zipf", 1.2, 1 << 40) is None


def resolved(options: str, user_bytes: int = 1000 * 4 * KIB) -> tuple[Any, tuple[str, ...]]:
    file = parse(f"[a]\nrw=randwrite\nrandom_distribution=zipf:1.2\nzipf_like_fio=1\n{options}\n", "x.fio")
    (job,) = file.resolve(user_bytes, seed=1)
    return job["distribution"], file.notes(timed=True)


def test_the_job_and_its_note() -> None:
    distribution, notes = resolved("filename=dev")
    assert distribution == {
        "name": "like-fio",
        "law": {"name": "zipf", "theta": 1.2},
        "center": None,
        "seed": 0x44F6263E,
    }
    assert [note for note in notes if "30.8 % of the 1,000 blocks of a" in note]
    assert resolved("")[0]["seed"] == seed("a.0.0", 1)
    assert resolved("directory=dir\nfilename=dev")[0]["seed"] == seed("dir/dev", 1)


def test_without_a_skew_it_changes_nothing() -> None:
    plain = parse("[a]\nrw=randwrite\n").resolve(1 << 20, seed=1)
    assert parse("[a]\nrw=randwrite\nzipf_like_fio=1\n").resolve(1 << 20, seed=1) == plain


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("bs=4k,8k", "one length"),
        ("ba=8k", "no other blockalign"),
        ("nrfiles=2\nsize=64k", "one file only"),
    ],
)
def test_where_fio_leaves_its_range_it_is_refused(options: str, part: str) -> None:
    with pytest.raises(InputError, match=part) as caught:
        resolved(options)
    assert "x.fio, line 4: zipf_like_fio=1" in str(caught.value)


@pytest.mark.skipif(not FIO, reason="fio is not installed")
def test_fio_reaches_only_the_blocks_that_we_say(tmp_path: Path) -> None:
    count = 1000
    (tmp_path / "job.fio").write_text(
        f"[j]\nioengine=null\nrw=randread\nsize={count * 4}k\nio_size=400m\nwrite_iolog=log\n"
        "random_distribution=zipf:0.2:0\n"
    )
    subprocess.run([FIO, "job.fio"], cwd=tmp_path, capture_output=True, check=True)
    offsets = re.findall(r" read (\d+) \d+$", (tmp_path / "log").read_text(), re.MULTILINE)
    assert len(offsets) == 102_400
    assert {int(offset) // 4096 for offset in offsets} == rank_blocks(count, count)
