"""`ssdlab fleet tenants`: shared drives, a placement handle each, and a drive of its share for each."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import ssdlab
from in_process import call
from ssdlab.errors import InputError
from ssdlab.experiments.advice.tenants import TenantAdvice, advise_tenants
from ssdlab.experiments.fleet.layouts import Layout, PlacedRow, best, briefly_written
from ssdlab.experiments.fleet.layouts_page import layout_rows
from ssdlab.experiments.fleet.tenants import HANDLES, SHARED, SPLIT
from ssdlab.foundation.foreign import TableRow

pytestmark = pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")

JOBS = """
[pages]
filename=pages
rw=randwrite
bs=4k
norandommap
io_size={pages}
iodepth=4
[log]
filename=log
rw=write
bs=64k
io_size=800g
iodepth=4
"""
DAILY = {"web": 2e12, "mail": 500e9}
DRIVES = {"web": 30, "mail": 10}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drive with two tenants that write and one without jobs, and two groups of jobs."""
    folder = tmp_path_factory.mktemp("fleet")
    sizes = {"pages": 200, "log": 200, "idle": 80}
    tables = "".join(f'[[namespace]]\nname = "{name}"\nsize_bytes = "{size} GB"\n' for name, size in sizes.items())
    (folder / "tenants.toml").write_text(f'based_on = "generic-tlc-480"\n{tables}')
    (folder / "web.fio").write_text(JOBS.format(pages="400g"))
    (folder / "mail.fio").write_text(JOBS.format(pages="200g"))
    return folder


@pytest.fixture(scope="module")
def fleet(folder: Path) -> TableRow:
    """The `result.json` of a fleet of both groups."""
    call(
        "fleet tenants", folder / "web.fio", folder / "mail.fio", "--drive", folder / "tenants.toml",
        "--drives", "30,10", "--writes-per-day", "2TB,500GB", "--drive-price", "60", "--life", "3y",
        "--output", folder / "out",
    )  # fmt: skip
    found: TableRow = json.loads((folder / "out/result.json").read_text())
    return found


@pytest.fixture(scope="module")
def advised(folder: Path) -> TenantAdvice:
    return advise_tenants(folder / "web.fio", folder / "tenants.toml", writes_per_day="2TB")


def _rows(folder: Path, layout: str, group: str) -> list[TableRow]:
    frame = pl.read_parquet(folder / "out/data/fleet.parquet")
    return list(frame.filter(pl.col("layout") == layout, pl.col("group") == group).iter_rows(named=True))


def test_figures_are_those_of_the_advice_on_tenants(folder: Path, fleet: TableRow, advised: TenantAdvice) -> None:
    assert fleet["years"] == 3
    assert "a drive file of your own" in fleet["notices"][0]
    assert "a drive file of your own" in advised.standing
    (shared,), (handles,) = _rows(folder, SHARED, "web"), _rows(folder, HANDLES, "web")
    assert shared["waf"] == advised.result.last_stage_ledger.waf
    assert shared["years"] == pytest.approx(advised.tenants[0].years_shared, rel=0.01)
    assert advised.with_handles is not None
    assert handles["waf"] == advised.with_handles.last_stage_ledger.waf
    split = {row["tenants"][0]: row for row in _rows(folder, SPLIT, "web")}
    for tenant in advised.tenants[:2]:
        waf = next(figure.split for figure in tenant.figures if figure.name == "WAF")
        assert split[tenant.name]["waf"] == waf
        assert split[tenant.name]["years"] == pytest.approx(tenant.years_split, rel=0.01)


def test_drives_are_replaced_as_their_flash_wears(folder: Path, fleet: TableRow) -> None:
    """Computed independently: the NAND bytes of three years over those that a drive endures, at least one drive."""
    full = ssdlab.drive(str(folder / "tenants.toml"))
    endured = full.endurance_cycles * full.capacity.physical_bytes
    layouts = {each["layout"]: each for each in fleet["layouts"]}
    assert list(layouts) == [SHARED, HANDLES, SPLIT]
    for name, layout in layouts.items():
        flash = price = 0.0
        for group, daily in DAILY.items():
            rows = _rows(folder, name, group)
            assert sum(row["host_bytes_per_day"] for row in rows) == pytest.approx(daily)
            for row in rows:
                worn = (row["nand_bytes_per_day"] or 0) * 3 * 365 / endured
                flash += DRIVES[group] * max(row["share"], worn)
                price += DRIVES[group] * worn * 60 / 3
        assert layout["flash_needed"] == pytest.approx(flash, rel=0.01)
        assert layout["price"] == pytest.approx(60 * flash, rel=0.01)
        assert layout["price_per_year"] == pytest.approx(price, rel=0.01)
        assert layout["is_complete"]
    assert [layouts[name]["drives"] for name in layouts] == [40, 40, 120]
    assert fleet["best"] == [min(layouts, key=lambda name: layouts[name]["flash_needed"])]


def test_a_tenant_without_jobs_has_a_drive_that_does_not_wear(folder: Path, fleet: TableRow) -> None:
    idle = next(row for row in _rows(folder, SPLIT, "web") if row["tenants"] == ["idle"])
    assert (idle["host_bytes_per_day"], idle["years"], idle["key"], idle["waf"]) == (0, None, None, None)
    assert idle["drives_needed"] == 30
    assert idle["price"] == pytest.approx(30 * 60 / 6, rel=0.02)
    assert idle["price_per_year"] == 0


