"""Where SMART comes from: programs that answer, that do not, that answer nonsense; a simulated drive's statistics."""

import json
from pathlib import Path

import pytest

from reports import ata, nvme
from ssdlab.smart import source
from ssdlab.smart.source import Report, Unavailable


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only one in which programs are found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, says: object, when: str = "") -> None:
    """A program that prints something, if its arguments contain `when`."""
    text = says if isinstance(says, str) else json.dumps(says)
    (folder / f"{name}.out").write_text(text)
    script = f"""#!/bin/sh
case "$*" in *"{when}"*) ;; *) exit ;; esac
while IFS= read -r line || [ -n "$line" ]; do printf '%s\\n' "$line"; done < {folder}/{name}.out
"""
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def test_a_sata_drive(programs: Path) -> None:
    put(programs, "smartctl", ata("Phison Driven SSDs", {(241, "Lifetime_Writes_GiB"): 7}))
    found = source.read("sda")
    assert isinstance(found, Report)
    assert found.reading.host is not None and found.reading.host.bytes == 7 * 2**30


def test_an_nvme_drive_with_ocps_log(programs: Path) -> None:
    put(programs, "smartctl", nvme(5))
    put(programs, "nvme", {"Physical media units written": {"hi": 0, "lo": 77}}, when="ocp smart-add-log")
    found = source.read("nvme0n1")
    assert isinstance(found, Report)
    assert [count.bytes for count in found.reading.nand] == [77]


def test_an_nvme_drive_with_its_makers_log(programs: Path) -> None:
    units = 1000 * 2**25 // 512_000
    put(programs, "smartctl", nvme(units) | {"model_name": "INTEL SSDPE2KX010T8"})
    statistics = {"nand_bytes_written": {"raw": 1500}, "host_bytes_written": {"raw": 1000}}
    put(programs, "nvme", json.dumps({"Device stats": statistics}) + "/n", when="intel smart-log-add")
    found = source.read("nvme0n1")
    assert isinstance(found, Report) and found.ocp is None
    assert [count.ticks for count in found.reading.nand] == [1500]


def test_what_does_not_answer_says_why(programs: Path) -> None:
    assert source.read("sda") == Unavailable("smartctl is not installed (package smartmontools)")
    put(programs, "smartctl", "not JSON")
    assert "returned no JSON" in source.read("sda").reason  # type: ignore[union-attr]
    put(programs, "smartctl", "[1]")
    assert "no JSON object" in source.read("sda").reason  # type: ignore[union-attr]
    messages = [{"string": "/dev/sda: Permission denied", "severity": "error"}]
    put(programs, "smartctl", {"smartctl": {"exit_status": 2, "messages": messages}})
    assert source.read("sda") == Unavailable("/dev/sda: Permission denied")
    put(programs, "smartctl", {"smartctl": {"exit_status": 4}, "model_name": "X"})
    assert "contains no SMART data" in source.read("sda").reason  # type: ignore[union-attr]


def test_a_simulated_drive(tmp_path: Path) -> None:
    statistics = tmp_path / "stats.json"
    assert source.read("loop7", tmp_path / "drive") == Unavailable("a loop device over a file has no SMART")
    statistics.write_text("{")
    assert "could not be read" in source.read("loop7", tmp_path / "drive").reason  # type: ignore[union-attr]
    smart = nvme(9) | {"ocp_smart_log": {"physical_media_units_written_bytes": 11}}
    statistics.write_text(json.dumps({"ssdlab": {"smart": smart}}))
    found = source.read("loop7", tmp_path / "drive")
    assert isinstance(found, Report)
    assert [count.bytes for count in found.reading.nand] == [11]
