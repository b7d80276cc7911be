"""`ssdlab advise tenants`: one drive for all, or a separate drive for each."""

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import ssdlab
from in_process import call
from ssdlab.errors import InputError, Note
from ssdlab.experiments.advice.tenants import Compared, Tenant, TenantAdvice, _sentence, advise_tenants
from ssdlab.presentation.report import wording

pytestmark = pytest.mark.filterwarnings("ignore::ssdlab.errors.Note")

JOBS = """
[pages]
filename=pages
rw=randwrite
bs=4k
norandommap
io_size=400g
iodepth=4
[log]
filename=log
rw=write
bs=64k
io_size=800g
iodepth=4
"""


def files(folder: Path, sizes: dict[str, str], jobs: str = JOBS) -> tuple[str, str]:
    tables = "".join(f'[[namespace]]\nname = "{name}"\nsize_bytes = "{size}"\n' for name, size in sizes.items())
    (folder / "tenants.toml").write_text(f'based_on = "generic-tlc-480"\n{tables}')
    (folder / "tenants.fio").write_text(jobs)
    return str(folder / "tenants.fio"), str(folder / "tenants.toml")


@pytest.fixture(scope="module")
def advised(tmp_path_factory: pytest.TempPathFactory) -> tuple[TenantAdvice, Path]:
    folder = tmp_path_factory.mktemp("tenants")
    return advise_tenants(*files(folder, {"pages": "240 GB", "log": "240 GB"}), writes_per_day="2TB"), folder


def test_figures_are_those_of_a_run_with_alone(advised: tuple[TenantAdvice, Path]) -> None:
    advice, folder = advised
    on = ssdlab.drive(str(folder / "tenants.toml"), scale=advice.result.specification.scale)
    result = ssdlab.run(str(folder / "tenants.fio"), on, precondition="fill", alone=True)
    for tenant, each in zip(advice.tenants, result.namespaces or [], strict=True):
        found = {figure.name: figure for figure in tenant.figures}
        assert each.alone is not None and each.write is not None and each.alone.write is not None
        assert (found["WAF"].shared, found["WAF"].split) == (each.last_stage.waf, each.alone.waf)
        p99 = [latency.percentiles_ns((99,))[0] for latency in (each.write, each.alone.write)]
        assert [found["write p99"].shared, found["write p99"].split] == p99


def test_life_is_the_flash_over_what_is_programmed(advised: tuple[TenantAdvice, Path]) -> None:
    """Computed independently from bytes: the shared flash by all programmed data, a tenant's flash by its own."""
    advice, folder = advised
    full = ssdlab.drive(str(folder / "tenants.toml"))
    lifetime = full.endurance_cycles * full.capacity.physical_bytes
    ledger = advice.result.last_stage_ledger
    days = lifetime / (2e12 * ledger.programmed_bytes / ledger.host_written_bytes)
    for tenant, each in zip(advice.tenants, advice.result.namespaces or [], strict=True):
        assert tenant.years_shared == pytest.approx(days / 365, rel=0.01)
        assert each.alone is not None and each.alone.waf is not None
        own = 2e12 * each.alone.host_written_bytes / ledger.host_written_bytes
        alone_days = lifetime * each.alone.share / (own * each.alone.waf)
        assert tenant.years_split == pytest.approx(alone_days / 365, rel=0.01)


def test_what_is_moved_of_a_tenant_that_only_reads_wears_the_flash(tmp_path: Path) -> None:
    """A regression: its moved data, a third of all that was programmed, was left out of the drive's life and WAF: 5.46
    beside 8.73 with a placement handle for each, instead of 8.29."""
    jobs = "[pages]\nfilename=pages\nrw=randwrite\nbs=4k\nnorandommap\nio_size=800g\niodepth=4\n"
    jobs += "[kept]\nfilename=kept\nrw=randread\nbs=4k\nio_size=1g\n"
    # Both are written over before, so that they lie in the same erase units.
    before = "[over{0}]\nfilename={0}\nrw=randwrite\nbs=4k\nio_size=240g\n"
    jobs = before.format("pages") + before.format("kept") + jobs.replace("[pages]", "[pages]\nstonewall", 1)
    advice = advise_tenants(*files(tmp_path, {"pages": "240 GB", "kept": "240 GB"}, jobs), writes_per_day="2TB")
    pages, _ = advice.tenants
    kept, ledger = (advice.result.namespaces or [])[1], advice.result.last_stage_ledger
    assert kept.last_stage.waf is None and kept.last_stage.programmed_bytes_total > 0.3 * ledger.programmed_bytes
    full = ssdlab.drive(str(tmp_path / "tenants.toml"))
    lifetime = full.endurance_cycles * full.capacity.physical_bytes
    assert ledger.waf is not None and pages.years_shared == pytest.approx(lifetime / (2e12 * ledger.waf) / 365)
    assert f"All together: WAF {wording.waf(ledger.waf)} shared, " in advice.headline.text


def test_it_says_who_gains(advised: tuple[TenantAdvice, Path]) -> None:
    advice, _ = advised
    pages, log = advice.tenants
    assert next(each for each in log.figures if each.name == "WAF").better == "splitting", "its log stays in order"
    assert next(each for each in pages.figures if each.name == "WAF").better == "sharing", "it has the log's spare area"
    assert re.search(
        r"All together: WAF [0-9.]+ shared, [0-9.]+ shared with a placement handle each, [0-9.]+ split\.$",
        advice.headline.text,
    )
    assert [text.text.split(":")[0] for text in advice.sentences[:2]] == ["pages", "log"]
    handles = advice.sentences[2].text
    assert handles.startswith("A placement handle for each tenant on the shared drive: WAF pages ")
    assert advice.frame().shape == (sum(len(each.figures) for each in advice.tenants), 5)


