"""Every control in a real browser, checked against the engine's counters; the console stays empty."""

import re
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from compared_results import variants_of
from small_drives import drive_file
from ssdlab.errors import InputError
from ssdlab.live.server import LiveServer
from ssdlab.live.workbench import Workbench
from ssdlab.simulator.workloads.jobs import parse
from waiting import SECONDS_MAX

Serve = Callable[..., LiveServer]
Open = Callable[..., Page]


def bench_of(server: LiveServer) -> Workbench:
    assert isinstance(server.shown, Workbench)
    return server.shown


def counted(server: LiveServer, drive: int = 0) -> dict[str, Any]:
    """The engine's counters, read without the page."""
    session = bench_of(server).session
    return session.outcome(drive)["ledger"] | {"requests": sum(session.issued(drive))}


def job_of(server: LiveServer) -> dict[str, Any]:
    """The last job given to the engine."""
    jobs = bench_of(server).session.specification(0).jobs
    # Between the end of the old jobs and the next one there can be none.
    return defaultdict(lambda: None, jobs[-1] if jobs else {})


def shows(page: Page, figure: str, value: object, drive: int = 0) -> None:
    """Waits until the page shows a figure, with all digits."""
    cell = page.locator(f'[data-figure="{figure}"][data-drive="{drive}"]')
    expect(cell).to_have_attribute("data-value", str(value))


def slide(page: Page, control: str, value: float) -> None:
    """Moves a slider. The server is notified after the slider has rested a while; `settle` waits for that."""
    page.locator(f"#{control}").fill(str(value))


def settle(page: Page, holds: Callable[[], bool]) -> None:
    """Waits for a condition on the server while the page continues to run."""
    until = time.monotonic() + SECONDS_MAX
    while not holds():
        assert time.monotonic() < until, "it did not come to hold"
        page.wait_for_timeout(50)


def drawn(page: Page) -> None:
    """Waits for two more pictures: the second certainly includes all earlier requests."""
    canvas = page.locator(".picture canvas[data-drawn]").first
    for _ in range(2):
        expect(canvas).not_to_have_attribute("data-drawn", str(canvas.get_attribute("data-drawn")))


def test_run_pause_step_reset(serve: Serve, open_page: Open) -> None:
    server = serve(timed=False)
    page = open_page(server)
    session = bench_of(server).session
    page.click("#step")
    shows(page, "requests", 1)
    assert counted(server)["requests"] == 1
    page.click("#run")
    expect(page.locator("#run")).to_have_text("Pause")
    settle(page, lambda: counted(server)["requests"] > 1000)
    page.click("#run")
    expect(page.locator("#run")).to_have_text("Run")
    settle(page, lambda: not session.is_running)
    # The step in progress ends a moment later.
    session.pause()
    shows(page, "host-written", counted(server)["host_written_bytes"])
    ledger = counted(server)
    shows(page, "nand-programmed", sum(ledger["programmed_units"].values()) * 4096)
    page.click("#reset")
    shows(page, "requests", 0)
    assert bench_of(server).session is not session


