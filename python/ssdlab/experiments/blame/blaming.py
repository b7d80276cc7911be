"""From what was watched or recorded to the answer: the bytes at each level, the life, the causes, and what would help.

Every figure says what it rests on: counted by the system, simulated from calls or requests, guessed, or not known.
Whether a cause or a change has an effect is decided by runs with several seeds: their intervals are apart (`evidence`),
and their figures by a percent or more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal, TypedDict

from ssdlab.errors import InputError
from ssdlab.evidence import Estimate, comparing
from ssdlab.evidence.estimate import SEEDS_DIFFER, of_samples
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.blame import changes, flash, reconstruction
from ssdlab.experiments.blame.calls import HIDDEN, Call, Calls
from ssdlab.experiments.blame.file_system import Options, Request, Written, requests_of
from ssdlab.experiments.blame.watching import Io, Watched
from ssdlab.foundation.quantities import format_bytes
from ssdlab.simulator.workloads.traces.profile import profile_of
from ssdlab.simulator.workloads.traces.recording import Recording
from ssdlab.theory import endurance

Basis = Literal["counted", "simulated", "guessed", "unknown"]
Tell = Callable[[str, float], None]

_SECONDS_A_DAY = 86_400
_SECONDS_MIN = 1.0
"""The least length of a recording from which a rate a year is said."""
# Pages that became dirty are this multiple of the files, or more, if data is said to be written again and again.
_AGAIN_MIN = 2
# Below this share of what was asked, pages that became dirty again may be those that writes begin and end in.
_SYNCED_MIN = 0.05
SMALL_SYNCED = "small synced writes"
REWRITING = "rewriting whole files"
JOURNAL = "journal and metadata"
"""The causes."""


class FigureJson(TypedDict):
    """A figure in `result.json`."""

    value: float | None
    unit: str
    basis: Basis
    note: str


class EffectJson(TypedDict):
    """A cause, or a change, in `result.json`."""

    name: str
    what: str
    flash_bytes: float
    flash_bytes_low: float
    flash_bytes_high: float
    share: float
    is_claimed: bool
    basis: Basis


class UnknownJson(TypedDict):
    """A cause of which what was watched says nothing, in `result.json`."""

    name: str
    why: str


class BlamedJson(TypedDict):
    """`result.json` of `ssdlab blame`."""

    program: str
    seconds: float
    interrupted: bool
    drive: str
    scale: str
    figures: dict[str, FigureJson]
    levels: dict[str, dict[str, float]]
    causes: list[EffectJson]
    unknown_causes: list[UnknownJson]
    changes: list[EffectJson]
    helps_most: str | None
    programs: dict[str, dict[str, int]]
    guesses: list[str]


@dataclass(frozen=True)
class Figure:
    """A figure with what it rests on."""

    value: float | None
    unit: str
    basis: Basis
    note: str = ""

    def to_dict(self) -> FigureJson:
        return {"value": self.value, "unit": self.unit, "basis": self.basis, "note": self.note}


@dataclass(frozen=True)
class Effect:
    """A cause, or a change, by its run: the flash bytes of the same calls without the cause, or with the change."""

    name: str
    what: str
    flash: Estimate
    share: float
    """The part of the flash bytes that is saved; negative if the run costs more."""
    is_claimed: bool
    """Whether the intervals of this run and of the recorded one are apart, and the figures by `SEEDS_DIFFER`."""
    basis: Basis = "simulated"

    def to_dict(self) -> EffectJson:
        return {
            "name": self.name,
            "what": self.what,
            "flash_bytes": self.flash.value,
            "flash_bytes_low": self.flash.low,
            "flash_bytes_high": self.flash.high,
            "share": self.share,
            "is_claimed": self.is_claimed,
            "basis": self.basis,
        }


@dataclass(frozen=True)
class Unknown:
    """A cause of which what was watched says nothing."""

    name: str
    why: str

    def to_dict(self) -> UnknownJson:
        return {"name": self.name, "why": self.why}


@dataclass(frozen=True)
class Blamed:
    """The answer."""

    program: str
    seconds: float
    drive: str
    scale: Fraction | None
    figures: Mapping[str, Figure]
    levels: Mapping[str, Mapping[str, float]]
    """The bytes at each level by kind: `program`, `file system`, `drive`; levels that are not known are missing."""
    causes: Sequence[Effect]
    changes: Sequence[Effect]
    guesses: Sequence[str]
    programs: Sequence[tuple[str, Io]] = ()
    interrupted: bool = False
    unknown_causes: Sequence[Unknown] = ()

    @property
    def helps_most(self) -> Effect | None:
        """The change with the fewest flash bytes, of those whose runs are apart from the recorded one."""
        claimed = [each for each in self.changes if each.is_claimed and each.share > 0]
        return max(claimed, key=lambda each: each.share, default=None)

    def to_dict(self) -> BlamedJson:
        return {
            "program": self.program,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "drive": self.drive,
            "scale": str(self.scale or 1),
            "figures": {name: each.to_dict() for name, each in self.figures.items()},
            "levels": {name: dict(parts) for name, parts in self.levels.items()},
            "causes": [each.to_dict() for each in self.causes],
            "unknown_causes": [each.to_dict() for each in self.unknown_causes],
            "changes": [each.to_dict() for each in self.changes],
            "helps_most": self.helps_most.name if self.helps_most else None,
            "programs": {
                name: {"asked_bytes": io.asked_bytes, "written_bytes": io.written_bytes} for name, io in self.programs
            },
            "guesses": list(self.guesses),
        }


@dataclass(frozen=True)
class Drive:
    """The drive that the answer is for."""

    setting: Setting
    rated_tbw: float | None = None
    guess: str | None = None
    """Why this drive was taken, if it was not named."""


def of_calls(
    calls: Calls, drive: Drive, *, watched: Watched | None = None, workers: int | None = None, tell: Tell | None = None
) -> Blamed:
    """The answer from a recording of calls, with what was counted meanwhile if it was."""
    seconds = max(watched.seconds if watched else 0.0, calls.seconds)
    io = watched.io if watched else None
    there = watched.files.first_bytes if watched and watched.files else None
    runs = _Runs(calls.calls, calls.seconds, drive.setting, workers, tell, there)
    written = runs.written
    if not written.device_bytes:
        return _nothing(
            watched.title if watched else calls.name,
            seconds,
            io.asked_bytes if io else calls.asked_bytes,
            "the recorded calls write to no file",
            drive,
            watched,
        )
    recorded = runs.flash("as recorded", calls.calls)
    causes, other = _effects(runs, calls, recorded)
    figures = {
        "asked_bytes": Figure(io.asked_bytes, "bytes", "counted", "wchar of /proc/PID/io")
        if io
        else Figure(calls.asked_bytes, "bytes", "counted", "what the recorded writes returned"),
        "asked_file_bytes": Figure(calls.file_bytes, "bytes", "counted", "the recorded writes to files"),
        "dirtied_bytes": Figure(io.written_bytes, "bytes", "counted", "write_bytes of /proc/PID/io")
        if io
        else Figure(
            written.dirtied_bytes,
            "bytes",
            "simulated",
            "4 KiB pages that the recorded writes change, again after each sync",
        ),
        **_of_disk(watched),
        "device_bytes": Figure(written.device_bytes, "bytes", "simulated", "ext4's page cache and journal"),
        **_of_flash(recorded, written.device_bytes, seconds, drive),
    }
    levels: dict[str, Mapping[str, float]] = {
        "program": {"asked": float(calls.file_bytes)},
        "file system": {name: float(size) for name, size in written.bytes_by_level.items()},
        "drive": _parts(recorded.parts, written.device_bytes),
    }
    guesses = [*([drive.guess] if drive.guess else []), *_guesses(calls, watched)]
    return Blamed(
        watched.title if watched else calls.name,
        seconds,
        drive.setting.file.name,
        runs.scale,
        figures,
        levels,
        causes,
        other,
        guesses,
        interrupted=watched.interrupted if watched else False,
    )


def of_counters(watched: Watched, drive: Drive, *, workers: int | None = None, tell: Tell | None = None) -> Blamed:
    """The answer from counters alone: the calls are reconstructed from their number, mean size and what became dirty.

    Causes and changes are runs of the reconstructed calls, and guessed as they are.
    """
    io = watched.io
    if not (io.calls and io.written_bytes):
        return _nothing(watched.title, watched.seconds, io.asked_bytes, "no page became dirty", drive, watched)
    if io.cancelled_bytes >= io.written_bytes:
        why = "its files were removed or cut before their pages were written"
        return _nothing(watched.title, watched.seconds, io.asked_bytes, why, drive, watched)
    guesses = [drive.guess] if drive.guess else []
    figures = {
        "asked_bytes": Figure(io.asked_bytes, "bytes", "counted", "wchar of /proc/PID/io"),
        "dirtied_bytes": Figure(io.written_bytes, "bytes", "counted", "write_bytes of /proc/PID/io"),
        **_of_disk(watched),
    }
    rebuilt, times, said = reconstruction.calls_of(watched)
    runs = _Runs(rebuilt, watched.seconds, drive.setting, workers, tell)
    recorded = runs.flash("as counted", rebuilt)
    causes, other, unknown = _guessed_effects(runs, rebuilt, recorded, watched)
    device_bytes = runs.written.device_bytes * times
    figures["device_bytes"] = Figure(device_bytes, "bytes", "guessed", "from the reconstructed calls")
    figures |= _of_flash(recorded, device_bytes, watched.seconds, drive, "guessed", times)
    levels: dict[str, Mapping[str, float]] = {
        "program": {"asked": float(io.asked_bytes)},
        "file system": {name: size * times for name, size in runs.written.bytes_by_level.items()},
        "drive": _parts(recorded.parts, device_bytes),
    }
    guesses += [said, *_ALWAYS]
    guesses.append(
        "causes and what would help are those of the reconstructed calls; a recording knows them: --pid N --record, or "
        "the command behind --, where strace is installed"
    )
    return Blamed(
        watched.title, watched.seconds, drive.setting.file.name, runs.scale, figures, levels,
        [_scaled(each, times) for each in causes], [_scaled(each, times) for each in other], guesses,
        watched.programs, watched.interrupted, unknown,
    )  # fmt: skip


def _scaled(effect: Effect, times: float) -> Effect:
    """The effect in all calls that the reconstructed ones stand for."""
    flash = effect.flash
    scaled = replace(flash, value=flash.value * times, low=flash.low * times, high=flash.high * times)
    return replace(effect, flash=scaled, basis="guessed")


def of_requests(recording: Recording, drive: Drive, *, workers: int | None = None, tell: Tell | None = None) -> Blamed:
    """The answer from a recording of requests to a drive: what the program asked is not known."""
    profile = profile_of(recording, None)
    if not profile.write.bytes:
        raise InputError(
            f"{recording.names[0]}: writes nothing, and reads alone blame no program; allowed: with writes"
        )
    footprint_bytes = profile.units.unique_written * profile.unit_bytes
    setting = drive.setting
    scale = flash.scale_for(setting, footprint_bytes)
    found = flash.until_steady(
        recording,
        setting.at(None, scale),
        footprint_bytes,
        address_map="compact",
        workers=workers,
        tell=(lambda share: tell("as recorded", share)) if tell else None,
    )
    recorded = _Flashed(_estimate([each.programmed_bytes for each in found]), _mean_parts(found))
    device_bytes = profile.write.bytes
    seconds = profile.duration_ns / 1e9
    figures = {
        "asked_bytes": Figure(None, "bytes", "unknown", "a recording of requests does not tell what programs asked"),
        "device_bytes": Figure(device_bytes, "bytes", "counted", "the recorded requests"),
        **_of_flash(recorded, device_bytes, seconds, drive),
    }
    guesses = [
        *([drive.guess] if drive.guess else []),
        *([f"its {len(profile.volumes)} volumes are on one drive"] if len(profile.volumes) > 1 else []),
        "the causes need a recording of calls (strace): requests do not tell files, journal and syncs apart",
        *_ALWAYS,
    ]
    levels = {"file system": {"requests": float(device_bytes)}, "drive": _parts(recorded.parts, device_bytes)}
    return Blamed(recording.names[0], seconds, setting.file.name, scale, figures, levels, (), (), guesses)


def _nothing(program: str, seconds: float, asked_bytes: int, why: str, drive: Drive, watched: Watched | None) -> Blamed:
    """The answer for a program that wrote to no file."""
    figures = {
        "asked_bytes": Figure(asked_bytes, "bytes", "counted", "to pipes, terminals and sockets"),
        **_of_disk(watched),
        **{name: Figure(None, unit, "unknown", why) for name, unit in _UNKNOWN_WITHOUT_WRITES.items()},
    }
    programs = watched.programs if watched else ()
    interrupted = watched is not None and watched.interrupted
    name = drive.setting.file.name
    return Blamed(program, seconds, name, None, figures, {}, (), (), (), programs, interrupted)


_ALWAYS = (
    "the rest of the drive is full of data that stays, and the recorded writes go on as they are, at this rate",
    "what the drive does when it is idle is not simulated",
)
_UNKNOWN_WITHOUT_WRITES = {
    "device_bytes": "bytes",
    "flash_bytes": "bytes",
    "drive_writes_per_day": "per day",
    "tb_per_year": "TB",
    "years": "years",
}


@dataclass(frozen=True)
class _Flashed:
    bytes: Estimate
    parts: Mapping[str, float]


class _Runs:
    """Runs of the calls, and of changed ones, on one drive."""

    def __init__(
        self,
        calls: Sequence[Call],
        seconds: float,
        setting: Setting,
        workers: int | None,
        tell: Tell | None,
        there: Mapping[str, int] | None = None,
    ) -> None:
        self._seconds, self._workers, self._tell, self._there = seconds, workers, tell, there
        full = setting.at(None, None)
        first = requests_of(calls, full.capacity.user_bytes, seconds=seconds, there=there)
        self.scale = flash.scale_for(setting, first.footprint_bytes)
        self._drive = setting.at(None, self.scale)
        self.written = self.requests(calls)

    def requests(self, calls: Sequence[Call], options: Options | None = None, *, longer_logs: bool = False) -> Written:
        return requests_of(
            calls,
            self._drive.capacity.user_bytes,
            seconds=self._seconds,
            options=options,
            scale=self._drive.scale,
            there=changes.longer_logs(self._there) if longer_logs and self._there else self._there,
        )

    def flash(
        self, what: str, calls: Sequence[Call], options: Options | None = None, *, longer_logs: bool = False
    ) -> _Flashed:
        """`longer_logs`: the logs that were there are as long as a larger `wal_autocheckpoint` leaves them."""
        written = self.requests(calls, options, longer_logs=longer_logs)
        return self._flashed(what, written.requests, written.footprint_bytes)

    def _flashed(self, what: str, requests: Sequence[Request], footprint_bytes: int) -> _Flashed:
        if not any(each.operation == "write" for each in requests):
            return _Flashed(Estimate(0.0, 0.0, 0.0, 1, "nothing is written"), {})
        tell = self._tell
        with flash.as_trace(requests, what) as recording:
            found = flash.until_steady(
                recording,
                self._drive,
                footprint_bytes,
                workers=self._workers,
                tell=(lambda share: tell(what, share)) if tell else None,
            )
        return _Flashed(_estimate([each.programmed_bytes for each in found]), _mean_parts(found))


def _effect(
    runs: _Runs,
    recorded: _Flashed,
    name: str,
    what: str,
    changed: Sequence[Call] | None,
    options: Options | None = None,
    *,
    longer_logs: bool = False,
) -> list[Effect]:
    """The effect of changed calls, or of another option; none if nothing is changed."""
    if changed is None:
        return []
    found = runs.flash(name, changed, options, longer_logs=longer_logs).bytes
    share = 1 - found.value / recorded.bytes.value
    # Three seeds can agree by chance: of nine, some are more than a percent from the others.
    is_claimed = comparing.differ(found, recorded.bytes) and abs(share) >= SEEDS_DIFFER
    return [Effect(name, what, found, share, is_claimed)]


def _effects(runs: _Runs, calls: Calls, recorded: _Flashed) -> tuple[list[Effect], list[Effect]]:
    effect = partial(_effect, runs, recorded)
    given = calls.calls
    has_syncs = calls.syncs > 0
    causes = [
        *effect(
            SMALL_SYNCED,
            f"{calls.syncs:,} syncs; without them data would be written when it is old",
            changes.without_syncs(given) if has_syncs else None,
        ),
        *effect(
            REWRITING,
            "contents of files that were replaced as a whole later",
            changes.without_replaced(given),
        ),
        *effect(
            JOURNAL,
            "what the file system writes beside the files",
            given,
            Options(metadata=False),
        ),
    ]
    other = [
        *effect(
            f"{changes.BATCH} commits in one",
            f"every {changes.BATCH}th sync of each file instead of each",
            changes.batched(given),
        ),
        *effect(
            "synchronous=NORMAL",
            "SQLite syncs its log before checkpoints only; the last commits can be lost with the power, the database "
            "stays whole",
            changes.with_synchronous_normal(given),
        ),
        *effect(
            f"wal_autocheckpoint x {changes.WAL_FACTOR}",
            f"SQLite's log may grow {changes.WAL_FACTOR} times as long before the database is written",
            changes.with_larger_wal(given),
            longer_logs=True,
        ),
        *effect(
            "discard", "the space of removed files is trimmed (mount option)", _if_removed(given), Options(discard=True)
        ),
        *effect(
            "commit=60",
            "the file system commits what nobody synced every 60 s instead of every 5 (mount option)",
            given if calls.seconds > Options().commit_seconds else None,
            Options(commit_seconds=60.0),
        ),
    ]
    return causes, other


def _guessed_effects(
    runs: _Runs, rebuilt: Sequence[Call], recorded: _Flashed, watched: Watched
) -> tuple[list[Effect], list[Effect], list[Unknown]]:
    """Of reconstructed calls: the causes, the changes, and the causes of which counters say nothing."""
    effect = partial(_effect, runs, recorded)
    causes, other, unknown = [], [], []
    again_bytes = watched.io.written_bytes - watched.io.asked_bytes
    if again_bytes >= _SYNCED_MIN * watched.io.asked_bytes:
        causes = effect(
            SMALL_SYNCED,
            "the syncs that the counters show; without them data would be written when it is old",
            changes.without_syncs(rebuilt),
        )
        other = effect(
            f"{changes.BATCH} commits in one", f"every {changes.BATCH}th sync instead of each", changes.batched(rebuilt)
        )
    else:
        unknown.append(
            Unknown(SMALL_SYNCED, "hardly a sync shows in the counters; those of whole pages leave no trace")
        )
    unknown.append(Unknown(REWRITING, _of_rewriting(watched)))
    causes += effect(JOURNAL, "what the file system writes beside the files", rebuilt, Options(metadata=False))
    return causes, other, unknown


def _of_rewriting(watched: Watched) -> str:
    """What the counters say of files that are replaced as a whole, and what not."""
    io, files = watched.io, watched.files
    said = []
    if files is not None and io.written_bytes >= _AGAIN_MIN * max(1, files.bytes_last):
        said.append(
            f"its open files are {format_bytes(files.bytes_last)} long and {format_bytes(io.written_bytes)} of pages "
            "became dirty, so that the same is written again and again"
        )
    if io.cancelled_bytes:
        said.append(
            f"{format_bytes(io.cancelled_bytes)} of pages were dropped before they were written, by files that were "
            "removed or cut, and cost no flash"
        )
    return "; ".join([*said, "whether files are replaced as a whole, only a recording tells"])


def _if_removed(calls: Sequence[Call]) -> Sequence[Call] | None:
    return calls if any(call.kind in ("remove", "cut", "empty", "rename") for call in calls) else None


def _of_disk(watched: Watched | None) -> dict[str, Figure]:
    disk = watched.disk if watched else None
    if disk is None:
        return {"disk_bytes": Figure(None, "bytes", "unknown", "the disk of the files is not known or was not watched")}
    found = {
        "disk_bytes": Figure(disk.written_bytes, "bytes", "counted", f"/dev/{disk.name}, all programs")
        if disk.written_bytes is not None
        else Figure(None, "bytes", "unknown", f"/dev/{disk.name} has no counters"),
    }
    for name, value in (("smart_host_bytes", disk.smart_host_bytes), ("smart_nand_bytes", disk.smart_nand_bytes)):
        found[name] = (
            Figure(value, "bytes", "counted", "SMART before and after, all programs")
            if value is not None
            else Figure(None, "bytes", "unknown", f"SMART: {disk.smart_reason or 'not counted by this drive'}")
        )
    return found


def _of_flash(
    recorded: _Flashed,
    device_bytes: float,
    seconds: float,
    drive: Drive,
    basis: Basis = "simulated",
    times: float = 1.0,
) -> dict[str, Figure]:
    """Flash bytes, drive writes a day, TB a year and years, by the arithmetic of `theory.endurance`."""
    full = drive.setting.at(None, None)
    user_bytes = full.capacity.user_bytes
    flash_bytes = recorded.bytes.value * times
    low, high = recorded.bytes.low * times, recorded.bytes.high * times
    found = {
        "flash_bytes": Figure(
            flash_bytes, "bytes", basis, f"{low / 1e6:,.2f} to {high / 1e6:,.2f} MB, {recorded.bytes.how}"
        ),
        "write_amplification": Figure(flash_bytes / device_bytes, "", basis, "flash bytes over bytes to the drive"),
    }
    if seconds < _SECONDS_MIN:
        why = f"{seconds:.2g} s is too short a time for a rate; allowed: {_SECONDS_MIN:g} s or more"
        names = {"drive_writes_per_day": "per day", "tb_per_year": "TB", "years": "years"}
        return found | {name: Figure(None, unit, "unknown", why) for name, unit in names.items()}
    daily_bytes = device_bytes / seconds * _SECONDS_A_DAY
    dwpd = daily_bytes / user_bytes
    yearly = daily_bytes * endurance.DAYS_PER_YEAR / endurance.BYTES_PER_TB
    found["drive_writes_per_day"] = Figure(
        dwpd, "per day", basis, f"at this rate all day, of {user_bytes / 1e9:,.0f} GB"
    )
    found["tb_per_year"] = Figure(yearly, "TB", basis, "to the drive, at this rate all year")
    rated_tbw = drive.rated_tbw or full.file.market.rated_tbw
    by_cycles = endurance.lifetime_bytes(
        full.endurance_cycles, full.capacity.physical_bytes, flash_bytes / device_bytes
    )
    found["years_by_cycles"] = Figure(
        endurance.years(by_cycles, dwpd, user_bytes),
        "years",
        basis,
        f"{full.endurance_cycles:,} cycles of all flash, which the catalogue's file names",
    )
    found["years"] = (
        Figure(
            endurance.years(rated_tbw * endurance.BYTES_PER_TB, dwpd, user_bytes),
            "years",
            basis,
            f"to {rated_tbw:g} TB rated",
        )
        if rated_tbw
        else Figure(None, "years", "unknown", "no rated TBW; give --rated-tbw")
    )
    return found


def _parts(parts: Mapping[str, float], device_bytes: float) -> dict[str, float]:
    """The flash bytes by cause: for the host, padding of flushed pages, the map's journal, garbage collection, and all
    else."""
    named = {
        "host": parts.get("host", 0.0),
        "padding": parts.get("padding", 0.0),
        "map_journal": parts.get("journal", 0.0),
        "gc": parts.get("gc", 0.0),
    }
    named["other"] = sum(parts.values()) - sum(named.values())
    return {name: share * device_bytes for name, share in named.items()}


def _mean_parts(found: Sequence[flash.Flash]) -> dict[str, float]:
    return {name: sum(each.parts.get(name, 0.0) for each in found) / len(found) for name in found[0].parts}


def _estimate(values: Sequence[float]) -> Estimate:
    return of_samples(values, "runs with other seeds")


def _guesses(calls: Calls, watched: Watched | None) -> list[str]:
    found = []
    if watched is not None and watched.file_system not in (None, "ext4"):
        found.append(f"the files are on {watched.file_system}; journal and metadata are those of ext4")
    elif watched is None:
        found.append("the file system is ext4 with its defaults: a recording of calls does not tell")
    found += [
        "a file that the recording opened with O_CREAT did not exist before; what other files held is unknown"
        + (", but for those that were seen open" if watched is not None and watched.files is not None else ""),
        "what is still in memory at the end is written then; writes through mapped memory are not in the recording",
    ]
    if calls.unnamed_bytes:
        found.append(
            f"{calls.unnamed_bytes:,} bytes went to descriptors without a name (strace -y names them): left out"
        )
    if calls.hidden_calls:
        found.append(f"{calls.hidden_calls:,} calls of io_uring are left out, {HIDDEN}")
    return [*found, *_ALWAYS]
