"""Objects whose keys others define: JSON of fio, smartctl and nvme-cli, TOML before it is checked, rows of polars.

Not for JSON that ssdlab or its engine makes: such objects have types that name their keys.
"""

from typing import Any

JsonObject = dict[str, Any]
"""A JSON object, or a TOML table, as it was read: any key may be missing, and any value be of another type."""

TableRow = dict[str, Any]
"""A row of a polars frame, by column: the schema of the frame has the types."""
