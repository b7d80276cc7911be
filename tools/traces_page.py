"""Writes docs/traces.md: the formats, from what the native module says of itself, and how a trace is replayed.

usage: traces_page.py FILE, or - for the screen. Not the place for a format's details: those stand in its own file.
"""

import json
from typing import Any

from generated_page import table, write
from ssdlab import _engine

HEAD = """# Traces

Written by `make docs`. The table comes from the list in `crates/traces/src/formats/mod.rs`; the rest belongs into
`tools/traces_page.py`.

`ssdlab replay TRACE... --drive D --op 7%,28%` replays a recorded block trace on simulated drives and compares them as
`ssdlab compare` does. `ssdlab replay TRACE --profile` describes the trace without a drive.

## Formats

A format is recognised by a file's beginning, or named with `--format`. Files may be plain, gzip, bzip2 or zstd, told by
their content. Each format is one file in `crates/traces/src/formats/`, with its source.

"""

TAIL = """
A trace that does not tell reads from writes is refused. A malformed line is an error that names the file, the line and
what was expected there; `--skip-bad N` passes over up to N of them and counts them.

## Files and volumes

Several files are one recording, in the order in which they are given; the time of each goes on where the one before
ended. `-` is standard input. A trace is read more than once, to check it before any work begins and then once a drive,
so that standard input is first put aside into a temporary file, as it comes (compressed, if it is).

Volumes (hosts and disks, devices, files) are those that the trace names; a name that comes in several files is one
volume. If there are several, one says which:

| option | replays |
|---|---|
| `--volume NAME`, repeatable | this volume; with several, each on its own drive |
| `--each-volume` | each on its own drive, side by side in worker processes |
| `--merge-volumes` | all on one drive, at the addresses that they have, as if the trace named no volumes |

## Addresses

- `--map fold`, the default: an address of the trace is taken modulo the size of the drive, and a request over the end
  goes on at the start. A note says so where it happens. Places that were apart may fall together, and a trim of a large
  range may forget more than it did.
- `--map compact`: units of 4 KiB, or of the drive's mapping unit if that is larger, get their places in the order in
  which they are first read or written. Places stay apart, but what was touched in turn comes to lie side by side. A
  trim of what nothing has touched has no effect. An error when the trace touches more than the drive holds.
- `--map strict`: addresses are the drive's own; an error before anything runs when the trace reaches past its end.

A request that a map cuts counts once for each part. The result says how many were cut and moved.

Memory is constant, however long the trace, but for `compact` and `--profile`: these are bounded by the units that the
trace touches, 6 to 12 bytes a unit where they lie together, up to 94 (packing) or 160 (profile) where each is alone.

## How much

`--precondition fill` (the default) writes the whole drive in sequence before the trace; `none` starts fresh. The trace
goes through once, or is repeated: `--loop-until 2x` until twice the size of the drive is written, `--loop-until 100GB`
until so much is, to the request; `--until steady` until write amplification is steady by SNIA's rule,
in rounds that write the drive once, or the share of it that `--round` says.

## When

Requests arrive at the recorded times, counted from the first one of the volume, because that is what was recorded:
bursts queue up, and idle gaps are idle time, in which a drive may work in the background. One that finds the drive
busy waits, and that counts as its latency, however long; at most `--iodepth` (256) are outstanding at a time, and the
others wait for a place, in their order. A drive that is slower than the recorded one falls behind, and its latencies
grow for as long as the trace is. A request that is stamped earlier than the one before it arrives with that one;
passes follow each other at the mean distance of two requests. `--time-scale 0.5` multiplies the recorded times: twice
as fast.

With `--arrival closed` times are ignored: `--iodepth` requests (32) are outstanding all the time, and each that
completes makes room for the next; so the drive's own speed shows. Nobody knows which requests of a trace had to wait
for others, so neither is what an application would do on a faster drive; the truth lies between the two.

With `--untimed` there is no clock: each request follows the one before it at once, a flush is counted and has no
effect, and write amplification is found fastest.

A result names a trace by the SHA-256 of its files, not by where they lie: the same content gives the same result, from
a file or through standard input.

## Profile and theory

The profile counts requests, bytes, units touched, sizes, what is sequential and aligned, reads of what the trace itself
has written, and how often units are written. From the last it takes what closed forms ([theory.md](theory.md)) expect
of a drive that holds just the written units: units with one number of writes are one class. A form is shown only where
the trace is such a stream: at least 95 % of the writes are one aligned unit, at most 5 % go on where the one before
ended, at most 5 % of what is written is trimmed again, a unit is written 5 times or more on average (with fewer, chance
hides the frequencies), and not by passes over all of them. Otherwise the profile says which of these fails.
"""


def page() -> str:
    """The whole page, in Markdown."""
    formats: list[dict[str, Any]] = json.loads(_engine.trace_formats())
    rows = [_row(entry) for entry in formats]
    return HEAD + table(("name", "other names", "what it is"), rows) + TAIL


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    aliases = ", ".join(f"`{alias}`" for alias in entry["aliases"])
    return f"`{entry['name']}`", aliases or "-", entry["description"]


if __name__ == "__main__":
    write(page)
