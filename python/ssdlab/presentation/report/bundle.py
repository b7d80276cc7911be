"""The script that draws the pictures of a page: Vega, Vega-Lite and Vega-Embed.

The library that contains the script needs a second to write it out, so it is kept in the user's cache folder. A cache
that cannot be read, written or trusted is not used, without a word: the script is then made again.
"""

import hashlib
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path

from ssdlab.presentation.report import drawing
from ssdlab.presentation.report.files import write_atomically

# The bundled script makes this function available to the page.
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def vega_bundle() -> str:
    """The script; it sets `vegaEmbed` on the window. Raises RunFailed if making it would abort."""
    kept = _kept()
    script = _read(kept) if kept else None
    if script is None:
        script = _made()
        if kept:
            _write(kept, script)
    return script


def _made() -> str:
    # Not at the top: with a kept script and without picture files, the library is not loaded.
    import vl_convert

    drawing.check()
    return str(vl_convert.javascript_bundle(_SNIPPET)).replace("</script", "<\\/script")


def _kept() -> Path | None:
    """The file of the script in the cache; None without a home folder. Another version has another name."""
    try:
        # The XDG base directory specification ignores relative paths.
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))
        folder = named if named.is_absolute() else Path.home() / ".cache"
        return folder / "ssdlab" / f"vega-{version('vl-convert-python')}.js"
    except (RuntimeError, ValueError):
        return None


def _read(path: Path) -> str | None:
    """The script, unless the file is absent, not readable or damaged. Its first line has the hash of the rest."""
    try:
        digest, _, script = path.read_bytes().partition(b"\n")
        return script.decode() if digest.decode() == _digest(script) else None
    except (OSError, ValueError):
        return None


def _write(path: Path, script: str) -> None:
    content = script.encode()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, f"{_digest(content)}\n".encode() + content)
    except Exception:
        # Also the errors for the user that `write_atomically` raises, such as a full disk: no report needs the cache.
        return


def _digest(script: bytes) -> str:
    return hashlib.sha256(_SNIPPET.encode() + script).hexdigest()
