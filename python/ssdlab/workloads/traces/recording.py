"""The files of a trace, read one after the other as one recording, and the volumes in them.

A trace is read more than once: to find its volumes and faults before any work begins, then once a drive. What comes
through standard input is therefore put aside into a temporary file first.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypedDict

from ssdlab import engine
from ssdlab.errors import InputError, naming, near
from ssdlab.specification import PlacedJson, SampleJson, ShuffleJson

Map = Literal["fold", "compact", "strict"]
Arrival = Literal["trace", "closed"]
"""With a clock: at the recorded times, or each when another is complete."""


class When(TypedDict):
    """When a trace's requests come to the drive."""

    arrival: Arrival
    time_scale: float
    """The recorded times are multiplied by it."""
    iodepth: int
    """The most that are outstanding at a time."""


class Places(TypedDict, total=False):
    """Where the volumes of a file lie; nothing where they are not placed."""

    placed: list[PlacedJson]


class Chosen(TypedDict, total=False):
    """What is left out of a trace, and in which order it comes again."""

    sample: SampleJson
    shuffle: ShuffleJson


class Format(TypedDict):
    """A format of traces."""

    name: str
    aliases: list[str]
    description: str


class VolumeJson(TypedDict):
    """As `Volume`."""

    name: str
    reads: int
    writes: int
    trims: int
    flushes: int
    written_bytes: int
    end_bytes_max: int


class SurveyJson(TypedDict):
    """As `Survey`, from `_engine.survey`."""

    formats: list[str]
    volumes: list[VolumeJson]
    skipped: int
    without_direction: int


_AT_ONCE: When = {"arrival": "closed", "time_scale": 1.0, "iodepth": 1}

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Sample:
    """One region of so many neighbours, chosen by hash: a smaller address space that is like the whole one.

    It goes with a drive that is smaller in the same ratio (`--scale`). `seed` says which regions.
    """

    one_in: int
    region_bytes: int
    seed: int
    hot: tuple[tuple[int, int, float], ...] = ()
    """Regions that stand for their groups: (group, which of its regions, share of its requests that is kept)."""

    def to_dict(self) -> SampleJson:
        """As given to the native module."""
        hot: list[list[int | float]] = [list(entry) for entry in self.hot]
        return {"one_in": self.one_in, "region_bytes": self.region_bytes, "seed": self.seed, "hot": hot}


@dataclass(frozen=True)
class Shuffle:
    """Passes after the first take pieces of the trace, which write so much, in an order drawn for every pass.

    A drive under the same requests in the same order for ever would settle into their period.
    """

    piece_bytes: int
    seed: int

    def to_dict(self) -> ShuffleJson:
        """As given to the native module."""
        return {"piece_bytes": self.piece_bytes, "seed": self.seed}


@dataclass(frozen=True)
class Placed:
    """A volume of a file that shares a drive with others, and where it begins there."""

    volume: str
    base_bytes: int

    def to_dict(self) -> PlacedJson:
        """As given to the native module."""
        return {"volume": self.volume, "base_bytes": self.base_bytes}


# More than fits a message is counted.
_VOLUMES_SHOWN = 12


@dataclass(frozen=True)
class Volume:
    """What a recording asks of one of its volumes."""

    name: str
    reads: int
    writes: int
    trims: int
    flushes: int
    written_bytes: int
    end_bytes_max: int
    """Where the last byte lies that any request reaches."""

    @property
    def requests(self) -> int:
        return self.reads + self.writes + self.trims + self.flushes


@dataclass(frozen=True)
class Survey:
    """What a look through a recording finds."""

    formats: Sequence[str]
    """Of each file."""
    volumes: Sequence[Volume]
    """Those with requests, in the order in which they come."""
    skipped: int
    """Malformed lines or records that were passed over."""
    without_direction: int
    """Requests left out because the trace does not say whether they read or write."""


