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
    drive = ssdlab.drive("textbook", op="40%", scale="1/4", settings=settings)
    return simulated.run(specifying.specify(parse(HEAD + sections), drive, timed=False))


def test_the_four_logs() -> None:
    result = run("[a]\nsize=50%\nplids=1,3\n[b]\noffset=50%\nfdp=0\n", persistently_isolated=False)
    fdp = result.fdp
    assert fdp is not None and result.to_dict()["ssdlab"].get("fdp") == fdp
    (config,) = fdp["configs"]
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
    (config,) = fdp["configs"]
    assert config["ruhs"] == [{"ruht": 2}] * 4
    everywhere = run("[a]\n", persistently_isolated=True).fdp
    assert everywhere is not None
    assert everywhere["usage"]["ruhus"] == [{"ruha": 1}] * 4, "a job that names none uses all of them"
    assert "fdp" not in run("[a]\n").to_dict()["ssdlab"]


def test_reads_use_no_handle() -> None:
    fdp = run("[a]\nrw=randread\nplids=2\n[b]\nplids=0\n", persistently_isolated=False).fdp
    assert fdp is not None and fdp["usage"]["ruhus"][2] == {"ruha": 0}
