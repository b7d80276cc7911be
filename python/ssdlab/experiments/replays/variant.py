"""A replay as a variant of a comparison."""

from dataclasses import dataclass

from ssdlab.experiments.comparison.variant import Variant
from ssdlab.presentation.report.wording import duration
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.durability import through_sentence
from ssdlab.simulator.results.result import ResultJson
from ssdlab.simulator.workloads.traces.specification import TraceSpecification
from ssdlab.theory.expectation import Expectation

_REASON = "a trace is not a stream of independent writes; --profile gives the closed forms for its update frequencies"


@dataclass(frozen=True)
class ReplayedVariant(Variant):
    """A replay with its result. No closed form is compared with it: those apply only to known distributions."""

    def _expected_at(self, effective_over_provisioning: float | None) -> Expectation:
        return Expectation(None, None, _REASON)

    @property
    def counts(self) -> plain.TraceCounts:
        """How the requests of the trace were handled."""
        counts = self.result.trace_counts
        assert counts is not None, "the result is that of a replay"
        return counts

    def to_dict(self) -> ResultJson:
        """The result's JSON, with the trace in the specification and its counts under `ssdlab.trace`."""
        whole = super().to_dict()
        whole["ssdlab"]["trace"] = self.counts
        assert isinstance(self.result.specification, TraceSpecification)
        whole["ssdlab"]["specification"]["job"]["trace"] = self.result.specification.trace.copy()
        return whole

    @property
    def _flushing(self) -> str:
        """What the flushes did, as the end of a sentence."""
        latency = self.result.jobs[-1].flush.latency
        if latency is None or latency.mean_ns is None:
            return "were counted; without a clock they have no effect"
        return f"took {duration(latency.mean_ns)} on average"

    def facts(self) -> list[str]:
        """Sentences on unusual handling of the trace's requests on this drive."""
        trace = self.counts
        facts = []
        if trace["passes"] > 1:
            facts.append(f"the trace was started {trace['passes']:,} times")
        if trace["moved"] or trace["split"]:
            facts.append(
                f"the address map moved {trace['moved']:,} requests and split {trace['split']:,}; "
                "each part counts as a request"
            )
        if trace["trimmed_nowhere_bytes"]:
            facts.append(f"{trace['trimmed_nowhere_bytes']:,} bytes of trims had addresses that were never accessed")
        if trace["flushes"]:
            facts.append(f"{trace['flushes']:,} flushes {self._flushing}")
        if through := through_sentence(self.result.specification.drive, self.result.jobs[-1].through):
            facts.append(through)
        if trace["empty"]:
            facts.append(f"{trace['empty']:,} requests of 0 bytes were counted; they have no effect")
        return facts
