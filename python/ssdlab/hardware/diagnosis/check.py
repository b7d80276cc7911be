"""The complete check of a path: its place, its read speed, its TRIM state, and the conclusions."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict

from ssdlab.errors import InputError, RunFailed
from ssdlab.evidence import Estimate
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.diagnosis import extents, file_system, reads, trim
from ssdlab.hardware.diagnosis.reads import Reads, ReadsJson
from ssdlab.hardware.diagnosis.trim import Trim, TrimJson
from ssdlab.hardware.safety import health, sysfs
from ssdlab.hardware.safety.held import open_same
from ssdlab.hardware.safety.place import Kind, Place, locate
from ssdlab.hardware.smart.source import Report, Unavailable

SOUND_SHARE = 0.8
SCATTERED_SHARE = 0.5
"""Limits of the share of the drive's best speed: a file above the first counts as sound, below the second as scattered.
In the published fragmentation experiment drives fell to 0.28, to between 0.5 and 0.7, or stayed above 0.85."""

_PIECE_BYTES_MIN = 1 << 20
"""With a smaller mean extent, fragmentation of the file system alone makes requests small enough to be slow."""


class FindingJson(TypedDict):
    what: str
    text: str
    remedy: str | None


class LayJson(TypedDict):
    file_system: str
    data_bytes: int
    hole_bytes: int
    pieces: int
    why_not_in_place: str | None


class CheckedJson(TypedDict):
    """The output of `ssdlab check --format json`."""

    path: str
    kind: str
    size_bytes: int
    disk: str | None
    model: str | None
    names_for_destroy_data_on: list[str]
    file: LayJson | None
    reads: ReadsJson | None
    trim: TrimJson
    smart: str | None
    findings: list[FindingJson]


@dataclass(frozen=True)
class Finding:
    """One conclusion."""

    what: str
    """`good`, `problem` or `unknown`."""
    text: str
    remedy: str | None = None


@dataclass(frozen=True)
class Lay:
    """The location of a file's data."""

    file_system: str
    data_bytes: int
    hole_bytes: int
    pieces: int
    why_not_in_place: str | None
    """The reason why it cannot be refreshed, or None if it can."""

    def to_dict(self) -> LayJson:
        """The values for `ssdlab check --format json`."""
        return {
            "file_system": self.file_system,
            "data_bytes": self.data_bytes,
            "hole_bytes": self.hole_bytes,
            "pieces": self.pieces,
            "why_not_in_place": self.why_not_in_place,
        }


@dataclass
class Checked:
    """All results of a check."""

    place: Place
    lay: Lay | None
    reads: Reads | None
    trim: Trim
    smart: Report | Unavailable
    findings: list[Finding] = field(default_factory=list)

    def to_dict(self) -> CheckedJson:
        """The values for `ssdlab check --format json`."""
        return {
            "path": str(self.place.path),
            "kind": str(self.place.kind),
            "size_bytes": self.place.size_bytes,
            "disk": self.place.disk,
            "model": self.place.model,
            "names_for_destroy_data_on": list(self.place.identities),
            "file": None if self.lay is None else self.lay.to_dict(),
            "reads": None if self.reads is None else self.reads.to_dict(),
            "trim": self.trim.to_dict(),
            "smart": None if isinstance(self.smart, Report) else self.smart.reason,
            "findings": [{"what": each.what, "text": each.text, "remedy": each.remedy} for each in self.findings],
        }


