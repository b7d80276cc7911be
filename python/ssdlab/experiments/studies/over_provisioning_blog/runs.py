"""The runs of the study: models of the drive ("accounts"), file systems, and the bytes of each run of sysbench."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads import filesystem
from ssdlab.simulator.workloads.filesystem.volume import Volume
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result

FOLDER = Path(__file__).parent
DRIVE = "intel-545s-256gb"
SCALE = "1/16"
SECONDS = 10
RUNS = 36
# The naive account drops later and needs more runs.
RUNS_NAIVE = 80
RUNS_SMALL = 8
FILES_BYTES = 140 << 30
SHRUNK_BYTES = 186 << 30
SEEDS = 3
SYSBENCH = "sysbench rndwr"
"""The name of the jobs of the runs."""
WRITES_A_FLUSH = 2
WRITES_A_ROUND = 100
CHOICES_OF_FLUSH = (1, WRITES_A_FLUSH, 4, 10, WRITES_A_ROUND)
CHOICES_OF_RESERVE_GB = (12.0, 14.0, 15.7)

RESERVE_GB = 15.7
"""The fitted reserve."""

NAIVE = "all hidden spare area is free"
RESERVE = "a reserve, hardly any spare area"
POOL = "dirty spare area, 5 GB kept erased"
CACHE = "SLC cache of 5 GB"
FREE_SHARE = "SLC cache of 4 GB and 0.3 of the free space"
ACCOUNTS: Mapping[str, Mapping[str, str]] = {
    NAIVE: {},
    RESERVE: {"ftl.reserved_bytes": f"{RESERVE_GB}GB"},
    POOL: {"background.erased_pool_bytes": "5GB", "background.idle_after_ms": "100"},
    FREE_SHARE: {
        "slc_cache.static_bytes": "4GB",
        "slc_cache.dynamic_bytes_max": "100GB",
        "slc_cache.dynamic_free_share": "0.3",
        "background.idle_after_ms": "100",
    },
    CACHE: {"slc_cache.dynamic_bytes_max": "5GB", "background.idle_after_ms": "100"},
}
USED_BEFORE = "overwrite test_file.* 60GiB random bs=64KiB"

WHOLE = "without over-provisioning"
PARTITIONED = "over-provisioned"
TRIMMED = "after fstrim"
OWN_COPIES = "without over-provisioning, the blog's own copies"
SHRUNK = "over-provisioned, the aged file system shrunk"
"""As in the blog: after the runs of `OWN_COPIES` the same file system is trimmed, shrunk, and filled again. One run of
the simulation has both."""
SMALL_WHOLE = "small test, whole drive"
SMALL_PARTITIONED = "small test, over-provisioned"
SMALL = (SMALL_WHOLE, SMALL_PARTITIONED)


@dataclass(frozen=True)
class Key:
    """One simulation."""

    account: str
    state: str
    writes_a_flush: int = WRITES_A_FLUSH
    seed: int = 1
    reserve_gb: float = RESERVE_GB
    """The reserve, for the account RESERVE."""

    @property
    def label(self) -> str:
        other = "" if self.reserve_gb == RESERVE_GB else f" of {self.reserve_gb:g} GB"
        return f"{self.account}{other}, {self.state}, flush every {self.writes_a_flush}, seed {self.seed}"

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the drive file for the account."""
        reserve = {"ftl.reserved_bytes": f"{self.reserve_gb}GB"} if self.account == RESERVE else {}
        return {**ACCOUNTS[self.account], **reserve}


