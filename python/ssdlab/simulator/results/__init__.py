"""The results of a run: in fio's JSON schema, as text, and as time series."""

from ssdlab.simulator.results.job_result import DirectionResult, JobResult
from ssdlab.simulator.results.latency import Latency
from ssdlab.simulator.results.ledger import PARTS, Ledger
from ssdlab.simulator.results.result import Capacity, Result, Timing, specification_of
from ssdlab.simulator.results.steady_state import SteadyState

__all__ = [
    "PARTS",
    "Capacity",
    "DirectionResult",
    "JobResult",
    "Latency",
    "Ledger",
    "Result",
    "SteadyState",
    "Timing",
    "specification_of",
]
