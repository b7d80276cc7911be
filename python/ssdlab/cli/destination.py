"""`--output` and `--output-format` of the commands that print a result or write its files."""

from collections.abc import Sequence
from pathlib import Path


def destination(output: str | None) -> tuple[Path | None, Path | None]:
    """`--output` as (folder, file): a folder if it is one, or ends with a slash, or has no suffix."""
    if output is None:
        return None, None
    path = Path(output)
    is_directory = path.is_dir() or output.endswith("/") or (not path.suffix and not path.exists())
    return (path, None) if is_directory else (None, path)


def format_of(output_format: str | None, file: Path | None, allowed: Sequence[str]) -> str:
    """The format that is asked for, or that the file's name says. Raises InputError when there is no such."""
    from ssdlab.errors import InputError, near

    if output_format is None:
        return "json" if file and file.suffix == ".json" else "normal"
    if output_format not in allowed:
        raise InputError(
            f"--output-format is {output_format!r}{near(output_format, allowed)}; allowed: {', '.join(allowed)}"
        )
    return output_format