def test_the_same_command_runs_nothing_again(folder: Path, fleet: TableRow, capsys: pytest.CaptureFixture[str]) -> None:
    call(
        "fleet tenants", folder / "web.fio", folder / "mail.fio", "--drive", folder / "tenants.toml",
        "--writes-per-day", "2TB", "--output", folder / "out",
    )  # fmt: skip
    said = capsys.readouterr().out
    assert "2 groups of 3 tenants: 7 runs, 7 stored in" in said, "both logs are the same run"
    assert "2 groups of tenants for 5 years: sharing a drive needs" in " ".join(said.split())
    assert "price" not in said
    assert "The layouts" in (folder / "out/report.html").read_text()


def _row(layout: str, share: float, needed: float | None) -> PlacedRow:
    return PlacedRow(layout, "web", ("a",), 10, share, 2.0, 1e12, 1.0, needed, None, None, None, "key", 3.0)


@pytest.mark.parametrize(("writes", "is_brief"), [(1.9996, False), (1.99, True)])
def test_writes_that_are_printed_as_enough_are_enough(writes: float, is_brief: bool) -> None:
    """A regression: tenants that wrote twice their sizes, 1.9996 times the drive's, "wrote less than 2 times"."""
    row = replace(_row(SHARED, 1, 50), writes=writes)
    assert briefly_written([Layout(SHARED, [row], has_all=True)]) == ([row] if is_brief else [])


def test_a_layout_with_an_unknown_life_is_a_lower_bound() -> None:
    shared = Layout(SHARED, [_row(SHARED, 1, 50)], has_all=True)
    split = Layout(SPLIT, [_row(SPLIT, 0.5, 60), _row(SPLIT, 0.5, None)], has_all=True)
    assert [layout.name for layout in best([shared, split])] == [SHARED], "not the lower bound of 30"
    assert [row[2:4] for row in layout_rows([shared, split], 5)[1:]] == [
        ["50", "50.0"],
        ["at least 60", "at least 30.0"],
    ]
    alike = Layout(HANDLES, [_row(HANDLES, 1, 52)], has_all=True)
    assert [layout.name for layout in best([shared, alike])] == [SHARED, HANDLES]
    assert not Layout(SPLIT, [_row(SPLIT, 0.5, 60)], has_all=False).is_complete
    worn = Layout(SHARED, [_row(SHARED, 1, None)], has_all=True)
    assert layout_rows([worn], 5)[1][2:4] == ["-", "-"]
    assert best([worn]) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--writes-per-day", "2"], "--writes-per-day: '2' has no unit"),
        (["--writes-per-day", "0TB"], "--writes-per-day is '0TB'; allowed: above 0"),
        (
            ["--writes-per-day", "2TB,1TB"],
            "--writes-per-day has 2 values for 1 job files; allowed: one for all, or one",
        ),
        (["--writes-per-day", "2TB", "--drives", "0"], "--drives is '0'; allowed: whole numbers above 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder: Path, arguments: list[str], said: str) -> None:
    with pytest.raises(InputError) as refused:
        call(
            "fleet tenants",
            folder / "web.fio",
            "--drive",
            folder / "tenants.toml",
            "--output",
            folder / "no",
            *arguments,
        )
    assert said in str(refused.value)


def test_tenants_are_fio_jobs_on_a_drive_with_namespaces(folder: Path) -> None:
    output = ["--output", folder / "no", "--writes-per-day", "2TB"]
    with pytest.raises(InputError, match=r"generic-tlc-480 has no \[\[namespace\]\] for tenants; traces: ssdlab fleet"):
        call("fleet tenants", folder / "web.fio", "--drive", "generic-tlc-480", *output)
    with pytest.raises(InputError, match=r"has \[\[namespace\]\], on which traces do not run; its tenants: ssdlab"):
        call("fleet simulate", folder / "web.fio", "--drive", folder / "tenants.toml", *output[:2])
    (folder / "reads.fio").write_text("[a]\nfilename=log\nrw=read\n")
    with pytest.raises(InputError, match=r"reads\.fio: no job writes, so that --writes-per-day has no tenant"):
        call("fleet tenants", folder / "reads.fio", "--drive", folder / "tenants.toml", *output)
    with pytest.raises(InputError, match="lsm-tree: only a fio job file chooses namespaces"):
        call("fleet tenants", "lsm-tree", "--drive", folder / "tenants.toml", *output)
    with pytest.raises(InputError, match="two job files make a group 'web'"):
        call("fleet tenants", folder / "web.fio", folder / "web.fio", "--drive", folder / "tenants.toml", *output)


def test_a_drive_with_handles_is_compared_with_its_shares_only(folder: Path) -> None:
    """The tenant whose share makes no drive is left out, so that the figures of the split are lower bounds."""
    (folder / "handles.toml").write_text(
        'based_on = "generic-tlc-480"\n[ftl]\nplacement = { name = "host-streams", identifiers = 2 }\n'
        '[[namespace]]\nname = "pages"\nsize_bytes = "475 GB"\nplacement_handles = [0]\n'
        '[[namespace]]\nname = "log"\nsize_bytes = "1 GB"\nplacement_handles = [1]\n'
    )
    (folder / "both.fio").write_text(
        "[pages]\nfilename=pages\nrw=write\nbs=64k\n[log]\nfilename=log\nrw=write\nbs=64k\n"
    )
    call(
        "fleet tenants", folder / "both.fio", "--drive", folder / "handles.toml", "--writes-per-day", "2TB",
        "--output", folder / "handles",
    )  # fmt: skip
    found = json.loads((folder / "handles/result.json").read_text())
    assert [(each["layout"], each["is_complete"]) for each in found["layouts"]] == [(SHARED, True), (SPLIT, False)]
    assert found["best"] == [SHARED]
    (left_out,) = found["left_out"]
    assert (left_out["layout"], left_out["drive"]) == (SPLIT, "both: log")
    assert left_out["reason"] == "its share is too small for a drive"
    assert "wrote less than 2 times the size of the drive" in (folder / "handles/report.html").read_text()
