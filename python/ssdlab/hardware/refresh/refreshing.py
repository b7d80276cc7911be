"""A complete refresh: plan, read test, rewriting, second read test; its cost and its effect."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Literal, TypedDict

from ssdlab.errors import RunFailed
from ssdlab.evidence import Estimate
from ssdlab.evidence.comparing import ratio
from ssdlab.evidence.estimate import of_samples
from ssdlab.hardware.diagnosis import clock, read_speed
from ssdlab.hardware.diagnosis.reads import READINGS
from ssdlab.hardware.refresh.progress import Keeper, Progress, identity_of
from ssdlab.hardware.refresh.rewriting import Done, rewrite
from ssdlab.hardware.refresh.targets import Plan, Target, opened
from ssdlab.hardware.safety import health
from ssdlab.hardware.safety.place import Place, locate
from ssdlab.hardware.smart.source import Report

Tell = Callable[[str, float], None]
"""Called with the current activity and its completed share."""


@dataclass(frozen=True)
class Choices:
    """The user's options."""

    rate_bytes_s: float | None = None
    verify: bool = False
    read_test_bytes: int = 1 << 30
    """The most to read before and after; 0 for no read test."""
    rated_tbw: float | None = None
    restart: bool = False
    dry_run: bool = False


class ReadSpeedJson(TypedDict):
    before: float | None
    after: float | None
    """Means of the readings, in MB/s."""
    readings_before: list[float]
    readings_after: list[float]
    change: float | None
    """After over before; with the ends of its 95 % interval."""
    change_low: float | None
    change_high: float | None
    clock: Literal["simulated", "wall"]


class RefreshedJson(TypedDict):
    """The output of `ssdlab refresh --format json`."""

    path: str
    kind: str
    dry_run: bool
    planned_bytes: int
    skipped_bytes: dict[str, int]
    """By reason."""
    resumed_at_byte: int
    rewritten_bytes: int
    zero_bytes: int
    read_mb_s: ReadSpeedJson
    wall_seconds: float
    share_of_rated_tbw: float | None
    host_written_bytes_before: int | None
    notes: list[str]


@dataclass
class Refreshed:
    """The work done and its effect. None for values that were not measured or are not known."""

    place: Place
    plan: Plan
    is_dry_run: bool
    rewritten_bytes: int = 0
    zero_bytes: int = 0
    resumed_at: int = 0
    before_mb_s: tuple[float, ...] = ()
    """The readings of the read test; empty without one."""
    after_mb_s: tuple[float, ...] = ()
    clock_is_simulated: bool = False
    wall_seconds: float = 0.0
    share_of_tbw: float | None = None
    host_written_bytes: int | None = None
    """Bytes written over the drive's life by SMART, before this refresh."""
    notes: list[str] = field(default_factory=list)

    @property
    def change(self) -> Estimate | None:
        """The speed after over that before, with its interval; None without several readings of both."""
        if min(len(self.before_mb_s), len(self.after_mb_s)) < 2:
            return None
        return ratio(of_samples(self.after_mb_s, "readings"), of_samples(self.before_mb_s, "readings"))

    def to_dict(self) -> RefreshedJson:
        """The values for `ssdlab refresh --format json`."""
        change = self.change
        return {
            "path": str(self.place.path),
            "kind": str(self.place.kind),
            "dry_run": self.is_dry_run,
            "planned_bytes": self.plan.rewrite_bytes,
            "skipped_bytes": self.plan.skipped_bytes,
            "resumed_at_byte": self.resumed_at,
            "rewritten_bytes": self.rewritten_bytes,
            "zero_bytes": self.zero_bytes,
            "read_mb_s": {
                "before": fmean(self.before_mb_s) if self.before_mb_s else None,
                "after": fmean(self.after_mb_s) if self.after_mb_s else None,
                "readings_before": list(self.before_mb_s),
                "readings_after": list(self.after_mb_s),
                "change": change.value if change else None,
                "change_low": change.low if change else None,
                "change_high": change.high if change else None,
                "clock": "simulated" if self.clock_is_simulated else "wall",
            },
            "wall_seconds": self.wall_seconds,
            "share_of_rated_tbw": self.share_of_tbw,
            "host_written_bytes_before": self.host_written_bytes,
            "notes": [*self.plan.notes, *self.notes],
        }


