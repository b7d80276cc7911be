"""A drive with contents, and its statistics in the form of a result."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.results.result import Result
from ssdlab.serving import smart
from ssdlab.targets import engine
from ssdlab.targets.specification import Reporting, Specification

if TYPE_CHECKING:
    from ssdlab._engine import Device
    from ssdlab.drives import ResolvedDrive


class ServedDrive:
    """A simulated drive that keeps what is written to it."""

    def __init__(
        self,
        drive: "ResolvedDrive",
        *,
        seed: int = 1,
        store: Path | None = None,
        queue_depth: int | None = None,
        does_nothing: bool = False,
        real_pace: bool = False,
        faults: Mapping[str, float] | None = None,
    ) -> None:
        """Opens it. `store` is a sparse file that outlives the process; without one the contents are in memory.

        `queue_depth` is how many requests stand in the queue in simulated time, by default as many as are seen to wait.
        With `does_nothing` programs get a device of its size that does nothing, to measure what the way to it costs.
        With `real_pace` a request is answered when the simulated drive would have it, else as soon as this machine can.
        `faults` are shares of the flash's operations that fail, by kind: uncorrectable_reads, program_failures,
        erase_failures.
        Raises InputError when the drive cannot be, or the file holds another.
        """
        self._specification = drive.specification()
        self._scale = str(drive.scale)
        self._name = drive.name
        self._seed = seed
        self._version = engine.native().version()
        options: dict[str, Any] = {"seed": seed, "queue_depth": queue_depth}
        if real_pace:
            options["pace"] = "real"
        if faults:
            options["faults"] = dict(faults)
        if store is not None:
            options["contents"] = {"file": str(store)}
        try:
            self.device: Device = engine.open_device(
                json.dumps(self._specification), json.dumps({"drive": options, "does_nothing": does_nothing})
            )
        except OSError as error:
            raise InputError(f"--store {store}: {error.strerror or error}") from None

    def close(self) -> None:
        """An orderly end. Raises RunFailed when the file cannot be written."""
        try:
            self.device.close()
        except OSError as error:
            raise RunFailed(f"the drive could not be closed in order: {error.strerror or error}") from None

    def description(self) -> dict[str, Any]:
        """What it is: `name`, `drive` as the engine is told, `seed`, `scale`."""
        return {"name": self._name, "drive": self._specification, "seed": self._seed, "scale": self._scale}

    @property
    def size_bytes(self) -> int:
        user_bytes: int = self._specification["ftl"]["user_bytes"]
        return user_bytes

    @property
    def physical_bytes(self) -> int:
        """All the flash: the memory or file that the contents may come to take."""
        return self._result(self.device.state())[0].capacity.physical_bytes

    def statistics(self) -> dict[str, Any]:
        """The result so far: what `ssdlab run` would give for a run that ended now, with phases as jobs."""
        return self.render_dict(self.device.state())

    def render(self, state: str) -> str:
        """`stats.json` from the state that the native module tells."""
        return json.dumps(self.render_dict(state), indent=2) + "\n"

    def render_dict(self, state: str) -> dict[str, Any]:
        result, whole = self._result(state)
        plain = result.to_dict()
        plain["ssdlab"]["device"] = {
            "power_cycles": whole["power_cycles"],
            "recovery": whole["recovery"],
            "events": whole["events"],
            "real_pace": whole["real_pace"],
        }
        plain["ssdlab"]["smart"] = smart.logs(plain["ssdlab"], plain["jobs"], whole, self._specification)
        return plain

    def _result(self, state: str) -> tuple[Result, dict[str, Any]]:
        whole = json.loads(state)
        outcome = whole["outcome"]
        phases = [{"name": job["name"], "clone": 0, "stage": job["stage"]} for job in outcome["jobs"]]
        specification = Specification(
            engine={"seed": self._seed, "drive": self._specification, "timed": True, "jobs": phases},
            reporting=tuple(Reporting({}, phase["stage"]) for phase in phases),
            scale=self._scale,
        )
        return Result(specification, outcome, version=self._version), whole
