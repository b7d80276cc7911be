"""Do pictures for a paper fit a column, and can they be read in grey?"""

import re
from pathlib import Path

import pytest

from ssdlab.presentation.report import ComparedVariant, write_comparison
from ssdlab.presentation.report.chosen import choosing
from ssdlab.presentation.report.paper import WIDTH_INCHES

COMMAND_LINE = "ssdlab compare jobs/randwrite.fio --op 7%,28%"


@pytest.fixture(scope="module")
def pictures(variants: list[ComparedVariant], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    with choosing("paper", COMMAND_LINE):
        write_comparison(variants, folder, title="Spare area", subtitle="made up", command_line=COMMAND_LINE)
    return folder / "pictures"


def test_each_picture_is_a_pdf_and_an_svg_with_a_caption(pictures: Path) -> None:
    names = {path.name.partition(".")[0] for path in pictures.iterdir()}
    assert len(names) > 3
    for name in names:
        assert (pictures / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (pictures / f"{name}.txt").read_text(encoding="utf-8").endswith(f"Repeated by: {COMMAND_LINE}\n")
        assert (pictures / f"{name}.svg").is_file()


def test_they_are_as_wide_as_a_column(pictures: Path) -> None:
    for svg in pictures.glob("*.svg"):
        width = re.search(r'width="([0-9.]+)in"', svg.read_text(encoding="utf-8"))
        assert width is not None and WIDTH_INCHES - 0.3 < float(width[1]) <= WIDTH_INCHES + 0.03, svg.name
    for pdf in pictures.glob("*.pdf"):
        box = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ", pdf.read_bytes())
        assert box is not None and float(box[1]) <= 72 * WIDTH_INCHES + 2, pdf.name


def test_there_are_only_greys_and_lines_have_dashes(pictures: Path) -> None:
    for svg in pictures.glob("*.svg"):
        colours = {*re.findall(r"#[0-9a-fA-F]{6}\b", svg.read_text(encoding="utf-8"))}
        saturated = [c for c in colours if max(v := [int(c[i : i + 2], 16) for i in (1, 3, 5)]) - min(v) > 40]
        assert not saturated, (svg.name, saturated)
    lines = (pictures / "waf-over-host-writes-paper.svg").read_text(encoding="utf-8")
    assert len({*re.findall(r'stroke-dasharray="([0-9.,]+)"', lines)}) > 1
    assert "settles at" not in lines, "the finding is in the caption, not in the picture"
