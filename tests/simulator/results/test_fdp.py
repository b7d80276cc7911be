"""The reports of a drive with placement handles, with the structure of nvme-cli's output."""

from typing import Any

import pytest

import ssdlab
from ssdlab.errors import InputError
from ssdlab.simulator.results import Result
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

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
    assert fdp["host_events"] == {"n": 0, "events": [], "lost": 0}


def test_kinds_of_handles_and_drives_without() -> None:
    fdp = run("[a]\n", persistently_isolated=True).fdp
    assert fdp is not None
    (config,) = fdp["configs"]["configs"]
    assert config["ruhs"] == [{"ruht": 2}] * 4
    everywhere = run("[a]\n", persistently_isolated=True).fdp
    assert everywhere is not None
    assert everywhere["usage"]["ruhus"] == [{"ruha": 1}] * 4, "a job that names none uses all of them"
    assert "fdp" not in run("[a]\n").to_dict()["ssdlab"]


def test_media_reallocated_says_how_much_was_moved() -> None:
    sections = "[a]\nrw=write\nplids=1\n[b]\nstonewall\nsize=42%\nplids=2\nloops=1\nbs=4k\n"
    result = run(sections, persistently_isolated=False)
    assert result.fdp is not None and result.fdp["events"] is not None
    events, moved = result.fdp["events"]["events"], result.ledger.programmed_units["gc"]
    assert result.fdp["events"]["lost"] == 0 and 0 < len(events) == result.fdp["events"]["n"]
    assert sum(event.get("nlbam", 0) for event in events) == moved > 0
    assert {event["type"] for event in events} == {0x80}
    # The data of a victim belongs to one handle, unless it was moved before.
    for event in events:
        of_handle = event["fdpef"] == 1 | 4 and event.get("ruhid") == event["pid"] in (1, 2)
        assert of_handle or (event["fdpef"], event["pid"], "ruhid" in event) == (0, 0, False)
    times = [event["host_written_bytes"] for event in events]
    assert times == sorted(times) and times[-1] <= result.ledger.host_written_bytes


def test_the_log_keeps_what_a_page_holds() -> None:
    fdp = run("[a]\nbs=4k\nplids=1,3\n", persistently_isolated=False).fdp
    assert fdp is not None and fdp["events"] is not None
    assert fdp["events"]["n"] == len(fdp["events"]["events"]) == 63 and fdp["events"]["lost"] > 0


def test_garbage_collection_that_shares_a_handle_modifies_it() -> None:
    """Data that stays with its handle is not reallocated in the words of the standard; when garbage collection fills
    the handle's reclaim unit, the handle refers to another one without a write of the host."""
    fdp = run("[a]\nbs=4k\nplids=1,3\n", persistently_isolated=True).fdp
    assert fdp is not None and fdp["events"] is not None
    assert {event["type"] for event in fdp["events"]["events"]} == {0x81}
    assert {event.get("ruhid") for event in fdp["events"]["events"]} == {1, 3}
    assert not any("nlbam" in event for event in fdp["events"]["events"])


@pytest.mark.parametrize("erase_units", [1, 3, 7])
def test_a_reclaim_unit_of_several_erase_units(erase_units: int) -> None:
    """By hand: a handle fills the erase units of a reclaim unit one after the other."""
    sections = "[a]\nrw=write\nsize=40%\nplids=1\nloops=1\n[b]\nrw=write\noffset=50%\nsize=30%\nplids=3\nloops=1\n"
    result = run(sections, persistently_isolated=False, reclaim_unit_erase_units=erase_units)
    fdp = result.fdp
    assert fdp is not None and fdp["status"] is not None
    (config,) = fdp["configs"]["configs"]
    units = config["runs"] // 4096
    assert units % erase_units == 0
    written = [0, *(job.write.io_bytes // 4096 for job in result.jobs)]
    left = [units - written[of] % units for of in (0, 1, 0, 2)]
    assert [(each["pid"], each["ruhid"], each["ruamw"]) for each in fdp["status"]["ruhss"]] == [
        (handle, handle, blocks) for handle, blocks in enumerate(left)
    ]


def test_the_size_of_a_reclaim_unit_changes_reports_only() -> None:
    """Victims are erase units, whatever reclaim unit they belong to."""
    sections = "[a]\nbs=4k\nplids=1,3\n"
    one, four = (run(sections, persistently_isolated=False, reclaim_unit_erase_units=units) for units in (1, 4))
    assert one.ledger == four.ledger and one.fdp is not None and four.fdp is not None
    assert one.fdp["events"] == four.fdp["events"]
    isolated = [run(sections, persistently_isolated=True, reclaim_unit_erase_units=units) for units in (1, 4)]
    logs = [each.fdp["events"] for each in isolated if each.fdp is not None]
    modified = [len(log["events"]) + log["lost"] for log in logs if log is not None]
    assert modified[0] > 3 * modified[1] > 0


@pytest.mark.parametrize("erase_units", [0, 100_000])
def test_a_reclaim_unit_that_cannot_be(erase_units: int) -> None:
    with pytest.raises(InputError, match=r"ftl\.placement"):
        run("[a]\n", persistently_isolated=False, reclaim_unit_erase_units=erase_units)


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
    assert fdp["status"] is not None and fdp["events"] is not None
    # The group is in the highest bit of the sixteen.
    assert [each["pid"] for each in fdp["status"]["ruhss"]][:4] == [0, 1 << 15, 1, 1 << 15 | 1]
    half = result.capacity.user_bytes / 2 / 4096
    assert all(abs(group["live_units"] - half) < half / 10 and group["opened_for_gc"] > 0 for group in groups)
