"""The maker of a drive, from its model: from the name at its start, or from a maker's numbering scheme."""

import re
from functools import cache

_SCHEMES = (
    ("Samsung", r"SAMSUNG|MZ[-7A-Z]|PM[89]\d|SM[89]\d"),
    ("Intel, Solidigm", r"INTEL|SOLIDIGM|SSDSC|SSDPE|SSDPF|SB5PH|MEMPE"),
    ("Micron, Crucial", r"MICRON|CRUCIAL|MTFD|CT\d+|M[56]\d0"),
    ("SanDisk, WD", r"SANDISK|WDC|WD[ _]|WDS|SD[A-Z0-9]{5,}|SDL|HGST|HUS|WUS"),
    ("Kingston", r"KINGSTON"),
    ("Toshiba, Kioxia", r"TOSHIBA|KIOXIA|THNS|K[XBHCP][GMKD]\d"),
    ("SK hynix", r"SK ?HYNIX|SKHYNIX|HFS|SHGS|PC\d{3}"),
    ("Seagate", r"SEAGATE|XA\d|XF\d|XP\d|ST\d|ZA\d"),
)
_PATTERNS = tuple((maker, re.compile(pattern, re.IGNORECASE)) for maker, pattern in _SCHEMES)


@cache
def maker_of(model: str) -> str:
    """The maker, or the model's first word if no scheme matches."""
    for maker, pattern in _PATTERNS:
        if pattern.match(model):
            return maker
    words = model.split()
    return words[0].capitalize() if words else "unknown"