def test_speed(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    slide(page, "speed", 20)
    settle(page, lambda: bench_of(server).requests_per_second == 100)
    expect(page.locator("#speed-value")).to_have_text("100 requests/s")
    page.keyboard.press("Tab")
    page.locator("h1").click()
    page.keyboard.press("+")
    settle(page, lambda: bench_of(server).requests_per_second == 316)
    slide(page, "speed", 70)
    settle(page, lambda: bench_of(server).requests_per_second is None)
    expect(page.locator("#speed-value")).to_have_text("maximum")


def test_the_workload_is_the_engines(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    slide(page, "reads", 40)
    settle(page, lambda: job_of(server)["read_percent"] == 40.0)
    slide(page, "skew", 1.2)
    settle(page, lambda: job_of(server)["distribution"] == {"name": "zipf", "theta": 1.2, "center": None})
    slide(page, "depth", 3)
    settle(page, lambda: job_of(server)["iodepth"] == 8)
    page.select_option("#block", "16384")
    settle(page, lambda: "16384" in str(job_of(server)["block_sizes"]))
    expect(page.locator("#trims-row")).to_be_hidden()
    page.check("#trim")
    settle(page, lambda: job_of(server)["direction"] == "trim")
    expect(page.locator("#trims-row")).to_be_visible()
    page.uncheck("#trim")
    page.select_option("#kind", "sequential")
    settle(page, lambda: bool(job_of(server)["sequential"]))
    slide(page, "partition", 75)
    settle(page, lambda: job_of(server)["size_bytes"] == 58720256 * 3 // 4)
    expect(page.locator("#partition-says")).to_contain_text("52.4 % over-provisioning")
    page.click("#fill")
    settle(page, lambda: any("fill" in job["name"] for job in bench_of(server).specification(0).jobs))
    page.select_option("#job", "zipf")
    settle(page, lambda: job_of(server)["name"] == "zipf")
    expect(page.locator("#what")).to_contain_text("zipf.fio")


def test_drives_policies_and_two_of_them(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    page.select_option("#drive-victim-0", "fifo")
    settle(page, lambda: bench_of(server).benches[0].drive.file.ftl.victim.name == "fifo")
    page.select_option("#drive-placement-0", "host-gc-split")
    settle(page, lambda: bench_of(server).benches[0].drive.file.ftl.placement.name == "host-gc-split")
    page.select_option("#drive-op-0", "0.28")
    settle(page, lambda: abs(bench_of(server).benches[0].drive.capacity.over_provisioning - 0.28) < 0.001)
    page.click("#compare")
    settle(page, lambda: len(bench_of(server).benches) == 2)
    expect(page.locator(".picture")).to_have_count(2)
    page.select_option("#drive-victim-1", "greedy")
    settle(page, lambda: bench_of(server).benches[1].drive.file.ftl.victim.name == "greedy")
    page.click("#step")
    settle(page, lambda: counted(server, 1)["requests"] == counted(server, 0)["requests"])
    page.select_option("#drive-name-0", "tiny")
    settle(page, lambda: bench_of(server).benches[0].drive.name == "tiny")
    page.click("#compare")
    expect(page.locator(".picture")).to_have_count(1)


def test_the_picture_can_be_asked(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    bench_of(server).session.step(6000)
    for view in ("valid", "erase_count", "age", "stream", "temperature"):
        page.select_option("#view", view)
        expect(page.locator("#legend")).not_to_be_empty()
    page.select_option("#view", "valid")
    overlay = page.locator(".picture canvas").last
    drawn(page)
    overlay.hover(position={"x": 4, "y": 4})
    expect(page.locator("#hover")).to_contain_text("Erase unit 0:")
    overlay.click(position={"x": 4, "y": 4})
    unit = bench_of(server).erase_unit(0, 0)
    close_up = page.locator("#close-up")
    expect(close_up).to_contain_text("Erase unit 0")
    expect(close_up).to_contain_text(f"{unit['valid']} of 64 units valid")
    overlay.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#hover")).to_contain_text("Erase unit 1:")
    page.keyboard.press("Enter")
    expect(close_up).to_contain_text("Erase unit 1")
    page.keyboard.press("Escape")
    expect(close_up).to_be_hidden()


def test_keys(serve: Serve, open_page: Open) -> None:
    server = serve(timed=False)
    page = open_page(server)
    page.keyboard.press(".")
    shows(page, "requests", 1)
    page.keyboard.press(",")
    shows(page, "requests", 1001)
    page.keyboard.press("Space")
    settle(page, lambda: bench_of(server).session.is_running)
    expect(page.locator("#run")).to_have_text("Pause")
    page.keyboard.press("Space")
    settle(page, lambda: not bench_of(server).session.is_running)
    page.keyboard.press("m")
    expect(page.locator("#moments li")).to_have_count(1)
    page.keyboard.press("3")
    expect(page.locator("#view")).to_have_value("age")
    page.keyboard.press("?")
    expect(page.locator("#dialog-title")).to_have_text("Keys")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    shows(page, "requests", 0)


def test_the_power_is_cut_and_the_recovery_shown(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    bench_of(server).session.step(30_000)
    page.click("#run")
    settle(page, lambda: bench_of(server).session.is_running)
    page.evaluate("""() => {
      const recovery = document.querySelector("#recovery");
      window.phases = [];
      new MutationObserver(() => window.phases.push(recovery.dataset.phase))
        .observe(recovery, { attributes: true, attributeFilter: ["data-phase"] });
    }""")
    page.click("#cut-power")
    recovery = page.locator("#recovery")
    settle(page, lambda: bench_of(server).recovery is not None)
    assert not bench_of(server).session.is_running
    # Each step in turn, then the drive continues. A slow browser skips steps.
    expect(recovery).to_have_attribute("data-phase", "over")
    phases = page.evaluate("window.phases")
    assert phases == [phase for phase in ("off", "checkpoint", "scan", "over") if phase in phases]
    settle(page, lambda: bench_of(server).session.is_running)
    expect(recovery).to_contain_text("so its drive loses none")
    expect(recovery.locator("li").nth(2)).to_contain_text("It scans")
    page.click("#recovery-close")
    expect(recovery).to_be_hidden()
    page.click("#cut-power")
    page.click("#power-on")
    settle(page, lambda: bench_of(server).session.is_running)


def test_share_and_report(serve: Serve, open_page: Open, tmp_path: Path) -> None:
    server = serve()
    page = open_page(server)
    bench_of(server).session.step(20_000)
    page.click("#share")
    expect(page.locator("pre.command")).to_contain_text("ssdlab run session.fio --drive")
    assert "number_ios=20" in page.locator("pre.job-file").inner_text()
    page.click("dialog button")
    page.click("#report")
    link = page.locator("#notice a")
    expect(link).to_have_attribute("href", "reports/1/report.html")
    with page.expect_popup() as opened:
        link.click()
    report = opened.value
    expect(report.locator("h1")).to_contain_text("recorded on the live page")
    report.wait_for_selector("[data-drawn]")
    result = variants_of(tmp_path / "reports" / "1" / "result.json")[0]
    assert result["ssdlab"]["host"]["written_bytes"] == counted(server)["host_written_bytes"]


DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_a_dropped_job_file_runs_or_says_its_error(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    bench_of(server).session.step(1000)
    wrong = "[good]\nrw=randwrite\n\n[bad]\nrw=randwrite\nrwmixreed=5\n"
    page.evaluate(DROP, ["wrong.fio", wrong])
    with pytest.raises(InputError) as said:
        parse(wrong, "wrong.fio")
    assert "line 6" in str(said.value)
    expect(page.locator("#notice")).to_have_text(str(said.value))
    before = counted(server)
    assert before["requests"] == 1000
    page.evaluate(DROP, ["mine.fio", "[mine]\nrw=randread\n"])
    expect(page.locator("#notice")).to_contain_text("mine.fio runs")
    assert job_of(server)["direction"] == "read"


def test_time_axis_and_missing_clock(serve: Serve, open_page: Open) -> None:
    server = serve(timed=False)
    page = open_page(server)
    bench_of(server).session.step(8000)
    expect(page.locator("#chart-waf canvas")).to_have_attribute(
        "aria-label", re.compile("Write amplification over time: now 1.00, since the start 1.00")
    )
    expect(page.locator("#chart-iops canvas")).to_have_attribute(
        "aria-label", "Requests per second over time: without a clock (--untimed) nothing takes time"
    )
    page.select_option("#axis", "seconds")
    expect(page.locator("#chart-free canvas")).to_have_attribute(
        "aria-label", "Free erase units over time: nothing yet"
    )


def test_the_line_of_theory_is_broken_where_there_is_none(serve: Serve, open_page: Open) -> None:
    """A regression: it connected the last value of one job to the first of another, across values without a closed
    form."""
    lines = open_page(serve()).evaluate("""async () => {
        const { Charts } = await import(new URL("charts.js", document.querySelector("script[type=module]").src));
        const charts = new Charts(document.createElement("div"), ["host_written_bytes", "theory", "free"], []);
        charts.setStatus({ drives: [{ user_bytes: 10 }] });
        charts.addRows(0, 0, [[0, 2, 1], [10, 2, 1], [20, null, null], [30, 3, 1], [40, 3, 1]]);
        const line = (name, dashed) => charts.line(0, name, "", (row, series) => series.value(row, name), dashed);
        return [line("theory", true), line("free", false)].map(({ points, starts }) => [points, [...starts]]);
    }""")
    assert lines == [
        [[[0, 2], [1, 2], [3, 3], [4, 3]], [2]],
        [[[0, 1], [1, 1], [3, 1], [4, 1]], []],
    ]


def test_spare_area_of_an_empty_drive_does_not_set_the_axis(serve: Serve, open_page: Open) -> None:
    """A regression: over-provisioning is a ratio to the data, and its axis went to 20,000 %."""
    points, said = open_page(serve()).evaluate("""async () => {
        const { Charts } = await import(new URL("charts.js", document.querySelector("script[type=module]").src));
        const columns = ["host_written_bytes", "effective_over_provisioning"];
        const charts = new Charts(document.createElement("div"), columns, []);
        charts.setStatus({ drives: [{ user_bytes: 10, label: "" }] });
        charts.addRows(0, 0, [[0, null], [10, 200], [20, 0.25]]);
        const { lines, say } = charts.charts.find(([chart]) => chart.element.id === "chart-op")[1]();
        return [lines[0].points, [200, 0.25].map(say)];
    }""")
    assert points == [[1, 1], [2, 0.25]]
    assert [" ".join(each.split()) for each in said] == ["\u2265 100 %", "25 %"]


def test_the_header_says_what_is_in_use(serve: Serve, open_page: Open) -> None:
    """A regression: it described the whole drive, whatever the sliders selected."""
    page = open_page(serve())
    header = page.locator("#what")
    expect(header).to_contain_text("58.7 MB in use, 14.3 % over-provisioning")
    expect(header).to_contain_text("random writes of 4 KiB, uniform, queue depth 32")
    slide(page, "partition", 75)
    expect(header).to_contain_text("44.0 MB of 58.7 MB in use, 52.4 % over-provisioning")
    slide(page, "reads", 40)
    slide(page, "skew", 1.2)
    slide(page, "depth", 3)
    page.check("#trim")
    expect(header).to_contain_text("random requests, 40 % of them reads, of 4 KiB, zipf 1.2, 30 % trims, queue depth 8")
    page.select_option("#drive-op-0", "0.28")
    expect(header).to_contain_text("in use, 28 % over-provisioning")


def test_a_new_drive_is_said_to_be_one(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    bench_of(server).session.step(1000)
    shows(page, "requests", 1000)
    notice = page.locator("#notice")
    slide(page, "partition", 75)
    expect(page.locator("#what")).to_contain_text("44.0 MB of 58.7 MB")
    expect(notice).to_be_hidden()
    page.select_option("#drive-victim-0", "fifo")
    expect(notice).to_have_text("A new, empty drive: figures, charts and moments begin again.")
    shows(page, "requests", 0)
    page.click("#compare")
    expect(notice).to_contain_text("Two new, empty drives")


def test_marks_stand_under_the_thumb(serve: Serve, open_page: Open) -> None:
    page = open_page(serve())
    for control in ("speed", "partition", "reads", "skew", "depth"):
        slider, marks = page.locator(f"#{control}").bounding_box(), page.locator(f"#{control} + .ticks i")
        assert slider is not None
        ends = [marks.first.bounding_box(), marks.last.bounding_box()]
        assert ends[0] and ends[1]
        assert slider["x"] <= ends[0]["x"] < slider["x"] + 16
        assert ends[1]["x"] + ends[1]["width"] <= slider["x"] + slider["width"]
        boxes = [marks.nth(index).bounding_box() for index in range(marks.count())]
        edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
        assert all(before[1] < after[0] for before, after in pairwise(edges)), control


@pytest.mark.parametrize("width", [390, 768])
def test_a_phone_has_the_map_then_the_controls_then_the_charts(serve: Serve, open_page: Open, width: int) -> None:
    page = open_page(serve(), width=width)
    boxes = [page.locator(part).bounding_box() for part in (".picture", "#controls", "#figures")]
    assert all(boxes)
    edges = [(box["y"], box["y"] + box["height"]) for box in boxes if box]
    assert all(before[1] <= after[0] for before, after in pairwise(edges))
    assert edges[0][0] < 400
    assert page.evaluate("document.documentElement.scrollWidth") <= width


MANY = 6000


def test_a_phone_shows_many_erase_units_in_few_cells(tmp_path: Path, serve: Serve, open_page: Open) -> None:
    file = tmp_path / "many.toml"
    file.write_text(drive_file("many", blocks=MANY, pages=16, user_bytes=MANY * 16 * 4096 * 7 // 8))
    server = serve((str(file),))
    page = open_page(server, width=390)
    bench_of(server).session.step(40_000)
    canvas = page.locator(".picture canvas").first
    expect(canvas).to_have_attribute("data-drawn", re.compile(r"\d"))
    # Four erase units a cell; on a wide screen each has its own.
    assert page.evaluate(COLOURED, ".picture canvas") > 1
    overlay = page.locator(".picture canvas").nth(1)
    overlay.hover(position={"x": 3, "y": 3})
    expect(page.locator("#hover")).to_contain_text("Erase units 0 to 3, the first: ")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.wait_for_timeout(300)
    overlay.hover(position={"x": 3, "y": 3})
    expect(page.locator("#hover")).to_contain_text("Erase unit 0: ")


COLOURED = """(selector) => {
  const canvas = document.querySelector(selector);
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(data.buffer)).size;
}"""


def test_a_colour_means_the_same_in_light_and_dark(serve: Serve, open_page: Open) -> None:
    server = serve()
    bench_of(server).session.step(25_000)
    ramps = []
    for scheme in ("light", "dark"):
        page = open_page(server, scheme=scheme)
        page.select_option("#view", "erase_count")
        page.wait_for_selector("#legend canvas")
        ramps.append(page.evaluate(
            "() => [...document.querySelector('#legend canvas').getContext('2d').getImageData(0, 4, 96, 1).data]"
        ))  # fmt: skip
    assert ramps[0] == ramps[1]
    first, last = ramps[0][:3], ramps[0][-4:-1]
    assert sum(first) < sum(last), "more is not brighter"


def test_the_page_says_what_stands_behind_a_drive_s_name(serve: Serve, open_page: Open) -> None:
    """A regression: reports said so, and the page that shows the same speeds did not."""
    page = open_page(serve())
    expect(page.locator("#pictures figcaption")).to_contain_text("small: for tests; a drive file of your own")


def test_a_lecture_is_large_and_begins_slowly(serve: Serve, open_page: Open) -> None:
    server = serve()
    page = open_page(server)
    small = page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
    page.click("#lecture")
    expect(page.locator("#controls")).to_be_hidden()
    settle(page, lambda: bench_of(server).session.is_running)
    assert bench_of(server).status()["requests_per_second"] == 20
    assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") > small
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    page.keyboard.press(" ")
    settle(page, lambda: not bench_of(server).session.is_running)
    page.keyboard.press("l")
    expect(page.locator("#controls")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 900, 500])
def test_every_width_and_scheme(serve: Serve, open_page: Open, scheme: str, width: int) -> None:
    server = serve()
    page = open_page(server, width=width, scheme=scheme)
    bench_of(server).session.step(25_000)
    shows(page, "requests", 25_000)
    picture = page.locator(".picture").first
    expect(picture).to_be_visible()
    expect(page.locator("#chart-waf canvas")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == ("rgb(18, 22, 28)" if scheme == "dark" else "rgb(255, 255, 255)")
    if width >= 900:
        drawn(page)
        colours = page.evaluate("""() => {
          const canvas = document.querySelector(".picture canvas");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          return new Set(new Uint32Array(data.buffer)).size;
        }""")
        assert colours > 2


def test_names_for_those_who_listen(serve: Serve, open_page: Open) -> None:
    """Every control and picture has a name for screen readers."""
    page = open_page(serve())
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, input, select, canvas")]
      .filter((element) => element.checkVisibility())
      .filter((element) => !(element.getAttribute("aria-label") || element.textContent.trim()
        || element.labels?.[0]?.textContent.trim() || element.closest("#legend, .stack")))
      .map((element) => element.outerHTML)""")
    assert nameless == []
    assert page.locator('[aria-roledescription="map of erase units"]').get_attribute("aria-label")
