"""Protects user data: identifies a path, finds its users, and grants the claim required to write to a device.

`place` identifies a path, `identity` the names that authorize destroying a drive, `uses` the users of a disk,
`signatures` the file systems on it, `generic` the second device of an NVMe namespace, `health` a drive's condition.
`claim` combines these checks and holds the device. No code here writes to a device.
"""

from ssdlab.hardware.safety.claim import Claim, claim
from ssdlab.hardware.safety.place import Kind, Place, locate

__all__ = ["Claim", "Kind", "Place", "claim", "locate"]
