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

from ssdlab.presentation.terminal import raw, visible


class Console(Rich):
    """Neither markup, emoji codes nor highlighting: names can contain brackets and colons."""

    def __init__(self, *, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        super().__init__(file=raw(stream), highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
