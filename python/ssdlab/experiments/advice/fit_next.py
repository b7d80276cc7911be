"""Suggests keys to free when a fit stops at a bound: fixed keys that would explain most of the remaining deviations.

Each fixed number of the drive file is increased by a tenth and simulated. Only the part of its effect that no free
parameter has is considered; a key explains the remaining deviations as far as they are in that direction. This is a
first-order estimate: only a fit with the key free shows its actual effect.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.advice.fit import Fit
from ssdlab.simulator.drives import DriveFile

# Numbers that makers do not publish, or publish only for the best case.
CANDIDATES = (
    "nand.read_us",
    "nand.program_us",
    "nand.erase_us",
    "nand.channel_mb_s",
    "nand.copy_read_us",
    "nand.program_suspend_us",
    "nand.background_us",
    "controller.command_us",
    "controller.program_us",
    "host_link.mb_s",
    "host_link.command_us",
    "write_buffer.bytes",
    "map_cache.bytes",
    "map_cache.miss_us",
    "ftl.reserved_bytes",
)
_STEP = 1.1
_EFFECT_MIN = 1e-3
_SHARE_MIN = 0.2
_FACTOR_MAX = 10.0


@dataclass(frozen=True)
class Suggestion:
    """A fixed key, the share of the squared deviations it would explain, and the factor by which it would change."""

    key: str
    share: float
    factor: float


def suggestions(
    drives: Mapping[str, DriveFile],
    free: Sequence[str],
    found: Fit,
    simulate: Callable[[Mapping[str, DriveFile]], Sequence[float]],
) -> list[Suggestion]:
    """Suggestions, the best first; empty if nothing remains to explain.

    `drives` have the fitted values; `free` are the names of the fitted numbers, in the order of the columns of
    `found.sensitivities`.
    """
    import numpy as np

    left = np.asarray(found.residuals)
    if not left.any():
        return []
    moving = [index for index, name in enumerate(free) if name not in found.at_bound]
    columns = np.asarray(found.sensitivities, dtype=np.float64).reshape(len(left), -1)[:, moving]
    hidden = columns @ np.linalg.pinv(columns) if moving else np.zeros((len(left), len(left)))
    keys = {name.rpartition(":")[2] for name in free}
    result = []
    for key in CANDIDATES:
        if key in keys or not all(_is_number(drive, key) for drive in drives.values()):
            continue
        try:
            moved = {
                name: fit_drive.changed(drive, [key], [_value(drive, key) * _STEP]) for name, drive in drives.items()
            }
            figures = simulate(moved)
        except (InputError, RunFailed):
            continue
        effect = np.log(np.asarray(figures) / np.asarray(found.simulated)) / math.log(_STEP)
        own = effect - hidden @ effect
        strength = float(own @ own)
        if strength < _EFFECT_MIN**2 * len(left):
            continue
        along = float(left @ own)
        share = along * along / strength / float(left @ left)
        if share >= _SHARE_MIN:
            limit = math.log(_FACTOR_MAX)
            result.append(Suggestion(key, share, math.exp(min(max(-along / strength, -limit), limit))))
    return sorted(result, key=lambda each: -each.share)


def _value(drive: DriveFile, key: str) -> float:
    table, _, name = key.partition(".")
    value: float = getattr(getattr(drive, table), name)
    return value


def _is_number(drive: DriveFile, key: str) -> bool:
    value = _value(drive, key)
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
