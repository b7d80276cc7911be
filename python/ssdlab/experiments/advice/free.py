"""`--free`: the keys that a fit can change, in one drive or in several that share them.

`nand.read_us=20..200` is a number between bounds, `ftl.victim=greedy,fifo` a choice. All drives share it, but
`NAME:nand.read_us=20..200` is only for the drive NAME.
"""

from collections.abc import Mapping, Sequence

from ssdlab.errors import InputError, near
from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.advice.fit import Parameter
from ssdlab.experiments.advice.fit_choices import Choice, Chosen
from ssdlab.simulator.drives import DriveFile
from ssdlab.simulator.drives import settings as drive_settings
from ssdlab.simulator.drives.older_names import current_key
from ssdlab.simulator.drives.schema import keys


def parse(texts: Sequence[str], drives: Mapping[str, DriveFile]) -> tuple[list[Parameter], list[Choice]]:
    """The free numbers and choices. Raises InputError, which names the text and the problem."""
    parameters: list[Parameter] = []
    choices: list[Choice] = []
    for text in texts:
        name, free = _of_drive(text, drives)
        of_it = {name: drives[name]} if name else drives
        key, equals, values = free.partition("=")
        prefix = f"{name}:" if name else ""
        if equals and ".." not in values and "," in values:
            choices.append(_choice(text, prefix, key, values, of_it))
            continue
        found = [fit_drive.parameter(free, drive) for drive in of_it.values()]
        parameters.append(Parameter(prefix + found[0].name, found[0].low, found[0].high, found[0].start))
    names = [*(each.name for each in parameters), *(each.name for each in choices)]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--free: {name} is given twice")
        own = name.partition(":")[2]
        if own and own in names:
            raise InputError(f"--free: {own} is given for all drives and for {name.partition(':')[0]} alone")
    return parameters, choices


def at(
    drives: Mapping[str, DriveFile], names: Sequence[str], values: Sequence[float], chosen: Chosen
) -> dict[str, DriveFile]:
    """The drives with these choices and numbers. Raises InputError if a drive is not possible."""
    result = {}
    for drive_name, drive in drives.items():
        settings = {key: text for name, text in chosen.items() if (key := _key(name, drive_name))}
        own = [(key, value) for name, value in zip(names, values, strict=True) if (key := _key(name, drive_name))]
        varied = drive_settings.apply(drive, settings) if settings else drive
        result[drive_name] = fit_drive.changed(varied, [key for key, _ in own], [value for _, value in own])
    return result


def keys_of(names: Sequence[str], drive_name: str) -> list[str]:
    """The keys of the drive file for those of the names that apply to this drive."""
    return [key for name in names if (key := _key(name, drive_name))]


def _key(name: str, drive_name: str) -> str:
    """The key of the drive file; "" if the name applies to another drive."""
    of, colon, key = name.partition(":")
    if not colon:
        return name
    return key if of == drive_name else ""


def _of_drive(text: str, drives: Mapping[str, DriveFile]) -> tuple[str, str]:
    name, colon, _ = text.partition("=")[0].rpartition(":")
    if not colon:
        return "", text
    if name not in drives:
        raise InputError(f"--free {text}: no drive {name!r}{near(name, drives)} (drives: {', '.join(drives)})")
    return name, text[len(name) + len(colon) :]


def _choice(text: str, prefix: str, key: str, values: str, drives: Mapping[str, DriveFile]) -> Choice:
    possible = tuple(part.strip() for part in values.split(","))
    if not all(possible) or len(set(possible)) < len(possible):
        raise InputError(f"--free {text}: each possible value should be there once, with commas between them")
    key = current_key(key, f"--free {text}")
    known = [each for each in keys() if "." in each]
    # A parameter of a policy (ftl.victim.d) has one more dot than a key of the drive file.
    if key not in known and key.rpartition(".")[0] not in known:
        raise InputError(f"--free {text}: unknown key {key!r}{near(key, known)}")
    failures = []
    for value in possible:
        try:
            for drive in drives.values():
                drive_settings.apply(drive, {key: value})
        except InputError as error:
            failures.append(error)
    # A value can depend on another choice, so the fit checks it; if all values fail, it is an error.
    if len(failures) == len(possible):
        raise InputError(f"--free {text}: {failures[0]}")
    return Choice(prefix + key, possible)
