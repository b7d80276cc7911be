"""Objects of file formats that others define: JSON of fio, smartctl and nvme-cli, TOML before it is checked.

Not for what ssdlab or its engine makes: such objects have types that say their keys.
"""

from typing import Any

JsonObject = dict[str, Any]
"""A JSON object, or a TOML table, as it was read: any key may be missing, and any value be of another type."""