def check(
    path: str,
    *,
    read_bytes_max: int,
    best_mb_s: float | None = None,
    writes: bool = True,
    tell: Callable[[str, float], None] = lambda what, share: None,
) -> Checked:
    """Checks a file, folder or device without changing it. With `writes`, a file is compared with a region that is
    written beside it and removed again. Raises InputError for the path, and RunFailed if it cannot
    be read."""
    place = locate(path)
    lay, pieces = _lay(place) if place.kind == Kind.FILE else (None, [(0, place.size_bytes)])
    smart = health.read(place)
    # Before the fresh region is written, whose removal need not trim it.
    trims = trim.look(place, smart)
    found = None
    if place.kind != Kind.FOLDER:
        try:
            found = reads.test(
                place, pieces, total_bytes_max=read_bytes_max, best_mb_s=best_mb_s, writes=writes, tell=tell
            )
        except PermissionError:
            raise InputError(f"{place.in_words}: no permission to read it; run ssdlab as root") from None
        except OSError as error:
            raise RunFailed(f"{place.in_words} cannot be read directly: {error.strerror}") from None
    result = Checked(place, lay, found, trims, smart)
    result.findings = [*_of_health(result), *_of_reads(result), *_of_trim(result.trim)]
    return result


def _lay(place: Place) -> tuple[Lay | None, list[tuple[int, int]]]:
    try:
        descriptor = open_same(place.path, os.O_RDONLY, place.file_id)
    except OSError as error:
        raise InputError(f"{place.path}: {error.strerror}") from None
    try:
        system = file_system.of(place.path)
        found = extents.extents_of(descriptor)
    except OSError:
        # The file system cannot report it, for example a network file system.
        return None, [(0, place.size_bytes)]
    finally:
        os.close(descriptor)
    written = [
        (extent.offset, min(extent.end, place.size_bytes) - extent.offset)
        for extent in found
        if not extent.flags & extents.UNWRITTEN and extent.offset < place.size_bytes
    ]
    data_bytes = sum(length for _, length in written)
    why_not = system.why_not_in_place
    if why_not is None and any(extent.flags & (extents.ENCODED | extents.SHARED) for extent in found):
        why_not = "it is compressed, or shares data with another file"
    pieces = extents.pieces_on_device(found)
    return Lay(system.name, data_bytes, max(0, place.size_bytes - data_bytes), pieces, why_not), written


def _of_health(result: Checked) -> list[Finding]:
    if isinstance(result.smart, Unavailable):
        return [Finding("unknown", f"SMART could not be read: {result.smart.reason}")]
    trouble = health.trouble(result.smart.reading)
    return [Finding("problem", trouble, "copy its data to another drive")] if trouble else []


def _of_reads(result: Checked) -> list[Finding]:
    place, lay, found = result.place, result.lay, result.reads
    findings: list[Finding] = []
    if (
        place.disk
        and sysfs.queue(place.disk, "rotational") == "1"
        and place.kind != Kind.LOOP
        and not place.backing_file
    ):
        return [
            Finding(
                "unknown",
                "its read speed: the kernel reports a rotating disk, as of many virtual ones; limits are for flash",
            )
        ]
    if lay and lay.pieces > 1 and lay.data_bytes / lay.pieces < _PIECE_BYTES_MIN:
        findings.append(
            Finding(
                "problem",
                f"{lay.file_system} stores the file in {lay.pieces} extents of "
                f"{format_bytes(lay.data_bytes // lay.pieces)} on average: sequential reads need small requests",
                "e4defrag or xfs_fsr, which also refreshes it",
            )
        )
    if place.kind == Kind.FOLDER:
        return findings
    share = found.share_of_best if found else None
    if found is None or share is None:
        return [*findings, Finding("unknown", f"its read speed: {_not_read(found)}")]
    speed = (
        f"reads in order at {found.mean_mb_s:.0f} MB/s, {_percent(share)} of the best seen ({found.best_mb_s:.0f} MB/s)"
    )
    if found.given_best_mb_s is not None:
        speed = speed.replace("best seen", "best given")
    if share.low < SOUND_SHARE <= share.high:
        return [*findings, Finding("unknown", f"{speed}: cannot tell whether it is fragmented{_why(found)}", _CALM)]
    if share.low >= SOUND_SHARE:
        findings.append(Finding("good", f"{speed}: not internally fragmented"))
        has_others = found.disk_mb_s or found.fresh_mb_s
        if found.given_best_mb_s is None and not has_others and place.kind == Kind.FILE:
            findings.append(
                Finding(
                    "unknown", "whether all of it is equally slow: only its own segments could be compared", "--best"
                )
            )
        return findings
    how = "internally fragmented" if share.high < SCATTERED_SHARE else "somewhat fragmented"
    findings.append(Finding("problem", f"{speed}: {how}", _remedy(result)))
    return findings


