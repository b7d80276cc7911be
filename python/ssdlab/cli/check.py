"""`ssdlab check`: checks a file or drive for internal fragmentation and for working trims."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import answer_page, options
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrOutputFormat, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import described
from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes, parse_bytes_with_unit
from ssdlab.hardware.diagnosis.check import check as run
from ssdlab.hardware.safety.place import check_platform
from ssdlab.presentation.report import wording
from ssdlab.presentation.terminal import text_columns

if TYPE_CHECKING:
    from ssdlab.hardware.diagnosis.check import Checked

_INDENT = 14
"""Where what is said of a thing begins, behind its name."""
_ORDER = ("problem", "unknown", "good")
_VERDICTS = {
    "problem": "A problem",
    "unknown": "No problem found, but not everything could be seen",
    "good": "No problem",
}
"""How the worst finding is told."""


def check(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, a folder or a block device.")],
    read_test: Annotated[
        int,
        typer.Option("--read-test", metavar="SIZE", help="Maximum amount to read; 0: none."),
        Parsed(parse_bytes_with_unit, default="4GiB"),
    ] = 4 << 30,
    best: Annotated[
        int | None,
        typer.Option("--best", metavar="SIZE", help="Read rate per second of the fresh drive, such as 540MB."),
        options.RATE,
    ] = None,
    no_write: Annotated[bool, typer.Option("--no-write", help="Write no fresh region to compare a file with.")] = False,
    *,
    form: FormOrOutputFormat,
    output: answer_page.Output = None,
) -> None:
    """Check whether a file or drive is internally fragmented, and whether trims reach its drive.

    Changes no data. Reads sequentially past the page cache, segment by segment, and compares with the best speed of
    the drive: a region of at most 64 MiB that is written beside the file without a name and removed again, samples
    over the whole drive, if this user may read it (root may), or --best. Also reports the state of TRIM, how much
    data the drive holds that no file system uses, and remedies. Unknown values are reported as unknown.
    """
    check_platform()

    if output:
        check_folder(Path(output), "check")
    if best == 0:
        raise InputError("--best 0: allowed: more than 0")
    best_mb_s = best and best / 1e6
    with described() as shown:
        tell = shown or (lambda what, share: None)
        found = run(path, read_bytes_max=read_test, best_mb_s=best_mb_s, writes=not no_write, tell=tell)
    answer = Rows([dict(each) for each in found.to_dict()["findings"]], found.to_dict())
    form.give(answer, lambda: typer.echo(_text(found)))
    if output:
        answer_page.write(output, _told(found), answer, form, context)


def _told(found: "Checked") -> answer_page.Told:
    worst = min(found.findings, key=lambda each: _ORDER.index(each.what))
    findings = [
        f"{each.what}: {each.text}" + (f". Remedy: {each.remedy}" if each.remedy else "") for each in found.findings
    ]
    details = [line.strip() for line in _details(found)]
    return answer_page.Told(
        title=f"{_VERDICTS[worst.what]} in {found.place.path.name or found.place.path}",
        subtitle=found.place.in_words,
        summary=f"{wording.capitalized(worst.text)}.",
        sentences=findings,
        heading="Findings",
        tables=[
            answer_page.Table("What was looked at", ("part", "seen"), [_split(line) for line in details], is_text=True)
        ],
    )


def _split(line: str) -> tuple[str, str]:
    """The name of a detail, and what is said of it."""
    name, _, rest = line.partition("  ")
    return (name, rest.strip()) if rest else ("", name)


def _text(found: "Checked") -> str:
    lines = [found.place.in_words, *_details(found), "findings"]
    for finding in found.findings:
        lines.append(f"  {finding.what:<10}  {finding.text}")
        if finding.remedy:
            lines.append(f"  {'':<10}  remedy: {finding.remedy}")
    columns = text_columns()
    wrapped = (textwrap.wrap(each, columns, subsequent_indent=" " * _INDENT, break_on_hyphens=False) for each in lines)
    return "\n".join(line for each in wrapped for line in each)


def _details(found: "Checked") -> list[str]:
    """What was looked at, a line each: a name of ten characters, and what was seen."""
    place, lay, trim = found.place, found.lay, found.trim
    lines = []
    if place.disk:
        names = ", ".join(place.identities) or "none readable"
        lines.append(f"  disk        /dev/{place.disk}; its name for --destroy-data-on: {names}")
    if lay:
        pieces = "1 piece" if lay.pieces == 1 else f"{lay.pieces} pieces"
        holes = f", {format_bytes(lay.hole_bytes)} of holes" if lay.hole_bytes else ""
        lines.append(f"  lies        on {lay.file_system}, {format_bytes(lay.data_bytes)} in {pieces}{holes}")
    if found.reads and found.reads.speeds:
        lines += _reads(found)
    lines.append(f"  trimmed     sectors read as: {trim.after_trim}")
    if trim.supported:
        lines.append(
            f"  discards    at most {format_bytes(trim.max_bytes or 0)} at once, in steps of "
            f"{format_bytes(trim.granularity_bytes or 0)}"
        )
    for each in trim.mounted:
        room = f"{format_bytes(each.used_bytes)} used, {format_bytes(each.free_bytes)} free"
        lines.append(f"  {each.name:<10}  {room} at {each.folder}")
    return lines


def _reads(found: "Checked") -> list[str]:
    assert found.reads is not None
    whole = found.reads.to_dict()
    speeds = "  ".join(f"{name} {speed:.0f}" for name, speed in (whole["segment_mb_s"] or {}).items())
    clock = ", in simulated time" if found.reads.clock_is_simulated else ""
    lines = [f"  reads       {format_bytes(whole['read_bytes'])} sequentially, MB/s of segments{clock}: {speeds}"]
    if found.reads.empty_bytes:
        lines.append(f"              {format_bytes(found.reads.empty_bytes)} are zeroes and were omitted")
    slowest = [f"{each['mb_s']:.0f} MB/s at {format_bytes(each['offset'])}" for each in whole["slowest_segments"]]
    lines.append(f"  slowest     {', '.join(slowest)}")
    if found.reads.disk_mb_s:
        low, high = min(found.reads.disk_mb_s), max(found.reads.disk_mb_s)
        lines.append(f"  over disk   {low:.0f} to {high:.0f} MB/s at {len(found.reads.disk_mb_s)} samples with data")
    if fresh := found.reads.fresh_mb_s:
        size = format_bytes(found.reads.fresh_bytes)
        lines.append(f"  fresh       {min(fresh):.0f} to {max(fresh):.0f} MB/s in {size} written beside it and removed")
    return lines + [f"  note        {note}" for note in found.reads.notes]
