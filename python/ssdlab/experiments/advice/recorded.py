"""A recorded trace as the workload of an advice: repeated until the steady state; miniatures replay a sample of it.

Passes after the first replay its pieces in a new random order, so that the seeds of a trial have an effect. Data that
the trace does not write is assumed to stay unchanged.
"""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes, option_share, rounded
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.workloads.traces.miniature import sample_of, shuffle_of
from ssdlab.simulator.workloads.traces.profile import Profile, profile_and_hold, profile_of
from ssdlab.simulator.workloads.traces.recording import Map, Recording, Sample, earlier_said
from ssdlab.simulator.workloads.traces.specification import specify

if TYPE_CHECKING:
    from ssdlab._engine import HeldTrace
    from ssdlab.simulator.drives import ResolvedDrive

# A sample with fewer written units is not meaningful.
_UNITS_KEPT_MIN = 64
# A round of the steady state writes this multiple of what the trace can change: the addresses that it writes and the
# spare area. If the trace uses only a small part of a drive, the drive does not need to be written completely to show
# its steady state. With a factor of one instead of two, the approach has too much weight (docs/simulate/advice.md).
_ROUND_CHANGES = 2
# A sample can be slightly larger than its share.
_ROOM_SHARE_COMPACT = 0.98
# With a clock, requests up to this size are not split; it is small compared with most scaled erase units.
_REGION_BYTES_MAX_TIMED = 128 * 1024
# The measured errors of miniatures: of write amplification, and of its part beyond the host's writes.
_MINIATURE_ERROR_MAX = 0.01
_MINIATURE_ERROR_OF_GC = 0.2
_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Trace:
    """A trace, or one of its volumes, and its properties."""

    recording: Recording
    volume: str | None
    address_map: Map
    """`strict` if the trace fits on the smallest drive considered; else `compact`."""
    profile: Profile
    held: "HeldTrace | None" = field(default=None, compare=False, repr=False)
    """Its requests, if there is enough memory for them; otherwise each run reads the files."""

    def notes(self, *, timed: bool) -> Sequence[str]:
        """Notes on skipped records, and on changed addresses; the same with and without a clock."""
        skipped = self.recording.survey.skipped
        notes = [f"{skipped:,} malformed lines or records were skipped"] if skipped else []
        notes += earlier_said(self.profile.earlier, self.profile.earlier_ns_max)
        if self.address_map == "compact":
            notes.append(
                "the trace reaches past the end of a drive with spare area: its addresses are compacted in the order "
                "of first access"
            )
        return notes

    @property
    def writes_bytes_per_day(self) -> float | None:
        """The bytes written per day at the recorded rate; None for a trace without times."""
        seconds = self.profile.duration_ns / 1e9
        return self.profile.write.bytes / seconds * _SECONDS_PER_DAY if seconds > 0 else None

    def one_in_most(self) -> int:
        """The largest n for which a sample of one region in n is still meaningful."""
        return max(1, self.profile.units.unique_written // _UNITS_KEPT_MIN)

    def expected(self, drive: "ResolvedDrive", over_provisioning: float) -> float | None:
        """None: no closed form applies, because the writes of a trace are not independent with a known distribution.

        Raises InputError if the trace does not fit on the drive.
        """
        needed = self._needed_bytes()
        room = 1 if self.address_map == "strict" else _ROOM_SHARE_COMPACT
        if needed > drive.capacity.user_bytes * room:
            raise InputError(
                f"{self.recording.names[0]}: accesses {format_bytes(needed)}, the drive {drive.name} has "
                f"{format_bytes(drive.capacity.user_bytes)} at this over-provisioning; take a larger one"
            )
        return None

    def specify(
        self, drive: "ResolvedDrive", *, seed: int, timed: bool, data_on: "ResolvedDrive | None" = None
    ) -> Specification:
        """The replay from a filled drive to its steady state. With `data_on`, the fill has the size of that drive."""
        one_in = round(1 / drive.scale)
        if Fraction(1, one_in) != drive.scale:
            raise InputError(f"a trace requires a scale of 1/n with a whole number n, not {drive.scale}")
        capacity = drive.capacity
        erase_unit_bytes = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
        return specify(
            self.recording,
            drive,
            volume=self.volume,
            address_map=self.address_map,
            seed=seed,
            until_steady=True,
            round_share=self._round_share(drive, one_in),
            timed=timed,
            # Fewer requests for the same number of dies: they arrive faster by this factor.
            time_scale=1 / one_in,
            sample=self._sample(one_in, timed=timed, seed=seed),
            shuffle=shuffle_of(erase_unit_bytes, seed),
            fill_bytes=data_on.capacity.user_bytes if data_on else None,
            held=self.held,
        )

    def command(
        self,
        drive: str,
        settings: Mapping[str, str],
        share: float | None,
        scale: Fraction | None,
        seed: int,
        timed: bool,
        on: "ResolvedDrive",
    ) -> str:
        """The command that repeats the replay; `on` is the drive with these settings."""
        words = ["ssdlab", "replay", *self.recording.names, "--drive", drive]
        words += ["--trace-format", self.recording.format] if self.recording.format else []
        words += ["--columns", self.recording.columns] if self.recording.columns else []
        words += ["--skip-bad", str(self.recording.skip_bad_max)] if self.recording.skip_bad_max else []
        words += ["--op", option_share(share)] if share is not None else []
        words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        merged = ["--merge-volumes"] if len(self.recording.survey.volumes) > 1 else []
        words += ["--volume", self.volume] if self.volume is not None else merged
        words += ["--map", self.address_map, "--until", "steady", "--shuffle"]
        round_share = self._round_share(on, round(1 / on.scale))
        words += ["--round", option_share(round_share)] if round_share is not None else []
        words += ["--scale", str(scale), "--sample", f"{self._region_bytes(timed=timed)}B"] if scale else []
        return shlex.join([*words, "--seed", str(seed), *([] if timed else ["--untimed"])])

    def miniature_error(self, waf: float) -> float:
        """The share by which a miniature's figures can be too good, as measured (docs/simulate/advice.md).

        With almost no garbage collection there is almost no error.
        """
        return min(_MINIATURE_ERROR_MAX, _MINIATURE_ERROR_OF_GC * max(0.0, waf - 1))

    def remarks(self, user_bytes: int) -> list[str]:
        """Remarks on the validity of a recording of this length."""
        written = self.profile.write.bytes
        share = written / user_bytes
        touched = self.profile.units.unique_written * self.profile.unit_bytes
        days = self.profile.duration_ns / 1e9 / _SECONDS_PER_DAY
        sentences = [
            f"The trace writes {format_bytes(written)}, {rounded(share)} times the drive, to {format_bytes(touched)} "
            f"of it{f', in {_time(days)}' if days else ''}."
        ]
        if share < 1:
            sentences.append(
                "It is shorter than one drive write, so it is repeated in pieces in changing order. The result is the "
                "steady state if the host continues to write these addresses with the same frequencies; it does not "
                f"cover later writes to the other {format_bytes(max(user_bytes - touched, 0))} or changes of the "
                "workload."
            )
            if days and written:
                sentences.append(f"At its rate, {_time(days / share)} of recording would write the drive once.")
        return sentences

    def _round_share(self, drive: "ResolvedDrive", one_in: int) -> float | None:
        """The share of the drive, rounded up to tenths of a percent as in the command line; None for all of it."""
        capacity = drive.capacity
        changed_bytes = self.profile.units.unique_written * self.profile.unit_bytes / one_in
        changed_bytes += capacity.physical_bytes - capacity.user_bytes
        share = math.ceil(1000 * _ROUND_CHANGES * changed_bytes / capacity.user_bytes) / 1000
        return share if share < 1 else None

    def _needed_bytes(self) -> int:
        if self.address_map == "compact":
            return self.profile.units.unique * self.profile.unit_bytes
        return max(volume.end_bytes_max for volume in self.profile.volumes)

    def _sample(self, one_in: int, *, timed: bool, seed: int) -> Sample | None:
        profile = self._profile_by_request if timed and one_in > 1 else self.profile
        return sample_of(profile, one_in, region_bytes=self._region_bytes(timed=timed), seed=seed)

    @cached_property
    def _profile_by_request(self) -> Profile:
        """The profile with the hottest regions of the size that runs with a clock do not split."""
        region_bytes = self._region_bytes(timed=True)
        if region_bytes == self.profile.region_bytes:
            return self.profile
        return profile_of(self.recording, self.volume, region_bytes=region_bytes)

    def _region_bytes(self, *, timed: bool) -> int:
        region_bytes = self.profile.unit_bytes
        if timed:
            sizes = (self.profile.read, self.profile.write)
            largest = max((totals.length_bytes_max or 0 for totals in sizes), default=0)
            while region_bytes < min(largest, _REGION_BYTES_MAX_TIMED):
                region_bytes *= 2
        return region_bytes


def of_trace(recording: Recording, volume: str | None, room_bytes: int, *, merged: bool) -> Trace:
    """The trace for drives of at least `room_bytes`. Reads the recording once, or twice if a volume is chosen.

    Raises InputError if one of several volumes must be chosen, or if it has too few writes.
    """
    found = recording.volume(volume).name if volume is not None else None
    if found is not None and len(recording.survey.volumes) == 1:
        found = None
    profile, held = profile_and_hold(recording, found)
    if volume is None and not merged:
        recording.single_volume()
    if profile.units.unique_written < _UNITS_KEPT_MIN:
        raise InputError(
            f"{recording.names[0]}: writes {format_bytes(profile.write.bytes)}, to {profile.units.unique_written} "
            "units of 4 KiB: too few writes for an advice on spare area; allowed: a recording with writes to "
            f"{_UNITS_KEPT_MIN:,} units or more{_long_enough(profile)}"
        )
    ends = max(volume.end_bytes_max for volume in profile.volumes)
    return Trace(recording, found, "strict" if ends <= room_bytes else "compact", profile, held)


def _long_enough(profile: Profile) -> str:
    """How long a recording with enough writes is, at the rate of this one: at least, if it overwrites what it wrote."""
    if not profile.units.unique_written or not profile.duration_ns:
        return ""
    factor = _UNITS_KEPT_MIN / profile.units.unique_written
    days = profile.duration_ns / 1e9 / _SECONDS_PER_DAY
    return f", at its rate {_time(days * factor)} or longer"


def _time(days: float) -> str:
    if days >= 1:
        return f"{rounded(days)} days"
    minutes = days * 24 * 60
    if minutes < 1:
        return f"{rounded(minutes * 60)} seconds"
    return f"{rounded(minutes / 60)} hours" if minutes >= 60 else f"{rounded(minutes)} minutes"
