"""A remedy inside the drive, published in 2024: a page goes to the die on which the contiguous file would have it.

The source's emulated drive and its steps; not for the ten drives of the article.
"""

import random
from collections.abc import Iterator

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, published
from ssdlab.experiments.studies.internal_fragmentation.drives import FOLDER
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.specifying import specify

DRIVE = FOLDER / "emulated.toml"
FILE_BYTES = 8 << 20
PAGE_BYTES = 32 << 10
ROW_BYTES = 8 * PAGE_BYTES
"""A page of each die."""
PAGES_BETWEEN_MAX = 32
READ = ("bs=256k", "iodepth=4", "iodepth_batch=4", "iodepth_batch_complete_min=4")
"""A read of 1 MiB, which the kernel divides at the drive's largest command of 256 KiB (MDTS 6 of ssd_config.h)."""
CHOICES = {"no": "round-robin", "yes": "by-address"}
FITTED = Fitted(("time of a command",), 1)


def run(context: Context) -> StudyResult:
    """Simulates all ways of writing the file, with and without the rule."""
    figures = published(FOLDER / "placement.csv")
    specifications = {
        _label(figure): specify(
            jobs.parse(_job(figure["written"], figure["order"], context.seed), _label(figure)),
            drive_of(DRIVE, settings={"ftl.die_choice": CHOICES[figure["rule"]]}),
            seed=context.seed,
        )
        for figure in figures
    }
    results = context.simulate(specifications)
    speeds = {}
    for label, result in results.items():
        (read,) = (job for job in result.jobs if job.name == "read")
        speeds[label] = read.ledger.host_read_bytes / read.seconds / 1e6 if read.seconds else None
    rows = [
        Row(
            _label(figure),
            float(figure["mb_s"]),
            speeds[_label(figure)],
            "MB/s",
            tolerance=float(figure["tolerance"]),
            fitted=FITTED,
            is_left_out=figure["written"] != "contiguous",
            group="A remedy inside the drive: pages on the dies of the contiguous file",
            note=_note(figure),
        )
        for figure in figures
    ]
    of = {(figure["written"], figure["order"], figure["rule"]): speeds[_label(figure)] or 0.0 for figure in figures}
    return StudyResult(
        finding=f"Where a drive gives overwritten pages the dies of the contiguous file, it reads them at "
        f"{of['overwritten', 'random', 'yes']:,.0f} MB/s instead of {of['overwritten', 'random', 'no']:,.0f}, and "
        f"instead of {of['overwritten', 'same die', 'no']:,.0f} where all had come to lie on one die.",
        rows=rows,
    )


def _note(figure: dict[str, str]) -> str:
    if figure["written"] == "contiguous":
        return "The time of a command is fitted to this reading; the others are predicted."
    if figure["written"] == "appended" and figure["rule"] == "yes":
        return "The file's addresses are consecutive here; in the source the file system tells the drive their order."
    if figure["rule"] == "yes":
        return "Here the rule gives the contiguous file exactly; in the source it stays 5 % behind."
    return ""


def _label(figure: dict[str, str]) -> str:
    if figure["written"] == "contiguous":
        return "contiguous"
    between = "all on one die" if figure["order"] == "same die" else "other writes of random sizes between"
    rule = ", with the rule" if figure["rule"] == "yes" else ""
    return f"{figure['written']}, {between}{rule}"


def _job(written: str, order: str, seed: int) -> str:
    """The job file: the file in order unless it is appended to page by page, then the pages with others between."""
    lines = ["[global]", "ioengine=libaio", "direct=1", "iodepth=1"]
    if written != "appended":
        lines += ["[file]", "rw=write", "bs=32k", f"size={FILE_BYTES}"]
    if written != "contiguous":
        behind = FILE_BYTES
        for page, between in enumerate(_between(order, seed)):
            at = page * PAGE_BYTES
            lines += [f"[page-{page}]", "stonewall", "rw=write", "bs=32k", f"offset={at}", f"size={PAGE_BYTES}"]
            lines += [f"[other-{page}]", "stonewall", "rw=write", "bs=32k", f"offset={behind}", f"size={between}"]
            behind += between
    # All programs have ended before the file is read.
    lines += ["[read]", "stonewall", "startdelay=5", "rw=read", f"size={FILE_BYTES}", *READ]
    return "\n".join(lines) + "\n"


def _between(order: str, seed: int) -> Iterator[int]:
    """The bytes written elsewhere after each page."""
    generator = random.Random(seed)
    for _ in range(FILE_BYTES // PAGE_BYTES):
        pages = generator.randint(1, PAGES_BETWEEN_MAX) if order == "random" else ROW_BYTES // PAGE_BYTES - 1
        yield pages * PAGE_BYTES
