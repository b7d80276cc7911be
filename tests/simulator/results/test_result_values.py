"""Do the figures of a result agree with the engine's counters? The toy engine copies half a unit for each written."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.results import PARTS, specification_of
from ssdlab.simulator.targets import simulated

UNIT_BYTES = 4096
USER_BYTES = 40 * UNIT_BYTES
TWO_STAGES = """
[fill]
rw=write
bs=4k
[measure]
stonewall
rw=randwrite
bs=4k
loops=2
numjobs=2
group_reporting
"""


def test_totals_and_capacity(run: Any) -> None:
    ours = run(TWO_STAGES, timed=False).to_dict()["ssdlab"]
    written = 5 * USER_BYTES
    assert ours["host"] == {"written_bytes": written, "read_bytes": 0, "trimmed_bytes": 0, "deduplicated_bytes": 0}
    assert ours["nand"]["programmed_bytes"] == {
        **dict.fromkeys(PARTS, 0),
        "host": written,
        "gc": written // 2,
        "total": written * 3 // 2,
    }
    assert ours["nand"]["read_bytes"] == written // 2
    assert ours["waf"] == 1.5
    assert ours["capacity"] == {
        "physical_bytes": 2 * USER_BYTES,
        "user_bytes": USER_BYTES,
        "over_provisioning": 1.0,
        "spare_factor": 0.5,
        "effective_over_provisioning": 0.9,
    }
    assert ours["wear"]["bad_blocks"] == 3
    assert ours["simulated_seconds"] is None
    assert ours["steady_state"]["reached"] is None


def test_a_job_has_its_own_counters_and_clones_are_one(run: Any) -> None:
    result = run(TWO_STAGES, timed=False)
    fill, measure = result.jobs
    assert (fill.name, fill.clones, fill.group) == ("fill", 1, 0)
    assert (measure.name, measure.clones, measure.group) == ("measure", 2, 1)
    assert fill.write.io_bytes == USER_BYTES
    assert measure.write.io_bytes == 4 * USER_BYTES
    assert measure.write.total_ios == 4 * 40
    assert measure.write.iops is None
    assert measure.waf == 1.5
    assert measure.to_dict(bins=False)["ssdlab"]["host"]["written_bytes"] == 4 * USER_BYTES


def test_waf_is_null_when_nothing_was_written(run: Any) -> None:
    result = run("[a]\nrw=randread\nbs=4k\n")
    assert result.waf is None
    assert result.jobs[0].to_dict(bins=False)["ssdlab"]["waf"] is None
    assert result.timeseries.height == 0


def test_same_bytes_again_and_from_the_result_itself(run: Any, toy_engine: Any) -> None:
    first, second = run(TWO_STAGES), run(TWO_STAGES)
    assert first.timing is not None
    assert first.to_json() == second.to_json()
    again = simulated.run(specification_of(json.loads(first.to_json())))
    assert again.to_json() == first.to_json()
    assert again.specification.hash() == first.specification.hash()


def test_the_hash_knows_every_choice(run: Any) -> None:
    hashes = {
        run(TWO_STAGES).specification.hash(),
        run(TWO_STAGES, seed=2).specification.hash(),
        run(TWO_STAGES, until="steady").specification.hash(),
        run(TWO_STAGES, precondition="fill").specification.hash(),
        run(TWO_STAGES, timed=False).specification.hash(),
    }
    assert len(hashes) == 5


def test_precondition_is_a_stage_before_the_others(run: Any) -> None:
    result = run(TWO_STAGES, precondition="fill")
    assert [(job.name, job.group, job.stage) for job in result.jobs] == [
        ("precondition", 0, 0),
        ("fill", 1, 1),
        ("measure", 2, 2),
    ]
    assert result.jobs[0].write.io_bytes == USER_BYTES
    sizes = result.specification.jobs[0]["block_sizes"]["write"]
    assert USER_BYTES % sizes[0]["bytes"] == 0, "no rest is left unwritten"


def test_steady_state_of_what_never_writes_is_refused(run: Any) -> None:
    with pytest.raises(InputError, match=r"\(a\) writes nothing.*--until job"):
        run("[a]\nrw=randread\nbs=4k\n", until="steady")


def test_the_waf_to_compare_by_is_of_the_five_last_rounds(run: Any) -> None:
    result = run("[a]\nrw=randwrite\nbs=4k\n", until="steady")
    assert result.settled_waf == 1.5
    assert result.settled_waf_parts == pytest.approx({**dict.fromkeys(PARTS, 0), "host": 1.0, "gc": 0.5})
    assert result.to_dict()["ssdlab"]["steady_state"]["waf"] == 1.5
    assert result.to_dict()["ssdlab"]["steady_state"]["rounds"] == 6


def test_a_wrong_specification_is_an_input_error(run: Any) -> None:
    with pytest.raises(InputError, match="seed = 13: allowed is any other number"):
        run(TWO_STAGES, seed=13)


def test_a_read_only_drive_is_said_in_fio_s_way(run: Any) -> None:
    result = run(TWO_STAGES, seed=14)
    assert [job.error for job in result.jobs] == [0, 30]
    assert result.to_dict()["ssdlab"]["failure"] == "the drive is out of spare blocks"


def test_written_files(run: Any, tmp_path: Path) -> None:
    result = run(TWO_STAGES)
    result.write(tmp_path / "new" / "place")
    files = sorted(path.name for path in (tmp_path / "new" / "place").iterdir())
    assert files == ["data", "result.json", "timing.json"]
    assert (tmp_path / "new" / "place" / "result.json").read_text() == result.to_json()
    series = pl.read_parquet(tmp_path / "new" / "place" / "data/timeseries.parquet")
    assert series.equals(result.timeseries)
    assert series["waf"].to_list() == pytest.approx([1.5] * 10)
    assert series["host_written_bytes"].to_list()[-1] == 5 * USER_BYTES
    over_time = pl.read_parquet(tmp_path / "new" / "place" / "data/timeseries-time.parquet")
    assert over_time.equals(result.timing_series)
    run(TWO_STAGES, timed=False).write(tmp_path / "untimed")
    assert not (tmp_path / "untimed" / "data/timeseries-time.parquet").exists()


def test_a_file_where_earlier_versions_wrote_it_does_not_stay_beside_the_new(run: Any, tmp_path: Path) -> None:
    (tmp_path / "timeseries.parquet").write_bytes(b"of another run")
    (tmp_path / "notes.txt").write_text("mine")
    run(TWO_STAGES, timed=False).write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {"data", "notes.txt"}
    assert not (tmp_path / "timeseries.parquet").exists()
