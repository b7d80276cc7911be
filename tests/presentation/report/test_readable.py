"""Can a reader tell what belongs together: one colour for one policy, labels that can be read, tables that go on?"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from ssdlab.presentation.report import page, parts
from ssdlab.presentation.report.charts.encodings import colours_of, number_axis, variant_scale, variants_key
from ssdlab.presentation.report.charts.published import Line, published_lines
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.drives.policies import known


def test_a_policy_has_one_colour_in_whatever_order() -> None:
    """A regression: the first variant was blue, so that fifo was blue on one page and orange on the next."""
    pages = (["greedy", "fifo"], ["fifo", "greedy"], ["random", "fifo", "d-choices"], ["fifo, 7 %", "greedy, 7 %"])
    for labels in pages:
        colours = dict(zip(labels, colours_of(labels), strict=True))
        (fifo,) = (colour for label, colour in colours.items() if "fifo" in label)
        assert fifo == colours_of(["fifo"])[0], labels


@pytest.mark.parametrize("kind", ["victim", "placement"])
def test_policies_of_a_kind_have_different_colours(kind: str) -> None:
    names = list(known()[kind])  # type: ignore[index]
    assert len(set(colours_of(names))) == len(names)
    assert [colours_of([name])[0] for name in names] == colours_of(names), "each has its own alone, too"


def test_colours_are_different_and_repeat_from_the_ninth_on() -> None:
    labels = ["7 %", "fifo, 7 %", "fifo, 28 %", "greedy", "a", "b", "c", "d", "e", "f"]
    colours = colours_of(labels)
    assert sorted(colours[:8]) == list(range(8))
    assert colours[8:] == colours[:2]
    assert colours_of(["7 %", "28 %"]) == [0, 1], "without policies the order decides"


def test_the_scale_gives_the_colours_of_the_key() -> None:
    labels = ["fifo", "7 %", "random"]
    domain = variant_scale(labels)["domain"]
    assert [domain.index(label) for label in labels] == colours_of(labels)
    entries = variants_key([Line(label, [(0, 1)]) for label in labels]).entries
    assert [entry.colour for entry in entries] == [f"--variant-{colour}" for colour in colours_of(labels)]


def test_placeholders_of_colours_are_in_no_picture() -> None:
    lines = [Line(label, [(0.0, 1.0), (1.0, 2.0)]) for label in ("random", "fifo")]
    svg = published_lines(name="n", title="t", caption="c", lines=lines, x_title="x", y_title="y").svg()
    assert "random" in svg and "fifo" in svg
    assert "\N{WORD JOINER}" not in svg


def labels_of(svg: str) -> list[list[str]]:
    """The visible labels of each axis."""
    groups = re.findall(r'<g class="mark-text role-axis-label".*?</g>', svg, re.DOTALL)
    return [
        [re.sub("<[^>]+>", "", text) for text in re.findall(r"<text.*?</text>", group) if 'opacity="0"' not in text]
        for group in groups
    ]


def test_labels_are_short_and_apart() -> None:
    """A regression: 2,000,000,000 did not fit beside an axis, and 1,000 and 1,100 stood without a gap."""
    lines = [Line("a", [(1000.0, 5e8), (2100.0, 2.1e9)])]
    figure = published_lines(name="n", title="t", caption="c", lines=lines, x_title="x", y_title="y")
    along, up = labels_of(figure.svg())
    assert all(len(label) <= 6 for label in up) and "2 G" in up
    assert len(along) >= 3


def test_a_logarithmic_axis_has_even_labels() -> None:
    """A regression: Vega drops the labels that overlap, which left 0.2, 1, 2, 10, 20."""
    lines = [Line("a", [(0.0, 0.2), (1.0, 30.0)])]
    figure = published_lines(name="n", title="t", caption="c", lines=lines, x_title="x", y_title="y", scale="log")
    _, up = labels_of(figure.svg())
    assert [float(label) for label in up] == [0.2, 0.5, 1, 2, 5, 10, 20]
    assert number_axis("log", 6, 1e-3, 1e4, grid=True)["values"] == [10.0**power for power in range(-3, 5)]
    assert "values" not in number_axis("log", 6, 2.1, 4.9, grid=True), "too few: Vega's own"


def _line(points: Sequence[tuple[float, float]], scale_x: Literal["linear", "log"] = "linear") -> Figure:
    line = Line("a", points)
    return published_lines(name="n", title="t", caption="c", lines=[line], x_title="x", y_title="y", scale_x=scale_x)


def test_an_axis_far_from_zero_does_not_begin_there() -> None:
    """A regression: spare areas of 24 to 40 % filled two fifths of a picture."""
    for least, begins_at_zero in ((24.0, False), (2.0, True)):
        figure = _line([(least, 1.0), (40.0, 2.0)])
        shown, _ = labels_of(figure.svg())
        assert (shown[0] == "0") == begins_at_zero


def test_depths_and_sizes_have_labels_where_they_are() -> None:
    """A regression: depths of 1, 2, 4, 8, 16 stood between labels of 1, 2, 5, 10 and 20."""
    for along, labels in (
        ([0.5, 1, 2, 4, 8], [0.5, 1, 2, 4, 8]),
        ([float(1 << each) for each in range(11)], [1, 4, 16, 64, 256, 1024]),
        ([1.0, 2.0, 3.0, 20.0], [1, 2, 5, 10, 20]),
    ):
        figure = _line([(x, x) for x in along], "log")
        shown, _ = labels_of(figure.svg())
        assert [float(label.replace(",", "")) for label in shown] == labels


def test_a_page_says_which_columns_do_not_fit() -> None:
    table = parts.table("Drives", ["drive", "size"], [["a", "1"]])
    with_table = page.Page("t", "s", "", after=[page.Section("Drives", table)]).html()
    assert "to the right; scroll sideways" in with_table
    assert "to the right; scroll sideways" not in page.Page("t", "s", "").html()


def test_cells_of_wide_tables_have_their_heads_for_cards() -> None:
    """On a phone the style shows a row of many columns as a card: each cell brings its head."""
    heads = ["drive", "size", "used", "state", "WAF"]
    wide = str(parts.table("Drives", heads, [["a", "1", "2 %", "fine", "3"]]))
    assert re.findall('data-head="(.*?)"', wide) == heads[1:]
    assert 'class="scroll many"' in wide
    assert 'class="scroll many"' not in parts.table("Drives", heads[:4], [["a", "1", "2 %", "fine"]])


def test_no_line_ends_within_a_figure() -> None:
    """A regression: pages ended a line between 99.5 and %."""
    said = str(
        parts.bullets(["99.5 % fewer, 1.67 \N{PLUS-MINUS SIGN}0.04 a second, 8.2 GB, 5 MB/s, 3 of 4 drives, 1 byte"])
    )
    kept = "99.5\xa0% fewer, 1.67\xa0\N{PLUS-MINUS SIGN}0.04 a second, 8.2\xa0GB, 5\xa0MB/s, 3 of 4 drives, 1 byte"
    assert kept in said
    command = str(parts.command("ssdlab run 'a 7 % b' --scale 1/8"))
    assert "7 %" in command, "what is copied stays as it is"


@pytest.mark.surroundings
def test_cards_of_a_phone_break_no_figure(browser: Browser, tmp_path: Path) -> None:
    """A regression: beside a long head a value was broken anywhere, 1.27 ms into "1.27 m" and "s"."""
    figures = ["1.27 ms", "1,606,426", "15.26", "30.5 \N{PLUS-MINUS SIGN}0.7 ms", "a/path/" * 9]
    heads = ["step", *[f"a head of several words, number {at}" for at in range(len(figures))]]
    tables = [parts.table("a", heads, [["x", *figures]]), parts.table("b", heads[:4], [["x", *figures[:3]]])]
    path = tmp_path / "page.html"
    path.write_text(page.Page("t", "s", "", after=[page.Section("All", table) for table in tables]).html())
    with browser.new_context(viewport={"width": 390, "height": 900}) as context:
        opened = context.new_page()
        opened.goto(path.as_uri())
        lines = opened.evaluate(
            """[...document.querySelectorAll("td")].map((cell) => {
              const range = document.createRange();
              range.selectNodeContents(cell);
              const rects = [...range.getClientRects()];
              const ends = [Math.min(...rects.map((each) => each.left)), Math.max(...rects.map((each) => each.right))];
              return [cell.textContent, rects.length, ...ends];
            })"""
        )
    assert [text.replace("\xa0", " ") for text, *_ in lines] == figures + figures[:3]
    assert [each for each in lines if (each[1] != 1 and "path" not in each[0]) or each[2] < 0 or each[3] > 390] == []
