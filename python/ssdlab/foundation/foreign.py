"""Types of objects whose keys others define: JSON of fio, smartctl and nvme-cli, unchecked TOML, rows of polars.

Not for JSON that ssdlab or its engine writes: those objects have types that name their keys.
"""

from typing import Any

JsonObject = dict[str, Any]
"""A JSON object or TOML table as read: any key can be missing, and any value can have another type than expected."""

TableRow = dict[str, Any]
"""A row of a polars frame, by column name. The schema of the frame defines the types."""
