"""The elements of pages: tables, lists, commands. All input texts are plain; the functions return HTML."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ssdlab.presentation.report.template import render

_PACKAGE = "ssdlab.presentation.report"


def table(
    label: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str] | str],
    *,
    sentence: int | Sequence[int] = 0,
    wraps: bool = False,
    titles: Sequence[str] = (),
    caption: str = "",
) -> Markup:
    """A table that scrolls sideways on narrow screens.

    A row is a list of cells, or a text, which becomes a heading for the rows below it. `label` names the table for
    screen readers. Cell number `sentence` of each row, or each of these, wraps, and with `wraps` also the first;
    `titles` are the rows' tool tips.
    """
    return render(
        _PACKAGE,
        "table.html",
        label=label,
        heads=heads,
        rows=rows,
        sentences=[each for each in ([sentence] if isinstance(sentence, int) else sentence) if each],
        wraps=wraps,
        titles=titles,
        caption=caption,
    )


def paragraphs(*texts: str) -> Markup:
    """A paragraph for each text."""
    return render(_PACKAGE, "paragraphs.html", texts=texts)


def bullets(items: Sequence[str | tuple[str, str]]) -> Markup:
    """A list; an item with a detail shows it in smaller type below."""
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


def within(address: str, text: str) -> Markup:
    """A link for a cell of a table."""
    return render(_PACKAGE, "within.html", address=address, text=text)


def folds(texts: Mapping[str, str], together: str = "") -> Markup:
    """Long texts that open on demand, by their titles; all of them are in one fold if `together` is its title."""
    return render(_PACKAGE, "folds.html", texts=list(texts.items()), together=together)
