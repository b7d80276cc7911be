"""Writes docs/jobs.md from the table of fio's options. usage: jobs_page.py FILE, or - for the screen.

What an option does here is said in `python/ssdlab/jobs/table.py`; the page only lays it out. The words before the
tables, on what differs from fio, stand here.
"""

from collections.abc import Sequence
from typing import Any

from generated_page import table, write
from ssdlab.jobs import OPTIONS, Effect, Option

HEAD = """# Job files

Written by `make docs` from the parser's own table. Changes belong into `python/ssdlab/jobs/table.py` and `tools/jobs_page.py`.

Workloads are said in fio's job language, as fio 3.33 reads it; fio itself is the judge in `tests/jobs/` and in
`crates/engine/tests/against_fio.rs`. Every option of fio is one of three: it *acts* on the simulated drive; or it is
*noted*: accepted, without effect, and the run says so; or it is *refused*, because without it the run would mean
something else.

## What differs from fio

| | fio 3.33 | here |
|---|---|---|
| passes of a random map | all in the same order, unless `randrepeat=0` | each in its own |
| `zipf` | an approximation, whose third rank comes 19 % too often at theta 1.2, over a part of the blocks | the law, over all blocks; `zipf_like_fio=1` for fio's own, bit by bit |
| `zoned` by direction | in the manual, refused by the program | taken |
| a run (`randread:8`) or a following request at the end of the range | ends the job, where the range ends before the device | a new random place |
| `rw=read:-8k` behind an `offset` | counts the end from the device's start | comes from the end of the range |
| a zone (`zonemode=strided`) that the end cuts short | ends the job where it meets the end | is a shorter zone |
| `bs_is_seq_rand` on a random map | ends the job when its search for a free block fails | goes on to the job's amount |
| holes (`rw=read:4k`) | wrap at the end of a device, end the job at the end of a part of it | the same |
| several lengths on a random map | a request ends where it would meet a visited block | the same |
| `bs_unaligned` | any number of bytes | multiples of a sector, 512 bytes |
| a job that fails by `rate_min`, `rate_iops_min` or `max_latency` | is over at once, and fio's exit code counts such jobs | issues nothing more; what is outstanding still counts; exit code 1 |
| `latency_target` | halves the depth again for each late request that was outstanding; tries `iodepth` again and again once it was too deep; starts the runtime anew for the last window | what is outstanding decides nothing; looks below a depth that was too deep; one runtime for all |
| several files | apart | one behind another on the drive, in the order of their names in the file; see below |
| `filename` of one file, or none | a device or a file | the whole drive |
| lengths and offsets that are no multiple of 512 bytes, shares above 100 %, `1.5g`, `4kx` | misread without a word | refused |

**Several files.** `nrfiles`, or several names in `filename` or over the jobs, divide the drive. A file is as large as its
jobs say, by `filesize` or by `size` divided by the number of files, behind `offset`; files of which no job says that share
what is left equally. Jobs that name the same file share it; clones share the unnamed files of their job.

**Machine and environment.** `${NAME}` is taken from the environment, `$ncpus`, `$pagesize` and `$mb_memory` from the
machine, with fio's arithmetic (`8*$pagesize`). The run says which it took, because the job may be another elsewhere; the
result holds the values. `include FILE` is found from the working folder, then beside the file that includes it.

**fio's own zipf.** `zipf_like_fio=1` is an option of ours (fio refuses it). It takes fio 3.33's generator, seeds, rounding
and scatter for `zipf`, `pareto` and `normal`, so that the offsets are those of a run of fio with the same job file. The
scatter leaves blocks out where their number is no power of two, and the generator's 32 bits leave ranks out on a large
drive (fio's issue 1991); the share that can be reached is among the run's notes. What is never written acts as spare area
and flatters the drive.
"""  # noqa: E501

KINDS = {
    "Options that act": (
        Effect.ACTS,
        Effect.CLOCK,
        Effect.PACE,
        Effect.LIMIT,
        Effect.CONTENT,
        Effect.REPORTED,
    ),
    "Options that are noted": (Effect.MEANINGLESS, Effect.TIMING, Effect.DETAIL, Effect.OUTPUT),
    "Options that are refused": (Effect.UNSUPPORTED,),
}
LEADS = {
    "Options that act": "Where they act only with a clock, or go into the result only, that is said.",
    "Options that are noted": "Accepted and without effect, for the reason that the run gives.",
    "Options that are refused": "A value that asks for nothing, such as `rate=0`, passes.",
}


def page() -> str:
    """The whole page, in Markdown."""
    sections = [HEAD]
    for heading, effects in KINDS.items():
        parts = [f"## {heading}\n\n{LEADS[heading]}\n"]
        options = [option for option in OPTIONS if option.effect in effects]
        if heading == "Options that act":
            rows = [(_names(option), _meaning(option)) for option in options]
            parts.append(table(("option", "what it does"), rows))
        else:
            reasons = dict.fromkeys(_reason(option) for option in options)
            rows = [(reason, _list([option for option in options if _reason(option) == reason])) for reason in reasons]
            parts.append(table(("why", "options"), rows))
        sections.append("\n".join(parts))
    return "\n".join(sections)


def _names(option: Option[Any]) -> str:
    return ", ".join(f"`{name}`" for name in option.names)


def _list(options: Sequence[Option[Any]]) -> str:
    """Each option with what it is about; those about the same stand together."""
    meanings = dict.fromkeys(option.meaning for option in options)
    return "; ".join(
        f"{', '.join(_names(option) for option in options if option.meaning == meaning)}: {meaning}"
        for meaning in meanings
    )


def _meaning(option: Option[Any]) -> str:
    ours = "ours, not fio's: " if option.is_ours else ""
    limits = {Effect.REPORTED: "; in the result only", Effect.CONTENT: "; on drives that reduce data"}
    limits |= dict.fromkeys((Effect.CLOCK, Effect.PACE, Effect.LIMIT), "; with a clock only")
    return f"{ours}{option.meaning}{limits.get(option.effect, '')}"


def _reason(option: Option[Any]) -> str:
    return option.reason or str(option.effect.value)


if __name__ == "__main__":
    write(page)
