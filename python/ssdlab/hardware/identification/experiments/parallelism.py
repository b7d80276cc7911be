"""Single reads of growing size, and many small reads at once: infers the dies and channels that work in parallel.

A read that spans one die more than the drive has must wait for one die twice; a read that spans more dies than channels
waits for a channel. Many small reads at once show how many dies read simultaneously.
"""

from itertools import product
from typing import TYPE_CHECKING

from ssdlab.foundation.quantities import format_share, measured
from ssdlab.hardware.identification.bench import Bench, Experiment
from ssdlab.hardware.identification.estimate import Estimate, exactly, median
from ssdlab.hardware.identification.evidence import Picture
from ssdlab.hardware.identification.experiments.regions import Region
from ssdlab.hardware.identification.experiments.striping import Striping
from ssdlab.presentation.report.lines import Line, Marks

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "parallelism"
_DEPTHS = (1, 4, 16, 64, 256, 1024)
_READS_PER_DEPTH = 4000
_READS = 24
_DIES_MAX = 512
_EQUAL = 0.003
_FITS = 0.05
"""The mean error above which no arrangement is taken for the drive's. Right ones are 0.5 to 1.2 % off, those of drives
that the model does not know, such as with pages of three mapping units, 11 % and more."""
_UNKNOWN = "the time of a read is not known"
_PAGES = (4096, 8192, 16384, 32768)


