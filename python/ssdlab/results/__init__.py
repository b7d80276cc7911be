"""The results of a run: in fio's JSON schema, as text, and as time series."""

from ssdlab.results.job_result import DirectionResult, JobResult
from ssdlab.results.latency import Latency
from ssdlab.results.ledger import PARTS, Ledger
from ssdlab.results.result import Capacity, Result, Timing, specification_of
from ssdlab.results.steady_state import SteadyState

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