def test_equal_figures_are_called_alike_and_said_once() -> None:
    """A regression: "write p99 5.02 µs shared, 5.02 µs split", in the form of figures that differ."""
    figures = [Compared("WAF", 2.0, 4.0), Compared("write p99", 5020.0, 5021.0), Compared("read p99", 8150.0, 7990.0)]
    tenant = Tenant("a", 0.5, [*figures, Compared("life", 1.0, 1.02, is_better_high=True)], 3.0, 3.06)
    said = _sentence(tenant).text.replace("\u00a0", " ")
    assert (
        "WAF 2.00 shared, 4.00 split; write p99 alike, 5.02 µs; read p99 alike, 8.15 µs shared, 7.99 µs split" in said
    )
    assert said.endswith("life alike, 3.00 years shared, 3.06 split.")
    assert "life alike, split 1.02 times" in _sentence(replace(tenant, years_shared=None)).text


def test_a_handle_each_keeps_the_log_in_its_own_erase_units(advised: tuple[TenantAdvice, Path]) -> None:
    """What a sequential tenant writes is invalidated in order, so its reclaim units become empty as a whole."""
    advice, folder = advised
    assert advice.with_handles is not None
    fdp = advice.with_handles.fdp
    assert fdp is not None and [each["ruha"] for each in fdp["usage"]["ruhus"]] == [2, 2], "named by no job"
    pages, log = (each.last_stage.waf or 0 for each in advice.with_handles.namespaces or [])
    shared_log = (advice.result.namespaces or [])[1].last_stage.waf
    assert shared_log is not None and 1 < log < 0.9 * shared_log
    assert (advice.with_handles.waf or 0) < (advice.result.waf or 0)
    names = advice.write(folder / "with-handles")
    plain = json.loads((folder / "with-handles" / names[names.index("result.json")]).read_text())
    assert plain["handles"]["tenants"] == {"pages": pages, "log": log}


def test_one_tenant_of_the_whole_drive_loses_and_gains_nothing(tmp_path: Path) -> None:
    jobs = JOBS[: JOBS.index("[log]")]
    advice = advise_tenants(*files(tmp_path, {"pages": "480 GB"}, jobs))
    (tenant,) = advice.tenants
    assert tenant.better is None
    assert all(figure.shared == pytest.approx(figure.split) for figure in tenant.figures)
    assert advice.headline.text.startswith("It makes no difference for pages. All together")
    assert "times the size of the drive: write amplification may still rise" in advice.sentences[-1].text


def test_verdicts_follow_the_figures() -> None:
    waf, tail = Compared("WAF", 1.2, 1.5), Compared("write p99", 3e6, 2e6)
    assert (waf.better, tail.better) == ("sharing", "splitting")
    assert Compared("WAF", 1.2, 1.25).better is None
    assert Compared("life", 1.0, 2.0, is_better_high=True).better == "splitting"

    def better(*figures: Compared) -> str | None:
        return Tenant("a", 0.5, figures, None, None).better

    assert (better(waf), better(tail), better(waf, tail), better()) == ("sharing", "splitting", "mixed", None)


def test_the_command_prints_the_table_and_writes_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job, drive = files(tmp_path, {"pages": "240 GB", "log": "240 GB"})
    call("advise tenants", job, "--drive", drive, "--output", tmp_path / "out")
    said = capsys.readouterr().out
    assert "All together: WAF" in " ".join(said.split()) and "  nsid  name" in said and "alone" in said
    plain = json.loads((tmp_path / "out" / "result.json").read_text())
    assert [tenant["name"] for tenant in plain["tenants"]] == ["pages", "log"]
    assert plain["namespaces"][0]["alone"]["share"] == pytest.approx(0.5, abs=0.01)
    assert plain["tenants"][0]["years_shared"] is None
    assert "Tenant by tenant" in (tmp_path / "out" / "report.html").read_text()
    with pytest.raises(InputError, match="its tenants: ssdlab advise tenants"):
        call("advise space", job, "--drive", drive, "--waf", "2")


def test_options_that_need_a_clock_are_not_noted_in_runs_with_one(tmp_path: Path) -> None:
    """Each run of an advice on tenants has a clock, and still printed "acts with a clock only" on the job's options."""
    jobs = JOBS.replace("iodepth=4", "direct=1\nrate_iops=200k\nmax_latency=10s")
    job, drive = files(tmp_path, {"pages": "240 GB", "log": "240 GB"}, re.sub("io_size=.*", "io_size=4g", jobs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        advise_tenants(job, drive)
    notes = {str(each.message).partition(":")[0] for each in caught if each.category is Note}
    assert notes == set()


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    job, drive = files(tmp_path, {"pages": "240 GB", "log": "240 GB"})
    with pytest.raises(InputError, match=r"has no \[\[namespace\]\]"):
        advise_tenants(job, "generic-tlc-480")
    with pytest.raises(InputError, match="only a fio job file chooses namespaces"):
        advise_tenants("lsm-tree", drive)
    with pytest.raises(InputError, match="--writes-per-day: '2' has no unit"):
        advise_tenants(job, drive, writes_per_day="2")
