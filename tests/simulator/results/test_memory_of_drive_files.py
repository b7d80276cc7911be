"""A run takes no more memory than was computed for it, whatever its drive file says, and a refusal takes little.

A regression: jobs and the host link were checked after the tables of the drive, so that the refusal of a job on a drive
of 480 GB took 490 MB.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from ssdlab.experiments.comparison.axes import plan
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.specifying import specify

# More of them: SSDLAB_MUTATED=500.
MUTATED = int(os.environ.get("SSDLAB_MUTATED", "16"))
REFUSAL_BYTES_MAX = 100 << 20
# What the allocator keeps besides tables.
BASE_BYTES = 8 << 20
JOB = "[a]\nrw=write\nbs=128k\nnumber_ios=60000\niodepth=8\ndirect=1\n"

# Prints the bytes computed, those taken by the run, and how it ended.
_RUN = """
import json, resource, sys
from ssdlab import _engine
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
taken = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
text, before, computed, said = sys.stdin.read(), taken(), None, ""
try:
    computed = sum(json.loads(_engine.memory(text)).values())
    if computed < 2 << 30:
        _engine.run(text, None, None, None)
except (_engine.SpecificationError, ValueError) as error:
    said = str(error)
print(json.dumps([computed, taken() - before, said]))
"""


def ran(specification: dict[str, Any]) -> tuple[int | None, int, str]:
    command = [sys.executable, "-c", _RUN]
    ended = subprocess.run(command, input=json.dumps(specification), capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, (ended.stderr, specification["drive"])
    computed, taken, said = json.loads(ended.stdout)
    return computed, taken, said


def specification(drive: str, *, timed: bool, scale: Fraction | None = None) -> dict[str, Any]:
    (planned,) = plan([drive], None, [], scale=scale)
    job = jobs.parse(JOB)
    specified = specify(job, planned.drive, until="job", precondition="none", timed=timed).to_dict()
    return dict(specified["engine"])


def numbers(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield (*path, key)
        elif isinstance(value, dict | list):
            yield from numbers(value, (*path, key))


@pytest.mark.parametrize("timed", [True, False], ids=["timed", "untimed"])
def test_the_catalogue_takes_no_more_than_computed(timed: bool) -> None:
    for drive in ("generic-tlc-480", "iodrive-duo-320gb-slc", "textbook"):
        computed, taken, said = ran(specification(drive, timed=timed))
        assert computed is not None and not said, (drive, said)
        assert taken <= computed + BASE_BYTES, drive


@pytest.mark.parametrize("seed", range(MUTATED))
def test_mutated_drives_take_no_more_than_computed(seed: int) -> None:
    choices = random.Random(seed)
    name = choices.choice(["generic-tlc-480", "samsung-fdp-3840gb", "intel-545s-256gb", "iodrive-duo-320gb-slc"])
    mutated = specification(name, timed=choices.random() < 0.5, scale=Fraction(1, 64))
    for _ in range(choices.choice([1, 1, 2, 3])):
        *path, key = choices.choice(list(numbers(mutated["drive"])))
        node = mutated["drive"]
        for part in path:
            node = node[part]
        factor = choices.choice([0, 0.01, 0.5, 2, 8, 64, 1000, 10**5])
        node[key] = type(node[key])(choices.choice([node[key] * factor, node[key] * factor, 2**32 - 1, 2**40, 1]))
    computed, taken, said = ran(mutated)
    assert taken <= (REFUSAL_BYTES_MAX if said else (computed or 0) + BASE_BYTES), (mutated["drive"], said)


@pytest.mark.parametrize("timed", [True, False], ids=["timed", "untimed"])
@pytest.mark.parametrize("key", ["loops", "size_bytes", "stream_id", "round_bytes"])
def test_a_refusal_takes_little_memory(key: str, timed: bool) -> None:
    whole = specification("generic-tlc-480", timed=timed)
    if key == "round_bytes":
        whole["until"] = {"kind": "steady-state", "round_bytes": 0, "host_bytes_max": 1}
    else:
        whole["jobs"][0][key] = {"loops": 0, "size_bytes": 1 << 60, "stream_id": 9999}[key]
    _, taken, said = ran(whole)
    assert key in said
    assert taken < REFUSAL_BYTES_MAX


def test_the_refusal_of_a_link_takes_little_memory() -> None:
    whole = specification("generic-tlc-480", timed=True)
    whole["drive"]["host_link"] = {"interface": "nonsense"}
    _, taken, said = ran(whole)
    assert "host_link" in said
    assert taken < REFUSAL_BYTES_MAX
