"""The remedy inside the drive: pages on the dies of the contiguous file are read as fast as it, others are not."""

import re

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.internal_fragmentation import placement
from ssdlab.simulator.drives import load


def _names(job_file: str) -> list[str]:
    """The jobs of a file, in order."""
    return re.findall(r"^\[(.+)\]$", job_file, re.MULTILINE)[1:]


def test_the_rule_gives_an_overwritten_file_the_speed_of_the_contiguous_one() -> None:
    rows = {row.what: row for row in placement.run(Context(workers=1)).rows}
    contiguous = rows["contiguous"].simulated or 0.0
    for written in ("appended", "overwritten"):
        scattered = rows[f"{written}, other writes of random sizes between"]
        on_one_die = rows[f"{written}, all on one die"]
        assert scattered.verdict is on_one_die.verdict is Verdict.MET
        assert (on_one_die.simulated or 0.0) < 0.25 * contiguous
        assert (scattered.simulated or 0.0) < 0.8 * contiguous
        for without in (scattered, on_one_die):
            with_rule = rows[f"{without.what}, with the rule"]
            assert abs((with_rule.simulated or 0.0) / contiguous - 1) < 0.01
            # The source is a little slower than the contiguous file; the model is not, and the row says so.
            assert with_rule.verdict is Verdict.MISSED and (with_rule.deviation or 0.0) > 0 and with_rule.note


def test_between_the_pages_of_the_file_others_are_written() -> None:
    names = _names(placement._job("overwritten", "same die", 1))
    pages = placement.FILE_BYTES // placement.PAGE_BYTES
    assert names[0] == "file" and names[-1] == "read" and len(names) == 2 + 2 * pages
    # As much as brings the next page to the same die: the page and the others are a row of all dies.
    drive = load(str(placement.DRIVE))
    dies = drive.nand.channels * drive.nand.dies_per_channel * drive.nand.planes_per_die
    assert drive.nand.page_bytes == placement.PAGE_BYTES
    assert set(placement._between("same die", 1)) == {(dies - 1) * placement.PAGE_BYTES}
    sizes = {size // placement.PAGE_BYTES for size in placement._between("random", 1)}
    assert min(sizes) == 1 and max(sizes) == placement.PAGES_BETWEEN_MAX
    assert "file" not in _names(placement._job("appended", "random", 1))
