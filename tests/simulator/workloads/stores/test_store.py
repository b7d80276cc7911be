"""Databases as workloads: their descriptions, the resulting jobs, and the results of a run."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ssdlab
from ssdlab.cli import app
from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import ReportedJob
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import load, specifying, stores, title
from ssdlab.simulator.workloads.stores.options import OPTIONS
from ssdlab.theory.expectation import expected

DRIVE = "samsung-fdp-3840gb"
MIB = 2**20
DOCS = Path(__file__).parents[4] / "docs/simulate"


def settled(text: str, op: str | None = None, drive: str = DRIVE) -> ssdlab.Result:
    on = ssdlab.drive(drive, op, scale="1/2048")
    return simulated.run(ssdlab.specify(stores.parse(text), on, timed=False))


def store_of(job: plain.Job | ReportedJob) -> plain.Store:
    store = job.get("store")
    assert store is not None
    return store


def test_sizes_shrink_with_the_drive_and_pages_do_not() -> None:
    whole = stores.parse("lsm-tree data=300GiB").resolve(480 * 10**9, seed=1)
    small = stores.parse("lsm-tree data=300GiB").resolve(480 * 10**9 // 16, seed=1, scale=Fraction(1, 16))
    trees = [dict(store_of(jobs[-1])["tree"]) for jobs in (whole, small)]
    for key in ("write_buffer_bytes", "level1_bytes", "file_bytes"):
        assert trees[0][key] == 16 * trees[1][key]  # type: ignore[operator]
    assert [store_of(jobs[-1])["data_bytes"] for jobs in (whole, small)] == [300 * 2**30, 300 * 2**30 // 16]
    assert trees[0]["write_buffer_bytes"] == 64 * MIB
    b_plus = store_of(stores.parse("b-plus-tree").resolve(480 * 10**9 // 16, seed=1, scale=Fraction(1, 16))[-1])["tree"]
    assert b_plus["kind"] == "b-plus-tree"
    assert (b_plus["page_bytes"], b_plus["record_bytes"]) == (8192, 200)
    assert b_plus["checkpoint_bytes"] == pytest.approx(2**30 / 16 / 1.9, abs=8192), "max_wal_size / (1 + target)"


def test_stages_load_settle_and_measure() -> None:
    jobs = stores.parse("lsm-tree settle=1x writes=2x data=50%").resolve(10**9, seed=3, scale=Fraction(1, 100))
    assert [(job["name"], job["stage"]) for job in jobs] == [("load", 0), ("settle", 1), ("lsm-tree", 2)]
    assert jobs[0]["io_bytes"] == store_of(jobs[1])["data_bytes"]
    assert [job["io_bytes"] for job in jobs[1:]] == [10**9, 2 * 10**9]
    assert [store_of(job)["begins_after_bytes"] for job in jobs[1:]] == [0, 10**9]
    assert len(stores.parse("lsm-tree settle=0x").resolve(10**10, seed=3, scale=Fraction(1, 100))) == 2


@pytest.mark.parametrize(
    ("text", "expected_identifiers"),
    [
        ("lsm-tree", []),
        ("lsm-tree handles=kind", [1, 0]),
        ("b-plus-tree handles=kind", [1, 0]),
        # Log, level 0, then 256 MiB, 2.5 GiB, 25 GiB and the data.
        ("lsm-tree handles=level data=250GiB", [0, 1, 2, 3, 4, 5]),
        ("lsm-tree handles=level data=200GiB level1=1MiB file=1MiB", [0, 1, 2, 3, 4, 5, 6, 7, 7]),
    ],
)
def test_handles_by_kind_and_by_level(text: str, expected_identifiers: list[int]) -> None:
    jobs = stores.parse(text).resolve(480 * 10**9, seed=1)
    assert store_of(jobs[-1])["identifiers"] == expected_identifiers
    assert jobs[0].get("stream_id") == (expected_identifiers[-1] if expected_identifiers else None)


def test_each_level_of_the_engine_has_its_handle() -> None:
    result = settled("lsm-tree handles=level")
    store = result.jobs[-1].store
    assert store is not None
    levels = [cause for cause in store.by_cause if cause.startswith("level")]
    assert len(levels) + 1 == len(store_of(result.jobs[-1].specification[0])["identifiers"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lsm-tree dat=1GiB", "dat is not an option of lsm-tree; did you mean 'data'?"),
        ("lsm-tree data=0%", "data=0%: allowed is a size such as 300GiB, or a share of the drive"),
        ("lsm-tree data=300", "data=300: '300' has no unit"),
        ("lsm-tree trim=maybe", "trim=maybe: allowed is on or off"),
        ("lsm-tree trim=on trim=off", "trim=off: allowed is trim=VALUE, once"),
        ("lsm-tree multiplier=1", "multiplier=1: allowed is a number from 2 to 1000"),
        ("lsm-tree level0-files=2.5", "allowed is a whole number from 1 to 1000"),
        ("lsm-tree request=5000B", "allowed is a multiple of 4KiB"),
        ("lsm-tree writes=-1x", "0x to 1000x"),
        ("b-plus-tree handles=level", "handles=level: allowed is none or kind"),
        ("lsm-tre", "begins with lsm-tre; did you mean 'lsm-tree' or 'b-plus-tree'?; allowed is one of lsm-tree"),
        ("", "begins with nothing; allowed is one of"),
    ],
)
def test_errors_name_the_option_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        stores.parse(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lsm-tree data=500GiB", "the size of the drive"),
        ("lsm-tree data=32MiB", "write-buffer is 67,108,864 bytes here; allowed are up to 33,554,432, the data"),
        ("lsm-tree writes=0x", "writes=0x: allowed is more than nothing"),
    ],
)
def test_what_does_not_fit_the_drive_is_an_error(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        stores.parse(text).resolve(480 * 10**9, seed=1)


def test_a_file_and_a_text_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "orders.store"
    path.write_text("# our database\nlsm-tree\ndata=50%   # of the drive\ntrim=off handles=kind\n")
    from_file, from_text = load(path), load("lsm-tree data=50% trim=off handles=kind")
    assert from_file.resolve(10**11, seed=1) == from_text.resolve(10**11, seed=1)
    assert (title(path), title("lsm-tree trim=off")) == ("orders", "lsm-tree")
    path.write_text("lsm-tree dta=1\n")
    with pytest.raises(InputError, match=r"orders\.store: dta is not an option"):
        load(path)
    with pytest.raises(InputError, match=r"missing\.store"):
        load(tmp_path / "missing.store")


def test_the_result_adds_up_and_shows_in_text_and_json() -> None:
    result = settled("b-plus-tree rebuild=4")
    job = result.jobs[-1]
    store = job.store
    assert store is not None and set(store.by_cause) == {"log", "pages", "rebuilt"}
    assert store.host_bytes == job.write.io_bytes
    assert store.deleted_bytes == job.trim.io_bytes > 0
    shown = result.to_dict()["jobs"][-1]["ssdlab"].get("store")
    assert shown is not None and job.waf is not None
    amplification = job.write.io_bytes / store.user_bytes
    assert shown["host_amplification"] == pytest.approx(amplification)
    assert shown["total_amplification"] == pytest.approx(amplification * job.waf)
    assert "store" not in result.to_dict()["jobs"][0]["ssdlab"]
    from ssdlab.simulator.results.text import normal

    assert f"b-plus-tree: host write amplification {store.host_amplification:.2f} = log" in normal(result)


def test_no_closed_form_is_claimed() -> None:
    on = ssdlab.drive("generic-tlc-480", scale="1/512")
    jobs = stores.parse("lsm-tree").resolve(on.capacity.user_bytes, seed=1, scale=on.scale)
    found = expected(jobs, on.specification(), 0.07)
    assert found.value is None and "store" in str(found)


def test_trim_lets_the_drive_use_what_no_file_has() -> None:
    """With TRIM the free space is spare area; without it the whole volume is live once written."""
    with_trim, without = (settled(f"b-plus-tree rebuild=4 trim={trim}").settled_waf for trim in ("on", "off"))
    assert with_trim is not None and without is not None
    assert 1 < 2 * with_trim < without


def test_a_run_from_the_command_line(tmp_path: Path) -> None:
    command = ["run", "lsm-tree writes=0.5x settle=0.5x", "--drive", DRIVE, "--scale", "1/2048"]
    said = CliRunner().invoke(app, [*command, "--untimed", "--output", str(tmp_path / "out")])
    assert said.exit_code == 0, said.output
    assert "lsm-tree: host write amplification" in said.output
    plain = json.loads((tmp_path / "out" / "result.json").read_text())
    assert plain["jobs"][-1]["ssdlab"]["store"]["kind"] == "lsm-tree"


def test_a_real_drive_takes_job_files_only(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["measure", "lsm-tree trim=off", "--on", str(tmp_path / "file")])
    assert isinstance(said.exception, InputError)
    assert "lsm-tree trim=off: runs on simulated drives only" in str(said.exception)


def test_the_page_has_every_option_with_its_default() -> None:
    page = "".join((DOCS / name).read_text() for name in ("databases.md", "caches.md"))
    for options in OPTIONS.values():
        for name, option in options.items():
            assert f"| `{name}` | {option.default} | {option.what} |" in page, name


def test_a_drive_with_too_few_handles_is_named() -> None:
    """A regression: the error named a key of the engine that the workload's text does not have."""
    two = ssdlab.drive(
        "generic-tlc-480", scale="1/512", settings={"ftl.placement": "{ name = 'host-streams', identifiers = 2 }"}
    )
    with pytest.raises(InputError, match=r"handles=level uses \d placement handles; allowed are up to 2, those"):
        specifying.specify(stores.parse("lsm-tree handles=level"), two)
    assert specifying.specify(stores.parse("b-plus-tree handles=kind"), two).engine["jobs"]
