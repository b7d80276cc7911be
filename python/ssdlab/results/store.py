"""The bytes that a database wrote for its users' data: by the log, the levels of an LSM tree or pages of a B+ tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from ssdlab.engine import plain
from ssdlab.specification import ReportedJob


class StoreJson(TypedDict):
    """`ssdlab.store` of a job in `result.json`."""

    kind: str
    user_bytes: int
    host_bytes: dict[str, int]
    """Bytes by cause."""
    deleted_bytes: int
    host_amplification: float | None
    total_amplification: float | None


@dataclass(frozen=True)
class StoreResult:
    """The counters of a database job, in bytes."""

    kind: str
    """`lsm-tree` or `b-plus-tree`."""
    user_bytes: int
    """The bytes of keys and values, or of updates as the log records them."""
    by_cause: Mapping[str, int]
    """The bytes written to the drive, by cause: `log`, `level 0` and so on, `pages`, `rebuilt`."""
    deleted_bytes: int
    """The space of deleted files, trimmed or not."""

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
        return {
            "kind": self.kind,
            "user_bytes": self.user_bytes,
            "host_bytes": dict(self.by_cause),
            "deleted_bytes": self.deleted_bytes,
            "host_amplification": self.host_amplification,
            "total_amplification": self.total_amplification(waf),
        }


def store_result(raw: plain.StoreCounts | None, job: ReportedJob) -> StoreResult | None:
    """Reads the engine's counters of a job; None for a job that is not a database."""
    store = job.get("store")
    if raw is None or store is None:
        return None
    kind = store["tree"]["kind"]
    levels = enumerate(raw["level_bytes"])
    named = {"pages" if kind == "b-plus-tree" else f"level {level}": written for level, written in levels}
    by_cause = {"log": raw["log_bytes"], **named, "rebuilt": raw["rebuilt_bytes"]}
    return StoreResult(
        kind,
        raw["user_bytes"],
        {cause: written for cause, written in by_cause.items() if written},
        raw["deleted_bytes"],
    )


def store_lines(store: StoreResult, waf: float | None) -> list[str]:
    """The lines in the text of a run: for each cause, the bytes per byte written by the users."""
    if not store.user_bytes:
        return [f"  {store.kind}: the users wrote nothing"]
    parts = " + ".join(f"{cause} {written / store.user_bytes:.2f}" for cause, written in store.by_cause.items())
    total = store.total_amplification(waf)
    flash = "" if total is None else f"; with the drive's, flash bytes a user byte {total:.2f}"
    return [
        f"  {store.kind}: host write amplification {store.host_amplification:.2f} = {parts}{flash}",
    ]
