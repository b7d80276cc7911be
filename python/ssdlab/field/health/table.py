"""Drives as a table that fits the terminal, followed by their concerns."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ssdlab.field.health.concerns import YEARS_SAID_MAX, is_wide, used_share
from ssdlab.field.health.drive import Row
from ssdlab.field.health.models import EXPLAINED, HEADS, URGENT
from ssdlab.foundation.quantities import format_bytes, format_share, rounded
from ssdlab.presentation.terminal import show
from ssdlab.theory import endurance_class

_MISSING = "-"
_YEARS_SHOWN_MIN = 0.1
_DRIVES_FOR_PERCENT = 100
_SAID_IN_FULL_OF = 5
"""For more drives than this, a line for a ticket is printed of those that need a person, and the gravest concern of
others."""
_STYLES = {"failing": "bold red", "attention": "yellow", "note": "", "unknown": "", "fine": "green"}


@dataclass(frozen=True)
class _Column:
    heading: str
    text: Callable[[Row], str]
    justify_left: bool = False


def name_of(row: Row) -> str:
    """The model, or the source's file name if the report has no model."""
    return str(row["model"] or row["source"].rsplit("/", 1)[-1])


def waf_text(row: Row) -> str:
    """The WAF as text, with a question mark if doubtful; `implausible` or `-` if there is no reliable figure."""
    if row["waf_is_implausible"]:
        return "implausible"
    if row["waf"] is None:
        return _MISSING
    text = f"{row['waf']:.2f}" if row["waf"] < 100 else f"{row['waf']:.0f}"
    return f"{text}?" if row["waf_doubt"] else text


def years_text(row: Row) -> str:
    """Years left as text: of a wide interval its bounds, above a limit only the limit."""
    years, low, high = row["years_left"], row["years_left_low"], row["years_left_high"]
    if years is not None and years > YEARS_SAID_MAX:
        return f">{math.floor(min(low or 0, YEARS_SAID_MAX))}"
    if years is None or high is None:
        return f">{math.floor(min(low, YEARS_SAID_MAX))}" if low is not None and low >= 1 else _MISSING
    if years < _YEARS_SHOWN_MIN:
        return f"<{_YEARS_SHOWN_MIN}"
    if not low:
        return f"<{rounded(high, 2)}"
    if is_wide(low, high):
        return f"{low:.0f}-{high:.0f}" if low >= 1 else f"{low:.1f}-{high:.1f}"
    return f"{years:.1f}"


def used_text(row: Row) -> str:
    """The used share as text, or its bounds."""
    if row["used_percent"] is None:
        return _MISSING
    return re.sub("(.*) or more", r">=\1", used_share(row)).replace(" to ", "-").replace("more than ", ">")


def pace_text(row: Row) -> str:
    """`7.3 GB a day over the last 7 days, 0.01 drive writes a day, which a rating of 0.3 drive writes a day allows.`

    The days of a single report are those that the drive had power.
    """
    pace = row["host_bytes_per_day"]
    if pace is None:
        return ""
    since = (
        f"over the last {rounded(row['pace_days'])} days" if row["pace_between_reports"] else "of its time with power"
    )
    text = f"{format_bytes(round(pace))} a day {since}"
    if row["pace_low"] is not None and row["pace_high"] is not None:
        text += f" ({format_bytes(round(row['pace_low']))} to {format_bytes(round(row['pace_high']))} between reports)"
    if row["drive_writes_per_day"] is None or row["drive_writes_too_few"] is not None:
        return f"{text}."
    return f"{text}, {endurance_class.sentence(row['drive_writes_per_day'], row['recent_waf'] or row['waf'])}"


def standing_text(row: Row) -> str:
    """`WAF 3.9: more than 91 % of 710 drives of this model.`, or, of few drives, `more than about 18 of 20`; with what
    makes the WAF doubtful. Empty without a comparison."""
    if row["waf"] is None or row["waf_compared_with"] is None:
        return ""
    share, count = row["waf_share_below"], row["waf_compared_with"]
    below = format_share(share, 2) if count >= _DRIVES_FOR_PERCENT else f"about {round(share * count)}"
    below = "all" if share >= 1 else below
    doubt = f" ({row['waf_doubt']})" if row["waf_doubt"] else ""
    return f"WAF {row['waf']:.1f}{doubt}: more than {below} of {count:,} {row['waf_compared_what']}."


