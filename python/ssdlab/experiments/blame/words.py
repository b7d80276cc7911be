"""The answer as text for a terminal of any width, and its sentences, which the page has too."""

from collections.abc import Mapping, Sequence

from ssdlab.evidence import Estimate
from ssdlab.experiments.blame.blaming import Blamed, Effect, Figure
from ssdlab.foundation.quantities import format_bytes, format_share, rounded
from ssdlab.presentation.terminal import wrapped
from ssdlab.theory import endurance_class

LEVELS = {"program": "program", "file system": "file system", "drive": "FTL to flash"}
"""The names of the levels; the last is what the drive's translation layer programs into its flash."""
PARTS = {
    "asked": "asked",
    "file": "files",
    "journal": "journal",
    "metadata": "metadata",
    "requests": "requests",
    "host": "host data",
    "padding": "padding of flushed pages",
    "map_journal": "journal of the map",
    "gc": "garbage collection",
    "other": "SLC folding, parity and maps",
}
MEANINGS = {
    "asked": "bytes of the program's writes to files",
    "file": "pages of files, written when they are synced or old",
    "journal": "what the file system writes first, so that a crash leaves it whole",
    "metadata": "inodes and lists of blocks, written to their places later",
    "requests": "the recorded writes to the drive",
    "host": "the data that the drive is sent",
    "padding": "the rest of a flash page that a flush completes, because a page is not programmed in parts",
    "map_journal": "where the data lies: a drive that loses its memory with the power saves it at each flush",
    "gc": "valid data that is moved before a block is erased",
    "other": "data moved out of the SLC cache, parity, and pages of the map",
}
"""What the parts of a level are, by their names in `PARTS`."""
_NAMES = {
    "asked_bytes": "asked, all calls",
    "asked_file_bytes": "asked, to files",
    "dirtied_bytes": "pages that became dirty",
    "disk_bytes": "disk, all programs",
    "smart_host_bytes": "SMART, host",
    "smart_nand_bytes": "SMART, flash",
    "device_bytes": "to the drive",
    "flash_bytes": "to the flash",
    "write_amplification": "flash bytes a byte to the drive",
    "drive_writes_per_day": "drive writes a day",
    "tb_per_year": "TB a year",
    "years": "years to the rated TBW",
    "years_by_cycles": "years by the flash's cycles",
}
_BAR_MIN = 4


def headline(blamed: Blamed) -> str:
    """The answer in a sentence."""
    device, flash = blamed.figures.get("device_bytes"), blamed.figures.get("flash_bytes")
    asked = blamed.figures.get("asked_file_bytes") or blamed.figures.get("asked_bytes")
    if device is None or device.value is None or flash is None or flash.value is None:
        return f"{blamed.program} wrote nothing that was seen"
    said = f"{size(device.value)} to the drive became {size(flash.value)} of flash"
    if asked is not None and asked.value:
        said = f"{size(asked.value)} asked became {size(device.value)} to the drive and {size(flash.value)} of flash"
    return said


def sentences(blamed: Blamed) -> list[str]:
    """Rate, life, causes and what helps, one sentence each."""
    found = [*_of_life(blamed.figures)]
    found += [
        (f"{each.name}: without them {saved(each)}" if each.is_claimed else f"{each.name}: {_unclear(each)}")
        + _guess(each)
        for each in blamed.causes
    ]
    found += [f"{each.name}: unknown; {each.why}" for each in blamed.unknown_causes]
    best = blamed.helps_most
    if best is not None:
        found.append(f"helps most: {best.name}, {saved(best)} ({best.what}){_guess(best)}")
    elif blamed.changes:
        found.append("helps most: of the changes tried none has runs that are apart from the recorded one")
    return found


def _guess(effect: Effect) -> str:
    return "" if effect.basis == "simulated" else f" ({effect.basis})"


def saved(effect: Effect) -> str:
    """`85 % fewer flash bytes`."""
    share = format_share(round(abs(effect.share), 3))
    return f"{share} {'fewer' if effect.share >= 0 else 'more'} flash bytes"


def _unclear(effect: Effect) -> str:
    return "no difference" if effect.share == 0 else "no difference that the runs show"