@dataclass(frozen=True)
class Recording:
    """Files, in order, and how they are read. Memory stays constant however long they are."""

    names: tuple[str, ...]
    """What the user calls the files."""
    paths: tuple[str, ...]
    """Where they lie."""
    format: str | None
    """A name of `formats`; None: it is recognised by each file's beginning."""
    skip_bad_max: int
    placed: tuple[tuple[Placed, ...], ...] | None = None
    """For each file its volumes that are taken; None: all, at their own addresses."""

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
        """The trace as given to the native module."""
        files = [
            {"path": path, "name": name, **places}
            for path, name, places in zip(self.paths, self.names, self.places(), strict=True)
        ]
        trace = {"files": files, "format": self.format, "skip_bad_max": self.skip_bad_max}
        said = {"volume": volume, "map": address_map, "loop_until_written_bytes": loop_until_written_bytes}
        return json.dumps(trace | said | when | chosen(sample, shuffle), ensure_ascii=False)

    def places(self) -> list[Places]:
        """What is said of each file's volumes where they are placed; nothing where they are not."""
        if self.placed is None:
            return [{} for _ in self.paths]
        return [{"placed": [place.to_dict() for place in places]} for places in self.placed]

    @cached_property
    def survey(self) -> Survey:
        """Reads everything once. Raises InputError with file and line for what cannot be read."""
        plain: SurveyJson = json.loads(engine.survey(self.engine_json()))
        return Survey(
            plain["formats"],
            [Volume(**volume) for volume in plain["volumes"]],
            plain["skipped"],
            plain["without_direction"],
        )

    def note_survey(self, survey: Survey) -> None:
        """What another reading of everything has found need not be read for."""
        self.__dict__.setdefault("survey", survey)

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each file as it lies there, compressed or not."""
        found = []
        for path in self.paths:
            with Path(path).open("rb") as file:
                found.append(hashlib.file_digest(file, "sha256").hexdigest())
        return tuple(found)

    @property
    def title(self) -> str:
        """As `title_of` the first file."""
        return "stdin" if self.names[0] == "standard input" else title_of(self.names[0])

    def volume(self, name: str) -> Volume:
        """The volume of that name; InputError names the near ones, or all."""
        for volume in self.survey.volumes:
            if volume.name == name:
                return volume
        known = [volume.name for volume in self.survey.volumes]
        raise InputError(f"--volume {name}: {self._who()} has no such volume{near(name, known)}; {self._volumes()}")

    def single_volume(self) -> Volume:
        """The one volume there is. Raises InputError when there are several, and lists them."""
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
    """All formats that are known."""
    known: list[Format] = json.loads(engine.trace_formats())
    return known


def chosen(sample: Sample | None, shuffle: Shuffle | None) -> Chosen:
    """What is said of them where they are chosen."""
    said: Chosen = {}
    if sample is not None:
        said["sample"] = sample.to_dict()
    if shuffle is not None:
        said["shuffle"] = shuffle.to_dict()
    return said


def title_of(file: str) -> str:
    """The name of a trace file without folder and suffixes; fit for a file name."""
    name = Path(file).name
    for suffix in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(suffix)
    return "stdin" if file == STANDARD_INPUT else Path(name).stem


@contextmanager
def opened(files: Sequence[str], format_name: str | None, skip_bad_max: int) -> Iterator[Recording]:
    """The recording in these files; `-` is standard input, kept in a temporary file until the end.

    Raises InputError for an unknown format, a file that is not there, or one that is named twice.
    """
    if format_name is not None:
        names = [name for entry in formats() for name in (entry["name"], *entry["aliases"])]
        if format_name not in names:
            raise InputError(
                f"--format is {format_name!r}{near(format_name, names)}; "
                f"allowed: {', '.join(entry['name'] for entry in formats())}"
            )
    twice = [file for index, file in enumerate(files) if file in files[:index]]
    if twice:
        raise InputError(f"{twice[0]} is named twice; repeat a trace with --loop-until")
    if STANDARD_INPUT not in files:
        yield Recording(tuple(files), tuple(files), format_name, skip_bad_max)
        return
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
        aside = Path(folder) / "stdin"
        with naming(aside), aside.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        names = ["standard input" if file == STANDARD_INPUT else file for file in files]
        paths = [str(aside) if file == STANDARD_INPUT else file for file in files]
        yield Recording(tuple(names), tuple(paths), format_name, skip_bad_max)