_CALM = "check again when nothing else reads from the drive, and give the speed of the fresh drive with --best"
# Other programs that read this share of what the check reads disturb it.
_OTHERS_SHARE = 0.05


def _not_read(found: Reads | None) -> str:
    """Why there is no speed to compare."""
    if found is None:
        return f"less than {format_bytes(reads.BYTES_MIN)} of data, or the read test is off"
    if not found.segments:
        return "all that was read are zeroes, for which a drive need not read its flash"
    return "too few readings"


def _percent(share: Estimate) -> str:
    """The share with its interval, or alone where all readings agree."""
    spread = f" \N{PLUS-MINUS SIGN}{50 * (share.high - share.low):.0f}" if share.high - share.low > 0.02 else ""
    return f"{100 * share.value:.0f}{spread} %"


def _why(found: Reads) -> str:
    own = sum(segment.length for segment in found.segments)
    readings = ", ".join(f"{100 * share:.0f}" for share in found.shares)
    others = found.other_read_bytes or 0
    beside = f"; other programs read {format_bytes(others)} meanwhile" if others > _OTHERS_SHARE * own else ""
    return f" ({len(found.shares)} readings: {readings} %{beside})"


def _remedy(result: Checked) -> str:
    if result.lay and result.lay.why_not_in_place:
        why_not = result.lay.why_not_in_place
        return f"replace it with a copy (cp --reflink=never); not `ssdlab refresh`: {why_not}"
    return f"ssdlab refresh {result.place.path}"


def _of_trim(found: Trim) -> list[Finding]:
    if found.supported is None:
        return [Finding("unknown", "whether trims reach a drive: no disk is visible here")]
    if found.stopped_by:
        remedy = "cryptsetup --allow-discards, issue_discards in lvm.conf, or the setting of that layer"
        return [Finding("problem", f"{found.stopped_by} does not forward trims to the disk", remedy)]
    if not found.supported:
        remedy = "leave a part unpartitioned after a secure erase, as spare area that needs no trims"
        return [
            Finding("problem", "trims do not reach the drive: it has no TRIM, or a bridge or layer drops them", remedy)
        ]
    return [_of_routine(found), _of_never_trimmed(found)]


def _of_routine(found: Trim) -> Finding:
    if not found.mounted:
        return Finding("unknown", "trims reach the drive; no mounted file system on it sends them")
    silent = [each for each in found.mounted if not each.discards]
    if not silent or found.is_periodic:
        how = "fstrim.timer runs" if silent else "mounted with discard"
        return Finding("good", f"trims reach the drive, and are sent ({how})")
    folders = ", ".join(str(each.folder) for each in silent)
    timer = "whether anything trims regularly is unknown" if found.is_periodic is None else "nothing trims regularly"
    first = silent[0].folder
    return Finding(
        "problem" if found.is_periodic is False else "unknown",
        f"trims reach the drive, but {folders} is mounted without discard, and {timer}",
        f"mountpoint -q {first} && fstrim -v {first}; systemctl enable --now fstrim.timer",
    )


def _of_never_trimmed(found: Trim) -> Finding:
    never = found.never_trimmed_bytes
    if never is None:
        most = f"; at most the free space, {format_bytes(found.free_bytes)}" if found.mounted else ""
        reason = found.utilization_reason or "nothing on it is mounted"
        return Finding("unknown", f"amount of untrimmed data unknown: {reason}{most}")
    text = f"the drive holds at least {format_bytes(never)} that no mounted file system uses"
    used = sum(each.used_bytes for each in found.mounted)
    if never > 0.05 * (used + found.free_bytes):
        return Finding("problem", text, "fstrim for mounted file systems; blkdiscard for an unused partition")
    return Finding("good", text)
