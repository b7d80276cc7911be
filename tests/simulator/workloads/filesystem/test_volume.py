"""Does the allocator agree with a slow reference that tracks every block, and place files like ext4?"""

import random
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from ssdlab.simulator.workloads.filesystem.volume import BLOCK_BYTES, Extent, NoSpace, Volume

MIB, GIB = 1 << 20, 1 << 30


def blocks(extents: list[Extent]) -> set[int]:
    found = [
        block
        for extent in extents
        for block in range(extent.offset_bytes // BLOCK_BYTES, extent.end_bytes // BLOCK_BYTES)
    ]
    assert len(found) == len(set(found)), "no block twice"
    return set(found)


@pytest.mark.parametrize("seed", range(8))
def test_against_a_set_of_blocks(seed: int) -> None:
    chance = random.Random(seed)
    volume = Volume(64 * MIB, Fraction(1, 128))
    free = blocks(volume.free_extents())
    assert free | blocks(volume.metadata) == set(range(64 * MIB // BLOCK_BYTES))
    assert not free & blocks(volume.metadata)
    files: list[list[Extent]] = []
    for _ in range(300):
        if files and chance.random() < 0.45:
            extents = files.pop(chance.randrange(len(files)))
            volume.free(extents)
            free |= blocks(extents)
        else:
            size = chance.choice([1, 4096, 5000, 70_000, MIB, 5 * MIB + 1])
            goal = chance.choice([None, files[-1][-1].end_bytes if files else None, chance.randrange(64 * MIB)])
            wanted = -(-size // BLOCK_BYTES)
            if wanted > len(free):
                with pytest.raises(NoSpace, match="are required and"):
                    volume.allocate(size, goal)
                continue
            extents = volume.allocate(size, goal)
            assert blocks(extents) <= free and len(blocks(extents)) == wanted
            free -= blocks(extents)
            files.append(extents)
        assert blocks(volume.free_extents()) == free and volume.free_bytes == len(free) * BLOCK_BYTES


@pytest.mark.skipif(shutil.which("mkfs.ext4") is None, reason="e2fsprogs is not installed")
@pytest.mark.parametrize("size_bytes", [238 * GIB, 100 * GIB, 20 * GIB, 3 * GIB])
def test_a_fresh_volume_has_the_room_that_mkfs_leaves(size_bytes: int, tmp_path: Path) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(size_bytes)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
    said = subprocess.run(["dumpe2fs", "-h", image], check=True, capture_output=True, text=True).stdout
    image.unlink()
    ext4s = int(re.search(r"Free blocks: *(\d+)", said)[1]) * BLOCK_BYTES  # type: ignore[index]
    # The copies of the descriptors and their reserve are not modelled.
    assert abs(Volume(size_bytes).free_bytes - ext4s) < 0.0035 * size_bytes


def test_large_files_follow_each_other_and_go_round() -> None:
    volume = Volume(4 * GIB)
    first, second = volume.allocate(100 * MIB), volume.allocate(100 * MIB)
    assert first[-1].end_bytes == second[0].offset_bytes
    volume.free(first)
    assert volume.allocate(100 * MIB)[0].offset_bytes == second[-1].end_bytes, "not into the hole behind"
    files = [volume.allocate(100 * MIB) for _ in range(volume.free_bytes // (100 * MIB))]
    assert any(min(extents).offset_bytes < second[0].offset_bytes for extents in files[-2:]), (
        "round to the hole at last"
    )


def test_a_volume_without_room_for_data_is_refused() -> None:
    with pytest.raises(ValueError, match="no space for data"):
        Volume(MIB)
