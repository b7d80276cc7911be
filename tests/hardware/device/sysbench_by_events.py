"""The first study's steps on a real drive, with runs that end after a number of requests instead of seconds.

The amount written in a given time depends on the machine. Runs as a program, `DEVICE SERIAL FOLDER`, because its mounts
belong to the process.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ssdlab.cli import measure_protocol
from ssdlab.experiments.protocols.carrying_out import Target
from ssdlab.experiments.protocols.contract import Point, Protocol, Setting
from ssdlab.experiments.studies.over_provisioning_blog.real import REAL
from ssdlab.hardware.device.permission import Permission

RUNS = 2
# A quarter of the test drive in blocks of 16 KiB. After a hundred writes each of the 128 files is synchronized, which
# counts as an event.
_EVENTS = 4096 // 100 * 228


def _points(setting: Setting) -> Sequence[Point]:
    found = []
    for point in REAL.protocol.points(replace(setting, quick=True)):
        steps = [
            replace(step, text=step.text.replace("--time=2", f"--time=0 --events={_EVENTS}")) for step in point.steps
        ]
        preparation = [step for step in steps if not step.shown]
        # sysbench's seed is the second in which it starts: two runs within one second would write the same addresses.
        runs = [replace(step, idle_seconds=1.1) for step in steps if step.shown][:RUNS]
        found.append(replace(point, steps=[*preparation, *runs]))
    return found


PROTOCOL: Protocol = replace(REAL.protocol, points=_points)

if __name__ == "__main__":
    device, serial, output = sys.argv[1:]
    target = Target(Path(device), None, Permission(serial, False, None), None)
    how = measure_protocol.How(Path(output), " ".join(sys.argv), quick=True, seed=1)
    measure_protocol.on_path(PROTOCOL, target, how)
