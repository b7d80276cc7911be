"""The runs of a fleet: every drive with its volumes at every spare area, as runs of a sweep on scaled-down drives."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.experiments.advice.recorded import Trace
from ssdlab.experiments.advice.setting import Setting, larger_of, scale_of, smaller_of
from ssdlab.experiments.fleet.packing import Pack, packed
from ssdlab.experiments.fleet.volumes import Volume
from ssdlab.experiments.sweeps.plan import Planned
from ssdlab.experiments.sweeps.points import Point
from ssdlab.simulator.workloads.traces.profile import profile_of
from ssdlab.simulator.workloads.traces.recording import Placed, Recording

# Small, because every run has to reach steady state, and there are many runs.
_UNITS = 1_000_000
# With fewer written units of 4 KiB, spare area and wear have no effect.
_WRITTEN_UNITS_MIN = 64


@dataclass(frozen=True)
class Drive:
    """One drive of the fleet and its volumes."""

    name: str
    """The name of its volume, or of the first and the number of others."""
    volumes: tuple[Volume, ...]
    trace: Trace

    @property
    def written_bytes_per_day(self) -> float | None:
        paces = [volume.written_bytes_per_day for volume in self.volumes]
        return None if None in paces else sum(pace for pace in paces if pace is not None)


@dataclass(frozen=True)
class FleetPlan:
    """The runs, and the volumes left out with reasons."""

    drives: Sequence[Drive]
    runs: Sequence[tuple[Drive, float, Planned]]
    """Drive, over-provisioning, run."""
    left_out: Sequence[tuple[str, str]]
    """Volume, reason."""


def plan(
    volumes: Sequence[Volume],
    setting: Setting,
    shares: Sequence[float | None],
    pack: Pack,
    scale: Fraction | None,
    seed: int,
) -> FleetPlan:
    """The runs at every spare area (None: the drive's original one). Raises InputError if no volume can be run or a
    spare area is not possible."""
    smallest = min((setting.at(share, None).capacity.user_bytes for share in shares), default=0)
    left_out: list[tuple[str, str]] = []
    fitting = []
    for volume in volumes:
        written = volume.profile.units.unique_written
        if written < _WRITTEN_UNITS_MIN:
            left_out.append((volume.name, f"too few writes: {written} units of 4 KiB"))
        elif volume.profile.units.unique * volume.profile.unit_bytes > smallest:
            left_out.append((volume.name, f"accesses more than the {smallest / 1e9:.4g} GB of the drive"))
        elif pack != "each" and volume.end_bytes > smallest:
            left_out.append(
                (volume.name, f"reaches past the {smallest / 1e9:.4g} GB of the drive, and cannot be packed")
            )
        else:
            fitting.append(volume)
    drives = [_drive(placed, smallest) for placed in packed(fitting, pack, smallest)]
    runs = []
    for drive in drives:
        chosen = scale or scale_of(drive.trace, setting, _UNITS)
        for share in shares:
            planned, over_provisioning = _planned(drive, setting, share, chosen, seed)
            runs.append((drive, over_provisioning, planned))
    if not runs:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out[:5])
        raise InputError(f"no volume can be run ({reasons})")
    return FleetPlan(drives, runs, left_out)


def second_runs(plan: FleetPlan, keys: Collection[str], setting: Setting, seed: int) -> Mapping[str, Planned]:
    """The runs with these keys at another scale, by key: at about a quarter of theirs or, if erase units would be too
    small for that, at a larger one. A run of the whole drive, or with no other scale, has none."""
    found = {}
    for drive, share, planned in plan.runs:
        scale = Fraction(planned.specification.scale)
        if planned.key not in keys or scale == 1:
            continue
        other = smaller_of(drive.trace, setting, scale) or larger_of(drive.trace, setting, scale)
        if other != scale:
            found[planned.key], _ = _planned(drive, setting, share, other, seed)
    return found


def _planned(
    drive: Drive, setting: Setting, share: float | None, scale: Fraction | None, seed: int
) -> tuple[Planned, float]:
    """The run of a drive at a spare area and a scale, and its over-provisioning."""
    full = setting.at(share, None)
    specification = drive.trace.specify(setting.at(share, scale), seed=seed, timed=False)
    point: Point = {
        "drive": setting.words[0],
        "op": full.capacity.over_provisioning,
        "volume": drive.name,
        "volumes": len(drive.volumes),
    }
    return Planned(point, specification, full.endurance_cycles), full.capacity.over_provisioning


def _drive(placed: Sequence[tuple[Volume, int]], user_bytes: int) -> Drive:
    volumes = tuple(volume for volume, _ in placed)
    first = volumes[0]
    several = len(first.recording.survey.volumes) > 1
    if len(volumes) == 1:
        within = first.end_bytes <= user_bytes
        trace = Trace(
            first.recording, first.volume if several else None, "strict" if within else "compact", first.profile
        )
        return Drive(first.name, volumes, trace)
    by_path: dict[str, list[Placed]] = {}
    for volume, base_bytes in placed:
        by_path.setdefault(volume.recording.paths[0], []).append(Placed(volume.volume, base_bytes))
    recording = Recording(
        tuple(by_path),
        tuple(by_path),
        first.recording.format,
        first.recording.skip_bad_max,
        tuple(tuple(places) for places in by_path.values()),
    )
    trace = Trace(recording, None, "strict", profile_of(recording, None))
    return Drive(f"{first.name} and {len(volumes) - 1} more", volumes, trace)
