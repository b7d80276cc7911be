"""TRIM effect: half of the files of a full file system are deleted; the rest is rewritten, with and without fstrim."""

from collections.abc import Sequence

from ssdlab.protocols.contract import Point, Protocol, Setting, Step

FILES = 8


def points(setting: Setting) -> Sequence[Point]:
    # Together 88 % of the drive: ext4 needs some for itself.
    write = Step("write", f"write data 11% count={FILES}", shown=False)
    delete = Step("delete", "rm data.1 data.3 data.5 data.7", shown=False)
    line = "overwrite data.* random bs=4KiB depth=32"
    rewrites = [Step("random writes", line, "steady")]
    if setting.quick:
        rewrites = [Step(f"pass {number}", line) for number in (1, 2, 3)]
    mkfs = Step("mkfs", "mkfs", shown=False)
    return [
        Point("deleted, not trimmed", [mkfs, write, delete, *rewrites], is_script=True),
        Point("deleted and trimmed", [mkfs, write, delete, Step("fstrim", "fstrim", shown=False), *rewrites], True),
    ]


PROTOCOL = Protocol(
    name="trim-effect",
    title="The cost of not trimming deleted files",
    source="the over-provisioning experiments of `ssdlab study`, where files are deleted without trim",
    quick_gives_up="the steady state: three passes over the remaining files",
    points=points,
    needs_device=True,
)
