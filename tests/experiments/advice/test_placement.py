"""The part of `ssdlab advise space` on placement: whether it helps, and the spare area that it replaces."""

import json
import textwrap
from pathlib import Path

import pytest

import ssdlab
from small_drives import drive_file
from ssdlab.experiments.advice.advising import Advice
from ssdlab.experiments.advice.placement import Placement, _crossing
from ssdlab.presentation.report import wording

MIB = 2**20


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(drive_file("small", blocks=256, pages=256, user_bytes=220 << 20))
    return str(path)


def job_file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "load.fio"
    path.write_text(textwrap.dedent(text))
    return str(path)


LOG_AND_PAGES = """
    [global]
    bs=4k
    io_size=1g
    {0}
    [log]
    rw=write
    size=50%
    {1}
    [pages]
    rw=randwrite
    norandommap
    offset=50%
    size=50%
    {2}
    """


def advised(workload: str, drive: str) -> tuple[Advice, Placement]:
    advice = ssdlab.advise(workload, drive, waf=2)
    assert advice.placement is not None
    return advice, advice.placement


def test_it_is_worth_the_spare_area_at_which_the_drive_alone_does_as_well(tmp_path: Path, small: str) -> None:
    workload = job_file(tmp_path, LOG_AND_PAGES.format("", "", ""))
    advice, answer = advised(workload, small)
    handles = answer.handles
    assert handles is not None and handles.what == "a handle for each job" and handles.waf is not None
    assert handles.waf < 0.9 * answer.waf
    equal = handles.equal_over_provisioning
    assert equal is not None and equal > answer.over_provisioning + 0.02
    # Checked with a run that is independent of the advice.
    compared = ssdlab.compare(workload, small, op=[equal], until="steady", precondition="fill", timed=False)
    (variant,) = compared.variants
    assert variant.result.settled_waf == pytest.approx(handles.waf, rel=0.06), (
        "a drive of 256 blocks scatters by as much"
    )
    said = advice.sentences[-1].text
    assert said.startswith(f"Placement helps: write amplification at {wording.share(answer.over_provisioning)} over")
    points = wording.significant((equal - answer.over_provisioning) * 100)
    assert f"{wording.waf(handles.waf)} with a handle for each job (worth {points} points of over-provisioning)" in said
    assert "points that the limits require without it" in said


def test_the_result_and_the_page_have_it(tmp_path: Path, small: str) -> None:
    advice, answer = advised(job_file(tmp_path, LOG_AND_PAGES.format("", "", "")), small)
    advice.write(tmp_path / "out")
    plain = json.loads((tmp_path / "out" / "result.json").read_text())
    assert plain["placement"] == json.loads(json.dumps(answer.to_dict()))
    names = {run["name"] for run in plain["runs"]}
    assert {plain["placement"]["run_without"], plain["placement"]["handles"]["run"]} <= names
    assert advice.sentences[-1].text in (tmp_path / "out" / "report.html").read_text()
    runs = {run["name"]: run for run in plain["runs"]}
    assert "fdp_pli" in runs[plain["placement"]["handles"]["run"]]["command"]


def test_own_handles_are_kept_and_compared_with_none(tmp_path: Path, small: str) -> None:
    _, by_job = advised(job_file(tmp_path, LOG_AND_PAGES.format("", "", "")), small)
    named = LOG_AND_PAGES.format("fdp=1", "fdp_pli=0", "fdp_pli=1")
    advice, own = advised(job_file(tmp_path, named), small)
    assert own.has_own_handles and own.handles is not None and by_job.handles is not None
    assert own.handles.what == "the handles that the jobs name"
    assert own.handles.waf == by_job.handles.waf, "the same handles, whoever chose them"
    assert own.waf == by_job.waf, "without them the drive is as it is"
    assert "points that the limits require" not in advice.sentences[-1].text


def test_where_nothing_is_told_apart_it_says_so(tmp_path: Path, small: str) -> None:
    workload = job_file(tmp_path, "[all]\nrw=randwrite\nbs=4k\nnorandommap\nio_size=1g\n")
    advice, answer = advised(workload, small)
    assert answer.handles is None
    assert answer.learnt.equal_over_provisioning is None
    said = advice.sentences[-1].text
    assert said.startswith("Placement does not help here: the workload tells nothing apart that handles could go by;")
    assert len({run.specification_sha256 for run in advice.trials.done}) == len(advice.trials.done), "no run twice"


def test_the_levels_of_an_lsm_tree_are_told_apart(small: str) -> None:
    tree = "lsm-tree data=60% write-buffer=256KiB level1=1MiB file=256KiB"
    advice, answer = advised(tree, small)
    assert answer.handles is not None and answer.handles.what == "a handle for each level"
    assert answer.handles.trial is not None and "handles=level" in answer.handles.trial.command
    assert advice.over_provisioning is not None


def test_lines_between_runs_cross_where_they_say() -> None:
    curve = {0.07: 4.0, 0.14: 3.0, 0.28: 2.0}
    assert _crossing(curve, 3.5) == pytest.approx(0.105)
    assert _crossing(curve, 2.0) == pytest.approx(0.28)
    assert _crossing(curve, 4.0) == pytest.approx(0.07)
    assert _crossing({0.1: 3.0, 0.2: 3.0, 0.3: 2.0}, 3.0) == pytest.approx(0.2)


def test_a_drive_too_small_for_placement_is_said_to_be(tmp_path: Path) -> None:
    """A regression: if the drive had no room for any placement, the advice ended with an IndexError."""
    (tmp_path / "w.fio").write_text("[w]\nrw=randwrite\nbs=4k\nsize=100%\n")
    said = ssdlab.advise(str(tmp_path / "w.fio"), "tiny", waf=3).sentences[-1]
    assert str(said).startswith(
        "Whether placement helps was not measured: separation that the drive learns is not possible on this drive."
    )
    assert "leaves too little spare area" in said.detail