def refresh(path: Path | str, choices: Choices, tell: Tell = lambda what, share: None) -> Refreshed:
    """Refreshes a file or device. Raises InputError if this is not possible, and RunFailed if it stopped before the
    end; the same call then resumes."""
    place = locate(path)
    with opened(place) as target:
        result = Refreshed(place, target.plan, choices.dry_run)
        _cost(result, choices.rated_tbw)
        if not choices.dry_run:
            _refresh(target, result, choices, tell)
    return result


def _cost(result: Refreshed, rated_tbw: float | None) -> None:
    planned = result.plan.rewrite_bytes
    if rated_tbw:
        result.share_of_tbw = planned / (rated_tbw * 1e12)
    smart = health.read(result.place)
    if isinstance(smart, Report):
        if smart.reading.host is not None:
            result.host_written_bytes = smart.reading.host.bytes
        trouble = health.trouble(smart.reading)
        if trouble and not result.is_dry_run:
            raise RunFailed(f"{result.place.path}: {trouble}. Copy its data to another drive instead of rewriting it")


def _refresh(target: Target, result: Refreshed, choices: Choices, tell: Tell) -> None:
    keeper = Keeper(result.place)
    progress = None if choices.restart else keeper.load()
    drive_clock, result.clock_is_simulated = clock.of(result.place.backing_file)

    def read_test(what: str) -> tuple[float, ...]:
        """Some readings: a single one differs from the next by what else the machine does."""
        if not choices.read_test_bytes:
            return ()
        rounds = [
            read_speed.stretches(
                target.plan.pieces, total_bytes_max=choices.read_test_bytes // READINGS, phase=number / READINGS
            )
            for number in range(READINGS)
        ]
        total = sum(length for stretches in rounds for _, length in stretches)
        read_bytes = 0

        def advance(length: int) -> None:
            nonlocal read_bytes
            read_bytes += length
            tell(what, read_bytes / total)

        means = [
            read_speed.mean_mb_s(read_speed.read(target.descriptor, stretches, drive_clock, advance=advance))
            for stretches in rounds
        ]
        return tuple(mean for mean in means if mean)

    if progress is None:
        progress = Progress(str(result.place.path), identity_of(result.place), before_mb_s=read_test("reading before"))
    else:
        result.resumed_at = progress.next_offset
    result.before_mb_s = progress.before_mb_s
    done = _rewrite(target, result, choices, tell, keeper, progress)
    if done.stopped:
        raise RunFailed(
            f"{result.place.path}: stopped after {result.rewritten_bytes} bytes, because {done.stopped}. The "
            "rewritten part is complete; the same command resumes"
        )
    keeper.forget()
    result.after_mb_s = read_test("reading after")


def _rewrite(
    target: Target, result: Refreshed, choices: Choices, tell: Tell, keeper: Keeper, progress: Progress
) -> Done:
    start, rewritten_before, zero_before = progress.next_offset, progress.rewritten_bytes, progress.zero_bytes
    total = max(1, target.plan.rewrite_bytes)
    behind_start = sum(max(0, min(start - offset, length)) for offset, length in target.plan.pieces)
    began = time.monotonic()
    is_kept = True

    def report(done: Done) -> None:
        nonlocal is_kept
        progress.next_offset = done.next_offset
        progress.rewritten_bytes = rewritten_before + done.rewritten_bytes
        progress.zero_bytes = zero_before + done.zero_bytes
        result.rewritten_bytes, result.zero_bytes = progress.rewritten_bytes, progress.zero_bytes
        is_kept = keeper.save(progress)
        tell("rewriting", (behind_start + done.rewritten_bytes + done.zero_bytes) / total)

    done = rewrite(target, start=start, rate_bytes_s=choices.rate_bytes_s, verify=choices.verify, tell=report)
    result.wall_seconds = time.monotonic() - began
    if not is_kept:
        result.notes.append(f"{keeper.file} could not be written: an interrupted refresh will start again")
    return done
