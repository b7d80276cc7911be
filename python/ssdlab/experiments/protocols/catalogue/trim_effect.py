"""TRIM effect: half of the files of a full file system are deleted; the rest is rewritten, with and without fstrim."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.presentation.report import wording

FILES = 8
_NOT_TRIMMED, _TRIMMED = "deleted, not trimmed", "deleted and trimmed"
# Ratios within this share of 1 are reported as equal, because repeated runs of a drive differ by as much.
_EQUAL_WITHIN = 0.02


def points(setting: Setting) -> Sequence[Point]:
    # Together 88 % of the drive: ext4 needs some space for its own data.
    write = Step("write", f"write data 11% count={FILES}", shown=False)
    delete = Step("delete", "rm data.1 data.3 data.5 data.7", shown=False)
    line = "overwrite data.* random bs=4KiB depth=32"
    rewrites = [Step("random writes", line, "steady")]
    if setting.quick:
        rewrites = [Step(f"pass {number}", line) for number in (1, 2, 3)]
    mkfs = Step("mkfs", "mkfs", shown=False)
    return [
        Point(_NOT_TRIMMED, [mkfs, write, delete, *rewrites], is_script=True),
        Point(_TRIMMED, [mkfs, write, delete, Step("fstrim", "fstrim", shown=False), *rewrites], True),
    ]


def conclude(figures: Sequence[Figures]) -> str | None:
    """A sentence that compares the last step without and with trim; None if either is missing."""
    last = {each.point: each for each in figures if each.shown}
    if last.keys() != {_NOT_TRIMMED, _TRIMMED} or last[_NOT_TRIMMED].step != last[_TRIMMED].step:
        return None
    without, trimmed = last[_NOT_TRIMMED], last[_TRIMMED]
    clauses = []
    if without.waf and trimmed.waf:
        more = without.waf / trimmed.waf
        same = abs(more - 1) < _EQUAL_WITHIN
        clauses.append(f"{'write as much' if same else f'write {wording.times(more)} as much'} to flash")
    if without.write and trimmed.write and without.write.iops and trimmed.write.iops:
        speed = without.write.iops / trimmed.write.iops
        clauses.append(
            "are as fast" if abs(speed - 1) < _EQUAL_WITHIN else f"reach {wording.share(speed, 2)} of the speed"
        )
    return f"Where deleted files are not trimmed, random writes {' and '.join(clauses)}" if clauses else None


PROTOCOL = Protocol(
    name="trim-effect",
    title="The cost of not trimming deleted files",
    source="the over-provisioning experiments of `ssdlab study`, where files are deleted without trim",
    quick_gives_up="the steady state: three passes over the remaining files",
    points=points,
    needs_device=True,
    conclude=conclude,
)
