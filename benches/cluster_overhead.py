"""What the dispatch of a sweep costs on a Dask cluster: runs that only sleep, on two workers of many threads.

The wall time beyond that of the sleeping is the overhead of scheduler, client and wire; the specifications that travel
are real ones. Prints a line of JSON. Not for the engine's own speed.
"""

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.experiments.sweeps.plan import Planned

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
THREADS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
RUN_SECONDS = 1.0
_WORKERS = 2
_SWEEP = """
name = "overhead"
[axes]
drive = ["textbook"]
job = ["uniform.fio"]
seed = {{ from = 1, to = {runs}, count = {runs} }}
"""


def _planned(folder: Path, runs: int) -> "list[Planned]":
    from ssdlab.experiments.sweeps.file import load
    from ssdlab.experiments.sweeps.plan import plan

    (folder / "uniform.fio").write_text("[uniform]\nrw=randwrite\nbs=4k\nnorandommap\n")
    path = folder / "overhead.toml"
    path.write_text(_SWEEP.format(runs=runs))
    return plan(load(path), path)


def main() -> None:
    """Starts a scheduler and two workers as processes, runs all, prints the figures."""
    from distributed import Client, LocalCluster

    from ssdlab.experiments.sweeps import cluster

    finished = cluster.Finished

    def sleep(batch: "Sequence[Planned]", place: str) -> object:
        time.sleep(RUN_SECONDS * len(batch))
        return finished([each.key for each in batch], RUN_SECONDS * len(batch))

    cluster._run_batch = sleep
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(
            n_workers=_WORKERS, threads_per_worker=THREADS // _WORKERS, processes=True, dashboard_address=None
        ) as local,
        Client(local) as client,
    ):
        planned = _planned(Path(name), RUNS)
        started = time.perf_counter()
        done = sum(1 for _ in cluster._spread(client, planned, name))
        wall_seconds = time.perf_counter() - started
    ideal_seconds = RUNS * RUN_SECONDS / THREADS
    figures = {
        "benchmark": "cluster_overhead",
        "runs": done,
        "threads": THREADS,
        "run_seconds": RUN_SECONDS,
        "wall_seconds": round(wall_seconds, 2),
        "overhead_percent": round((wall_seconds / ideal_seconds - 1) * 100, 2),
        "specification_bytes": len(planned[0].specification.engine_json()),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
