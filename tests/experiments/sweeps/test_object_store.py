"""Results in a store that is not a folder: fsspec's memory store represents a bucket, which also renames by copying."""

import polars as pl
import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.experiments.sweeps.rows import parquet

KEYS = ["0" * 31 + digit for digit in "123"]


def test_a_bucket_keeps_lists_reads_and_forgets() -> None:
    dataset = Dataset("memory://bucket/sweep")
    dataset.make()
    assert dataset.keys() == set()
    for value, key in enumerate(KEYS):
        dataset.write(key, parquet({"waf": float(value), "failure": None}))
        dataset.write(key, parquet({"waf": float(value), "failure": None}))
    assert dataset.keys() == set(KEYS)
    assert dataset.frame()["waf"].to_list() == [0.0, 1.0, 2.0]
    assert Dataset("memory://bucket/sweep").frame(KEYS[::-1])["waf"].to_list() == [2.0, 1.0, 0.0]
    dataset.remove(KEYS[0])
    assert dataset.keys() == set(KEYS[1:])
    assert isinstance(dataset.frame(), pl.DataFrame)


def test_a_half_written_object_is_not_seen_and_is_tidied_away() -> None:
    dataset = Dataset("memory://bucket/torn")
    dataset.make()
    dataset._files.pipe_file(f"{dataset._runs}/.writing-{KEYS[0]}-x", b"PAR1")
    assert dataset.keys() == set()
    dataset.tidy()
    assert dataset._files.ls(dataset._runs, detail=False) == []


def test_a_store_without_its_driver_is_named() -> None:
    with pytest.raises(InputError, match="nosuch"):
        Dataset("nosuch://bucket/sweep")
