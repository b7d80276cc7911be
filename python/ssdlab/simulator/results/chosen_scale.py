"""What is said of a scale that `--scale auto` chose: the same in the terminal and on pages."""

from ssdlab.simulator.specification import ChosenScale


def sentence(scales: str, how: ChosenScale) -> str:
    """The scales, the work at them and that of whole drives, in one line."""
    return (
        f"scale {scales}, chosen: about {duration(how['seconds'])} of work; `--scale 1` is the whole drive, about "
        f"{duration(how['seconds_whole'])}"
    )


def duration(seconds: float) -> str:
    """A rough time: `0.2 s`, `20 s`, `11 min`, `7 h`."""
    if seconds < 90:
        return f"{seconds:.1g} s" if seconds < 1 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.0f} h"
