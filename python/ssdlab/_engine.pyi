"""Types of the native module: the simulated drive, one call a run."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal, final

__all__ = [
    "Asked",
    "Device",
    "HeldTrace",
    "LiveDrive",
    "Mount",
    "NvmeServer",
    "RunError",
    "Server",
    "SpecificationError",
    "TraceError",
    "check",
    "describe",
    "memory",
    "policies",
    "profile",
    "replay",
    "run",
    "schema",
    "survey",
    "trace_formats",
    "version",
]

class SpecificationError(ValueError):
    """The specification cannot be run. `args` is (key, value, allowed)."""

class RunError(RuntimeError):
    """A run ended with an error, as when a database no longer fits on its volume."""

class TraceError(ValueError):
    """A trace cannot be read or replayed. `args` is (kind, name of the file or None, message)."""

def run(
    specification_json: str,
    on_progress: Callable[[float, int], None] | None = None,
    from_state: tuple[str, int] | None = None,
    save_state: str | None = None,
) -> str:
    """Run a specification to its end and return the outcome as JSON.

    `from_state` and `save_state` are files that hold the state of a drive, before and after; with the first goes how
    many times larger the drive's erase units are than those of the drive that was saved. The outcome then has a key
    `began`, with what that state had counted, which its own counters include.

    `on_progress` gets the share that is done, 0 to 1, and the host bytes written so far, about ten times a second; what
    it raises ends the run and comes out of this call.
    """

def replay(
    specification_json: str,
    trace_json: str,
    on_progress: Callable[[float, int], None] | None = None,
    from_state: tuple[str, int] | None = None,
    save_state: str | None = None,
    held: HeldTrace | None = None,
) -> str:
    """As `run`, and after the specification's jobs, of which there may be none, a trace.

    `trace_json` has `files` (a list of `path` and `name`), `format`, `skip_bad_max`, `volume`, `map` ("fold", "compact"
    or "strict") and `loop_until_written_bytes`; `format`, `volume` and the last may be null. The outcome also has a key
    `trace`. The files are not read where `held` has what `profile` read of them and of that volume.
    """

@final
class HeldTrace:
    """The requests of a trace in memory. Pickled, it becomes None."""

    def __reduce__(self) -> tuple[type[None], tuple[()]]: ...

def survey(trace_json: str) -> str:
    """Read a trace once, in constant memory: its formats and volumes, as JSON."""

def profile(trace_json: str, hold: bool = False, region_bytes: int = 4096) -> tuple[str, HeldTrace | None]:
    """Read a trace once: what `survey` gives, and what its requests are like, as JSON.

    Its hottest regions are of that size, in whole units of 4096 bytes.

    With `hold` the requests as well, unless there are more than two million or so.
    """

def schema() -> str:
    """The JSON schema of drive files, specifications and outcomes, from the engine's types.

    `properties` has `drive_file`, `described_drive`, `problem`, `specification` and `outcome`, whose types are in
    `$defs`. `required` lists the keys of a type in their order; one that may be left out has a `default`. A property of
    a drive file may have a `unit`, and `acts`: when it has an effect, where that is not always.
    """

def check(drive_json: str, part: Literal["keys", "geometry", "all"] = "all") -> str:
    """All that is wrong with a drive file, as a JSON list of `problem`s of the schema.

    `keys` looks at keys and at each value alone, `geometry` also at what does not depend on how much the host may use.
    """

def describe(drive_json: str, sold_bytes: int | None = None) -> str:
    """A drive file without problems, but perhaps with how much the host may use: a `described_drive` of the schema.

    `sold_bytes` is what the drive is sold as, where that is not what its file says.
    """

def trace_formats() -> str:
    """All trace formats as a JSON list of `{"name", "aliases", "description"}`."""

def memory(specification_json: str) -> str:
    """What a run takes, as JSON: `of_units_bytes`, which goes with the scale of the drive, and `other_bytes`."""

def policies() -> str:
    """All policies as a JSON list of `{"kind", "name", "summary", "source", "parameters"}`."""

def version() -> str:
    """The version of the engine, as in `Cargo.toml`."""

_CellsBy = Literal["valid", "erase_count", "age", "stream", "temperature", "state"]
"""What the bytes of a picture tell, one an erase unit:

- `valid`: the share of its places for data that is live, 255 for all of them;
- `erase_count`: 0 for the least worn erase unit of the drive, 255 for the most worn;
- `age`: how long ago it was filled, `255 a / (1 + a)` after `a` drive writes of what is live, so 128 after one; 0
  while it is open or free;
- `stream`: the number of the stream that filled it or fills it; 255 free, 254 retired;
- `temperature`: how often its units are overwritten, `255 r / (1 + r)` for a rate `r` that is 1, and so 128, under
  uniform writes: the logarithm of its live share over its age; 0 while it is open or free;
