"""The simulated drives of `ssdlab serve` and `ssdlab live`, with the metrics of real drives."""

from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.field.health import metrics, served
from ssdlab.live.choices import DriveChoice
from ssdlab.live.measured import measurable
from ssdlab.live.session import Session
from ssdlab.live.workbench import Start, Workbench
from ssdlab.serving.drive import ServedDrive
from ssdlab.serving.watching import watchable


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_drives_on_a_live_page() -> None:
    drives = (DriveChoice(name="tiny", op=0.5), DriveChoice(name="tiny", op=1.0))
    workbench = Workbench(Start(drives=drives), Session)
    try:
        workbench.session.step(20_000)
        with measurable(workbench) as unseen:
            assert unseen is None
            rows = served.rows()
        for index, row in enumerate(rows):
            outcome: Any = workbench.session.outcome(index)["ledger"]
            assert row["nand_bytes"] == sum(outcome["programmed_units"].values()) * 4096
            # NVMe counts the host's writes in steps of 512,000 bytes.
            assert 0 <= row["host_bytes"] - outcome["host_written_bytes"] < 512_000
        assert len(rows) == 2 and rows[0]["waf"] > rows[1]["waf"] > 1
        text = metrics.text_of(rows)
        for name in ("ssd_write_amplification_ratio", "ssd_nand_written_bytes_total", "ssd_life_left_ratio"):
            assert f'{name}{{device="live: ' in text
        assert "smartctl_device_available_spare{" not in text, "a drive without faults has no spare blocks to tell of"
        assert not served.rows()
    finally:
        workbench.close()


def test_a_served_drive() -> None:
    drive = ServedDrive(ssdlab.drive("tiny"))
    try:
        with watchable(drive, "/mnt/simulated"):
            (row,) = served.rows()
        assert row["source"] == "/mnt/simulated" and row["spare_percent"] == 100
    finally:
        drive.close()
