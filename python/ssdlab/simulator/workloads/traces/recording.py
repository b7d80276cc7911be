"""The files of a trace, read one after the other as one recording, and their volumes.

A trace is read several times: first to find its volumes and errors, then once for each drive. Standard input is
therefore first copied to a temporary file.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypedDict

from ssdlab.errors import InputError, naming, near, near_files
from ssdlab.foundation.decoding import text_of
from ssdlab.simulator import engine
from ssdlab.simulator.specification import PlacedJson, SampleJson, ShuffleJson
from ssdlab.simulator.workloads.rates import drawing
from ssdlab.simulator.workloads.rates.reading import is_log, read

Map = Literal["fold", "compact", "strict"]
Arrival = Literal["trace", "closed"]
"""Arrival of requests with a clock: at the recorded times, or each when another completes."""


class When(TypedDict):
    """When the requests of a trace arrive at the drive."""

    arrival: Arrival
    time_scale: float
    """The factor by which the recorded times are multiplied."""
    iodepth: int
    """The maximum number of outstanding requests."""


class Places(TypedDict, total=False):
    """The places of a file's volumes; empty if they are not placed."""

    placed: list[PlacedJson]


class Chosen(TypedDict, total=False):
    """Which part of a trace is replayed, and the order of its repetitions."""

    sample: SampleJson
    shuffle: ShuffleJson


class Format(TypedDict):
    """A format of traces."""

    name: str
    aliases: list[str]
    description: str


class VolumeJson(TypedDict):
    """The JSON of a `Volume`."""

    name: str
    reads: int
    writes: int
    trims: int
    flushes: int
    written_bytes: int
    end_bytes_max: int


class SurveyJson(TypedDict):
    """The JSON of a `Survey`, from `_engine.survey`."""

    formats: list[str]
    notes: list[str | None]
    arrival_ns_max: int
    through: int
    earlier: int
    earlier_ns_max: int
    volumes: list[VolumeJson]
    skipped: int
    without_direction: int


_AT_ONCE: When = {"arrival": "closed", "time_scale": 1.0, "iodepth": 1}

STANDARD_INPUT = "-"

# Tracers of several processors mix events within less than this.
_JITTER_NS = 1_000_000


@dataclass(frozen=True)
class Sample:
    """A sample of one in `one_in` regions, selected by hash: a smaller address space with similar accesses."""

    one_in: int
    region_bytes: int
    seed: int
    hot: tuple[tuple[int, int, float], ...] = ()
    """Regions that represent their groups: (group, which of its regions, share of its requests that is kept)."""

    def to_dict(self) -> SampleJson:
        """The sample in the format of the native module."""
        hot: list[list[int | float]] = [list(entry) for entry in self.hot]
        return {"one_in": self.one_in, "region_bytes": self.region_bytes, "seed": self.seed, "hot": hot}


@dataclass(frozen=True)
class Shuffle:
    """Passes after the first replay pieces of the trace, of `piece_bytes` written each, in a new random order.

    Otherwise a drive that receives the same requests in the same order again and again would follow their period.
    """

    piece_bytes: int
    seed: int

    def to_dict(self) -> ShuffleJson:
        """The shuffle in the format of the native module."""
        return {"piece_bytes": self.piece_bytes, "seed": self.seed}


@dataclass(frozen=True)
class Placed:
    """A volume of a file that shares a drive with others, and the offset at which it begins."""

    volume: str
    base_bytes: int

    def to_dict(self) -> PlacedJson:
        """The place in the format of the native module."""
        return {"volume": self.volume, "base_bytes": self.base_bytes}


# Messages list this many volumes; the others are counted.
_HEAD_BYTES = 512
_VOLUMES_SHOWN = 12


@dataclass(frozen=True)
class Volume:
    """The requests of a recording to one of its volumes."""

    name: str
    reads: int
    writes: int
    trims: int
    flushes: int
    written_bytes: int
    end_bytes_max: int
    """The end of the highest request."""

    @property
    def requests(self) -> int:
        return self.reads + self.writes + self.trims + self.flushes


@dataclass(frozen=True)
class Survey:
    """The result of reading through a recording."""

    formats: Sequence[str]
    """The format of each file."""
    volumes: Sequence[Volume]
    """The volumes with requests, in order of their first request."""
    skipped: int
    """Malformed lines or records that were skipped."""
    without_direction: int
    """Requests left out because the trace does not contain their direction."""
    notes: Sequence[str | None]
    """How each file is read, as the end of a sentence on it; None if there is nothing to say."""
    arrival_ns_max: int
    """The latest arrival; 0 if the trace has no times."""
    through: int
    """Writes that complete when their data is on the medium (FUA)."""
    earlier: int
    """Requests with an earlier time than one before them in their file."""
    earlier_ns_max: int
    """By how much at most, relative to the latest time before."""

    @property
    def has_times(self) -> bool:
        """Whether the requests arrive at times, rather than all at once."""
        return self.arrival_ns_max > 0 or sum(volume.requests for volume in self.volumes) < 2


