"""The atlas: building it from reports, the shipped file, the comparison of a drive with it, and inferences from it."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Browser

from program import Program, program_in
from reports import ata, nvme
from ssdlab.errors import InputError
from ssdlab.experiments.advice.own_drive import own_drive
from ssdlab.experiments.fleet import reported, reported_page
from ssdlab.field.atlas import comparisons, distributions
from ssdlab.field.atlas.distributions import Distribution
from ssdlab.field.atlas.makers import maker_of
from ssdlab.field.atlas.page import write
from ssdlab.field.health import what_if
from ssdlab.field.health.what_if import WhatIf
from ssdlab.theory import field_inference

FAMILY = "Phison Driven SSDs"
SAMPLE = Path(__file__).parents[2] / "hardware/smart/field_sample/reports"


@pytest.fixture
def ssdlab(tmp_path: Path) -> Program:
    return program_in(tmp_path, columns=150)


def drive(waf: float, *, written_gib: int = 100_000, serial: str = "S1") -> dict[str, object]:
    attributes = {(241, "Lifetime_Writes_GiB"): written_gib, (233, "Flash_Writes_GiB"): round(written_gib * waf)}
    report = ata(FAMILY, attributes, serial=serial)
    report["ata_smart_attributes"]["table"].append(
        {"id": 231, "name": "SSD_Life_Left", "value": 80, "raw": {"value": 80, "string": "80"}}
    )
    return report


def test_built_and_asked(ssdlab: Program, tmp_path: Path) -> None:
    """Eleven drives of WAF 1.0 to 2.0, and one that is too new to count; lookups return the values that were put in."""
    folder = tmp_path / "reports"
    folder.mkdir()
    for number in range(11):
        (folder / f"{number}.json").write_text(json.dumps(drive(1 + number / 10, serial=f"S{number}")))
    (folder / "new.json").write_text(json.dumps(drive(9.0, written_gib=500, serial="NEW")))
    done = ssdlab("atlas", "build", "reports", "--output", "mine.parquet", "--credit", "made up")
    assert done.returncode == 0, done.stderr
    assert b"NEW" not in (tmp_path / "mine.parquet").read_bytes()
    known = distributions.load(tmp_path / "mine.parquet")
    found = known.of_model("waf", "MODEL", 480103981056)
    assert found and found.n == 11
    assert found.at(0.5) == pytest.approx(1.5) and found.share_below(1.95) == pytest.approx(0.95)
    wear = known.of_model("used_percent_per_tb", "MODEL", 480103981056)
    assert wear and wear.at(0.5) == pytest.approx(20 / (100_000 * 2**30 / 1e12))
    assert pl.read_parquet_metadata(tmp_path / "mine.parquet")["source"] == "made up"
    page = ssdlab("atlas", "--from", "mine.parquet", "--output", "page")
    assert "Of 11 drives that count" in page.stdout and "one in ten" not in page.stdout, "a tenth of 11 is one drive"
    assert page.returncode == 0, page.stderr
    assert "11 drives" in (tmp_path / "page/report.html").read_text()


def test_quantiles_keep_a_distribution() -> None:
    values = np.random.default_rng(1).lognormal(size=5000)
    frame = pl.DataFrame({"waf": values}).with_columns(
        model=pl.lit("M"),
        is_disk=pl.lit(False),
        capacity_bytes=pl.lit(10**9),
        host_bytes=pl.lit(10**12),
        power_on_hours=pl.lit(10_000),
        used_percent=pl.lit(None, pl.Int64),
    )
    found = distributions.Atlas(distributions.build(frame.lazy())).of_all("waf")
    assert found
    for value in np.quantile(values, [0.05, 0.3, 0.5, 0.9, 0.99]):
        assert found.share_below(float(value)) == pytest.approx((values < value).mean(), abs=0.005)


def test_below_and_above_all_others() -> None:
    found = Distribution(3, (1.0, 2.0, 4.0))
    assert (found.share_below(0.5), found.share_below(1.5), found.share_below(9.0)) == (0.0, 0.25, 1.0)


def test_the_one_that_is_shipped() -> None:
    """Small, credited, and consistent with the known figures of all reports, two thirds of which it contains."""
    path = Path(distributions.__file__).parent / "field.parquet"
    assert path.stat().st_size < 1_000_000
    assert "CC BY 4.0" in pl.read_parquet_metadata(path)["source"]
    known = distributions.shipped()
    sandforce = known.of_model("waf", "INTEL SSDSC2CW240A3", 240 * 10**9)
    assert sandforce and sandforce.at(0.5) == pytest.approx(0.68, abs=0.03)
    p4510 = known.of_model("used_percent_per_tb", "INTEL SSDPE2KX020T8", 2000 * 10**9)
    assert p4510 and 1 / p4510.at(0.5) == pytest.approx(74.7, rel=0.03)
    found = {pair.name: pair for pair in comparisons.pairs(known)}
    pair = found["Intel S4510 / S4610, 240 GB"]
    assert pair.less.at(0.5) == pytest.approx(2.41, rel=0.05)
    assert pair.more.at(0.5) < pair.less.at(0.5)
    assert all(each.consumed_tb > 0 and each.rated_tb > 0 for each in comparisons.rated(known))


_OVERLAPS = """
const boxes = kind => [...document.querySelector("figure").querySelectorAll(`.mark-${kind}.role-mark > *`)]
    .map(each => each.getBoundingClientRect());