def _of_life(figures: Mapping[str, Figure]) -> list[str]:
    rate, yearly = figures.get("drive_writes_per_day"), figures.get("tb_per_year")
    if rate is None or rate.value is None or yearly is None or yearly.value is None:
        return []
    found = [f"{rounded(yearly.value)} TB a year at this rate ({rate.basis}); {endurance_class.sentence(rate.value)}"]
    years, by_cycles = figures.get("years"), figures.get("years_by_cycles")
    if years is not None and years.value is not None:
        found.append(f"{rounded(years.value)} years {years.note}")
    if by_cycles is not None and by_cycles.value is not None:
        found.append(f"{rounded(by_cycles.value)} years by {by_cycles.note}")
    return found


def rows(blamed: Blamed) -> list[tuple[str, str, str, str]]:
    """All figures: name, value, what it rests on, and a note."""
    return [(_NAMES[name], _value(each), each.basis, each.note) for name, each in blamed.figures.items()]


def _value(figure: Figure) -> str:
    if figure.value is None:
        return "unknown"
    return size(figure.value) if figure.unit == "bytes" else rounded(figure.value)


def size(value: float) -> str:
    return format_bytes(round(value))


def text(blamed: Blamed, columns: int) -> str:
    """The whole answer in lines of at most `columns` characters."""
    lines = _wrapped(f"{blamed.program}, {blamed.seconds:,.1f} s" + (", interrupted" * blamed.interrupted), columns)
    for name, io in blamed.programs:
        said = f"{name}: {size(io.asked_bytes)} asked, {size(io.written_bytes)} of pages became dirty"
        lines += _wrapped(said, columns, "  ")
    lines += ["", *_picture(blamed, columns), ""]
    scale = f" at {blamed.scale}" if blamed.scale else ""
    lines += _wrapped(f"on {blamed.drive}{scale}: {headline(blamed)}", columns)
    for sentence in sentences(blamed):
        lines += _wrapped(sentence, columns, "- ")
    others = [each for each in blamed.changes if each is not blamed.helps_most]
    if others:
        lines += ["", "other changes, each by a run"]
        for each in others:
            lines += _wrapped(f"{each.name}: {saved(each) if each.is_claimed else _unclear(each)}", columns, "- ")
    lines += ["", "what the figures rest on"]
    for name, value, basis, note in rows(blamed):
        said = f"{name}: {value} ({basis})" if value != "unknown" else f"{name}: unknown"
        lines += _wrapped(f"{said}; {note}" if note else said, columns, "- ")
    if blamed.guesses:
        lines += ["", "guessed"]
        for guess in blamed.guesses:
            lines += _wrapped(guess, columns, "- ")
    return "\n".join(lines)


def _picture(blamed: Blamed, columns: int) -> list[str]:
    """A bar for each level, and below it what it consists of."""
    totals = {name: sum(parts.values()) for name, parts in blamed.levels.items()}
    if not totals or not max(totals.values()):
        return ["nothing was written"]
    widest = max(totals.values())
    labels = max(len(LEVELS[name]) for name in totals)
    amounts = max(len(size(total)) for total in totals.values())
    room = max(_BAR_MIN, columns - labels - amounts - 4)
    lines = []
    for name, total in totals.items():
        bar = "#" * max(1, round(room * total / widest))
        lines.append(f"{LEVELS[name]:<{labels}}  {size(total):>{amounts}}  {bar}")
        parts = [f"{PARTS[part]} {size(value)}" for part, value in blamed.levels[name].items() if value >= 0.5]
        if len(parts) > 1:
            lines += _wrapped(", ".join(parts), columns, " " * (labels + 2))
    return lines


def _wrapped(said: str, columns: int, first: str = "") -> list[str]:
    return wrapped(first + said, columns).split("\n")


EFFECT_HEADS = ("what", "flash, MB", "95 % interval, MB", "effect", "what was run")


def effect_rows(effects: Sequence[Effect]) -> list[tuple[str, str, str, str, str]]:
    """Causes or changes, as cells under `EFFECT_HEADS`."""
    return [
        (
            each.name,
            rounded(each.flash.value / 1e6),
            _interval(each.flash),
            saved(each) if each.is_claimed else _unclear(each),
            each.what,
        )
        for each in effects
    ]


def _interval(flash: Estimate) -> str:
    """The interval in MB; runs that are alike to the digit have none."""
    low, high = (rounded(each / 1e6, 4) for each in (flash.low, flash.high))
    return f"alike in {flash.n} runs" if low == high else f"{low} to {high}"
