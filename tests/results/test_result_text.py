"""Is the text laid out as fio's, and are sizes printed as fio prints them?"""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ssdlab.results.text import fio_size, normal


def test_layout(run: Any) -> None:
    text = normal(run("[global]\nbs=4k\ngroup_reporting\n[a]\nrw=randwrite\nnumjobs=2\n[b]\nstonewall\nrw=read\n"))
    assert "a: (groupid=0, jobs=2): err= 0\n  write: io=320KiB (328kB), ios=80;" in text
    assert "    waf: 1.5000 = host 1.0000 + gc 0.5000" in text
    assert "b: (groupid=1, jobs=1): err= 0\n   read: io=160KiB (164kB), ios=40;" in text
    assert "waf: not measured (the host wrote nothing)" in text
    assert "Run status group 1 (all jobs):\n   READ: io=160KiB (164kB)" in text


def test_a_read_only_drive_is_told(run: Any) -> None:
    text = normal(run("[a]\nrw=write\nbs=4k\n", seed=14))
    assert "err=30" in text
    assert "READ-ONLY: the drive is out of spare blocks" in text


@pytest.mark.parametrize("size", ["512", "4k", "1000k", "4m", "12m", "100m", "1g"])
def test_sizes_are_printed_as_fio_does(size: str, tmp_path: Path) -> None:
    command = ["fio", "--name=a", "--ioengine=null", "--rw=write", "--bs=512", f"--size={size}"]
    command += ["--bs=1m"] if size.endswith(("m", "g")) else []
    printed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=60).stdout
    theirs = re.search(r"io=(\S+ \(\S+\))", printed)
    assert theirs is not None
    factor = {"k": 2**10, "m": 2**20, "g": 2**30}.get(size[-1], 1)
    assert fio_size(int(size.rstrip("kmg")) * factor) == theirs[1]
