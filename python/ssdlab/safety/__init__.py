"""Nobody's data is hurt: what a path is, who uses it, and the claim without which nothing is written to a device.

`place` says what a path is, `identity` by which name a drive may be destroyed, `uses` who uses it, `signatures` what
lies on it, `health` whether it may go on; `claim` puts them together and holds the device. Nothing here writes.
"""

from ssdlab.safety.claim import Claim, claim
from ssdlab.safety.place import Kind, Place, locate

__all__ = ["Claim", "Kind", "Place", "claim", "locate"]
