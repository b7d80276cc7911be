"""The page for a drive that `ssdlab mount` or `serve` has open in another process; it mostly only observes."""

from dataclasses import dataclass, field
from typing import Any

from ssdlab.errors import InputError
from ssdlab.live import choices
from ssdlab.live.messages import DriveStatus, MomentStatus, PowerLoss, Status
from ssdlab.live.recovery import Recovery, power_loss_steps
from ssdlab.live.served import WatchedDrive
from ssdlab.live.theory import Line


class NoTheory:
    """No closed form applies to the writes of real programs."""

    def line(self, effective_over_provisioning: float | None) -> Line:
        return Line(None, None, "programs determine the writes; no closed form applies")


@dataclass(frozen=True)
class NowServed:
    """The one drive, for as long as the page is open."""

    session: WatchedDrive
    generation: int = 0
    theories: list[NoTheory] = field(default_factory=lambda: [NoTheory()])


class Watching:
    """A served drive as the subject of the server."""

    rests_unwatched = False

    def __init__(self, drive: WatchedDrive) -> None:
        self.now = NowServed(drive)
        self.moments: list[MomentStatus] = []
        self._figures = drive.figures()
        self._recovery: Recovery | None = None

    def close(self) -> None:
        self.now.session.close()

    def set_watched(self, is_watched: bool) -> None:
        """Does nothing: programs use the drive, whether a page is open or not."""

    def status(self) -> Status:
        """The status as in `Workbench.status`; `watched` names the drive."""
        description, capacity = self.now.session.description, self._figures["capacity"]
        unit_bytes = capacity["mapping_unit_bytes"]
        physical, user = capacity["physical_units"] * unit_bytes, capacity["user_units"] * unit_bytes
        ftl = description["drive"]["ftl"]
        drive: DriveStatus = {
            "label": description["name"],
            "choice": {"name": description["name"], "op": None, "victim": None, "placement": None},
            "name": description["name"],
            "description": "",
            "scale": description["scale"],
            "victim": ftl["victim"]["name"],
            "placement": ftl["placement"]["name"],
            "erase_units": capacity["erase_units"],
            "units_per_erase_unit": capacity["units_per_erase_unit"],
            "mapping_unit_bytes": unit_bytes,
            "physical_bytes": physical,
            "user_bytes": user,
            "over_provisioning": physical / user - 1,
            "used_over_provisioning": physical / user - 1,
            "endurance_cycles": description["drive"]["nand"]["endurance_cycles"],
        }
        return {
            "watched": f"served at {description['place']}",
            "generation": 0,
            "running": True,
            "finished": False,
            "failure": None,
            "requests_per_second": None,
            "workload": None,
            "job": None,
            "partition_percent": 100,
            "timed": True,
            "seed": description["seed"],
            "drives": [drive],
            "moments": self.moments,
            "tour": None,
            "recovery": self._recovery.plain() if self._recovery else None,
        }

    def carry_out(self, command: Any) -> Any:
        """Executes a command for a drive in use. Raises InputError if not allowed, RunFailed if the drive is gone."""
        drive = self.now.session
        match command:
            case choices.EraseUnit():
                return drive.erase_unit(0, command.index)
            case choices.CutPower():
                self._cut_power()
                return None
            case choices.PowerOn():
                self._recovery = None
                return None
            case choices.Mark():
                name = command.name or f"moment {len(self.moments) + 1}"
                drive.command(f"mark {name}")
                self._figures = drive.figures()
                written = self._figures["ledger"]["host_written_bytes"]
                self.moments.append(
                    {
                        "name": name,
                        "host_written_bytes": [written],
                        "simulated_seconds": [self._figures["simulated_seconds"]],
                    }
                )
                return None
        raise InputError("programs control the drive; this page can only mark moments and cut the power")

    def _cut_power(self) -> None:
        """Cuts the power of the drive, which recovers immediately; the page shows its recovery until PowerOn."""
        drive, specification = self.now.session, self.now.session.description["drive"]
        states, ages = drive.cells(0, "state"), drive.cells(0, "age")
        drive.command("power-cut")
        device = drive.statistics()["ssdlab"].get("device")
        assert device is not None and device["recovery"] is not None, "a served drive tells of its recovery"
        buffer = specification["write_buffer"]
        protected = buffer["bytes"] > 0 and buffer["power_loss_protection"]
        loss: PowerLoss = {"power_loss_protection": protected, **device["recovery"]}
        steps = power_loss_steps(loss, states, ages, specification)
        self._recovery = Recovery(device["power_cycles"], True, True, (steps,))
