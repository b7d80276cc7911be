"""Provides the health of a live page's drives to `ssdlab export`, in the format of a served drive."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from ssdlab.live.bench import labels
from ssdlab.live.workbench import Workbench
from ssdlab.serving import smart
from ssdlab.serving.asking import Question
from ssdlab.serving.so_far import result_of
from ssdlab.serving.watching import LIVE, answering


@contextmanager
def measurable(workbench: Workbench) -> Iterator[str | None]:
    """Lets other processes of this user read the drives' health. Yields None, or the reason why they cannot."""
    with answering(LIVE, lambda question: _answer(workbench, question)) as unseen:
        yield unseen


def _answer(workbench: Workbench, question: Question) -> bytes:
    if question != {"ask": "smart"}:
        raise ValueError(f"{question!r} is no question")
    # Read once, because the page can replace the drives meanwhile.
    now, start = workbench.now, workbench.start
    drives = []
    for index, (bench, label) in enumerate(zip(now.benches, labels(now.benches), strict=True)):
        outcome, drive = now.session.outcome(index), bench.drive.specification()
        result = result_of(outcome, drive, seed=start.seed, scale=str(bench.drive.scale), timed=start.timed).to_dict()
        logs = smart.logs(result["ssdlab"], result["jobs"], outcome, drive)
        drives.append({"place": f"live: {label}", "smart": logs})
    return json.dumps(drives).encode()
