"""Which volumes share a drive.

`each`: every volume has its own. `first-fit`: in the order in which they come, each goes to the first drive that still
has room for all of its address space, behind what is there already; a new drive is begun where none has.
"""

from collections.abc import Sequence
from typing import Literal

from ssdlab.fleet.volumes import Volume

Pack = Literal["each", "first-fit"]
PACKS: tuple[Pack, ...] = ("each", "first-fit")
# Places begin at whole megabytes, as partitions do.
_ALIGNED_BYTES = 1 << 20


def room_bytes(volume: Volume) -> int:
    """What a volume takes of a shared drive."""
    return -(-volume.end_bytes // _ALIGNED_BYTES) * _ALIGNED_BYTES


def packed(volumes: Sequence[Volume], pack: Pack, user_bytes: int) -> list[list[tuple[Volume, int]]]:
    """The drives: for each its volumes and where they begin on it. A volume too large for any stands alone."""
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
