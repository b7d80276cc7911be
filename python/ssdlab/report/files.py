"""Writing files so that a reader never meets a half-written one."""

import os
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Writes beside `path` under a temporary name, then renames; an interrupted write leaves the old file as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