- `state`: 0 free, 1 open, 2 closed, 3 being emptied, 4 full in SLC mode, 5 retired.
"""

@final
class LiveDrive:
    """A run that someone watches, step by step, and changes while it goes on. Any thread may call while another
    advances it; the GIL is released."""

    def __new__(cls, specification_json: str) -> LiveDrive:
        """What `run` takes; its list of jobs may be empty. Raises SpecificationError."""
    def advance(self, requests_max: int, wall_seconds_max: float) -> str:
        """Go on until so many requests are issued, so much time is over, or nothing is left to do.

        JSON: `requests` issued in this call (with a clock a few more than asked for may come due at once), `finished`,
        `job` (index of the first running job, or null), `read_only` (why the drive takes no more writes, or null).
        """
    def append_job(self, job_json: str) -> None:
        """One more job, as in the specification, in a stage that has not begun. Raises SpecificationError."""
    def end_job(self, after_requests: Sequence[int] | None = None) -> None:
        """The jobs that run end after the requests that they have issued, one at the least, or after so many, by job.

        With a clock a job that is held back, by a rate, pauses or flushes, issues one more. What is outstanding is
        completed by `advance`. Raises SpecificationError for a run until the steady state.
        """
    def drop_jobs_to_come(self) -> None:
        """Take the jobs off the list that have not begun. Raises SpecificationError as `end_job`."""
    def specification(self) -> str:
        """The specification, as JSON, that `run` takes to the same outcome, once this run is finished: a job that was
        ended has its `number_ios`. Raises SpecificationError when a job was ended that had begun again."""
    def issued(self) -> list[int]:
        """Requests that each of the jobs has issued so far; of trims and writes in pairs both count."""
    def figures(self) -> str:
        """How the drive is, and in `since` what it did after the last call, as JSON: `Figures` of
        `crates/engine/src/simulation/live/figures.rs`. Null is what was not measured."""
    def cells(self, by: _CellsBy) -> bytes:
        """One byte an erase unit: see _CellsBy. Raises SpecificationError for another word."""
    def marks(self) -> str:
        """JSON: `open` (pairs of erase unit and stream), `emptying`, and since the last call, the latest 256 of each,
        newest last: `victims` (erased) and `moves` (from, to, units)."""
    def erase_unit(self, index: int) -> str:
        """JSON: `state`, `stream`, `erase_count`, `valid`, `age`, `temperature`, and `units`, a character a place: `v`
        live, `s` stale, `.` erased, `p` parity or a map page. Raises IndexError."""
    def cut_power(self) -> str:
        """What a loss of power would cost now, as JSON: `PowerLoss` of `crates/engine/src/simulation/live/power.rs`.
        The drive goes on as it was."""
    def outcome(self) -> str:
        """What `run` would return if the run ended now."""

@final
class Device:
    """A drive that keeps what is written to it."""

    def __new__(cls, drive_json: str, options_json: str) -> Device:
        """Open it. `drive_json` is the specification's drive; `options_json` has `does_nothing` and `drive`, which are
        `Options` of `crates/blockdev/src/drive/contents.rs`. Raises SpecificationError, and OSError for its file."""
    @staticmethod
    def memory(drive_json: str, options_json: str) -> str:
        """What such a drive takes without its contents, as JSON in the form of `_engine.memory`."""
    def state(self) -> str:
        """`outcome`, what a run would give that ended now, and what no run counts, as JSON."""
    def figures(self) -> str:
        """As those of LiveDrive: requests are those that are complete since someone first looked."""
    def cells(self, by: _CellsBy) -> bytes:
        """One byte an erase unit: see _CellsBy. Raises SpecificationError for another word."""
    def marks(self) -> str:
        """As those of LiveDrive, from the first call on."""
    def erase_unit(self, index: int) -> str:
        """As that of LiveDrive. Raises IndexError."""
    def command(self, line: str) -> None:
        """Carry out a line as it is written to `control`. Raises ValueError when it is none."""
    def record(self, place: str | PathLike[str]) -> None:
        """Write down what is asked from now on, without data, in a new file. Raises OSError."""
    def take_recording(self) -> Asked:
        """End the recording. Raises ValueError without one, OSError if it could not be written."""
    def close(self) -> None:
        """An orderly end: all of it in flash, the map noted, a file on its disk. Raises OSError."""
    def mount(self, folder: str | PathLike[str], threads: int, render: Callable[[str], str]) -> Mount:
        """Mount it at a folder; `render(state)` gives the text of `stats.json`. Raises OSError."""
    def serve_at_socket(self, path: str | PathLike[str], connections_max: int) -> Server:
        """Serve it over NBD at a unix socket, to 1 to 1024 connections at a time. Raises OSError."""
    def serve_at_port(self, host: str, port: int, connections_max: int) -> Server:
        """The same at a TCP port; 0 takes a free one. Raises OSError."""
    def serve_nvme(self, host: str, port: int, model: str, render: Callable[[str], str]) -> NvmeServer:
        """Serve it over NVMe/TCP at a port; 0 takes a free one. `render(state)` gives the figures of the logs as JSON.
        Raises OSError."""

@final
class Asked:
    """What was asked of a drive, without data."""

    def replay(self, drive_json: str, options_json: str) -> str:
        """Ask a new drive of the same capacity the same; its state, as that of Device. Raises SpecificationError,
        OSError for the recording, KeyboardInterrupt."""

@final
class Mount:
    """A folder with a drive in it."""

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until someone unmounts it; says whether it is over."""
    def unmount(self) -> None:
        """Unmount it. Raises OSError while a program has a file of it open."""

@final
class Server:
    """A drive that is served over NBD."""

    @property
    def port(self) -> int | None:
        """The TCP port; None for a unix socket."""
    @property
    def connections(self) -> int:
        """How many clients have come so far."""
    @property
    def refused(self) -> int:
        """How many of them were closed at once, since there were as many as may be."""
    def stop(self) -> None:
        """Shut all connections and take the socket away."""

@final
class NvmeServer:
    """A drive that is served over NVMe/TCP."""

    @property
    def port(self) -> int:
        """The TCP port."""
    @property
    def nqn(self) -> str:
        """The name of the drive's subsystem."""
    @property
    def hosts(self) -> int:
        """How many hosts have the drive attached."""
    def stop(self) -> None:
        """Close all connections; waits up to 12 s for attached hosts, so that they hear that the drive is gone."""
