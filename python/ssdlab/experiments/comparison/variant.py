"""One variant of a comparison: its result, the WAF in closed form, and the life of the flash."""

from dataclasses import dataclass
from functools import cached_property

from ssdlab.experiments.comparison.axes import Planned
from ssdlab.simulator.results import Result, drive_state
from ssdlab.simulator.results.energy import BYTES_PER_GIB, JOULES_PER_KWH
from ssdlab.simulator.results.result import DirectionSpeedJson, ResultJson, SpeedJson
from ssdlab.simulator.results.speed import DirectionSpeed, Speed, speed
from ssdlab.theory import endurance
from ssdlab.theory.expectation import Expectation, expected

# The curve is smooth, and reaches from below the smallest spare area to above the largest.
_CURVE_POINTS = 40
_CURVE_BELOW, _CURVE_ABOVE = 0.6, 1.4


@dataclass(frozen=True)
class Variant:
    """The figures of one variant for the table, the report and the files. Its WAF is `result.settled_waf`."""

    planned: Planned
    result: Result
    drive_writes_per_day: float
    co2e_g_per_kwh: float | None = None

    @property
    def label(self) -> str:
        return self.planned.label

    @cached_property
    def expectation(self) -> Expectation:
        """The WAF of the closed form that applies to the job, or the reason why none does."""
        return self._expected_at(self.result.capacity.effective_over_provisioning)

    @property
    def deviation(self) -> float | None:
        """The relative deviation of the WAF from theory, which is of the steady state; None if one is not known."""
        theory, steady = self.expectation.value, self.result.steady_state
        if theory is None or steady is None or not steady.reached or steady.window_waf is None:
            return None
        return steady.window_waf / theory - 1

    def theory_curve(self, over_provisioning_min: float, over_provisioning_max: float) -> list[tuple[float, float]]:
        """Points (over_provisioning, WAF) of the same closed form, from 0.6 of the minimum to 1.4 of the maximum OP.

        Effective OP and OP differ by the flash that the drive holds back, which is taken as a constant share of T.
        Empty if no closed form applies.
        """
        capacity = self.result.capacity
        if self.expectation.value is None or capacity.effective_over_provisioning is None:
            return []
        kept_share = (1 + capacity.effective_over_provisioning) / (1 + capacity.over_provisioning)
        low, high = over_provisioning_min * _CURVE_BELOW, over_provisioning_max * _CURVE_ABOVE
        points = []
        for step in range(_CURVE_POINTS + 1):
            over_provisioning = low + (high - low) * step / _CURVE_POINTS
            there = self._expected_at(kept_share * (1 + over_provisioning) - 1)
            if there.value is not None:
                points.append((over_provisioning, there.value))
        return points

    def as_sold(self, count_bytes: float) -> int:
        """Converts bytes of a scaled run to bytes of the drive as sold."""
        return self.result.specification.as_sold(count_bytes)

    def moved_as_sold(self, count_bytes: float) -> int:
        """The same for bytes that were written or programmed; those of a whole trace are its own."""
        return self.result.specification.moved_as_sold(count_bytes)

    @cached_property
    def speed(self) -> Speed | None:
        """Rates and latencies of the steady state, or of the last stage; None without a clock."""
        return speed(self.result)

    @property
    def co2e_g_per_host_tb(self) -> float | None:
        """g of CO2e for each TB that the host wrote or read in the last stage; None if the energy or the CO2e of a kWh
        is not known."""
        energy = self.result.last_stage_energy
        joules = energy.per_host_gib("total") if energy else None
        if joules is None or self.co2e_g_per_kwh is None:
            return None
        return joules * endurance.BYTES_PER_TB / BYTES_PER_GIB / JOULES_PER_KWH * self.co2e_g_per_kwh

    @cached_property
    def tbw_bytes(self) -> float | None:
        """TBW of the drive as sold: host bytes until all blocks reach their rated cycles; None without a WAF, or with
        one of so few writes that it says nothing of the drive's life."""
        waf = self.result.settled_waf
        if waf is None or not drive_state.tells_life(self.result):
            return None
        return endurance.lifetime_bytes(
            self.planned.drive.endurance_cycles, self.as_sold(self.result.capacity.physical_bytes), waf
        )

    @property
    def years(self) -> float | None:
        """The years until TBW is reached at `drive_writes_per_day`; None without a TBW."""
        if self.tbw_bytes is None:
            return None
        return endurance.years(self.tbw_bytes, self.drive_writes_per_day, self.as_sold(self.result.capacity.user_bytes))

    def to_dict(self) -> ResultJson:
        """The result's JSON, with the comparison's figures under `ssdlab.variant`."""
        plain, estimate = self.result.to_dict(), self.result.waf_estimate
        energy = self.result.last_stage_energy
        plain["ssdlab"]["variant"] = {
            "label": self.label,
            "waf": estimate.value if estimate else None,
            "waf_low": estimate.low if estimate else None,
            "waf_high": estimate.high if estimate else None,
            "waf_n": estimate.n if estimate else None,
            "waf_how": estimate.how if estimate else None,
            "waf_parts": dict(self.result.settled_waf_parts) if self.result.settled_waf_parts else None,
            "theory": {
                "waf": self.expectation.value,
                "formula": self.expectation.formula,
                "reason": self.expectation.reason,
                "deviation_share": self.deviation,
            },
            "speed": _speed(self.speed) if self.speed else None,
            "energy": energy.to_dict() if energy else None,
            "co2e_g_per_host_tb": self.co2e_g_per_host_tb,
            "tbw_bytes": self.tbw_bytes,
            "drive_writes_per_day": self.drive_writes_per_day,
            "years": self.years,
        }
        return plain

    def _expected_at(self, effective_over_provisioning: float | None) -> Expectation:
        specification = self.result.specification
        return expected(specification.jobs, specification.drive, effective_over_provisioning)


def _speed(found: Speed) -> SpeedJson:
    return {
        "window": found.window,
        "seconds": found.seconds,
        "iops": found.iops,
        "iops_low": found.estimate.low,
        "iops_high": found.estimate.high,
        "read": _direction(found.read),
        "write": _direction(found.write),
    }


def _direction(found: DirectionSpeed) -> DirectionSpeedJson:
    return {
        "iops": found.iops,
        "mb_s": found.mb_s,
        "latency_ns_mean": found.latency_ns_mean,
        "latency_ns_p99": found.latency_ns_p99,
        "latency_ns_p999": found.latency_ns_p999,
    }
