"""The KV cache of a language model server as a workload: its options, its hit rate, and what the drive makes of it."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ssdlab
from ssdlab.cli import app
from ssdlab.errors import InputError
from ssdlab.simulator.results.store import StoreResult
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import load, stores

DRIVE = "samsung-fdp-3840gb"
MIB = 2**20


def run(text: str, *, timed: bool = False) -> ssdlab.Result:
    return simulated.run(ssdlab.specify(stores.parse(text), ssdlab.drive(DRIVE, scale="1/2048"), timed=timed))


def counted(result: ssdlab.Result) -> StoreResult:
    found = result.jobs[-1].store
    assert found is not None
    return found


def test_the_options_become_a_cache_that_begins_empty() -> None:
    jobs = stores.parse("kv-cache data=50% chunk=2MiB layers=8 context=10 handles=kind").resolve(10**10, seed=1)
    assert [(job["name"], job["stage"]) for job in jobs] == [("settle", 0), ("kv-cache", 1)]
    store = jobs[-1].get("store")
    assert store is not None
    slots = 5 * 10**9 // (2 * MIB)
    assert store["data_bytes"] == slots * 2 * MIB
    assert (store["identifiers"], store["begins_after_bytes"]) == ([0, 1], 2 * 10**10)
    assert store["tree"] == {
        "kind": "kv-cache",
        "chunk_bytes": 2 * MIB,
        "layers": 8,
        "sessions": round(2 * slots / 10),
        "turn_chunks": 2,
        "context_chunks": 10,
        "zipf_theta": 0.9,
    }


@pytest.mark.parametrize(
    ("text", "scale", "chunk_bytes", "sessions"),
    [
        ("kv-cache sessions=5000", "1", 3 * MIB, 5000),
        ("kv-cache sessions=5000", "1/8", 384 * 1024, 5000),
        # A request at least, and fewer sessions for it.
        ("kv-cache sessions=5000", "1/240", 128 * 1024, 500),
        ("kv-cache sessions=5000 request=12KiB", "1/256", 12 * 1024, 5000),
        # 4 KiB a layer.
        ("kv-cache sessions=5000 layers=24", "1/256", 192 * 1024, round(5000 / 16)),
        ("kv-cache sessions=5000 layers=24 chunk=96KiB", "1/256", 96 * 1024, round(5000 / 256)),
    ],
)
def test_chunks_shrink_with_the_drive_to_a_request_and_then_sessions(
    text: str, scale: str, chunk_bytes: int, sessions: int
) -> None:
    part = Fraction(scale)
    job = stores.parse(text).resolve(int(10**12 * part), seed=1, scale=part)[-1]
    store = job.get("store")
    assert store is not None and store["tree"]["kind"] == "kv-cache"
    assert (store["tree"]["chunk_bytes"], store["tree"]["sessions"]) == (chunk_bytes, sessions)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "kv-cache layers=7",
            "chunk is 3,145,728 bytes, layers=7; allowed is a multiple of 4 KiB a layer, 28,672",
        ),
        ("kv-cache context=4000", "context=4000; allowed are up to 2,543 chunks here, those of the cache"),
        ("kv-cache turn=33", "turn=33; allowed are up to 32 chunks, the context"),
        (
            "kv-cache sessions=100000000",
            "100,000,000 sessions of up to 32 chunks; allowed are 268,435,456 chunks",
        ),
        ("kv-cache data=1MiB", "data=1MiB are 0 bytes here; allowed are 3,145,728 to"),
    ],
)
def test_what_does_not_fit_names_the_option_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        stores.parse(text).resolve(10**10, seed=1)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kv-cache sessions=0", "sessions=0: allowed is a whole number from 1, or a share above 0%"),
        ("kv-cache sessions=many", "sessions=many: allowed is a whole number from 1"),
        ("kv-cache sessions=1.5", "sessions=1.5: allowed is a whole number from 1"),
        ("kv-cache chunk=1000B", "chunk=1000B: allowed is a multiple of 4KiB"),
        ("kv-cache handles=level", "handles=level: allowed is none or kind"),
        ("kv-cache sesions=3", "sesions is not an option of kv-cache; did you mean 'sessions'?"),
        (
            "kv-cach",
            "begins with kv-cach; did you mean 'kv-cache'?; allowed is one of lsm-tree, b-plus-tree, flash-cache, kv",
        ),
    ],
)
def test_errors_of_the_text_name_the_option(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        stores.parse(text)
    assert said in str(refused.value)


def test_a_workload_that_is_no_file_is_told_its_name() -> None:
    with pytest.raises(InputError, match="kv-cache"):
        load("kv-cach sessions=3")


def test_a_larger_cache_is_hit_more_often() -> None:
    small, large = (counted(run(f"kv-cache data={data} sessions=100000 writes=1x")) for data in ("30%", "90%"))
    assert small.hit_rate is not None and large.hit_rate is not None
    assert 0.1 < small.hit_rate + 0.1 < large.hit_rate < 1


def test_what_fits_is_only_written_once_for_its_users() -> None:
    store = counted(run("kv-cache sessions=20 settle=0x writes=0.5x"))
    assert (store.hit_rate, store.missed_bytes, store.deleted_bytes) == (1.0, 0, 0)
    assert store.host_amplification == 1.0 and list(store.by_cause) == ["new"]


def test_sessions_that_never_return_write_the_cache_as_a_ring() -> None:
    """The closed form: a log of whole chunks leaves nothing to move, and costs what parity costs."""
    result = run("kv-cache context=1 turn=1 data=100%")
    job, store = result.jobs[-1], counted(result)
    assert store.hit_rate is None and store.hit_bytes == 0, "no history was asked for"
    assert job.waf == pytest.approx(64 / 63, abs=0.01)


def test_reads_writes_and_trims_of_the_drive_are_those_of_the_cache() -> None:
    result = run("kv-cache layers=24 settle=1x writes=1x", timed=True)
    job, store = result.jobs[-1], counted(result)
    assert set(store.by_cause) == {"new", "recomputed"}
    assert store.host_bytes == job.write.io_bytes > 0
    assert store.hit_bytes == job.read.io_bytes > 0
    assert store.deleted_bytes == job.trim.io_bytes > 0
    shown = result.to_dict()["jobs"][-1]["ssdlab"].get("store")
    assert shown is not None
    assert shown.get("hit_rate") == store.hit_bytes / (store.hit_bytes + store.by_cause["recomputed"])


def test_a_run_from_the_command_line(tmp_path: Path) -> None:
    command = ["run", "kv-cache settle=1x writes=0.5x trim=off", "--drive", DRIVE, "--scale", "1/2048", "--untimed"]
    said = CliRunner().invoke(app, [*command, "--output", str(tmp_path / "out")])
    assert said.exit_code == 0, said.output
    store = json.loads((tmp_path / "out" / "result.json").read_text())["jobs"][-1]["ssdlab"]["store"]
    assert f"kv-cache: hit rate {store['hit_rate']:.4f} of" in said.output
    assert "kv-cache: host write amplification" in said.output
    assert store["kind"] == "kv-cache"
    shown = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "200"})
    assert "kv-cache" in shown.output
