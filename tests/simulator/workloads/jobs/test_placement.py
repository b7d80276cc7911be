"""Do the placement identifiers of a job file reach the drive, each with the right writes?"""

from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.errors import InputError
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse


def run(text: str, drive: Any) -> Result:
    return simulated.run(specifying.specify(parse(text), drive, seed=3, timed=False))


# Random writes to a tenth, in parallel with a log that cycles through the rest: consecutive writes have very different
# lifetimes.
TENANTS = (
    "[global]\nfdp=1\n{both}"
    "[fill]\nrw=write\nbs=64k\n"
    "[hot]\nstonewall\nrw=randwrite\nnorandommap\nsize=10%\nio_size={amount}\n{hot}"
    "[log]\nrw=write\noffset=10%\nsize=85%\nio_size={amount}\n{log}"
)
APART = {"both": "", "hot": "plids=0\n", "log": "plids=1\n"}


def settled_waf(placement: str, of_jobs: dict[str, str]) -> float:
    drive = ssdlab.drive("textbook", op="20%", settings={"ftl.placement": placement}, scale="1/4")
    warm = run(TENANTS.format(amount="1g", **of_jobs), drive)
    longer = run(TENANTS.format(amount="1536m", **of_jobs), drive)
    programmed_bytes = longer.ledger.programmed_bytes - warm.ledger.programmed_bytes
    return programmed_bytes / (longer.ledger.host_written_bytes - warm.ledger.host_written_bytes)


def test_hot_and_cold_jobs_on_their_own_streams_write_hardly_anything_twice() -> None:
    """Compares separation by the host with that of a drive alone, and with a drive that learns."""
    wafs = {name: settled_waf(name, APART) for name in ("single", "frequency-frontiers", "host-streams")}
    assert wafs["host-streams"] < 1.05, wafs
    assert wafs["single"] > 1.8, wafs
    assert wafs["host-streams"] <= wafs["frequency-frontiers"] < wafs["single"], wafs


def test_a_scheme_keeps_apart_what_lies_apart_and_turns_do_not(tmp_path: Path) -> None:
    user_bytes = ssdlab.drive("textbook", op="20%", settings={"ftl.placement": "host-streams"}).capacity.user_bytes
    (tmp_path / "scheme").write_text(f"0, {user_bytes // 10}, 0\n\n{user_bytes // 10},{user_bytes},1\n")
    by_place = {"both": f"plid_select=scheme\ndp_scheme={tmp_path}/scheme\n", "hot": "", "log": ""}
    assert settled_waf("host-streams", by_place) < 1.05
    for chosen in ("roundrobin", "random"):
        mixed = {"both": f"plids=0,1\nplid_select={chosen}\n", "hot": "", "log": ""}
        assert settled_waf("host-streams", mixed) > 1.6, chosen


def test_each_job_says_what_the_engine_is_told() -> None:
    def told(text: str) -> list[Any]:
        job = parse(f"[a]\nrw=write\n{text}\n").resolve(1 << 30, seed=1)[0]
        return [job.get("stream_id"), job.get("identifiers")]

    assert told("plids=1,2") == told("fdp=0\nplids=1") == told("dataplacement=none\nplids=1") == [None, None]
    assert told("fdp=1\nplids=2") == told("dataplacement=streams\nfdp_pli=2") == [2, None]
    assert told("fdp=1\nplids=2,5") == [None, {"choose": "round-robin", "among": [2, 5]}]
    assert told("fdp=1\nfdp_pli_select=random\nplids=0,1") == [None, {"choose": "random", "among": [0, 1]}]
    # Without a list the job uses all identifiers of the drive.
    assert told("dataplacement=fdp") == [None, {"choose": "round-robin", "among": []}]


def test_what_cannot_be_given_is_refused(tmp_path: Path) -> None:
    def said(text: str, drive: Any = None) -> str:
        with pytest.raises(InputError) as refused:
            run(f"[a]\nrw=write\nfdp=1\n{text}\n", drive or ssdlab.drive("tiny"))
        return str(refused.value)

    two = ssdlab.drive(
        "textbook", settings={"ftl.placement": "{ name = 'host-streams', identifiers = 2 }"}, scale="1/4"
    )
    eight = ssdlab.drive("textbook", settings={"ftl.placement": "host-streams"}, scale="1/4")
    assert "jobs.a.stream_id (plids) = 2: allowed is below the drive's 2" in said("plids=2", two)
    assert "jobs.a.identifiers (plids) = 9: allowed is below the drive's 8" in said("plids=0,9,3", eight)
    run("[a]\nrw=write\nfdp=1\n", two)
    run("[a]\nrw=write\nplids=9\n", ssdlab.drive("tiny"))
    assert "line 4: plids=0,300: allowed is placement identifiers from 0 to 255" in said("plids=0,300")
    assert "line 4: plid_select=scheme needs dp_scheme" in said("plid_select=scheme")
    assert "names no file" in said("plid_select=scheme\ndp_scheme=absent")
    (tmp_path / "scheme").write_text("0,4096,1\n4096,4096,1\n")
    assert f"{tmp_path}/scheme, line 2: '4096,4096,1'" in said(f"plid_select=scheme\ndp_scheme={tmp_path}/scheme")
    assert "needs plids" in said("fdp=0\ndataplacement=streams")


def test_identifiers_that_are_not_sent_have_a_note() -> None:
    for text, count in (("plids=1", 1), ("fdp=1\nplids=1", 0), ("dataplacement=streams\nplids=1", 0), ("", 0)):
        file = parse(f"[a]\nrw=write\n{text}\n")
        file.resolve(1 << 30, seed=1)
        assert len([note for note in file.notes(timed=True) if "no placement identifiers" in note]) == count, text