@dataclass(frozen=True)
class Runs:
    """The bytes that sysbench wrote in each run, converted to the full drive."""

    written_bytes: Sequence[float]
    left_bytes: float = 0.0
    """What no file has been written to before the first run: free space for the controller."""

    @classmethod
    def of(cls, result: "Result", scale: Fraction) -> "Runs":
        """The runs of a result. `left_bytes` is meaningful if every address was written once at most before."""
        jobs = list(result.jobs)
        first = next(index for index, job in enumerate(jobs) if job.name == SYSBENCH)
        filled_bytes = sum(job.ledger.host_written_bytes for job in jobs[:first])
        user_bytes = result.specification.engine["drive"]["ftl"]["user_bytes"]
        written = [job.ledger.host_written_bytes / float(scale) for job in jobs if job.name == SYSBENCH]
        return cls(written, (user_bytes - filled_bytes) / float(scale))

    def until(self, count: int) -> "Runs":
        """The first `count` runs."""
        return replace(self, written_bytes=self.written_bytes[:count])

    def since(self, count: int) -> "Runs":
        """The runs after the first `count`."""
        return Runs(self.written_bytes[count:])

    def speeds(self) -> list[float]:
        """The speed of each run in 10^6 bytes per second."""
        return [size / SECONDS / 1e6 for size in self.written_bytes]

    def written_gb(self) -> list[float]:
        """The bytes written up to the end of each run, in 10^9."""
        return [sum(self.written_bytes[: count + 1]) / 1e9 for count in range(len(self.written_bytes))]

    def first(self) -> float:
        """The mean speed of the first three runs, in 10^6 bytes per second."""
        return sum(self.speeds()[:3]) / 3

    def last(self) -> float:
        """The mean speed of the last twelve runs, as a share of `first`."""
        speeds = self.speeds()[-12:]
        return sum(speeds) / len(speeds) / self.first()

    def fall_gb(self) -> float | None:
        """The 10^9 bytes written before the first run that is slower than 0.6 of `first`; None if there is none."""
        before = 0.0
        for speed, size in zip(self.speeds(), self.written_bytes, strict=True):
            if speed < 0.6 * self.first():
                return before / 1e9
            before += size
        return None


def free_gb(file_system_bytes: int) -> float:
    """What an ext4 of this size has free beside the 140 GiB of files, in 10^9 bytes."""
    return (Volume(file_system_bytes).free_bytes - FILES_BYTES) / 1e9


def keys(context: Context) -> list[Key]:
    """The keys of all simulations of the study."""
    wanted = [Key(RESERVE, state, seed=seed) for state in (WHOLE, PARTITIONED) for seed in context.seeds(SEEDS)]
    wanted += [Key(RESERVE, state, seed=context.seed) for state in (TRIMMED, SHRUNK)]
    wanted += [Key(RESERVE, state, seed=seed) for state in SMALL for seed in context.seeds(SEEDS)]
    for writes in (WRITES_A_FLUSH, WRITES_A_ROUND):
        for account in ACCOUNTS:
            wanted += [Key(account, state, writes, context.seed) for state in (WHOLE, PARTITIONED)]
    wanted += [Key(NAIVE, TRIMMED, seed=context.seed)]
    wanted += [
        Key(RESERVE, state, writes, context.seed) for writes in CHOICES_OF_FLUSH for state in (WHOLE, PARTITIONED)
    ]
    wanted += [Key(RESERVE, WHOLE, seed=context.seed, reserve_gb=reserve) for reserve in CHOICES_OF_RESERVE_GB]
    return list(dict.fromkeys(wanted))


def simulate(context: Context) -> dict[Key, Runs]:
    """Runs all simulations in worker processes."""
    scale = context.scale(SCALE)
    specifications = {}
    for key in keys(context):
        drive = drive_of(DRIVE, scale=scale, settings=key.settings)
        script = filesystem.parse(_script(key, scale or Fraction(1)), key.label)
        specifications[key.label] = specify(script, drive, seed=key.seed, series_points_max=64)
    results = context.simulate(specifications)
    found = {}
    for key in keys(context):
        runs = Runs.of(results[key.label], scale or Fraction(1))
        if key.state == SHRUNK:
            found[replace(key, state=OWN_COPIES)] = runs.until(RUNS)
            runs = runs.since(RUNS)
        found[key] = runs
    return found


def _script(key: Key, scale: Fraction) -> str:
    """The steps of the experiment. A scaled drive writes as fast as the full one, so its runs are shorter."""
    name = {PARTITIONED: "over-provisioned", SHRUNK: "shrunk"} | dict.fromkeys(SMALL, "small")
    is_small = key.state in SMALL
    is_naive = key.account == NAIVE and key.state != TRIMMED
    text = (FOLDER / f"{name.get(key.state, 'unpartitioned')}.files").read_text(encoding="utf-8")
    return Template(text).substitute(
        USED=USED_BEFORE if key.account == POOL else "",
        COPIES="test_file.[1-8]? test_file.9[01]",
        TRIMMED="fstrim" if key.state == TRIMMED else "",
        FILE_SYSTEM="186GiB" if key.state == SMALL_PARTITIONED else "100%",
        RUNS=str(RUNS_SMALL if is_small else RUNS_NAIVE if is_naive else RUNS),
        SECONDS=f"{float(SECONDS * scale):.6f}",
        WRITES=str(key.writes_a_flush),
    )
