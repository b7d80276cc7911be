"""A drive with contents, and its statistics in the form of a result."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from ssdlab import engine
from ssdlab.engine import plain
from ssdlab.errors import RunFailed
from ssdlab.results.device_json import DeviceState
from ssdlab.results.result import Result, ResultJson
from ssdlab.serving import smart
from ssdlab.serving.so_far import result_of

if TYPE_CHECKING:
    from ssdlab._engine import Device
    from ssdlab.drives import ResolvedDrive


class _Contents(TypedDict):
    file: str


class _Options(TypedDict):
    """Of the native module's `Device`."""

    seed: int
    queue_depth: int | None
    pace: NotRequired[Literal["real"]]
    faults: NotRequired[dict[str, float]]
    contents: NotRequired[_Contents]


class Description(TypedDict):
    """What a served drive is."""

    name: str
    drive: plain.Drive
    """As given to the engine."""
    seed: int
    scale: str


class ServedDescription(Description):
    """As other processes see it."""

    place: str
    """The folder or address where it is served."""
    pid: int


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
        """Opens it. `store` is a file that outlives the process; without one the contents are in memory.

        `queue_depth` is how many requests stand in the queue in simulated time, by default as many as are seen to wait.
        With `does_nothing` programs get a device of its size that does nothing, to measure what the way to it costs.
        With `real_pace` a request is answered when the simulated drive would have it, else as soon as this machine can.
        `faults` are shares of the flash's operations that fail, by kind: uncorrectable_reads, program_failures,
        erase_failures.
        Raises InputError when the drive cannot be, or the file holds another; RunFailed when the file finds no room.
        """
        self._specification = drive.specification()
        self._scale = str(drive.scale)
        self._name = drive.name
        self._seed = seed
        self._store = store
        options: _Options = {"seed": seed, "queue_depth": queue_depth}
        if real_pace:
            options["pace"] = "real"
        if faults:
            options["faults"] = dict(faults)
        if store is not None:
            options["contents"] = {"file": str(store)}
        self.device: Device = engine.open_device(
            json.dumps(self._specification),
            json.dumps({"drive": options, "does_nothing": does_nothing}),
            self._scale,
            store,
        )

    def close(self) -> None:
        """An orderly end. Raises RunFailed when the file cannot be written, or had no room for something."""
        try:
            self.device.close()
        except OSError as error:
            where = f"--store {self._store}: " if self._store else ""
            raise RunFailed(f"the drive could not be closed cleanly: {where}{error.strerror or error}") from None

    def description(self) -> Description:
        """What it is: `name`, `drive` as given to the engine, `seed`, `scale`."""
        return {"name": self._name, "drive": self._specification, "seed": self._seed, "scale": self._scale}

    @property
    def size_bytes(self) -> int:
        return self._specification["ftl"]["user_bytes"]

    @property
    def physical_bytes(self) -> int:
        """All the flash: the memory or file that the contents may come to take."""
        return self._result(self.device.state())[0].capacity.physical_bytes

    def statistics(self) -> ResultJson:
        """The result so far: what `ssdlab run` would give for a run that ended now, with phases as jobs."""
        return self.render_dict(self.device.state())

    def render(self, state: str) -> str:
        """`stats.json` from the state that the native module reports."""
        return json.dumps(self.render_dict(state), indent=2) + "\n"

    def render_dict(self, state: str) -> ResultJson:
        result, whole = self._result(state)
        found = result.to_dict()
        found["ssdlab"]["device"] = {
            "power_cycles": whole["power_cycles"],
            "recovery": whole["recovery"],
            "events": whole["events"],
            "real_pace": whole["real_pace"],
        }
        found["ssdlab"]["smart"] = smart.logs(
            found["ssdlab"], found["jobs"], whole["outcome"], self._specification, whole
        )
        return found

    def _result(self, state: str) -> tuple[Result, DeviceState]:
        whole: DeviceState = json.loads(state)
        result = result_of(whole["outcome"], self._specification, seed=self._seed, scale=self._scale)
        return result, whole