const texts = boxes("text"), rules = boxes("rule");
[texts.length, rules.length, texts.filter(text => rules.some(rule => rule.left < text.right && text.left < rule.right
    && rule.top < text.bottom && text.top < rule.bottom)).length, document.documentElement.scrollWidth]
"""


@pytest.mark.parametrize("width_px", [390, 768, 1280])
def test_labels_of_the_distribution_touch_no_line(tmp_path: Path, browser: Browser, width_px: int) -> None:
    """A regression: on a phone the line of the median went through the label of the first tenth, and the address in the
    credit made the page wider than the screen."""
    write(distributions.shipped(), tmp_path, is_shipped=True)
    page = browser.new_page(viewport={"width": width_px, "height": 900})
    try:
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector("figure svg")
        assert page.evaluate(_OVERLAPS) == [3, 3, 0, width_px]
    finally:
        page.close()


def test_what_is_no_atlas(ssdlab: Program, tmp_path: Path) -> None:
    (tmp_path / "no.parquet").write_text("PAR0")
    for words, said in (
        (["--from", "no.parquet"], "no.parquet: is not an atlas"),
        (["build"], "build needs the paths"),
        (["draw"], "'draw' is not known"),
    ):
        done = ssdlab("atlas", *words)
        assert done.returncode == 2 and said in done.stderr
    with pytest.raises(InputError, match="no column"):
        pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
        distributions.load(tmp_path / "other.parquet")


@pytest.mark.parametrize(
    ("model", "maker"),
    [
        ("SAMSUNG MZ7KM480HAHP-00005", "Samsung"),
        ("MZ7LM960HMJP0D3", "Samsung"),
        ("SSDSCKKB240G8R", "Intel, Solidigm"),
        ("CT1000MX500SSD1", "Micron, Crucial"),
        ("KXG60ZNV256G TOSHIBA", "Toshiba, Kioxia"),
        ("PATRIOT BURST", "Patriot"),
        ("", "unknown"),
    ],
)
def test_makers(model: str, maker: str) -> None:
    assert maker_of(model) == maker


def test_more_spare_area_gives_less_amplification_and_the_table_gives_itself() -> None:
    table = field_inference.table()
    for op in table.over_provisionings:
        assert table.theta_that_gives(table.waf(float(op), 0.0) + 1e9, float(op)) is None
    for waf in (1.5, 2.4, 3.9):
        found = [each for share in (0.07, 0.14, 0.28) if (each := field_inference.with_more(waf, 0.145, share))]
        assert len(found) == 3
        assert all(1 <= each.waf_low <= each.waf_high <= waf for each in found)
        assert [each.waf_high for each in found] == sorted((each.waf_high for each in found), reverse=True)
    # Uniform writes at the drive's own spare area: the inferred value is the simulated one.
    exact = field_inference.at(table.waf(0.145, 0.0), 0.145, 0.28)
    assert exact and exact.waf_low <= table.waf(0.28, 0.0) * 1.001 and exact.waf_high >= table.waf(0.28, 0.0) * 0.999
    assert field_inference.with_more(1.0, 0.145, 0.28) is None


def test_flash_is_the_next_power_of_two() -> None:
    assert what_if.over_provisioning_of(480103981056) == pytest.approx(512 * 2**30 / 480103981056 - 1)


def test_more_years_are_no_more_than_is_known() -> None:
    """A regression: "148.1 to 238.8 more years"."""
    for low, high, said in (
        (148.1, 238.8, "more than 50"), (32.7, 53.2, "33 to more than 50"), (11.1, 11.1, "11"), (4.21, 6.0, "4.2 to 6"),
    ):  # fmt: skip
        assert f", and {said} more years." in WhatIf(0.28, 3.9, 1.5, 1.9, low, high, None).sentence()


def test_the_page_of_a_fleet_has_the_effect_as_its_title() -> None:
    """A regression: "23 drives, and the effect of leaving a part of each empty"."""

    def title_of(years_left: float | None, waf_high: float) -> str:
        effect = WhatIf(0.28, 3.0, 1.5, waf_high, 4.0, 6.0, None)
        drive = reported.Reported("a", "a.json", 3.0, 1e12, years_left, (effect,))
        return reported_page.title(reported.ReportedFleet((drive, drive), (0.28,)), 5)

    unknown = reported.Reported("b", "b.json", 3.0, 1e12, None, ())
    assert reported.ReportedFleet((unknown,), (0.28,)).known_lives == 0, "counts no drive whose life is not known"
    assert WhatIf(0.28, 1.3, 1.1, 1.32, None, None, None).sentence() == (
        "28 % unpartitioned would give a WAF of 1.1 at best instead of 1.3."
    )
    assert title_of(2.0, 1.8) == (
        "With 28 % of each drive left empty, 0 of 2 drives wear out within 5 years instead of 2"
    )
    assert (
        title_of(None, 1.8)
        == "With 28 % of each drive left empty, 2 drives write 50 % to 60 % of what they write to flash now"
    )
    assert title_of(None, 3.0) == "2 drives, and the effect of leaving a part of each empty"


def test_advice_from_a_report(ssdlab: Program, tmp_path: Path) -> None:
    done = ssdlab("advise", "smart", str(SAMPLE / "11.txt"), "--left-empty", "28%")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "INTEL SSDSC2KG480G7: write amplification 1.26 since it was new" in said
    assert re.search(r"28 % unpartitioned would give a WAF of 1\.\d( to 1\.\d)? instead of 1\.3, and [\d.]+", said)
    assert "This is an inference" in said
    assert "28 % unpartitioned would give a WAF of" in own_drive([str(SAMPLE / "11.txt")], None, [0.07, 0.28]).title()
    # 0.5 % changes nothing that can be seen.
    assert own_drive([str(SAMPLE / "11.txt")], None, [0.001]).title().startswith("Leaving a part of INTEL")
    for words, code, message in (
        (["smart", str(SAMPLE / "01.txt")], 2, "no write amplification"),
        (["smart", str(SAMPLE)], 2, "reports of several drives; use ssdlab fleet smart"),
        (
            ["space", "--smart", str(SAMPLE / "11.txt"), "--drive", "tiny", "--skew", "zipf:1.2"],
            2,
            "--smart determines the workload",
        ),
        (["smart", str(SAMPLE / "11.txt"), "--left-empty", "100%"], 2, "--left-empty: '100%' is out of range"),
        (["space"], 2, "Missing option '--drive'"),
    ):
        done = ssdlab("advise", *words)
        assert done.returncode == code and message in done.stderr


def test_a_fleet_from_reports(ssdlab: Program, tmp_path: Path) -> None:
    done = ssdlab("fleet", "smart", str(SAMPLE), "--left-empty", "7%,28%", "--output", "out")
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(tmp_path / "out/data/fleet.parquet")
    assert set(frame["left_empty"]) == {0.0, 0.07, 0.28}
    by_share = frame.group_by("left_empty").agg(pl.col("waf_high").mean()).sort("left_empty")["waf_high"].to_list()
    assert by_share == sorted(by_share, reverse=True)
    (tmp_path / "n.json").write_text(json.dumps(nvme(5)))
    assert "the drive does not report" in ssdlab("fleet", "smart", "n.json").stderr
