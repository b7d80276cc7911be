"""What a served drive would have done with another spare area: its requests, asked of drives with more or less flash.

The host keeps its capacity, so that every address exists there too. At virtual pace a request is made when as few are
outstanding as then (a closed loop: a faster drive gets it earlier); at real pace it keeps its time. Not for data: of a
drive that compresses or deduplicates, what it stores depends on what was written, which is not kept.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ssdlab.errors import InputError, RunFailed
from ssdlab.foundation.quantities import format_share
from ssdlab.presentation.terminal import show
from ssdlab.serving.drive import ServedDrive
from ssdlab.serving.ending import p99_text, waf_text, was_asked
from ssdlab.serving.so_far import result_of
from ssdlab.simulator import engine
from ssdlab.simulator.drives import ResolvedDrive
from ssdlab.simulator.drives.same_capacity import with_spare_area
from ssdlab.simulator.drives.schema import DriveFile
from ssdlab.simulator.results.device_json import WhatIfJson
from ssdlab.simulator.results.result import Result

_HEADS = ("phase", "spare area", "WAF", "read p99", "write p99")


class WhatIf:
    """The requests of a served drive, and the drives that are asked again. Nothing is written without spare areas."""

    def __init__(self, served: ServedDrive, drive: ResolvedDrive, shares: Sequence[float]) -> None:
        """Begins to write down what is asked of `served`, which has just been opened.

        Raises InputError if a drive with one of the spare areas is not possible, or the requests do not say what it
        would do.
        """
        self._served = served
        self._own = drive.capacity.over_provisioning
        self._drives = [with_spare_area(drive, share, "--what-if") for share in shares]
        if not self._drives:
            return
        if drive.file.zones.zone_bytes:
            raise InputError(f"{drive.name}: --what-if: a drive with zones moves no data, and has no spare area for it")
        if drive.file.data_reduction.compression or drive.file.data_reduction.deduplication:
            raise InputError(f"{drive.name}: --what-if: what is stored depends on the data, and only requests are kept")
        if not served.began_new:
            raise InputError("--what-if: --store holds a drive in use; what it would be with more flash is not known")
        with tempfile.NamedTemporaryFile(prefix="ssdlab-") as file:
            served.device.record(file.name)

    def asked_again(self) -> Iterator[tuple[DriveFile, Result]]:
        """Each drive with the result of the same requests, in the time that they take.

        Raises RunFailed if they could not be written down.
        """
        if not self._drives:
            return
        try:
            asked = self._served.device.take_recording()
        except OSError as error:
            raise RunFailed(f"--what-if: the requests could not be kept: {error.strerror or error}") from None
        for drive in self._drives:
            with engine.in_words_of_the_user():
                state = json.loads(asked.replay(json.dumps(drive.specification), self._served.options_of_another()))
            description = self._served.description()
            yield (
                drive,
                result_of(state["outcome"], drive.specification, seed=description["seed"], scale=description["scale"]),
            )

    def say(self, state: str, console: Console) -> list[WhatIfJson]:
        """Prints a table of all spare areas, and returns those that were asked for. `state` is the served drive's."""
        own = self._served.result_of(state)
        if not _phases(own):
            return []
        if self._drives and not own.ledger.host_written_bytes:
            console.print("\nnothing was written: another spare area would have changed nothing")
            return []
        again = [(drive.capacity.over_provisioning, result) for drive, result in self.asked_again()]
        if not again:
            return []
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for head in _HEADS:
            table.add_column(head, justify="left" if head == "phase" else "right", no_wrap=head != "phase")
        runs = [(self._own, own), *again]
        for index in _phases(own):
            for share, result in runs:
                found = result.jobs[index]
                name = found.name if result is own else ""
                shown = f"{format_share(share)}{' (as served)' if result is own else ''}"
                table.add_row(name, shown, waf_text(found.waf), p99_text(found, "read"), p99_text(found, "write"))
        console.print("\nthe same requests on a drive with more or less flash for the same capacity:")
        show(table, console, ())
        for sentence in self._sentences(own):
            console.print(sentence)
        for share, result in again:
            if result.failure:
                console.print(f"with {format_share(share)} the drive stopped writing: {result.failure}")
        return [_json(share, result, _phases(own)) for share, result in again]

    def _sentences(self, own: Result) -> Iterator[str]:
        if self._served.is_real_pace:
            yield "Each request keeps its time (--pace real); a program that waits for answers would have changed it."
        else:
            yield "As many requests are in flight as here: where a drive answers sooner, the next one is sent sooner."
        times = own.ledger.host_written_bytes / own.capacity.user_bytes
        if times < 1:
            yield (
                f"The host wrote {format_share(times, 2)} of the drive's capacity: a drive that has been full for long "
                "moves more than all of these."
            )


def _phases(own: Result) -> list[int]:
    """Indices of the phases in which something was asked."""
    return [index for index, job in enumerate(own.jobs) if was_asked(job)]


def _json(share: float, result: Result, phases: Sequence[int]) -> WhatIfJson:
    found: WhatIfJson = {
        "over_provisioning": share,
        "waf": result.waf,
        "phases": [
            {
                "name": job.name,
                "waf": job.waf,
                "read_p99_ns": job.read.latency.percentile_ns(99) if job.read.latency else None,
                "write_p99_ns": job.write.latency.percentile_ns(99) if job.write.latency else None,
            }
            for job in map(result.jobs.__getitem__, phases)
        ],
    }
    return {**found, "failure": result.failure} if result.failure else found
