"""`ssdlab check`: is a file or drive internally fragmented, and are its trims in order? Changes nothing."""

from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from ssdlab.diagnosis.check import Checked


def check(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, a folder or a block device.")],
    read_test: Annotated[
        str, typer.Option("--read-test", metavar="SIZE", help="At most so much of it is read; 0 for nothing.")
    ] = "4GiB",
    best: Annotated[
        str | None,
        typer.Option("--best", metavar="SIZE", help="What the drive reads a second when fresh, such as 540MB."),
    ] = None,
    output_format: options.TextOrJson = "text",
) -> None:
    """Say whether a file or drive is internally fragmented, and whether trims reach its drive. Changes nothing.

    Reads it in order past the page cache, segment by segment, and compares with the best that the drive does: places
    all over it, where this user may read it (root may), or --best. Then what is known of TRIM, how much the drive
    keeps that no file system uses, and what would help. What cannot be known is said to be so.
    """
    import json

    from ssdlab.safety.place import check_platform

    check_platform()
    from ssdlab.cli.progress import described
    from ssdlab.diagnosis.check import check as run
    from ssdlab.errors import InputError

    options.check_word("--output-format", output_format, options.TEXT_OR_JSON)
    best_mb_s = None if best is None else options.size_of("--best", best.removesuffix("/s")) / 1e6
    if best_mb_s == 0:
        raise InputError("--best 0: allowed: more than 0")
    read_bytes_max = options.size_of("--read-test", read_test)
    with described() as shown:
        found = run(path, read_bytes_max=read_bytes_max, best_mb_s=best_mb_s, tell=shown or (lambda what, share: None))
    typer.echo(json.dumps(found.to_dict(), indent=2) if output_format == "json" else _text(found))


def _text(found: "Checked") -> str:
    from ssdlab.quantities import format_bytes

    place, lay, trim = found.place, found.lay, found.trim
    lines = [place.in_words]
    if place.disk:
        names = ", ".join(place.identities) or "none that can be read"
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
    lines.append("findings")
    for finding in found.findings:
        lines.append(f"  {finding.what:<10}  {finding.text}")
        if finding.remedy:
            lines.append(f"  {'':<10}  what would help: {finding.remedy}")
    return "\n".join(lines)


def _reads(found: "Checked") -> list[str]:
    from ssdlab.quantities import format_bytes

    assert found.reads is not None
    whole = found.reads.to_dict()
    speeds = "  ".join(f"{name} {speed:.0f}" for name, speed in whole["segment_mb_s"].items())
    clock = ", in the simulated drive's time" if found.reads.clock_is_simulated else ""
    lines = [f"  reads       {format_bytes(whole['read_bytes'])} in order, MB/s of segments{clock}: {speeds}"]
    if found.reads.empty_bytes:
        lines.append(f"              {format_bytes(found.reads.empty_bytes)} hold zeroes, and were left out")
    slowest = [f"{each['mb_s']:.0f} MB/s at {format_bytes(each['offset'])}" for each in whole["slowest_segments"]]
    lines.append(f"  slowest     {', '.join(slowest)}")
    if found.reads.disk_mb_s:
        low, high = min(found.reads.disk_mb_s), max(found.reads.disk_mb_s)
        lines.append(f"  over disk   {low:.0f} to {high:.0f} MB/s at {len(found.reads.disk_mb_s)} places with data")
    return lines + [f"  note        {note}" for note in found.reads.notes]
