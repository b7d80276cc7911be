"""Synthetic traces of known processes in MQSim's text format, for tests of scaled-down runs and advice."""

from pathlib import Path

import numpy as np

SECTORS_PER_UNIT = 8


def write(path: Path, units: np.ndarray, lengths: np.ndarray | int = 1, gap_ns: int = 50_000) -> Path:
    """Writes a trace of writes to these units of 4 KiB, with these lengths, at equal intervals."""
    count = len(units)
    columns = (np.arange(count) * gap_ns, np.zeros(count, int), units * SECTORS_PER_UNIT, np.zeros(count, int))
    table = np.column_stack([*columns[:3], np.broadcast_to(lengths, count) * SECTORS_PER_UNIT, columns[3]])
    with path.open("w") as file:
        np.savetxt(file, table, fmt="%d")
    return path


def made(kind: str, folder: Path, user_units: int, count: int) -> Path:
    """A trace of a kind: `zipf` 0.9; `journal`: a tenth of the writes to one page, else uniform; `files`: 1 MiB each,
    rewritten completely."""
    random = np.random.default_rng(7)
    path = folder / f"{kind}.trace"
    if kind == "zipf":
        weights = np.cumsum(1 / np.arange(1, user_units + 1) ** 0.9)
        ranks = np.searchsorted(weights / weights[-1], random.random(count))
        return write(path, random.permutation(user_units)[ranks])
    if kind == "journal":
        return write(path, np.where(random.random(count) < 0.1, 5, random.integers(0, user_units, count)))
    assert kind == "files"
    starts = random.integers(0, user_units // 256, count // 256) * 256
    return write(path, (starts[:, None] + np.arange(0, 256, 32)[None, :]).ravel(), 32)
