"""Executes the commands of the page. A tour, a key and a button all use this module."""

from typing import Any

from ssdlab.errors import InputError
from ssdlab.live import catalogue, choices
from ssdlab.live.reports import Reports
from ssdlab.live.share import command_line, job_file_name
from ssdlab.live.tours import Tour, tour_named
from ssdlab.live.workbench import Workbench


class Commands:
    """Executes commands on a workbench. Not thread-safe."""

    def __init__(self, workbench: Workbench, reports: Reports, tours: dict[str, Tour]) -> None:
        self.workbench = workbench
        self.reports = reports
        self._tours = tours

    def carry_out(self, command: Any) -> Any:
        """Executes a command and returns the answer for the page. Raises InputError and RunFailed."""
        bench = self.workbench
        match command:
            case choices.Run():
                if bench.session.is_finished:
                    raise InputError("the drive has completed all its jobs; select a workload, or reset")
                bench.run()
            case choices.Pause():
                bench.pause()
            case choices.Step():
                bench.pause()
                bench.power_on()
                bench.session.step(command.requests)
            case choices.Speed():
                speed = command.requests_per_second
                bench.set_speed(None if speed == "fastest" else speed)
            case choices.Reset():
                bench.reset()
            case choices.SetWorkload():
                bench.set_workload(command.workload)
            case choices.ShippedJob():
                bench.start_job(f"{command.name}.fio", catalogue.job_named(command.name).text)
            case choices.DroppedJob():
                bench.start_job(command.name, command.text)
            case choices.Partition():
                bench.set_partition(command.percent)
            case choices.Fill():
                bench.fill()
            case choices.Drives():
                bench.set_drives(command.drives)
            case choices.Mark():
                bench.mark(command.name)
            case choices.CutPower():
                bench.cut_power()
            case choices.PowerOn():
                bench.power_on()
            case choices.EraseUnit():
                return bench.erase_unit(command.drive, command.index)
            case choices.Share():
                return self._share()
            case choices.Report():
                return self.reports.save(bench)
            case choices.Tour():
                self._go_to(command)
        return None

    def _share(self) -> list[dict[str, str]]:
        """For each drive, the command line that reproduces the figures, and its job file."""
        with self.workbench.settled() as drives:
            return [
                {
                    "command": command_line(self.workbench, drive),
                    "name": job_file_name(drive),
                    "job_file": settled.job_file,
                }
                for drive, settled in enumerate(drives)
            ]

    def _go_to(self, place: choices.Tour) -> None:
        if place.name is None:
            self.workbench.tour = None
            return
        tour = tour_named(self._tours, place.name)
        step = tour.step(place.step)
        self.workbench.tour = (place.name, place.step)
        for name, arguments in step.actions:
            self.carry_out(choices.command(name, arguments))
