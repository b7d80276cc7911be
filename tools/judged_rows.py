"""Runs the studies of the five documents and keeps what they show, in `judged.csv` of the studies' folder sources.

usage: judged_rows.py [NAME ...]    # only these studies; the rows of the others stay as they are

docs/theory/sources.md is made from that file (`make docs`), without a run. Takes 21 minutes of processor time, most
of it in spare-area-sandforce and free-space-fusionio.
"""

import sys
import time

import ssdlab
from ssdlab.experiments.studies import sources
from ssdlab.experiments.studies.sources import claims
from ssdlab.experiments.studies.sources.judged import keep


def main() -> None:
    """Runs the studies, one after another, and writes the file after each."""
    names = [document.study for document in claims.sources()]
    wanted = sys.argv[1:] or names
    if unknown := set(wanted) - set(names):
        raise SystemExit(f"judged_rows.py: {', '.join(sorted(unknown))}: known are {', '.join(names)}")
    found = sources.kept()
    for name in wanted:
        start = time.monotonic()
        studied = ssdlab.study(name)
        new = sources.judge(studied.study, studied.result)
        found = [each for each in found if each.study != name] + new
        keep(sorted(found, key=lambda each: names.index(each.study)))
        print(f"{studied!r}, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
