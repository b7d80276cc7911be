"""The reports of a drive with placement handles, with the structure of nvme-cli's output."""

from typing import Any

import ssdlab
from ssdlab.results import Result
from ssdlab.targets import simulated
from ssdlab.workloads import specifying
from ssdlab.workloads.jobs import parse

HEAD = "[global]\nrw=randwrite\nbs=16k\nnorandommap\nloops=3\nfdp=1\n"


def run(sections: str, **placement: Any) -> Result:
    words = ", ".join(f"{key} = {str(value).lower()}" for key, value in placement.items())
    settings = {"ftl.placement": f"{{ name = 'host-streams', identifiers = 4, {words} }}" if words else "single"}
    if placement.get("reclaim_groups", 1) > 1:
        settings |= {"ftl.erase_unit": "superblock", "nand.dies_per_channel": "4"}
    drive = ssdlab.drive("textbook", op="40%", scale="1/4", settings=settings)
    return simulated.run(specifying.specify(parse(HEAD + sections), drive, timed=False))


def test_the_four_logs() -> None:
    result = run("[a]\nsize=50%\nplids=1,3\n[b]\noffset=50%\nfdp=0\n", persistently_isolated=False)
    fdp = result.fdp
    assert fdp is not None and result.to_dict()["ssdlab"].get("fdp") == fdp
    # As `nvme fdp configs` prints it, with the number counted from 0.
    assert fdp["configs"]["n"] == 0
    (config,) = fdp["configs"]["configs"]
    assert config["nruh"] == 4 and config["nrg"] == 1
    # NVM Express 2.1, figure 281: 1 is initially isolated, 2 persistently.
    assert config["ruhs"] == [{"ruht": 1}] * 4
    # The second job names no handle: its writes go to the first, which the drive chose.
    assert fdp["usage"] == {"nruh": 4, "ruhus": [{"ruha": 2}, {"ruha": 1}, {"ruha": 0}, {"ruha": 1}]}
    stats = fdp["stats"]
    assert stats["hbmw"] == result.ledger.host_written_bytes
    assert stats["mbmw"] / stats["hbmw"] == result.waf
    # All erased data had been programmed; the rest is in reclaim units that are closed or open.
    left = stats["mbmw"] - stats["mbe"]
    assert 0 < left <= result.capacity.physical_bytes and stats["mbe"] % config["runs"] == 0
    assert fdp["events"] is None


def test_kinds_of_handles_and_drives_without() -> None:
    fdp = run("[a]\n", persistently_isolated=True).fdp
    assert fdp is not None
    (config,) = fdp["configs"]["configs"]
    assert config["ruhs"] == [{"ruht": 2}] * 4
    everywhere = run("[a]\n", persistently_isolated=True).fdp
    assert everywhere is not None
    assert everywhere["usage"]["ruhus"] == [{"ruha": 1}] * 4, "a job that names none uses all of them"
    assert "fdp" not in run("[a]\n").to_dict()["ssdlab"]


def test_reads_use_no_handle() -> None:
    fdp = run("[a]\nrw=randread\nplids=2\n[b]\nplids=0\n", persistently_isolated=False).fdp
    assert fdp is not None and fdp["usage"]["ruhus"][2] == {"ruha": 0}


def test_reclaim_groups() -> None:
    sections = "[a]\nsize=50%\nplids=3\n[b]\noffset=50%\nplids=4\n"
    result = run(sections, persistently_isolated=False, reclaim_groups=2)
    fdp, groups = result.fdp, result.reclaim_groups
    assert fdp is not None and groups is not None
    (config,) = fdp["configs"]["configs"]
    # One bit of an identifier names the group.
    assert (config["nrg"], config["nruh"], config["fdpa"]) == (2, 4, 1 << 7 | 1)
    # Identifier 3 is handle 1 in group 1, and 4 is handle 2 in group 0.
    assert fdp["usage"] == {"nruh": 4, "ruhus": [{"ruha": 0}, {"ruha": 1}, {"ruha": 1}, {"ruha": 0}]}
    assert result.to_dict()["ssdlab"].get("reclaim_groups") == groups
    assert sum(group["erased"] for group in groups) * config["runs"] == fdp["stats"]["mbe"]
    half = result.capacity.user_bytes / 2 / 4096
    assert all(abs(group["live_units"] - half) < half / 10 and group["opened_for_gc"] > 0 for group in groups)
