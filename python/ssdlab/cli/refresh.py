"""`ssdlab refresh`: rewrites a file or the data of a device in place and in order."""

from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options
from ssdlab.cli.form import FormOrOutputFormat, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import described
from ssdlab.errors import InputError
from ssdlab.evidence.estimate import text
from ssdlab.foundation.quantities import format_bytes, format_share, parse_bytes_with_unit, parse_terabytes
from ssdlab.hardware.refresh.refreshing import Choices
from ssdlab.hardware.refresh.refreshing import refresh as run
from ssdlab.hardware.safety.place import check_platform

if TYPE_CHECKING:
    from ssdlab.evidence import Estimate
    from ssdlab.hardware.refresh.refreshing import Refreshed


def refresh(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, or a block device.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be rewritten; change nothing.")] = False,
    rate: Annotated[
        int | None,
        typer.Option("--rate", metavar="SIZE", help="Maximum rate per second, such as 50MB."),
        options.RATE,
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read each block back and compare.")] = False,
    read_test: Annotated[
        int,
        typer.Option("--read-test", metavar="SIZE", help="Amount to read before and after; 0: none."),
        Parsed(parse_bytes_with_unit, default="1GiB"),
    ] = 1 << 30,
    rated_tbw: Annotated[
        float | None,
        typer.Option("--rated-tbw", metavar="TB", help="The drive's rating, to print the share that this uses."),
        Parsed(parse_terabytes),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start again instead of resuming an interrupted refresh.")
    ] = False,
    *,
    form: FormOrOutputFormat,
) -> None:
    """Rewrite a file, or the data of a device, in place and in order, to remove internal fragmentation.

    The bytes written are the bytes read, at the same address, so a loss of power loses no data. A file is protected
    by a lease: nobody else may have it open. If another process opens it, the refresh ends; the same command resumes
    it. A mounted ext4 or XFS device is frozen for a second at a time, an unmounted one is opened exclusively. Holes,
    free space and, on a device, blocks of zeroes are not rewritten.

    Not available on copy-on-write file systems or for compressed or shared files. The rewrite wears the flash.
    """
    check_platform()

    if rate == 0:
        raise InputError("--rate 0 would never end; allowed: more than 0")
    choices = Choices(
        rate_bytes_s=rate,
        verify=verify,
        read_test_bytes=read_test,
        rated_tbw=rated_tbw,
        restart=restart,
        dry_run=dry_run,
    )
    try:
        with described() as shown:
            done = run(path, choices, shown or (lambda what, share: None))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the rewritten part is complete; the same command resumes") from None
    form.give(lambda: Rows([{**done.to_dict()}], done.to_dict()), lambda: typer.echo(_text(done)))


def _text(done: "Refreshed") -> str:
    plan = done.plan
    lines = [done.place.in_words]
    pieces = "1 piece" if len(plan.pieces) == 1 else f"{len(plan.pieces)} pieces"
    lines.append(f"  to be rewritten   {format_bytes(plan.rewrite_bytes)} in {pieces}")
    lines += [f"  not rewritten     {format_bytes(size)}, {why}" for why, size in plan.skipped_bytes.items()]
    if done.share_of_tbw is not None:
        lines.append(f"  endurance         {format_share(done.share_of_tbw)} of the rated TBW")
    else:
        lines.append("  endurance         equal to the rewritten bytes; give --rated-tbw for the share of the rating")
    if done.host_written_bytes is not None:
        lines.append(f"  written so far    {format_bytes(done.host_written_bytes)} over the drive's life, from SMART")
    lines += [f"  note              {note}" for note in (*plan.notes, *done.notes)]
    if done.is_dry_run:
        return "\n".join([*lines, "nothing was changed (--dry-run)"])
    if done.resumed_at:
        lines.append(f"  resumed from      byte {done.resumed_at}")
    zeroes = f"; {format_bytes(done.zero_bytes)} of zeroes were not rewritten" if done.zero_bytes else ""
    lines.append(f"  rewritten         {format_bytes(done.rewritten_bytes)} in {done.wall_seconds:.1f} s{zeroes}")
    clock = " in simulated time" if done.clock_is_simulated else ""
    if done.before_mb_s and done.after_mb_s:
        before, after = fmean(done.before_mb_s), fmean(done.after_mb_s)
        lines.append(
            f"  sequential read   {before:.0f} MB/s before, {after:.0f} MB/s after{clock}: {_compared(done.change)}"
        )
    return "\n".join(lines)


def _compared(change: "Estimate | None") -> str:
    if change is None:
        return "too few readings to compare"
    if change.low <= 1 <= change.high:
        width = (change.high - change.low) / 2
        return f"no difference seen (one of {format_share(width, 2)} would have been)" if width else "no difference"
    return f"{text(change)} times"
