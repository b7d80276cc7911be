"""Published measurements of drives on the market, compared with the predictions of the catalogue's drives."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Assumption, Study, StudyResult
from ssdlab.experiments.studies.real_drives import comparison


def run(context: Context) -> StudyResult:
    """Simulates every figure: throughput, write amplification and latencies."""
    return comparison.run(context)


STUDY = Study(
    name="real-drives",
    title="How near do simulated drives come to drives that can be bought?",
    source='Haas, Lee, Bonnet and Leis, "SSD-iq: Uncovering the Hidden Side of SSD Performance", PVLDB 18, 2025',
    assumptions=(
        Assumption(
            "a drive smaller than the real one, with as many erase units",
            "Throughput and write amplification depend on ratios. A smaller block is erased in as much less time.",
        ),
        Assumption(
            "six drive writes after the fill, of which the last 15 % count",
            "The source writes five to eight times and takes the last 15 %.",
        ),
        Assumption(
            "the probe's reads and writes come each every 200 us",
            "The source draws the direction of a request every 100 us by a coin; the rates are the same.",
        ),
        Assumption(
            "open zones of the host end at different times",
            "The source says how many are open and that the next is drawn at random, not how their writes take turns.",
        ),
    ),
    jobs=("steady-writes.fio", "unfilled-writes.fio", "latency.fio", "act.fio"),
    run=run,
)
