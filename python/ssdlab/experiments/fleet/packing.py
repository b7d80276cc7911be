"""Assigns volumes to drives.

`each`: every volume has its own drive. `first-fit`: in the given order, each volume goes to the first drive that has
room for its whole address space, after the volumes already there; otherwise to a new drive.
"""

from collections.abc import Sequence
from typing import Literal

from ssdlab.experiments.fleet.volumes import Volume

Pack = Literal["each", "first-fit"]
PACKS: tuple[Pack, ...] = ("each", "first-fit")
# Volumes start at whole MiB, as partitions do.
_ALIGNED_BYTES = 1 << 20


def room_bytes(volume: Volume) -> int:
    """The space that a volume occupies on a shared drive."""
    return -(-volume.end_bytes // _ALIGNED_BYTES) * _ALIGNED_BYTES


def packed(volumes: Sequence[Volume], pack: Pack, user_bytes: int) -> list[list[tuple[Volume, int]]]:
    """The drives, each as a list of its volumes and their start offsets in bytes. A volume larger than any drive is
    alone."""
    if pack == "each":
        return [[(volume, 0)] for volume in volumes]
    drives: list[list[tuple[Volume, int]]] = []
    used: list[int] = []
    for volume in volumes:
        room = room_bytes(volume)
        at = next((index for index, taken in enumerate(used) if taken + room <= user_bytes), None)
        if at is None:
            drives.append([(volume, 0)])
            used.append(room)
        else:
            drives[at].append((volume, used[at]))
            used[at] += room
    return drives
