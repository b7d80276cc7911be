"""The parts of which pages consist: tables, lists, commands. All texts are plain; what is returned is HTML."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ssdlab.report.template import render

_PACKAGE = "ssdlab.report"


def table(
    label: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str] | str],
    *,
    sentence: int = 0,
    wraps: bool = False,
    titles: Sequence[str] = (),
    caption: str = "",
) -> Markup:
    """A table that scrolls sideways where the screen is narrow.

    A row is a list of cells, or one text: a heading for the rows below it. `label` names the table for screen readers.
    Cell number `sentence` of each row wraps, as does the first with `wraps`; `titles` are the rows' tool tips.
    """
    return render(
        _PACKAGE,
        "table.html",
        label=label,
        heads=heads,
        rows=rows,
        sentence=sentence,
        wraps=wraps,
        titles=titles,
        caption=caption,
    )


def paragraphs(*texts: str) -> Markup:
    """A paragraph for each text."""
    return render(_PACKAGE, "paragraphs.html", texts=texts)


def bullets(items: Sequence[str | tuple[str, str]]) -> Markup:
    """A list; an item may have a detail, which stands smaller below it."""
    pairs = [(item, "") if isinstance(item, str) else item for item in items]
    return render(_PACKAGE, "bullets.html", items=pairs)


def definitions(entries: Sequence[tuple[str, str]]) -> Markup:
    """Terms with their descriptions."""
    return render(_PACKAGE, "definitions.html", entries=entries)


def command(line: str) -> Markup:
    """A command to copy."""
    return render(_PACKAGE, "command.html", line=line)


def link(address: str, text: str) -> Markup:
    """A paragraph with a link."""
    return render(_PACKAGE, "link.html", address=address, text=text)


def folds(texts: Mapping[str, str], together: str = "") -> Markup:
    """Long texts that open on demand, by what they are; all of them in one fold if `together` names it."""
    return render(_PACKAGE, "folds.html", texts=list(texts.items()), together=together)
