"""A simulated drive as a box. It exposes only capacity, completed requests and counters, not the drive file."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import RunFailed
from ssdlab.hardware.identification.box import Completed, Counters, flush_us
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.targets.preconditioning import saved_state
from ssdlab.simulator.workloads import jobs, specifying

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.engine import plain
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.results.job_result import JobResult

LOG = "write_lat_log=identify\nlog_avg_msec=0\nlog_offset=1\n"
"""Options of a job whose requests `completed` lists."""


class SimulatedBox:
    """Runs jobs one after another on one drive. Between jobs the drive's state is in a file of `folder`."""

    def __init__(self, drive: "ResolvedDrive", folder: Path, *, seed: int = 1, state: Path | None = None) -> None:
        """`state` is a file saved by `keep`, from which to continue."""
        # Sizes in jobs refer to the drive as it is here, even if it was scaled from a larger one.
        self.__drive = replace(drive, scale=Fraction(1))
        self.__folder = folder
        self.__seed = seed
        self.__state = state
        self.__counters = Counters(0, 0)
        self.__calls = 0
        if state is not None:
            host, nand, self.__calls = map(int, state.with_suffix(".counters").read_text("ascii").split())
            self.__counters = Counters(host, nand)

    @property
    def capacity_bytes(self) -> int:
        return self.__drive.capacity.user_bytes

    @property
    def sector_bytes(self) -> int:
        return 512

    @property
    def draws_as_simulated(self) -> bool:
        return True

    def run(self, sections: Sequence[str]) -> list[Completed]:
        text = "".join(f"{each}{LOG}" for each in sections)
        initial = None if self.__state is None else saved_state(self.__state)
        self.__calls += 1
        specification = specifying.specify(
            jobs.parse(text, "identify"),
            self.__drive,
            seed=self.__seed + self.__calls,
            series_points_max=2,
            initial_state=initial,
        )
        new = self.__folder / "next.state"
        result = simulated.run(specification, save_state=new)
        if result.failure:
            raise RunFailed(f"the drive failed: {result.failure}")
        self.__state = new.replace(self.__folder / "now.state")
        self.__count(result)
        logs = [log for _, log in result.job_logs]
        return [completed(job, log) for job, log in zip(result.jobs, logs, strict=True)]

    def counters(self) -> Counters:
        return self.__counters

    def keep(self, name: str) -> Path:
        """Saves the current state of the drive to a file, from which another box can continue. Returns the file's
        path."""
        path = self.__folder / f"{name}.state"
        if self.__state is not None:
            now = self.__counters
            path.with_suffix(".counters").write_text(
                f"{now.host_written_bytes} {now.nand_written_bytes} {self.__calls}", "ascii"
            )
            partial = path.with_suffix(".copying")
            shutil.copyfile(self.__state, partial)
            partial.replace(path)
        return path

    def remove(self) -> None:
        """Deletes the files of all states."""
        for path in [*self.__folder.glob("*.state"), *self.__folder.glob("*.counters")]:
            path.unlink()

    def __count(self, result: "Result") -> None:
        before, ledger = self.__counters, result.ledger
        self.__counters = Counters(
            before.host_written_bytes + ledger.host_written_bytes, before.nand_written_bytes + ledger.programmed_bytes
        )


def completed(job: "JobResult", log: "plain.LogColumns") -> Completed:
    """The requests of a simulated job with the options `LOG`."""
    import numpy as np

    values = {
        "time_ns": log["time_ns"],
        "latency_ns": log["latency_ns"],
        "bytes": log["bytes"],
        "offset_bytes": log["offset_bytes"],
    }
    column = {name: np.asarray(each, dtype=np.int64) for name, each in values.items()}
    order = np.argsort(column["time_ns"], kind="stable")
    flushes = job.flush.latency
    return Completed(
        job.name,
        job.seconds or 0.0,
        column["time_ns"][order] / 1e9,
        column["latency_ns"][order] / 1e3,
        column["bytes"][order],
        column["offset_bytes"][order],
        job.write.io_bytes,
        flush_us(flushes.mean_ns, flushes.min_ns) if flushes is not None else None,
    )