def _run(bench: Bench) -> None:
    region = Region(*bench.facts["reads"]["read_region"])
    unit, read = int(bench.value("ftl.mapping_unit_bytes") or 4096), bench.value("nand.read_us")
    assert read is not None
    sweep = bench.run(*(region.reads(unit, _reads(depth), depth=depth) for depth in _DEPTHS))
    rates = [(depth, len(each.end_s) / each.seconds) for depth, each in zip(_DEPTHS, sweep, strict=True)]
    bench.show(_depths_picture(rates))
    transfer, link = (bench.facts["reads"][name][0] for name in ("transfer_us_per_byte", "link_us_per_byte"))
    busy_us = read + unit * max(transfer, 0.0)
    about = rates[-1][1] * busy_us / 1e6
    group = _group_bytes(bench)
    dies_asked = max(8, min(_DIES_MAX, int(1.6 * about) + 2))
    if bench.value("nand.page_bytes") is None:
        # Spans are then counted in mapping units; a page can hold several.
        dies_asked *= _PAGES[-1] // group
    counts = _counts(dies_asked, region.size_bytes // 2 // group)
    done = bench.run(*(region.reads(count * group, _READS, aligned_bytes=group) for count in counts))
    spans = [(count, median(each.latency_us).value) for count, each in zip(counts, done, strict=True)]
    known = bench.facts["reads"].get("dies"), bench.facts["reads"].get("channels")
    if known[0] is not None and known[1] is not None:
        _by_pairs(bench, spans, group, read, max(transfer, 0.0), max(link, 0.0))
        return
    found = _best(spans, group, about, bench, read, max(transfer, 0.0), max(link, 0.0))
    best, error, second = found[0][0], found[0][1], next((e for s, e in found if s.dies != found[0][0].dies), 1.0)
    likely = [each for each, its_error in found if its_error <= max(1.5 * error, 0.01)]
    bench.show(_spans_picture(spans, best, group))
    bench.outcome.facts |= {"spans": spans, "group_bytes": group, "error": error, "second_error": second}
    if error > _FITS:
        _fits_nothing(bench, error)
        return
    bench.infer("parallel_units", _among(best.dies, [each.dies for each in likely]), whole=True)
    bench.infer("nand.channels", _among(best.channels, [each.channels for each in likely]), whole=True)
    per_channel = [each.dies // each.channels for each in likely]
    bench.infer("nand.dies_per_channel", _among(best.dies // best.channels, per_channel), whole=True)
    if bench.value("nand.page_bytes") is None:
        bench.infer("nand.page_bytes", _among(best.page_bytes, [each.page_bytes for each in likely]), whole=True)
        pages = [each.pages_on_die for each in likely]
        bench.infer("nand.planes_per_die", _among(best.pages_on_die, pages), whole=True)
    if not transfer:
        channel_rates = [1 / each.transfer_us_per_byte for each in likely]
        bench.infer(
            "nand.channel_mb_s",
            Estimate(1 / best.transfer_us_per_byte, 0.85 * min(channel_rates), 1.15 * max(channel_rates)),
        )
        read_times = [each.read_us for each in likely]
        bench.infer("nand.read_us", Estimate(best.read_us, 0.97 * min(read_times), 1.03 * max(read_times)))
        bench.outcome.facts["transfer_us_per_byte"] = best.transfer_us_per_byte


def _by_pairs(
    bench: Bench, spans: "Sequence[tuple[int, float]]", group: int, read: float, transfer: float, link: float
) -> None:
    """Records the dies and channels that pairs of reads told; reads of growing size show whether they are right."""
    page, pages = bench.value("nand.page_bytes"), bench.pages_on_die
    dies, channels, likely = (bench.facts["reads"][name] for name in ("dies", "channels", "dies_likely"))
    assert page is not None and pages is not None
    best = Striping(channels, dies, pages, int(page), read, transfer, link)
    bench.show(_spans_picture(spans, best, group))
    errors = [abs(best.latency_us(count * group) / measured - 1) for count, measured in spans]
    error = sum(errors) / len(errors)
    bench.outcome.facts |= {"spans": spans, "group_bytes": group, "error": error}
    # Of pages with times of their own a span takes the longest, which the model does not know.
    if error > _FITS and not bench.facts["reads"].get("kinds_us"):
        _fits_nothing(bench, error)
        return
    bench.infer("parallel_units", _among(dies, likely), whole=True)
    bench.infer("nand.channels", exactly(channels), whole=True)
    bench.infer("nand.dies_per_channel", exactly(dies // channels), whole=True)


def _fits_nothing(bench: Bench, error: float) -> None:
    """The nearest arrangement is not the drive's: nothing is taken from it, and what led to it is taken back."""
    reason = f"reads of growing size fit no arrangement of dies and pages (nearest: {100 * error:.0f} % off)"
    for key in ("parallel_units", "nand.channels", "nand.dies_per_channel"):
        bench.cannot_tell(key, reason)
    for key in ("nand.page_bytes", "nand.planes_per_die", "nand.pages_per_program", "parity.units_per_stripe"):
        bench.withdraw(key, reason)
    if not bench.facts["reads"].get("shows_unit"):
        bench.withdraw("ftl.mapping_unit_bytes", "reads of growing size do not rise by more than they scatter")


def _reads(depth: int) -> int:
    return max(400, min(_READS_PER_DEPTH * max(1, depth // 64), 8 * depth + 2000))


def _group_bytes(bench: Bench) -> int:
    """Bytes of a stripe on one die, or the mapping unit (at least 4096) if pages are not known."""
    unit = int(bench.value("ftl.mapping_unit_bytes") or 4096)
    return bench.program_bytes or max(unit, 4096)


def _counts(dies: int, most: int) -> list[int]:
    counts = sorted({*range(1, 13), *(round(1.12**step) for step in range(60))})
    powers = [1 << step for step in range(10)]
    counts = sorted({*counts, *powers, *(each + 1 for each in powers), *(3 * each + 1 for each in powers)})
    return [each for each in counts if each <= min(dies, most)]


def _best(
    spans: "Sequence[tuple[int, float]]",
    group: int,
    about: float,
    bench: Bench,
    read: float,
    transfer: float,
    link: float,
) -> list[tuple[Striping, float]]:
    """Arrangements with their errors (mean absolute relative deviation), the best first."""
    page, on_die = bench.value("nand.page_bytes"), bench.pages_on_die
    pages = [(int(page), on_die)] if page is not None and on_die is not None else [(each, 1) for each in _PAGES]
    parity = bench.value("parity.units_per_stripe")
    # Flash that the data of a group occupies, including its share of parity.
    held = round(group * parity / (parity - 1)) if parity else group
    unit = int(bench.value("ftl.mapping_unit_bytes") or 4096)
    # If a page is one unit, single reads do not separate the transfer from the read time.
    parts = [0.0] if transfer else [0.01 * 1.3**step for step in range(16)]
    found = []
    for page_bytes, together in pages:
        for dies, part in product(_plausible(about), parts):
            for channels in (each for each in range(1, 33) if dies % each == 0):
                us = transfer or part * read / unit
                each = Striping(channels, dies, together, page_bytes, read * (1 - part), us, link)
                errors = [abs(each.latency_us(count * held) / measured - 1) for count, measured in spans]
                found.append((each, sum(errors) / len(errors)))
    found.sort(key=lambda entry: entry[1])
    # Among arrangements of nearly equal error, the one with fewest channels is the most common in practice.
    equal = [entry for entry in found if entry[1] <= found[0][1] + (_EQUAL if transfer else 0.0)]
    return sorted(equal, key=lambda entry: (entry[0].channels, entry[1])) + found[len(equal) :]


def _plausible(about: float) -> list[int]:
    """Numbers of dies that are consistent with `about`, the estimate from small parallel reads."""
    steps = sorted({base << shift for base in (1, 3, 5) for shift in range(9)})
    return [each for each in steps if 0.6 * about <= each <= max(2.5 * about, 1)] or [max(1, round(about))]


def _among(value: int, likely: "Sequence[int]") -> Estimate:
    return Estimate(value, min([value, *likely]), max([value, *likely]))


def _depths_picture(rates: "Sequence[tuple[int, float]]") -> Picture:
    most = max(rate for _, rate in rates)
    return Picture(
        "read-depths",
        f"Small random reads reach {measured(most)} a second",
        "Random reads of a mapping unit against requests outstanding.",
        "requests outstanding",
        "reads per second",
        [Line("measured", rates)],
        log_x=True,
        log_y=True,
    )


def _spans_picture(spans: "Sequence[tuple[int, float]]", best: Striping, group: int) -> Picture:
    model = [(count * group / 1024, best.latency_us(count * group)) for count, _ in spans]
    off = max(abs(latency / said - 1) for (_, latency), (_, said) in zip(spans, model, strict=True))
    return Picture(
        "read-spans",
        f"{best.dies} dies on {best.channels} channels explain reads of growing size, "
        f"at most {format_share(off, 2)} off",
        "Median latency of single reads against their size; marks: the model of dies and channels.",
        "KiB read",
        "microseconds",
        [Line("measured", [(count * group / 1024, latency) for count, latency in spans])],
        [Marks("model", model)],
        log_x=True,
        log_y=True,
    )


EXPERIMENT = Experiment(
    NAME,
    "reads of growing size, and many at once",
    ("parallel_units", "nand.channels", "nand.dies_per_channel"),
    _run,
    write_share=0.0,
    reads=10_000,
    needs=lambda known, facts: None if "nand.read_us" in known else facts.get("reads", {}).get("hidden", _UNKNOWN),
)
