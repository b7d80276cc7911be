"""What the user permits a measurement to do. Separate from `place`, so that commands can take it as options without
loading what checks a drive."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Permission:
    """The permissions that the user gave."""

    serial: str | None = None
    """The value of `--destroy-data-on`."""
    discard_signatures: bool = False
    max_write_bytes: int | None = None
    keep: bool = False
    """Whether the files created are kept."""