def ticket_text(row: Row) -> str:
    """A sentence for a ticket, which can be read alone: the drive, its serial number and report, and what is wrong."""
    serial = f", serial {row['serial']}" if row["serial"] else ""
    return f"{name_of(row)}{serial}, {row['level']} by {row['source']}: {row['concerns']}"


def meanings_text(row: Row) -> str:
    """Where the meaning of the attributes is from, if they have none by themselves, and which have none."""
    text = row["attributes_doubt"]
    if not text or not (row["attributes_read_as"] or row["attributes_unknown"]):
        return ""
    if text.startswith("the "):
        text = text.capitalize()
    if row["attributes_read_as"]:
        text += f"; its attributes are read as those of {row['attributes_read_as']}"
    if row["attributes_unknown"]:
        text += f"; not known: {row['attributes_unknown']}"
    return f"{text}."


def _size(name: str) -> Callable[[Row], str]:
    return lambda row: format_bytes(round(row[name])) if row[name] is not None else _MISSING


def _left_text(row: Row) -> str:
    """The writes left; where they have no upper bound, the lower one, where they may be none, the upper one, and of a
    wide interval both."""
    if row["left_bytes"] is not None and row["left_bytes_high"] is None:
        return f">{format_bytes(round(row['left_bytes_low']))}"
    if row["left_bytes_low"] == 0 and row["left_bytes_high"]:
        return f"<{format_bytes(round(row['left_bytes_high']))}"
    if row["left_bytes"] is not None and is_wide(row["left_bytes_low"], row["left_bytes_high"]):
        low, high = (format_bytes(round(row[f"left_bytes_{end}"])) for end in ("low", "high"))
        return f"{low.removesuffix(high[-3:])}-{high}"
    return _size("left_bytes")(row)


def _percent(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row[name]} %" if row[name] is not None else _MISSING


COLUMNS = (
    _Column("drive", name_of, justify_left=True),
    _Column("serial", lambda row: row["serial"] or _MISSING, justify_left=True),
    _Column("size", _size("capacity_bytes")),
    _Column("written", _size("host_bytes")),
    _Column("NAND", _size("nand_bytes")),
    _Column("WAF", waf_text),
    _Column("used", used_text),
    _Column("years left", years_text),
    _Column("writes left", _left_text),
    _Column("spare", _percent("spare_percent")),
    _Column("DWPD class", lambda row: _MISSING if row["endurance_class"] is None else f"{row['endurance_class']:g}"),
    _Column("report", lambda row: str(row["source"]), justify_left=True),
    _Column("state", lambda row: row["level"], justify_left=True),
)
# Columns that a narrow terminal omits, in this order.
_LEFT_OUT_FIRST = ("report", "DWPD class", "writes left", "NAND", "spare", "serial", "written", "size")


def printed(rows: Sequence[Row], console: Console) -> None:
    """Prints the table, followed by the sentences on each drive that has any."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in COLUMNS:
        table.add_column(column.heading, justify="left" if column.justify_left else "right")
    for row in rows:
        # Text, not markup: strings from a drive must not be interpreted.
        cells = [Text(column.text(row)) for column in COLUMNS]
        cells[-1].stylize(_STYLES[row["level"]])
        table.add_row(*cells)
    show(table, console, _LEFT_OUT_FIRST)
    for row in rows:
        if len(rows) > _SAID_IN_FULL_OF and row["level"] in URGENT:
            # A line that can be pasted into a ticket.
            console.print(Text(ticket_text(row), style=_STYLES[row["level"]]))
            continue
        said = row["concerns"] if len(rows) <= _SAID_IN_FULL_OF else row["concern"]
        said = " ".join(sentence for sentence in (standing_text(row), said) if sentence and (said or len(rows) == 1))
        if len(rows) <= _SAID_IN_FULL_OF:
            remark = "" if row["remark"] and row["remark"] in row["concerns"] else row["remark"]
            said = " ".join(text for text in (said, pace_text(row), remark, meanings_text(row)) if text)
        if said:
            serial = f" {row['serial']}" if row["serial"] else ""
            console.print(Text.assemble((f"{name_of(row)}{serial}: ", _STYLES[row["level"]]), said))


def printed_by_model(cells: Sequence[Sequence[str]], console: Console) -> None:
    """Prints the rows of `models.by_model`, if there are any."""
    if not cells:
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for index, heading in enumerate(HEADS):
        table.add_column(heading, justify="right" if index else "left")
    for row in cells:
        table.add_row(*map(Text, row))
    show(table, console)
    console.print(EXPLAINED, highlight=False)
