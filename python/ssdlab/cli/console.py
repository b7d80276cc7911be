"""The terminal as rich prints to it: text is printed as it is, and its control characters are written out.

All commands print tables and progress through this console and none of rich's own: its escape sequences pass the guard
of stdout and stderr (`ssdlab.presentation.terminal`), those in a text do not.
"""

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console as Rich
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ssdlab.foundation.quantities import unbroken
from ssdlab.presentation.terminal import raw, visible

# rich ends lines at every white space, also at a no-break space. This blank is none, and as wide.
_JOINT = "\u2800"


class Console(Rich):
    """Neither markup, emoji codes nor highlighting: names can contain brackets and colons. No line ends
    within a figure."""

    def __init__(self, *, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        super().__init__(file=raw(stream), highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(unbroken(visible(text), _JOINT), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = unbroken(renderable.plain, _JOINT)
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_shown(segment.text), segment.style)


def _shown(text: str) -> str:
    return visible(text).replace(_JOINT, " ")
