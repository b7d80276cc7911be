"""Finds the volumes of a fleet: all volumes of the named traces, of traces in folders, and of Parquet data sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.experiments.fleet import requests
from ssdlab.simulator.workloads.rates.reading import is_log
from ssdlab.simulator.workloads.traces.profile import Profile, profile_of
from ssdlab.simulator.workloads.traces.recording import Recording

_SECONDS_PER_DAY = 86_400
_COMPRESSED = (".gz", ".bz2", ".zst")

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Volume:
    """One volume and its profile."""

    name: str
    """Unique in the fleet."""
    recording: Recording
    volume: str
    """Its name within the recording."""
    profile: Profile

    @property
    def end_bytes(self) -> int:
        """The end of the highest accessed byte."""
        return max(volume.end_bytes_max for volume in self.profile.volumes)

    @property
    def written_bytes_per_day(self) -> float | None:
        """Bytes written per day at the trace's pace, or None for a trace without timestamps."""
        seconds = self.profile.duration_ns / 1e9
        return self.profile.write.bytes / seconds * _SECONDS_PER_DAY if seconds > 0 else None


def found(
    paths: Sequence[str],
    format_name: str | None,
    skip_bad: int,
    aside: Path,
    on_progress: Progress | None = None,
    *,
    columns: str | None = None,
) -> list[Volume]:
    """Reads every trace to find its volumes, and each volume again for its profile.

    Traces converted from Parquet data sets are written to the folder `aside`. `columns` names those of texts in no
    known format. Raises InputError if a trace cannot be read, there is none, or two volumes have the same name.
    """
    files = [(name, file, kind) for path in paths for name, file, kind in _files(Path(path), format_name, aside)]
    if not files:
        raise InputError(f"{', '.join(paths)}: contains no trace")
    volumes: list[Volume] = []
    for index, (name, file, kind) in enumerate(files):
        if kind is None and columns is None and is_log(str(file)):
            raise InputError(
                f"{file}: a log of rates has no addresses; a fleet needs traces; ssdlab advise space takes such a log"
            )
        recording = Recording((str(file),), (str(file),), kind, skip_bad, columns=None if kind else columns)
        several = len(recording.survey.volumes) > 1
        for each in recording.survey.volumes:
            profile = profile_of(recording, each.name if several else None)
            own = f"{name}:{each.name}" if several and len(files) > 1 else (each.name if several else name)
            volumes.append(Volume(own, recording, each.name, profile))
        if on_progress:
            on_progress((index + 1) / len(files))
    names = [volume.name for volume in volumes]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(f"two traces make a volume {twice!r}; rename one of the files")
    return volumes


def _files(path: Path, format_name: str | None, aside: Path) -> list[tuple[str, Path, str | None]]:
    """(name, file, format) of every trace at a path."""
    if requests.is_data_set(path):
        return [(file.stem, file, "fio-iolog-v3") for file in requests.traces_of(path, aside / path.stem)]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        return [(_stem(file), file, format_name) for file in files]
    return [(_stem(path), path, format_name)]


def _stem(file: Path) -> str:
    return file.with_suffix("").stem if file.suffix in _COMPRESSED else file.stem
