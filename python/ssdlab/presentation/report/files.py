"""Writes files so that readers never see incomplete ones."""

import secrets
from pathlib import Path

from ssdlab.errors import naming


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Writes to a temporary file in the folder of `path`, then renames it; an interruption keeps the old file."""
    # The name cannot be guessed, and the file must not exist: a link placed there by others is not followed.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(path), temporary.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
