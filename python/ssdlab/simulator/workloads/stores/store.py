"""A database as a workload: `lsm-tree handles=level`, as a text or in a file, in place of a job file.

    # NAME.store: one or several words on each line, # begins a comment
    lsm-tree
    data=300GiB
    trim=off

Its stages: the data is written sequentially, updates bring the tree and the drive near their steady state (`settle`),
and updates are measured (`writes`). A cache begins empty, without the first stage.
"""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError, near
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import Reporting
from ssdlab.simulator.workloads.jobs.lines import read_text
from ssdlab.simulator.workloads.stores import flash_cache, session_cache
from ssdlab.simulator.workloads.stores.options import OPTIONS, Amount

SUFFIX = ".store"
DEPTH = 32
HANDLES_MAX = 8
"""The number of handles that known drives have; deeper levels share the last one."""
_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class StoreWorkload:
    """A database or a cache, which can be used in place of a job file."""

    kind: str
    """A key of `options.OPTIONS`."""
    said: Mapping[str, str]
    """The given options, as text."""
    source: str
    _notes: dict[str, None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def value(self, name: str) -> Any:
        """The value of an option, or its default."""
        option = OPTIONS[self.kind][name]
        return option.read(self.said.get(name, option.default))

    def with_options(self, **said: str) -> "StoreWorkload":
        """The workload with these options changed."""
        return StoreWorkload(self.kind, {**self.said, **said}, self.source)

    @property
    def text(self) -> str:
        """The text from which `parse` makes an equal workload."""
        return " ".join([self.kind, *(f"{name}={value}" for name, value in self.said.items())])

    def notes(self, *, timed: bool) -> tuple[str, ...]:
        """Notes on a trace, one sentence each, after `resolve` has read it; the same with and without a clock."""
        return tuple(self._notes)

    @property
    def global_options(self) -> dict[str, str]:
        """All options, including those that were not given."""
        return {name: self.said.get(name, option.default) for name, option in OPTIONS[self.kind].items()}

    def resolve(self, user_bytes: int, *, seed: int, scale: Fraction | int = 1) -> list[plain.Job]:
        """The engine's jobs: the load of a database, settling and the measured part. InputError names the option."""
        scale = Fraction(scale)
        if self.kind == flash_cache.KIND:
            return self._cache(user_bytes, seed, scale)
        space_bytes = user_bytes // _BLOCK_BYTES * _BLOCK_BYTES
        unit_bytes = self._unit_bytes(scale)
        data: Amount = self.value("data")
        data_bytes = data.on(user_bytes, scale) // unit_bytes * unit_bytes
        if not 0 < data_bytes <= space_bytes:
            raise InputError(
                f"{self.source}: data={self.said.get('data', OPTIONS[self.kind]['data'].default)} are "
                f"{data_bytes:,} bytes here; allowed are {unit_bytes:,} to {space_bytes:,}, the size of the drive"
            )
        tree = self._tree(scale, data_bytes)
        if tree["kind"] == "lsm-tree":
            sizes = {
                "write-buffer": tree["write_buffer_bytes"],
                "level1": tree["level1_bytes"],
                "file": tree["file_bytes"],
            }
            for name, found in sizes.items():
                if found > data_bytes:
                    raise InputError(
                        f"{self.source}: {name} is {found:,} bytes here; allowed are up to {data_bytes:,}, the data"
                    )
        identifiers = self._identifiers(tree, data_bytes)
        store: plain.Store = {
            "tree": tree,
            "data_bytes": data_bytes,
            "request_bytes": self.value("request"),
            "trims": self.value("trim"),
            "identifiers": identifiers,
            "begins_after_bytes": 0,
        }
        settle_bytes, bytes_ = (self.value(name).on(user_bytes, scale) for name in ("settle", "writes"))
        if not bytes_:
            raise InputError(f"{self.source}: writes={self.said['writes']}: allowed is more than nothing")
        jobs = [] if self.kind == session_cache.KIND else [_load(data_bytes, seed, identifiers)]
        if settle_bytes:
            jobs.append(_updates("settle", space_bytes, settle_bytes, seed, store))
        jobs.append(_updates(self.kind, space_bytes, bytes_, seed, {**store, "begins_after_bytes": settle_bytes}))
        for stage, job in enumerate(jobs):
            job["stage"] = stage
        return jobs

    def reporting(self, engine_jobs: Sequence[plain.Job]) -> list[Reporting]:
        """Each stage is a group."""
        return [Reporting({}, group=job["stage"]) for job in engine_jobs]

    def _cache(self, user_bytes: int, seed: int, scale: Fraction) -> list[plain.Job]:
        values = self._values
        if not values["writes"].on(user_bytes, scale):
            raise InputError(f"{self.source}: writes={self.said['writes']}: allowed is more than nothing")
        share, notes = flash_cache.small_share(self.source, values)
        self._notes.update(dict.fromkeys(notes))
        return flash_cache.jobs(self.source, values, user_bytes, scale=scale, share=share, seed=seed, base=_job)

    @property
    def _values(self) -> Mapping[str, Any]:
        return {name: self.value(name) for name in OPTIONS[self.kind]}

    def _unit_bytes(self, scale: Fraction) -> int:
        """Data consists of whole pages or chunks."""
        if self.kind == session_cache.KIND:
            return session_cache.chunk_bytes(self.source, self._values, scale)
        return int(self.value("page")) if self.kind == "b-plus-tree" else _BLOCK_BYTES

    def _tree(self, scale: Fraction, data_bytes: int) -> plain.Tree:
        def size(name: str, unit: int = _BLOCK_BYTES) -> int:
            wanted: Fraction = self.value(name) * scale
            return max(1, round(wanted / unit)) * unit

        if self.kind == session_cache.KIND:
            return session_cache.tree(self.source, self._values, data_bytes, scale)
        if self.kind == "lsm-tree":
            return {
                "kind": "lsm-tree",
                "write_buffer_bytes": size("write-buffer"),
                "level0_files": self.value("level0-files"),
                "level1_bytes": size("level1"),
                "multiplier": self.value("multiplier"),
                "file_bytes": size("file"),
                "has_log": self.value("log"),
            }
        page_bytes, target = self.value("page"), self.value("completion-target")
        log_bytes = self.value("max-wal") * scale / Fraction(1 + target)
        if self.value("record") > page_bytes:
            raise InputError(f"{self.source}: record={self.value('record')}: allowed is up to a page")
        return {
            "kind": "b-plus-tree",
            "page_bytes": page_bytes,
            "record_bytes": self.value("record"),
            "checkpoint_bytes": max(1, round(log_bytes / page_bytes)) * page_bytes,
            "completion_target": target,
            "has_page_images": self.value("page-images"),
            "recycles_log": self.value("recycle"),
            "zipf_theta": self.value("zipf"),
            "rebuilds_every_checkpoints": self.value("rebuild"),
            "rebuilt_bytes": size("table", page_bytes),
        }

    def _identifiers(self, tree: plain.Tree, data_bytes: int) -> list[int]:
        """The handle of the log, then those by level; data without an identifier also uses handle 0."""
        match self.value("handles"):
            case "none":
                return []
            case "kind":
                return [0, 1] if tree["kind"] == "kv-cache" else [1, 0]
            case _:
                assert tree["kind"] == "lsm-tree", "other kinds have no levels"
                ratio = data_bytes / tree["level1_bytes"]
                # As `targets` in the engine: level 0, the levels with a target, and the last.
                levels = 2 + max(1, math.ceil(math.log(ratio * (1 - 1e-9), tree["multiplier"]))) if ratio > 1 else 3
                return [min(index, HANDLES_MAX - 1) for index in range(1 + levels)]


def is_store(text: str) -> bool:
    """Whether the text describes a database, or names a file that does."""
    return text.split(maxsplit=1)[:1] in [[kind] for kind in OPTIONS] or Path(text).suffix == SUFFIX


def load(job: str) -> StoreWorkload:
    """Parses a text, or the file of that name. Raises InputError, which says what is wrong and what is allowed."""
    if Path(job).suffix == SUFFIX and not job.startswith(tuple(f"{kind} " for kind in OPTIONS)):
        return parse(read_text(Path(job)), job)
    return parse(job, "the workload")


def parse(text: str, source: str = "the workload") -> StoreWorkload:
    """Checks the text of a database; `source` names it in errors."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
    known = ", ".join(OPTIONS)
    if not words or words[0] not in OPTIONS:
        found = words[0] if words else "nothing"
        raise InputError(f"{source}: begins with {found}{near(found, OPTIONS)}; allowed is one of {known}")
    kind, *rest = words
    options = OPTIONS[kind]
    said: dict[str, str] = {}
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in options:
            raise InputError(
                f"{source}: {name} is not an option of {kind}{near(name, options)}; known are {', '.join(options)}"
            )
        if not equals or name in said:
            raise InputError(f"{source}: {word}: allowed is {name}=VALUE, once")
        try:
            options[name].read(value)
        except InputError as error:
            raise InputError(f"{source}: {word}: {error}") from None
        said[name] = value
    return StoreWorkload(kind, said, source)


def _load(data_bytes: int, seed: int, identifiers: Sequence[int]) -> plain.Job:
    block_bytes = math.gcd(data_bytes, 128 * 1024)
    job = _job("load", data_bytes, data_bytes, seed, block_bytes)
    job["sequential"] = True
    if identifiers:
        job["stream_id"] = identifiers[-1]
    return job


def _updates(name: str, space_bytes: int, io_bytes: int, seed: int, store: plain.Store) -> plain.Job:
    job = _job(name, space_bytes, io_bytes, seed, _BLOCK_BYTES)
    job["store"] = store
    return job


def _job(name: str, size_bytes: int, io_bytes: int, seed: int, block_bytes: int) -> plain.Job:
    sizes: list[plain.BlockSize] = [{"bytes": block_bytes, "percent": 100.0}]
    return {
        "name": name,
        "clone": 0,
        "stage": 0,
        "direction": "write",
        "sequential": False,
        "read_percent": 0.0,
        "offset_bytes": 0,
        "size_bytes": size_bytes,
        "io_bytes": io_bytes,
        "number_ios": None,
        "loops": 1,
        "block_sizes": {"read": sizes, "write": sizes, "trim": sizes},
        "block_align_bytes": {"read": block_bytes, "write": block_bytes, "trim": block_bytes},
        "distribution": {"name": "random"},
        "random_map": False,
        "seed": seed,
        "iodepth": DEPTH,
    }
