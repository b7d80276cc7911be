"""The drive of an advice, with any spare area and scale, and the scale that fits a workload."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.experiments.advice.described import Described
from ssdlab.simulator.drives import resolve, standing
from ssdlab.simulator.targets.auto_scale import keeps_slc_share

if TYPE_CHECKING:
    from ssdlab.experiments.advice.recorded import Trace
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.drives.schema import DriveFile

OVER_PROVISIONING_MAX = 2.0
"""Above three times the data, a larger drive is the better solution."""

# In smaller erase units, the statistics differ: write amplification would deviate by a percent.
_UNITS_PER_ERASE_UNIT_MIN = 256
# A sample of a trace has additional scatter: below this, write amplification deviates by more than 3 %.
_UNITS_PER_ERASE_UNIT_MIN_SAMPLED = 1024
# Verification runs are up to this factor larger, with at most about this number of mapping units.
_LARGER = 4
_UNITS_OF_CHECKS = 4_000_000


@dataclass(frozen=True)
class Setting:
    """The drive for a workload, before its spare area and scale are chosen."""

    file: "DriveFile"
    settings: Mapping[str, str]
    called: str | None = None
    """The user's name for the drive on a command line, if different from its own."""

    @property
    def words(self) -> tuple[str, Mapping[str, str]]:
        """The drive for a command line, and its settings."""
        return self.called or self.file.name, self.settings

    @property
    def standing(self) -> str:
        """A sentence on what stands behind the name of the drive."""
        return f"{self.file.name}: {standing.with_settings(self.file, self.settings)}."

    @property
    def user_bytes_least(self) -> int:
        """The user bytes with the largest spare area considered."""
        return int(self.at(None, None).capacity.physical_bytes / (1 + OVER_PROVISIONING_MAX))

    def at(self, over_provisioning: float | None, scale: Fraction | None) -> "ResolvedDrive":
        return resolve(self.file, over_provisioning=over_provisioning, settings=self.settings, scale=scale)

    def with_settings(self, more: Mapping[str, str]) -> "Setting":
        return replace(self, settings={**self.settings, **more})

    def scale_for(self, user_units: int, one_in_most: int | None = None) -> Fraction | None:
        """The scale with about this number of mapping units, as far as erase units stay large; None for full size.

        With `one_in_most`, it is 1/n with n at most that, as the sample of a trace requires.
        """
        full = self.at(None, None).capacity
        pages = self.at(None, None).file.nand.pages_per_block
        if one_in_most is not None:
            most = min(
                one_in_most,
                full.user_units // user_units,
                full.units_per_erase_unit // _UNITS_PER_ERASE_UNIT_MIN_SAMPLED,
            )
            ratios = (Fraction(1, each) for each in range(most, 1, -1) if pages % each == 0)
            return next((ratio for ratio in ratios if self._works_at(ratio)), None)
        wanted = user_units / full.user_units
        least = _UNITS_PER_ERASE_UNIT_MIN / full.units_per_erase_unit
        ratios = (Fraction(each, pages) for each in range(max(1, round(pages * max(wanted, least))), pages))
        return next((ratio for ratio in ratios if self._works_at(ratio)), None)

    def _works_at(self, scale: Fraction) -> bool:
        """Whether the drive is possible at this scale, with an SLC cache of the right size if it has one."""
        try:
            smaller = self.at(None, scale)
        except InputError:
            return False
        return keeps_slc_share(self.at(None, None), smaller)


def scale_of(workload: "Described | Trace", setting: Setting, user_units: int) -> Fraction | None:
    """The scale of a miniature with about this number of mapping units that fits the workload; None for full size."""
    return setting.scale_for(user_units, None if isinstance(workload, Described) else workload.one_in_most())


def smaller_of(workload: "Described | Trace", setting: Setting, scale: Fraction) -> Fraction | None:
    """A scale of about a quarter of this one that fits the workload; None if there is no smaller one."""
    found = scale_of(workload, setting, max(1, setting.at(None, scale).capacity.user_units // _LARGER))
    return found if found is not None and found < scale else None


def larger_of(workload: "Described | Trace", setting: Setting, scale: Fraction) -> Fraction | None:
    """The scale of verification runs for runs at `scale`: four times as large, or less if those are large.

    It has the same size, for runs with other seeds, if those already have enough units. None for full size.
    """
    user_units = setting.at(None, scale).capacity.user_units
    times = min(_LARGER, max(1, round(_UNITS_OF_CHECKS / user_units)))
    if isinstance(workload, Described):
        return None if scale * times >= 1 else scale * times
    pages = setting.at(None, None).file.nand.pages_per_block
    least = -(-scale.denominator // times)
    one_in = next(each for each in range(least, scale.denominator + 1) if pages % each == 0)
    return Fraction(1, one_in) if one_in > 1 else None
