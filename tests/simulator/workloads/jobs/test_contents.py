"""Does fio write data with the compressible and duplicate shares that ssdlab derives from its options?"""

import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from ssdlab.simulator.workloads.jobs import parse

BLOCKS = 512
BLOCK_BYTES = 4096

# Options with the compressible and the duplicate percentage by our rules; fio's file is compared with both.
CONTENTS = {
    "": (0, 0),
    "refill_buffers": (0, 0),
    "zero_buffers": (100, 100),
    "zero_buffers\nrefill_buffers": (100, 100),
    "scramble_buffers=0": (0, 100),
    "buffer_pattern=0xdeadbeef": (100, 100),
    "buffer_compress_percentage=50": (50, 0),
    "buffer_compress_percentage=30\nrefill_buffers": (30, 0),
    "buffer_compress_percentage=50\nrefill_buffers=0": (50, 100),
    "buffer_compress_percentage=100": (100, 100),
    "buffer_compress_percentage=0": (0, 100),
    "buffer_compress_percentage=50\nbuffer_pattern=0xab": (50, 0),
    "buffer_compress_percentage=50\nzero_buffers": (50, 0),
    "dedupe_percentage=30": (0, 30),
    "dedupe_percentage=0": (0, 0),
    "dedupe_percentage=30\nbuffer_compress_percentage=40": (40, 30),
    "dedupe_percentage=50\nzero_buffers": (0, 50),
    "dedupe_percentage=50\nbuffer_pattern=0xab": (0, 100),
}


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("options", CONTENTS)
def test_what_fio_writes_is_what_we_say(options: str, tmp_path: Path) -> None:
    text = f"[a]\nrw=write\nbs=4k\nsize={BLOCKS * 4}k\nrandseed=7\n{options}\n"
    (tmp_path / "a.fio").write_text(text + "filename=data\n")
    subprocess.run(["fio", "a.fio"], cwd=tmp_path, check=True, capture_output=True)
    data = (tmp_path / "data").read_bytes()
    blocks = [data[at : at + BLOCK_BYTES] for at in range(0, len(data), BLOCK_BYTES)]
    repeat_percent = 100 * (1 - len(set(blocks)) / len(blocks))
    saved_percent = 100 * (1 - sum(len(zlib.compress(block, 1)) for block in blocks) / len(data))

    (job,) = parse(text).resolve(1 << 30, seed=1)
    ours = (job.get("compress_percent", 0.0), job.get("dedupe_percent", 0.0))
    assert ours == CONTENTS[options]
    # fio's scrambling leaves 8 % for zlib; 6 percentage points are three standard deviations over 512 blocks.
    assert abs(saved_percent - ours[0]) < 9, f"{saved_percent:.1f} % compress away"
    assert abs(repeat_percent - ours[1]) < 6, f"{repeat_percent:.1f} % repeat"