def earlier_said(requests: int, ns_max: int) -> list[str]:
    """A sentence on so many requests whose times are out of order, by more than the jitter of a tracer."""
    if ns_max < _JITTER_NS:
        return []
    return [
        f"{requests:,} requests have an earlier time than one before them, by {ns_max / 1e9:,.3g} s "
        "at most, and arrive together with the one before: sort the trace by time if that is more than a few"
    ]


@dataclass(frozen=True)
class Recording:
    """The files of a recording, in order, and how they are read. Memory use does not depend on their length."""

    names: tuple[str, ...]
    """The names of the files for messages."""
    paths: tuple[str, ...]
    """The paths of the files."""
    format: str | None
    """A name from `formats`; None to detect the format from the beginning of each file."""
    skip_bad_max: int
    placed: tuple[tuple[Placed, ...], ...] | None = None
    """For each file, its volumes that are used; None for all, at their own addresses."""
    columns: str | None = None
    """The names of the columns, for a text with columns of the user's own; None for one of the formats."""
    drawn_from: tuple[str, ...] = ()
    """For requests that were drawn from a log of rates: what the log says, and what is guessed."""

    def engine_json(
        self,
        *,
        volume: str | None = None,
        address_map: Map = "fold",
        loop_until_written_bytes: int | None = None,
        when: When = _AT_ONCE,
        sample: Sample | None = None,
        shuffle: Shuffle | None = None,
    ) -> str:
        """The trace in the format of the native module."""
        files = [
            {"path": path, "name": name, **places}
            for path, name, places in zip(self.paths, self.names, self.places(), strict=True)
        ]
        trace: dict[str, object] = {"files": files, "format": self.format, "skip_bad_max": self.skip_bad_max}
        if self.columns is not None:
            trace["columns"] = self.columns
        said = {"volume": volume, "map": address_map, "loop_until_written_bytes": loop_until_written_bytes}
        return json.dumps(trace | said | when | chosen(sample, shuffle), ensure_ascii=False)

    def places(self) -> list[Places]:
        """The places of each file's volumes; empty if they are not placed."""
        if self.placed is None:
            return [{} for _ in self.paths]
        return [{"placed": [place.to_dict() for place in places]} for places in self.placed]

    @cached_property
    def survey(self) -> Survey:
        """The survey of all files. Raises InputError, with file and line, for what cannot be read."""
        plain: SurveyJson = json.loads(engine.survey(self.engine_json()))
        return Survey(
            plain["formats"],
            [Volume(**volume) for volume in plain["volumes"]],
            plain["skipped"],
            plain["without_direction"],
            plain["notes"],
            plain["arrival_ns_max"],
            plain["through"],
            plain["earlier"],
            plain["earlier_ns_max"],
        )

    def note_survey(self, survey: Survey) -> None:
        """Stores the survey that another pass over all files has found, so that `survey` does not read them again."""
        self.__dict__.setdefault("survey", survey)

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each file as stored, compressed or not."""
        found = []
        for path in self.paths:
            with Path(path).open("rb") as file:
                found.append(hashlib.file_digest(file, "sha256").hexdigest())
        return tuple(found)

    @property
    def title(self) -> str:
        """The title of the first file, see `title_of`."""
        return "stdin" if self.names[0] == "standard input" else title_of(self.names[0])

    def volume(self, name: str) -> Volume:
        """The volume of this name. Raises InputError, which names similar volumes and lists the largest."""
        for volume in self.survey.volumes:
            if volume.name == name:
                return volume
        known = [volume.name for volume in self.survey.volumes]
        raise InputError(f"--volume {name}: {self._who()} has no such volume{near(name, known)}; {self._volumes()}")

    def single_volume(self) -> Volume:
        """The only volume. Raises InputError if there are several, and lists them."""
        if len(self.survey.volumes) > 1:
            raise InputError(
                f"{self._who()} has {len(self.survey.volumes):,} volumes: choose with --volume NAME, give each its own "
                f"drive with --each-volume, or put all on one with --merge-volumes; {self._volumes()}"
            )
        return self.survey.volumes[0]

    def _who(self) -> str:
        more = len(self.names) - 1
        return self.names[0] + (f" (and {more} more)" if more else "")

    def _volumes(self) -> str:
        volumes = sorted(self.survey.volumes, key=lambda volume: -volume.requests)
        listed = [f"{volume.name} ({volume.requests:,} requests)" for volume in volumes[:_VOLUMES_SHOWN]]
        more = len(volumes) - len(listed)
        return "its volumes: " + ", ".join(listed) + (f" and {more:,} more" if more else "")


def formats() -> list[Format]:
    """All known formats."""
    known: list[Format] = json.loads(engine.trace_formats())
    return known


def chosen(sample: Sample | None, shuffle: Shuffle | None) -> Chosen:
    """The JSON of `sample` and `shuffle`, without those that are None."""
    said: Chosen = {}
    if sample is not None:
        said["sample"] = sample.to_dict()
    if shuffle is not None:
        said["shuffle"] = shuffle.to_dict()
    return said


def title_of(file: str) -> str:
    """The name of a trace file without folder and suffixes, usable as a file name."""
    name = Path(file).name
    for suffix in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(suffix)
    return "stdin" if file == STANDARD_INPUT else Path(name).stem


@contextmanager
def opened(
    files: Sequence[str],
    format_name: str | None,
    skip_bad_max: int,
    columns: str | None = None,
    *,
    device: str | None = None,
    span_bytes: int = drawing.SPAN_BYTES,
) -> Iterator[Recording]:
    """Opens the recording in these files; `-` is standard input, copied to a temporary file until the end.

    `columns` names the columns of a text with columns of the user's own. Of a log of rates (`rates`), requests to
    `device` are drawn over `span_bytes`. Raises InputError for an unknown format, or a file that is named twice or
    missing.
    """
    if columns is not None and format_name not in (None, "columns"):
        raise InputError(
            f"--columns and --trace-format {format_name} exclude each other: each says how the trace is read"
        )
    if format_name is not None:
        known = [name for entry in formats() for name in (entry["name"], *entry["aliases"])]
        if format_name not in known:
            raise InputError(
                f"--trace-format is {format_name!r}{near(format_name, known)}; "
                f"allowed: {', '.join(entry['name'] for entry in formats())}"
            )
    twice = [file for index, file in enumerate(files) if file in files[:index]]
    if twice:
        raise InputError(f"{twice[0]} is named twice; repeat a trace with --loop-until")
    # Otherwise a missing file would be found only after the files before it have been read.
    for each in files:
        try:
            if each != STANDARD_INPUT:
                Path(each).stat()
                if Path(each).is_dir():
                    raise InputError(f"{each}: is a folder; name the trace in it")
        except OSError as error:
            raise InputError(f"{each}: {error.strerror}{near_files(Path(each))}") from None
    with ExitStack() as stack:
        names, paths = tuple(files), tuple(files)
        if STANDARD_INPUT in files:
            aside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ssdlab-"))) / "stdin"
            with naming(aside), aside.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
            names = tuple("standard input" if file == STANDARD_INPUT else file for file in files)
            paths = tuple(str(aside) if file == STANDARD_INPUT else file for file in files)
        paths = tuple(_as_utf8(path, stack) for path in paths)
        if format_name is None and columns is None and is_log(paths[0]):
            yield _drawn(names, paths, device, span_bytes, stack)
            return
        if device is not None:
            raise InputError(
                f"--device {device}: for a log of rates (iostat, sar, diskstats); {names[0]} is a trace, whose volumes "
                "--volume chooses"
            )
        yield Recording(names, paths, format_name, skip_bad_max, columns=columns)


def _as_utf8(path: str, stack: ExitStack) -> str:
    """The path, or that of a copy if the file is in UTF-16, as PowerShell's `>` writes it."""
    if not Path(path).is_file():
        return path
    with naming(Path(path)), Path(path).open("rb") as file:
        head = file.read(_HEAD_BYTES)
        if b"\0" not in head or (text := text_of(head)) is None:
            return path
        text = text_of(head + file.read()) or text
    aside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ssdlab-"))) / Path(path).name
    with naming(aside):
        aside.write_text(text, encoding="utf-8")
    return str(aside)


def _drawn(
    names: tuple[str, ...], paths: tuple[str, ...], device: str | None, span_bytes: int, stack: ExitStack
) -> Recording:
    """Requests drawn from a log of rates, in a temporary file."""
    if len(names) != 1:
        raise InputError(f"{', '.join(names)}: one log of rates at a time")
    log = read(paths[0], names[0])
    chosen_device = log.device(device, names[0])
    aside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ssdlab-"))) / "requests"
    with naming(aside):
        drawing.write_trace(log, chosen_device, aside, span_bytes, names[0])
    said = drawing.sentences_of_trace(log, chosen_device, span_bytes)
    return Recording(names, (str(aside),), None, 0, columns=drawing.COLUMNS, drawn_from=tuple(said))
