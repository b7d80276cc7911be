"""The sources of SMART: programs that answer, fail, or return garbage; a simulated drive's statistics."""

import json
from pathlib import Path

import pytest

from reports import ata, nvme
from ssdlab.hardware.smart import source
from ssdlab.hardware.smart.source import Report, Unavailable


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only one in PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, says: object, when: str = "") -> None:
    """Creates a program that prints a text or a value as JSON, if its arguments contain `when`."""
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


# As nvme-cli prints them (nvme-print-json.c).
EVENTS = {"n": 1, "events": [{"type": 128, "fdpef": 1, "pid": 2, "timestamp": 9, "nsid": 0, "nlbam": 77}]}
STATUS = {"nruhsd": 1, "ruhss": [{"pid": 0, "ruhid": 0, "earutr": 0, "ruamw": 3193344}]}
GROUP_3 = "--endgrp-id=3 --output-format=json"


def put_fdp(folder: Path, host: int, media: int, *, group: int = 3) -> None:
    """Creates an nvme-cli of a drive with flexible data placement, which answers only calls for this endurance
    group."""
    answers = {
        "id-ns /dev/nvme0n1 --output-format=json": {"nsze": 1000, "endgid": group},
        f"fdp stats /dev/nvme0n1 {GROUP_3}": {"hbmw": host, "mbmw": media, "mbe": 1 << 20},
        f"fdp usage /dev/nvme0n1 {GROUP_3}": {"nruh": 2, "ruhus": [{"ruha": 1}, {"ruha": 0}]},
        f"fdp events /dev/nvme0n1 {GROUP_3}": EVENTS,
        f"fdp events /dev/nvme0n1 {GROUP_3.replace(' ', ' --host-events ')}": {"n": 0, "events": []},
        "fdp status /dev/nvme0n1 --output-format=json": STATUS,
    }
    cases = "".join(f"'{call}') echo '{json.dumps(answer)}' ;;\n" for call, answer in answers.items())
    (folder / "nvme").write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) exit 1 ;;\nesac\n')
    (folder / "nvme").chmod(0o755)


def read_fdp(folder: Path, host: int, media: int, *, group: int = 3) -> Report:
    put_fdp(folder, host, media, group=group)
    found = source.read("nvme0n1")
    assert isinstance(found, Report)
    return found


def test_a_drive_with_flexible_data_placement(programs: Path) -> None:
    put(programs, "smartctl", nvme(5))
    found = read_fdp(programs, 400, 600)
    assert found.reading.host is not None and found.reading.host.bytes == 400
    assert [count.bytes for count in found.reading.nand] == [600]
    before = found.fdp
    after = read_fdp(programs, 1000, 1500).fdp
    assert after is not None and before is not None
    assert after.since(before) == {
        "configs": None,
        "usage": {"nruh": 2, "ruhus": [{"ruha": 1}, {"ruha": 0}]},
        "stats": {"hbmw": 600, "mbmw": 900, "mbe": 0},
        "status": STATUS,
        "events": EVENTS,
        "host_events": {"n": 0, "events": []},
    }
    assert before.since(after) is None, "counters that were reset say nothing"
    assert after.since(None) is None


def test_a_namespace_without_an_endurance_group_has_no_placement_logs(programs: Path) -> None:
    put(programs, "smartctl", nvme(5))
    assert read_fdp(programs, 400, 600, group=0).fdp is None
    # The statistics belong to a different group: flexible data placement is off in the requested one.
    off = read_fdp(programs, 400, 600, group=1)
    assert off.fdp is None and off.reading.nand == ()


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
