"""The first study's steps with the real sysbench on a mounted drive, and in simulated time: both give the same finding.

At virtual pace a mounted drive is as fast as this machine, so the loss is measured by write amplification: the flash's
speed is divided by it. At `--pace real` the speeds themselves fall.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import sysbench_by_events
from own_devices import needs
from running_drives import DRIVE
from served import Serve, result_in, serial_of
from ssdlab.experiments.protocols import simulated
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.over_provisioning_blog.real import PARTITIONED, WHOLE
from ssdlab.simulator import drives

pytestmark = [pytest.mark.fuse, pytest.mark.loop, needs("fio", "sysbench", "mkfs.ext4", "losetup", "blkdiscard")]


def wafs_of_runs(figures: list[Figures]) -> dict[str, list[float]]:
    """Write amplification of each point's runs."""
    found: dict[str, list[float]] = {}
    for run in figures:
        if run.shown:
            assert run.waf is not None, run
            found.setdefault(run.point, []).append(run.waf)
    return found


def test_unpartitioned_space_keeps_a_full_drive_from_falling(serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    assert mounted.loop
    done = subprocess.run(
        [sys.executable, sysbench_by_events.__file__, mounted.loop, serial_of(mounted), tmp_path / "out"],
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    measured = wafs_of_runs([Figures.from_dict(step) for step in result_in(tmp_path / "out")["steps"]])
    assert mounted.end() == 0

    (tmp_path / "drive.toml").write_text(DRIVE)
    drive = drives.resolve(drives.load(str(tmp_path / "drive.toml")))
    said = wafs_of_runs(simulated.run(sysbench_by_events.PROTOCOL, drive, quick=True))
    for wafs in (measured, said):
        # The whole drive has less than two fifths of its speed left, the over-provisioned one more than half.
        assert wafs[WHOLE][-1] > 2.5
        assert wafs[PARTITIONED][-1] < 2.0
    for point in (WHOLE, PARTITIONED):
        # The simulated steps lack ext4's journal and its placement of files.
        assert measured[point] == pytest.approx(said[point], rel=0.2)
