"""A real device, or a file on a file system, as a box: runs jobs through fio, protected by the claim of
`ssdlab.hardware.safety`."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ssdlab.errors import RunFailed
from ssdlab.hardware.device import health, jobtext, plan, run
from ssdlab.hardware.device.health import Health
from ssdlab.hardware.device.joblogs import JobLogs
from ssdlab.hardware.device.measured import Measured, MeasuredJob
from ssdlab.hardware.device.place import Place
from ssdlab.hardware.identification.box import Completed, Counters, flush_us
from ssdlab.simulator.results.job_result import DirectionResult
from ssdlab.simulator.workloads import jobs

_NAME = "identify"
_LOG = f"write_lat_log={_NAME}\nlog_avg_msec=0\nlog_offset=1\nrefill_buffers\n"
_FILE_SECTOR_BYTES = 4096


class DeviceBox:
    """Runs jobs on a claimed place. A file is created by the first job and removed when the place is closed."""

    def __init__(self, place: Place, source: Health, scratch: Path, *, seed: int = 1) -> None:
        """`scratch` is the folder for the logs of a job while they are read."""
        self._scratch = scratch
        self._place = place
        self._source = source
        self._seed = seed
        self._calls = 0
        self._first = source.read()

    @property
    def capacity_bytes(self) -> int:
        return self.usable(self._place.size_bytes)

    @staticmethod
    def usable(size_bytes: int) -> int:
        """Rounded down to MiB, so that all experiments' block sizes fit."""
        return size_bytes // (1 << 20) * (1 << 20)

    @property
    def sector_bytes(self) -> int:
        sector = Path(f"/sys/class/block/{self._place.claim.place.path.name}/queue/logical_block_size")
        if not self._place.is_device or not sector.exists():
            return _FILE_SECTOR_BYTES
        return int(sector.read_text("ascii"))

    @property
    def draws_as_simulated(self) -> bool:
        """False: fio has random numbers of its own."""
        return False

    def run(self, sections: Sequence[str]) -> list[Completed]:
        job_file = jobs.parse("".join(f"{each}{_LOG}" for each in sections), _NAME)
        self._calls += 1
        place = self._place
        stages = jobtext.stages(job_file, place.path_of, seed=self._seed + self._calls, logs=False)
        if not place.is_device:
            place.make({**plan.file_sizes(job_file, place, seed=self._seed), place.path_of(""): place.size_bytes})
        with tempfile.TemporaryDirectory(prefix="ssdlab-identify-", dir=self._scratch) as folder:
            ran = run.run_stages(stages, self._source, place, logs=JobLogs(Path(folder)), scratch=Path(folder))
            if ran.interrupted:
                raise KeyboardInterrupt
            error = ran.refused or next((each.measured.error for each in ran.done if each.measured.error), None)
            if error:
                raise RunFailed(error)
            done = [each.measured for each in ran.done]
            measured = Measured({}, _NAME, self._seed, "", done, health.between(self._first, ran.done[-1].after))
            return [
                _completed(job, Path(folder) / f"{_NAME}_lat.{number}.log")
                for number, job in enumerate(measured.jobs, start=1)
            ]

    def counters(self) -> Counters | None:
        change = health.between(self._first, self._source.read()).change
        if change is None or change.nand_bytes is None or change.host_bytes is None:
            return None
        return Counters(change.host_bytes, change.nand_bytes)


def _completed(job: MeasuredJob, log: Path) -> Completed:
    """Converts fio's log, which has completion times in milliseconds and latencies in nanoseconds.

    At depth 1 and without a rate limit the sum of the latencies is a more exact completion time.
    """
    import numpy as np

    rows = np.loadtxt(log, delimiter=",", ndmin=2, usecols=(0, 1, 3, 4))
    latency_us = rows[:, 1] / 1e3
    directions: tuple[DirectionResult, ...] = (job.read, job.write)
    seconds = max(each.seconds or 0.0 for each in directions)
    ends = rows[:, 0] / 1e3
    options = job.raw.get("job options", {})
    if options.get("iodepth", "1") == "1" and "rate_iops" not in options:
        ends = np.cumsum(latency_us) / 1e6
    flushes = job.flush.latency
    return Completed(
        job.name,
        max(seconds, float(ends[-1]) if len(ends) else 0.0),
        ends,
        latency_us,
        rows[:, 2].astype(np.int64),
        rows[:, 3].astype(np.int64),
        job.write.io_bytes,
        flush_us(flushes.mean_ns, flushes.min_ns) if flushes is not None else None,
    )
