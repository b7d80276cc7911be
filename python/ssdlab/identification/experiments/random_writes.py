"""Random writes over the whole full drive, in steps: measures write amplification and speed as garbage collection sets
in.

The first half of the steps is uniform. In the second half nine of ten writes go to a tenth of the drive; its cost shows
how well the drive separates frequently written data and selects victims.
"""

from ssdlab.identification.bench import Bench, Experiment
from ssdlab.identification.box import section
from ssdlab.identification.evidence import Picture
from ssdlab.report.lines import Line

NAME = "random-writes"
STEPS = 10
_UNIFORM = 5
_SKEW = "random_distribution=zoned:90/10:10/90"
_DEPTH = 32


def _run(bench: Bench) -> None:
    unit = int(bench.value("ftl.mapping_unit_bytes") or 4096)
    step = bench.write_bytes // STEPS // unit * unit
    points = []
    before = bench.box.counters()
    written = 0
    for number in range(STEPS):
        options = ["norandommap", f"io_size={step}", f"randseed={number + 1}"]
        if number >= _UNIFORM:
            options.append(_SKEW)
        done = bench.one(section("random", "randwrite", unit, _DEPTH, *options))
        after = bench.box.counters()
        host = after.host_written_bytes - before.host_written_bytes if after and before else 0
        waf = (after.nand_written_bytes - before.nand_written_bytes) / host if after and before and host else None
        written += done.written_bytes
        points.append((written, done.bytes_per_second, waf))
        before = after
    bench.outcome.facts["points"] = points
    known = [(at / 1e9, waf) for at, _, waf in points if waf is not None]
    if known:
        bench.show(
            Picture(
                "random-waf",
                f"Random writes come to a write amplification of {known[-1][1]:.3g}",
                "Write amplification by the drive's own counters, step by step: uniform, then nine in ten to a tenth.",
                "GB written at random",
                "WAF",
                [Line("measured", known)],
            )
        )
    bench.show(
        Picture(
            "random-speed",
            f"Random writes come down to {points[-1][1] / 1e6:.3g} MB/s",
            "Speed of random writes of a mapping unit, step by step: uniform, then nine in ten to a tenth.",
            "GB written at random",
            "MB/s",
            [Line("measured", [(at / 1e9, rate / 1e6) for at, rate, _ in points])],
        )
    )


EXPERIMENT = Experiment(
    NAME,
    "random writes over the whole full drive",
    ("ftl.victim", "ftl.placement"),
    _run,
    write_share=0.45,
    whole_drive=True,
    needs=lambda _known, facts: None if "fill" in facts else "the drive was not filled",
)
