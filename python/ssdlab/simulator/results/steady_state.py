"""When write amplification became steady, and its value then.

The engine finds the steady state by the rule of SNIA's performance test specification: over five rounds, range <= 20 %
and slope excursion <= 10 % of the mean. With a clock, requests per second must also meet the rule, which is the purpose
SNIA defined it for. These five rounds may still rise, so the run goes on, and the write amplification that is reported
is that of the rounds behind the last change of trend (`settled.rs` of the engine), with its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from ssdlab.evidence.estimate import Estimate, of_few_rounds, of_rounds
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.fio_schema import DIRECTIONS, Direction
from ssdlab.simulator.results.latency import PERCENTILES, Latency, LatencyJson
from ssdlab.simulator.results.ledger import Ledger

RULE = "snia-pts"
_ROUNDS = 5


class SteadyIopsJson(TypedDict):
    """The key `iops`."""

    range_share: float | None
    slope_share: float | None
    round_iops: list[float]
    half_width: float | None
    window_seconds: float
    latency_ns: dict[Direction, LatencyJson]


class SteadyStateJson(TypedDict):
    """The key `steady_state` of a result; all values but the rule are null if the run did not search for it."""

    reached: bool | None
    rule: str
    at_host_bytes: int | None
    waf: float | None
    waf_low: float | None
    waf_high: float | None
    waf_parts: dict[str, float] | None
    precise: bool | None
    window_rounds: int | None
    round_bytes: int | None
    rounds: int | None
    range_share: float | None
    slope_share: float | None
    round_waf: list[float] | None
    iops: SteadyIopsJson | None
    """None without a clock."""


@dataclass(frozen=True)
class SteadyState:
    """The end of a run that searched for its steady state."""

    reached: bool
    at_host_bytes: int | None
    """Host bytes written from the start of the run to the end of the fifth round; None if it was not reached."""
    round_bytes: int
    range_share: float | None
    slope_share: float | None
    round_waf: Sequence[float]
    window_rounds: int
    """The number of rounds that are reported: those behind the last change of trend, five or more if there were."""
    window_waf: float | None
    """The WAF over these rounds, steady or not; None without a complete round."""
    waf_half_width: float | None
    """Half the width of the 95 % interval of `window_waf`; None with fewer than five rounds."""
    is_precise: bool
    """Whether the intervals of WAF and of requests per second are as narrow as the run was to make them."""
    window_waf_parts: Mapping[str, float] | None
    """The parts of `window_waf`, which add up to it."""
    timing: "SteadyTiming | None" = None
    """None without a clock."""

    @property
    def waf(self) -> Estimate | None:
        """`window_waf` with its interval; None without a complete round."""
        if self.window_waf is None:
            return None
        if self.waf_half_width is None:
            return of_few_rounds(self.window_waf, self.round_waf[-self.window_rounds :])
        return of_rounds(self.window_waf, self.waf_half_width, self.window_rounds)

    def to_dict(self) -> SteadyStateJson:
        return {
            "reached": self.reached,
            "rule": RULE,
            "at_host_bytes": self.at_host_bytes,
            "waf": self.window_waf if self.reached else None,
            "waf_low": self.waf.low if self.reached and self.waf else None,
            "waf_high": self.waf.high if self.reached and self.waf else None,
            "waf_parts": dict(self.window_waf_parts) if self.reached and self.window_waf_parts else None,
            "precise": self.is_precise,
            "window_rounds": self.window_rounds,
            "round_bytes": self.round_bytes,
            "rounds": len(self.round_waf),
            "range_share": self.range_share,
            "slope_share": self.slope_share,
            "round_waf": list(self.round_waf),
            "iops": self.timing.to_dict() if self.timing else None,
        }


@dataclass(frozen=True)
class SteadyTiming:
    """Requests per second in each round, and the requests of the reported rounds together."""

    round_iops: Sequence[float]
    range_share: float | None
    slope_share: float | None
    half_width: float | None
    """Half the width of the 95 % interval of the requests per second; None with fewer than five reported rounds."""
    window_rounds: int
    window_seconds: float
    ios: Mapping[Direction, int]
    """The number of requests in the window, by direction."""
    moved_bytes: Mapping[Direction, int]
    latency: Mapping[Direction, Latency]

    def estimate(self, rate: float) -> Estimate:
        """A rate over the window, such as that of all writes, with the relative interval of all requests a second."""
        rounds = self.round_iops[-self.window_rounds :]
        mean = sum(rounds) / len(rounds)
        if self.half_width is None:
            return of_few_rounds(rate, [rate * each / mean for each in rounds])
        return of_rounds(rate, rate * self.half_width / mean, self.window_rounds)

    def to_dict(self) -> SteadyIopsJson:
        return {
            "range_share": self.range_share,
            "slope_share": self.slope_share,
            "round_iops": list(self.round_iops),
            "half_width": self.half_width,
            "window_seconds": self.window_seconds,
            "latency_ns": {
                name: latency.to_dict(percentiles=[rank for rank in PERCENTILES if latency.carries(rank)])
                for name, latency in self.latency.items()
                if latency.count
            },
        }

    @classmethod
    def from_outcome(cls, raw: plain.SteadyTiming, half_width: float | None, window_rounds: int) -> "SteadyTiming":
        """Reads the object `timing` of the engine's steady state."""
        return cls(
            round_iops=raw["round_iops"],
            range_share=raw["range_share"],
            slope_share=raw["slope_share"],
            half_width=half_width,
            window_rounds=window_rounds,
            window_seconds=raw["window_ns"] / 1e9,
            ios={name: raw[name]["ios"] for name in DIRECTIONS},
            moved_bytes={name: raw[name]["bytes"] for name in DIRECTIONS},
            latency={
                "read": Latency.from_outcome(raw["read_latency"]),
                "write": Latency.from_outcome(raw["write_latency"]),
                "trim": Latency.from_outcome(raw["trim_latency"]),
            },
        )


def not_sought() -> SteadyStateJson:
    """The key `steady_state` of a result if the run ends with its job."""
    return {
        "reached": None,
        "rule": RULE,
        "at_host_bytes": None,
        "waf": None,
        "waf_low": None,
        "waf_high": None,
        "waf_parts": None,
        "precise": None,
        "window_rounds": None,
        "round_bytes": None,
        "rounds": None,
        "range_share": None,
        "slope_share": None,
        "round_waf": None,
        "iops": None,
    }


def steady_state(outcome: plain.Outcome) -> SteadyState | None:
    """Reads the engine's outcome; None if the run did not search for a steady state."""
    raw = outcome["steady_state"]
    if raw is None:
        return None
    window = Ledger.from_outcome(raw["window"], outcome["capacity"])
    settled = raw.get("settled")
    window_rounds = settled["rounds"] if settled else min(len(raw["round_waf"]), _ROUNDS)
    iops_half_width = settled["iops_half_width"] if settled else None
    return SteadyState(
        reached=raw["reached"],
        at_host_bytes=raw["at_host_bytes"],
        round_bytes=raw["round_bytes"],
        range_share=raw["range_share"],
        slope_share=raw["slope_share"],
        round_waf=raw["round_waf"],
        window_rounds=window_rounds,
        window_waf=window.waf,
        waf_half_width=settled["waf_half_width"] if settled else None,
        is_precise=settled is not None and settled["is_precise"],
        window_waf_parts=window.waf_parts,
        timing=SteadyTiming.from_outcome(raw["timing"], iops_half_width, window_rounds) if raw["timing"] else None,
    )
