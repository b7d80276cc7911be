"""The wear of eMMC and UFS devices: `mmc extcsd read`, `ufs-utils desc -t 9`, and the files of the kernel below /sys,
as `grep .`, `head` and `tail` print them with their names.

Registers of JEDEC JESD84-B51 (eMMC 5.1): a life time estimation is a step of 10 %, 01h for 0 to 10 % used, 0Bh for past
the maximum; PRE_EOL_INFO is the state of the reserved blocks. UFS (JESD220) has the same values in its health
descriptor; the names of ufs-utils were written without an original output at hand.
"""

import re
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_LIFE = re.compile(
    r"EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_([AB])\]?:?[ \t]*(0x[0-9a-f]+)"
    r"|(?:life_time_estimation_|bDeviceLifeTimeEst)([ab])[:= \t]+(0x[0-9a-f]+)",
    re.I,
)
_BOTH = re.compile(r"life_time[:= \t]+(0x[0-9a-f]+)[ \t]+(0x[0-9a-f]+)", re.I)
_END = re.compile(
    r"(?:EXT_CSD_PRE_EOL_INFO\]?:?|pre_eol_info[:=]?|(?<!pre_)\beol_info[:=]?|bPreEOLInfo[ \t]*=)"
    r"[ \t]*(0x[0-9a-f]+)",
    re.I,
)
# `head` and `tail` print the name of each file above its content.
_HEADED = re.compile(r"^==> (\S+)(?: <==)?[ \t]*\n", re.MULTILINE)
# `cat` of the kernel's files prints no names; the command line above has them.
_FILE = re.compile(r"/(life_time|pre_eol_info)\b")
_BARE_LIFE = re.compile(r"^[ \t]*(0x[0-9a-f]{1,2})[ \t]+(0x[0-9a-f]{1,2})[ \t]*$", re.MULTILINE | re.I)
_BARE_END = re.compile(r"^[ \t]*(0x0[0-3])[ \t]*$", re.MULTILINE | re.I)
_SECTORS = re.compile(r"SEC_COUNT: (0x[0-9a-f]+)", re.I)
_BEGIN = re.compile(r"^[ \t]*Extended CSD rev", re.MULTILINE)
_NAME = re.compile(r"/(mmcblk\d+|\d+:\d+:\d+:\d+)/")
_STEP_PERCENT = 10
_EXCEEDED = 0x0B
_SECTOR_BYTES = 512


def is_text(text: str) -> bool:
    """Whether a text has one of the registers."""
    text = _HEADED.sub(r"\1: ", text)
    return any(register.search(text) for register in (_LIFE, _BOTH, _END)) or _is_bare(text)


def _is_bare(text: str) -> bool:
    return bool(_FILE.search(text)) and bool(_BARE_LIFE.search(text))


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each device."""
    text = _HEADED.sub(r"\1: ", text)
    begins = [match.start() for match in _BEGIN.finditer(text)][1:]
    for start, end in zip([0, *begins], [*begins, len(text)], strict=True):
        yield _report(text[start:end])


def _report(text: str) -> JsonObject:
    life = {(match[1] or match[3]).upper(): int(match[2] or match[4], 16) for match in _LIFE.finditer(text)}
    is_bare = _is_bare(text)
    both = _BOTH.search(text) or (_BARE_LIFE.search(text) if is_bare else None)
    if both:
        life |= {"A": int(both[1], 16), "B": int(both[2], 16)}
    known = {name: step for name, step in life.items() if 0 < step <= _EXCEEDED}
    end = _END.search(text) or (_BARE_END.search(text) if is_bare else None)
    sectors, name = _SECTORS.search(text), _NAME.search(text)
    state = int(end[1], 16) if end else 0
    reported = {
        2: "Its pre-EOL state is a warning: 80 % of its reserved blocks are used.",
        3: "Its pre-EOL state is urgent: 90 % of its reserved blocks are used.",
    }.get(state)
    worst = max(known.values(), default=None)
    plain = Plain(
        used_percent=None if worst is None else (worst - 1) * _STEP_PERCENT,
        used_percent_max=None if worst is None or worst == _EXCEEDED else worst * _STEP_PERCENT,
        used_source=f"life time estimation {' and '.join(known)}" if known else None,
        reported=reported,
        is_urgent=state == 3,
        remark=f"Life time estimations: {'; '.join(_words(*entry) for entry in known.items())}." if known else None,
    )
    is_ufs = bool(re.search(r"life_time_estimation|bDeviceLifeTimeEst", text, re.I))
    size = int(sectors[1], 16) * _SECTOR_BYTES if sectors else None
    return plain.report(
        "UFS" if is_ufs else "MMC",
        model_name=name[1] if name else None,
        user_capacity={"bytes": size} if size else None,
        # 1 is normal; without a register nothing is said.
        smart_status={"passed": True} if state == 1 else None,
    )


def _words(name: str, step: int) -> str:
    if step == _EXCEEDED:
        return f"{name} past its maximum"
    return f"{name} {(step - 1) * _STEP_PERCENT} to {step * _STEP_PERCENT} % used"
