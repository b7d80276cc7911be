"""The stored results of a sweep: one Parquet file for each run, named by its key, in one folder or bucket.

A file is complete or does not exist, so that an interrupted sweep continues where it stopped. Several writers need no
lock: two writers of the same key write the same bytes. Places are those of fsspec: a path, or `s3://bucket/...` if its
driver is installed.
"""

import re
import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, RunFailed

if TYPE_CHECKING:
    import polars

_SUFFIX = ".parquet"
_KEY = re.compile(r"[0-9a-f]{32}")


class Dataset:
    """The results under `place`. Raises InputError if fsspec cannot use the place."""

    def __init__(self, place: str) -> None:
        import fsspec

        try:
            self._files, self._root = fsspec.core.url_to_fs(place)
        except (ImportError, ValueError) as error:
            raise InputError(f"--output {place}: {error}") from None
        self.place = place
        self._runs = f"{self._root}/runs"

    def make(self) -> None:
        """Makes the folder and checks that it is writable. Raises InputError if not."""
        try:
            self._files.makedirs(self._runs, exist_ok=True)
            probe = f"{self._runs}/.probe-{uuid.uuid4().hex}"
            self._files.pipe_file(probe, b"")
            self._files.rm_file(probe)
        except (OSError, PermissionError) as error:
            raise InputError(f"--output {self.place}: cannot be written: {error}") from None

    def keys(self) -> set[str]:
        """The keys of all complete results."""
        if not self._files.exists(self._runs):
            return set()
        names: Iterable[str] = (str(path).rsplit("/", 1)[-1] for path in self._files.ls(self._runs, detail=False))
        stems = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
        return {stem for stem in stems if _KEY.fullmatch(stem)}

    def holds(self, name: str) -> bool:
        """Whether a file exists under `name`, which can be a key or not."""
        return bool(self._files.exists(f"{self._runs}/{name}{_SUFFIX}"))

    def write(self, key: str, content: bytes) -> None:
        """Stores a result: writes it under another name, then renames it, which is atomic. Raises RunFailed."""
        target = f"{self._runs}/{key}{_SUFFIX}"
        temporary = f"{self._runs}/.writing-{key}-{uuid.uuid4().hex}"
        try:
            self._files.pipe_file(temporary, content)
            self._files.mv(temporary, target)
        except OSError as error:
            raise RunFailed(f"{self.place}: a result could not be written: {error}") from None

    def remove(self, key: str) -> None:
        """Deletes a result."""
        self._files.rm_file(f"{self._runs}/{key}{_SUFFIX}")

    def tidy(self) -> None:
        """Removes the incomplete files of writers that were killed."""
        for path in self._files.ls(self._runs, detail=False):
            if str(path).rsplit("/", 1)[-1].startswith(".writing-"):
                self._files.rm_file(path)

    def frame(self, keys: Sequence[str] | None = None) -> "polars.DataFrame":
        """The rows of these keys in that order, or all sorted by key. Missing columns are null.

        Raises InputError for a damaged file, which only another program can cause.
        """
        import polars as pl

        wanted = sorted(self.keys()) if keys is None else keys
        return pl.concat([self._read(key) for key in wanted], how="diagonal_relaxed") if wanted else pl.DataFrame()

    def _read(self, key: str) -> "polars.DataFrame":
        import polars as pl

        path = f"{self._runs}/{key}{_SUFFIX}"
        try:
            return pl.read_parquet(self._files.cat_file(path))
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{path}: is damaged ({error}); remove it and the sweep will repeat the run") from None


def query(rows: "polars.DataFrame", every: "polars.DataFrame", sql: str) -> "polars.DataFrame":
    """Executes one SELECT (DuckDB's SQL) over the tables `runs` (rows of the sweep) and `all_runs` (all rows).

    It reads copies of these tables and has no access to files, network or extensions. Raises InputError for anything
    but one SELECT, with DuckDB's message if the query is invalid.
    """
    import duckdb
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        copies = Path(folder) / "runs.duckdb"
        _copy({"runs": rows, "all_runs": every}, copies)
        connection = duckdb.connect(
            copies, read_only=True, config={"enable_external_access": "false", "lock_configuration": "true"}
        )
        try:
            statements = connection.extract_statements(sql)
            if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
                raise InputError(f"--query {sql!r}: allowed is one SELECT over the tables runs and all_runs")
            found = connection.execute(statements[0])
            names = [column[0] for column in found.description or ()]
            return pl.DataFrame(found.fetchall(), schema=names, orient="row", infer_schema_length=None)
        except duckdb.Error as error:
            columns = ", ".join(rows.columns)
            raise InputError(f"--query: {error}\nThe columns of `runs` are: {columns}") from None
        finally:
            connection.close()


def _copy(tables: "Mapping[str, polars.DataFrame]", database: Path) -> None:
    """Makes a database with these tables."""
    import duckdb

    connection = duckdb.connect(database)
    try:
        for name, frame in tables.items():
            file = database.with_name(f"{name}.parquet")
            frame.write_parquet(file)
            connection.execute(f"create table {name} as select * from read_parquet($1)", [str(file)])
    finally:
        connection.close()
