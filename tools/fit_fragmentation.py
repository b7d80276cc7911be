"""Fits the drives of the study `internal-fragmentation` to their published times. Writes values of the drives to the
catalogue, and what their reader gets of the link to `as_read.toml` of the study.
usage: fit_fragmentation.py [DRIVE ...]; all ten drives by default. Takes half a minute per drive."""

import sys
from collections.abc import Sequence
from pathlib import Path

import tomlkit

from ssdlab.experiments.advice.fit import Fit, fit
from ssdlab.experiments.studies.internal_fragmentation.drives import (
    AS_READ,
    CELLS,
    DRIVES,
    EXTENTS,
    FOLDER,
    OF_THE_READER,
    SEGMENT_BYTES,
    Fragmented,
)
from ssdlab.experiments.studies.internal_fragmentation.fitting import model
from ssdlab.simulator.drives import DriveFile, Source, load
from ssdlab.simulator.drives import settings as drive_settings
from ssdlab.simulator.drives.writer import to_toml

CATALOGUE = Path(__file__).parent.parent / "python/ssdlab/simulator/drives/catalogue"
SOURCE = '"Another look at the question: do I need defragmentation for SSD", 2020'


def main(names: Sequence[str]) -> None:
    """Fits each drive, reports the result, and rewrites its file."""
    for each in DRIVES:
        if names and each.drive not in names:
            continue
        begun = prepared(each)
        points = [each.seconds[CELLS.index(cell)] for cell in each.cells]
        found = fit(model(begun, each, each.cells), each.free, points)
        (CATALOGUE / f"{each.drive}.toml").write_text(to_toml(fitted(begun, each, found, points)), encoding="utf-8")
        keep_of_reader(each, found)
        values = ", ".join(f"{key.name} {value:.4g}" for key, value in zip(each.free, found.values, strict=True))
        deviations = " ".join(f"{deviation:+.1%}" for deviation in found.deviations)
        sys.stdout.write(f"{each.drive}: {values}; {deviations}; confounded {list(found.confounded)}\n")


def prepared(each: Fragmented) -> DriveFile:
    """The drive with the study's read path settings, before fitting."""
    window = str(each.window_bytes)
    settings: dict[str, str] = {"read_ahead.window_bytes": window, "read_ahead.segment_bytes": str(SEGMENT_BYTES)}
    settings |= {key: f'"{value}"' if isinstance(value, str) else str(value) for key, value in _extents(each).items()}
    changed = drive_settings.apply(load(each.drive), settings)
    chosen = "read_ahead.window_bytes" in each.choices
    said = f"one of 512, 768 and 1024 KiB, whichever came nearest to the times in {SOURCE}"
    usual = "a read buffer of some hundred KiB a stream; makers do not publish theirs"
    sources = {
        "read_ahead.window_bytes": Source(kind="fitted" if chosen else "assumed", source=said if chosen else usual),
        "read_ahead.segment_bytes": Source(kind="assumed", source="a quarter of the usual largest command of 1 MiB"),
    }
    if each.has_extents:
        said = f"the form of the map, chosen because a reading of it slows down by steps a segment: {SOURCE}"
        sources |= {
            "map_cache.form": Source(kind="fitted", source=said),
            "map_cache.bytes": Source(
                kind="assumed", source="a quarter of the map pages of a 4 GiB file all of whose segments are broken"
            ),
            "map_cache.entries_per_map_page": Source(kind="assumed", source="segments of 256 KiB"),
        }
    return changed.with_sources(sources)


def fitted(begun: DriveFile, each: Fragmented, found: Fit, points: Sequence[float]) -> DriveFile:
    """The drive with the fitted values to four digits, each with the points it was fitted to."""
    values = {key: value for key, value in named(each, found).items() if not key.startswith(OF_THE_READER)}
    result = drive_settings.apply(begun, values)
    cells = ", ".join(f"{cell} {point:g} s" for cell, point in zip(each.cells, points, strict=True))
    said = f"least squares, {len(each.free)} free, {len(points)} points of {SOURCE}: {cells}"
    return result.with_sources({key: Source(kind="fitted", source=said) for key in values})


def named(each: Fragmented, found: Fit) -> dict[str, str]:
    """The fitted values to four digits, by key."""
    return {key.name: f"{value:.4g}" for key, value in zip(each.free, found.values, strict=True)}


def keep_of_reader(each: Fragmented, found: Fit) -> None:
    """Writes what the reader gets of the link to the study's file."""
    path = FOLDER / AS_READ
    document = tomlkit.parse(path.read_text(encoding="utf-8"))
    for key, value in named(each, found).items():
        if key.startswith(OF_THE_READER):
            document[each.drive][key] = float(value)
    path.write_text(tomlkit.dumps(document), encoding="utf-8")


def _extents(each: Fragmented) -> dict[str, object]:
    return dict(EXTENTS) if each.has_extents else {}


if __name__ == "__main__":
    main(sys.argv[1:])
