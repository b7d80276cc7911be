"""A simulated drive that stores contents, and its statistics in the form of a result."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from ssdlab.errors import InputError, RunFailed
from ssdlab.serving import smart
from ssdlab.serving.so_far import result_of
from ssdlab.simulator import engine
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results import fdp
from ssdlab.simulator.results.device_json import DeviceState, WhatIfJson
from ssdlab.simulator.results.result import Result, ResultJson

if TYPE_CHECKING:
    from ssdlab._engine import Device
    from ssdlab.simulator.drives import ResolvedDrive


class _Contents(TypedDict):
    file: str


class _Options(TypedDict):
    """Options of the native module's `Device`."""

    seed: int
    queue_depth: int | None
    pace: NotRequired[Literal["real"]]
    faults: NotRequired[dict[str, float]]
    contents: NotRequired[_Contents]


class Description(TypedDict):
    """The description of a served drive."""

    name: str
    drive: plain.Drive
    """The specification as given to the engine."""
    seed: int
    scale: str


class ServedDescription(Description):
    """The description of a served drive for other processes."""

    place: str
    """The folder or address where the drive is served."""
    pid: int


class ServedDrive:
    """A simulated drive that stores the data written to it."""

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
        knows_zones: bool = False,
    ) -> None:
        """Opens the drive. `store` is a file that keeps the contents; without it the contents are in memory.

        `queue_depth` is the number of requests in the queue in simulated time, by default the number that are waiting.
        With `does_nothing` programs get a device of the same size that ignores requests, to measure the overhead of the
        interface. With `real_pace` a request completes when the simulated drive would complete it, otherwise as soon as
        possible. `faults` are the shares of flash operations that fail, by kind: uncorrectable_reads, program_failures,
        erase_failures. `knows_zones` says that the front end shows the zones of a drive that has any; without it such
        a drive is refused. Raises InputError if the drive is not valid or the file holds another drive, RunFailed if
        there is no space for the file.
        """
        self._specification = drive.specification()
        zone_bytes = self._specification["zones"]["zone_bytes"]
        if zone_bytes > 0 and not knows_zones:
            allowed = "0 for a drive that is mounted or served over NBD: zones are for NVMe (ssdlab serve --nvme PORT)"
            raise InputError(f"{drive.name}: zones.zone_bytes: {zone_bytes}; allowed: {allowed}")
        self._scale = str(drive.scale)
        self._name = drive.name
        self._seed = seed
        self._store = store
        self.is_real_pace = real_pace
        self.began_new = store is None or not store.exists() or not store.stat().st_size
        options: _Options = {"seed": seed, "queue_depth": queue_depth}
        if real_pace:
            options["pace"] = "real"
        if faults:
            options["faults"] = dict(faults)
        if store is not None:
            options["contents"] = {"file": str(store)}
        self._options = options
        self.device: Device = engine.open_device(
            json.dumps(self._specification),
            json.dumps({"drive": options, "does_nothing": does_nothing}),
            self._scale,
            store,
        )

    def close(self) -> None:
        """Closes the drive cleanly. Raises RunFailed if the file cannot be written or ran out of space."""
        try:
            self.device.close()
        except OSError as error:
            where = f"--store {self._store}: " if self._store else ""
            raise RunFailed(f"the drive could not be closed cleanly: {where}{error.strerror or error}") from None

    def options_of_another(self) -> str:
        """The options of the native module for a new drive in memory that is otherwise served alike."""
        return json.dumps({"drive": {key: value for key, value in self._options.items() if key != "contents"}})

    def description(self) -> Description:
        """The drive's `name`, `drive` (specification as given to the engine), `seed` and `scale`."""
        return {"name": self._name, "drive": self._specification, "seed": self._seed, "scale": self._scale}

    @property
    def size_bytes(self) -> int:
        return int(self._specification["ftl"]["user_bytes"])

    @property
    def physical_bytes(self) -> int:
        """The size of all flash, which is the upper bound of the contents' memory or file."""
        return self._result(self.device.state())[0].capacity.physical_bytes

    def statistics(self) -> ResultJson:
        """The result so far, as `ssdlab run` would return it for a run that ended now, with phases as jobs."""
        return self.render_dict(self.device.state())

    def result_of(self, state: str) -> Result:
        """The result so far, from the state that the native module reports."""
        return self._result(state)[0]

    def render(self, state: str, what_if: Sequence[WhatIfJson] = ()) -> str:
        """The text of `stats.json` from the state that the native module reports."""
        return json.dumps(self.render_dict(state, what_if), indent=2) + "\n"

    def render_logs(self, state: str) -> str:
        """The figures of an NVMe controller's logs, from the state that the native module reports."""
        found, whole = self.render_dict(state)["ssdlab"], json.loads(state)
        host = {name: found["host"][name] for name in ("read_bytes", "written_bytes")}
        live_units = whole.get("live_units", [whole["outcome"]["capacity"]["live_units"]])
        logs = {"host": host, "live_units": live_units, "fdp": found.get("fdp")}
        return json.dumps({**found.get("smart", {}), **logs})

    def render_dict(self, state: str, what_if: Sequence[WhatIfJson] = ()) -> ResultJson:
        result, whole = self._result(state)
        found = result.to_dict()
        found["ssdlab"]["device"] = {
            "power_cycles": whole["power_cycles"],
            "recovery": whole["recovery"],
            "events": whole["events"],
            "real_pace": whole["real_pace"],
        }
        if what_if:
            found["ssdlab"]["device"]["what_if"] = list(what_if)
        placement, host_events = found["ssdlab"].get("fdp"), whole.get("host_events")
        if placement and host_events:
            groups = fdp.reclaim_groups(self._specification)
            placement["host_events"] = fdp.host_events(host_events, groups)
        found["ssdlab"]["smart"] = smart.logs(
            found["ssdlab"], found["jobs"], whole["outcome"], self._specification, whole
        )
        return found

    def _result(self, state: str) -> tuple[Result, DeviceState]:
        whole: DeviceState = json.loads(state)
        result = result_of(whole["outcome"], self._specification, seed=self._seed, scale=self._scale)
        return result, whole
