"""Allowed and rejected queries on the results of a sweep: `--query` is often pasted from elsewhere."""

from pathlib import Path

import polars as pl
import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.sweeps.dataset import query

RUNS = pl.DataFrame({"a": [1, 2]})


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(a) as n from runs",
        "from runs select sum(a) as n",
        "with r as (from all_runs) select sum(a) n from r;",
    ],
)
def test_a_select_is_answered(sql: str) -> None:
    assert query(RUNS, RUNS, sql).rows() == [(3,)]


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "-- nothing",
        "select 1; select 2",
        "select 1; drop table runs",
        "insert into runs values (3)",
        "copy runs to 'stolen.csv'",
        "attach 'other.duckdb'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "pragma database_list",
        "export database 'elsewhere'",
    ],
)
def test_anything_else_is_refused(sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"--query .*allowed is one SELECT over the tables runs and all_runs"):
        query(RUNS, RUNS, sql)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sql",
    ["select * from read_text('{file}')", "select * from '{file}'", "select * from glob('{folder}/*')"],
)
def test_a_select_reads_no_file(sql: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("secret\n1\n")
    with pytest.raises(InputError, match=r"--query: .*disabled by config|--query: .*does not exist"):
        query(RUNS, RUNS, sql.format(file=file, folder=tmp_path))
