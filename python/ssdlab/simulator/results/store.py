"""The bytes that a database or a cache wrote for its users' data, by cause, and how often the cache was hit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from ssdlab.foundation.quantities import format_bytes_binary
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import ReportedJob


class StoreJson(TypedDict):
    """`ssdlab.store` of a job in `result.json`."""

    kind: str
    user_bytes: int
    host_bytes: dict[str, int]
    """Bytes by cause."""
    deleted_bytes: int
    host_amplification: float | None
    total_amplification: float | None
    hit_bytes: NotRequired[int]
    """Read from a KV cache; absent for databases."""
    missed_bytes: NotRequired[int]
    hit_rate: NotRequired[float | None]


@dataclass(frozen=True)
class StoreResult:
    """The counters of a database's or a cache's job, in bytes."""

    kind: str
    """`lsm-tree`, `b-plus-tree` or `kv-cache`."""
    user_bytes: int
    """The bytes of keys and values, of updates as the log records them, or of chunks that sessions add."""
    by_cause: Mapping[str, int]
    """The bytes written to the drive, by cause: `log`, `level 0` and so on, `pages`, `rebuilt`; of a cache `new` and
    `recomputed`."""
    deleted_bytes: int
    """The space of deleted files or evicted chunks, trimmed or not."""
    hit_bytes: int = 0
    """The bytes of histories that a KV cache had, and that were read."""

    @property
    def is_cache(self) -> bool:
        """Whether it has hits and misses."""
        return self.kind == "kv-cache"

    @property
    def missed_bytes(self) -> int:
        """The bytes of histories that a KV cache no longer had."""
        return self.by_cause.get("recomputed", 0)

    @property
    def hit_rate(self) -> float | None:
        """The share of the histories that a KV cache had; None if none was asked for."""
        asked = self.hit_bytes + self.missed_bytes
        return self.hit_bytes / asked if self.is_cache and asked else None

    @property
    def host_bytes(self) -> int:
        """All bytes written to the drive."""
        return sum(self.by_cause.values())

    @property
    def host_amplification(self) -> float | None:
        """Bytes written to the drive per byte written by the users; None if they wrote nothing."""
        return self.host_bytes / self.user_bytes if self.user_bytes else None

    def total_amplification(self, waf: float | None) -> float | None:
        """Bytes programmed per byte written by the users; `waf` is that of the drive. None if either factor is None."""
        host = self.host_amplification
        return None if host is None or waf is None else host * waf

    def to_dict(self, waf: float | None) -> StoreJson:
        """The object in the format of `result.json`. `waf` is that of the drive in this job."""
        found: StoreJson = {
            "kind": self.kind,
            "user_bytes": self.user_bytes,
            "host_bytes": dict(self.by_cause),
            "deleted_bytes": self.deleted_bytes,
            "host_amplification": self.host_amplification,
            "total_amplification": self.total_amplification(waf),
        }
        if self.is_cache:
            found["hit_bytes"], found["missed_bytes"] = self.hit_bytes, self.missed_bytes
            found["hit_rate"] = self.hit_rate
        return found


def store_result(raw: plain.StoreCounts | None, job: ReportedJob) -> StoreResult | None:
    """Reads the engine's counters of a job; None for a job that is neither a database nor such a cache."""
    store = job.get("store")
    if raw is None or store is None:
        return None
    kind = store["tree"]["kind"]
    levels = enumerate(raw["level_bytes"])
    only = {"b-plus-tree": "pages", "kv-cache": "new"}.get(kind)
    named = {only or f"level {level}": written for level, written in levels}
    rebuilt = "recomputed" if kind == "kv-cache" else "rebuilt"
    by_cause = {"log": raw["log_bytes"], **named, rebuilt: raw["rebuilt_bytes"]}
    return StoreResult(
        kind,
        raw["user_bytes"],
        {cause: written for cause, written in by_cause.items() if written},
        raw["deleted_bytes"],
        raw["read_bytes"],
    )


def store_lines(store: StoreResult, waf: float | None) -> list[str]:
    """The lines in the text of a run: for each cause, the bytes per byte written by the users."""
    if not store.user_bytes:
        return [f"  {store.kind}: the users wrote nothing"]
    parts = " + ".join(f"{cause} {written / store.user_bytes:.2f}" for cause, written in store.by_cause.items())
    total = store.total_amplification(waf)
    flash = "" if total is None else f"; with the drive's, flash bytes a user byte {total:.2f}"
    written = f"  {store.kind}: host write amplification {store.host_amplification:.2f} = {parts}{flash}"
    if store.hit_rate is None:
        return [written]
    asked = format_bytes_binary(store.hit_bytes + store.missed_bytes)
    return [f"  {store.kind}: hit rate {store.hit_rate:.4f} of {asked} of histories asked for", written]
