"""Overwrites the full drive in sequence until erases are visible: measures the erase unit and the amount of flash.

Until all flash has been written once, nothing has to be erased. From then on the drive erases one erase unit for each
that it fills, and the dies stall meanwhile: delays recur with the period of an erase unit. The position of the first
delay gives the raw capacity.
"""

import math
from typing import TYPE_CHECKING

from ssdlab.foundation.quantities import format_bytes, format_bytes_binary
from ssdlab.hardware.identification.bench import Bench, Experiment
from ssdlab.hardware.identification.box import section
from ssdlab.hardware.identification.estimate import Estimate
from ssdlab.hardware.identification.evidence import Picture
from ssdlab.hardware.identification.experiments.resting import rest
from ssdlab.presentation.report.lines import Line, Marks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.hardware.identification.box import Floats

NAME = "overwrite"
WRITE_SHARE = 0.45
WINDOWS = 100
"""Parts of the overwritten data whose durations are compared with simulations."""
_BLOCK_BYTES = 128 << 10
_DEPTH = 8
_TEETH_MIN = 5
_THROUGHOUT = 0.5
# A write amplification above this means that data was written twice.
_DOUBLE_MIN = 1.02
# Parameters of the autocorrelation: the shortest period in rows, the number of multiples compared, the least
# correlation, and the limit on a single delay (a logarithm).
_LAG_MIN, _REPEATS, _CORRELATED_MIN = 4, 5, 0.24
_DELAY_LOG_MAX = math.log(4)
# Drives have hundreds of erase units, those of the blind tests 110 and more. What recurs less often than this in a
# capacity are batches of erases (generic-tlc-480 at 1/32 erases 32 units at once, and showed 19 and 37 for its 640).
_UNITS_MIN = 48
# Flash is erased faster; what takes longer are copies.
_ERASE_US_MAX = 20_000
# Erase units that a drive has free or open when it begins to erase: lower bound, usual number, upper bound.
_KEPT_UNITS = (2.2, 4.0, 5.7)
# Garbage collection has begun when a few rows together take longer by this many seconds, and by this share of a usual
# row; less is a host's delay. The rows at the start, which the write buffer accepts, are left out.
_BEGUN_ROWS, _BEGUN_S, _BEGUN_SHARE = 3, 1e-3, 0.5
_AT_START = 50
# The percentile of row times that is usual before garbage collection, and the share by which rows vary.
_USUAL_PERCENTILE, _VARIATION = 20, 0.05


def _run(bench: Bench) -> None:
    import numpy as np

    row = _row_bytes(bench)
    begun = _waf(bench)
    # As one job: after a pause the drive would take the first writes into its buffer.
    size = bench.write_bytes // _BLOCK_BYTES * _BLOCK_BYTES
    done = bench.one(section("overwrite", "write", _BLOCK_BYTES, _DEPTH, f"size={size}", rest(bench)))
    sums = np.cumsum(done.size_bytes).astype(np.float64)
    bench.outcome.facts |= {
        "seconds": done.seconds,
        "row_bytes": row,
        "begun_bytes": begun_bytes(sums, done.end_s, row),
        "windows_s": windows_s(sums, done.end_s),
    }
    at, spent = _rows(sums, done.end_s, row)
    # An SLC cache is emptied first, and its erase units in SLC mode hold less.
    settled = len(at) * 3 // 5 if bench.value("slc_cache_bytes") is not None else 0
    teeth, period = _teeth(at[settled:], spent[settled:], row)
    why_not = f"no regular erases show within {bench.written_bytes / 1e9:.3g} GB overwritten"
    if period is not None and (batch := _batch(bench, period)):
        why_not, period = batch, None
    bench.show(_picture(at, spent, teeth, period))
    if period is None or bench.value("slc_cache_bytes") is not None:
        repeated = _repeated(spent, row)
        if repeated is not None and (batch := _batch(bench, repeated)):
            why_not = batch
        elif repeated is not None:
            _unit(bench, repeated)
            bench.outcome.facts["repeated"] = True
            for key in ("over_provisioning", "nand.erase_us"):
                bench.cannot_tell(key, "delays repeat with each erase unit, but single erases do not stand out")
            return
    if period is None:
        for key in ("erase_unit_bytes", "over_provisioning", "nand.erase_us"):
            bench.cannot_tell(key, why_not)
        return
    _infer(bench, teeth, at, spent, period, row, begun)


def _batch(bench: Bench, period: Estimate) -> str | None:
    """Why delays at this distance are not those of single erase units; None if they can be."""
    units = bench.capacity_bytes / period.value
    if units >= _UNITS_MIN:
        return None
    return (
        f"delays recur every {period.value / 2**20:.4g} MiB, which would be {units:.0f} erase units: too few, so "
        "that several units are likely erased at once"
    )


def begun_bytes(sums: "Floats", ends: "Floats", row: int) -> float | None:
    """Bytes overwritten when garbage collection begins: before it all rows take the same time. None if no row takes
    longer.

    `sums` are the bytes and `ends` the seconds at the end of each request. Also applied to simulated writes: what a
    drive keeps free need not be known then.
    """
    import numpy as np

    at, spent = _rows(sums, ends, row)
    if len(spent) < _AT_START:
        return None
    usual = float(np.percentile(spent[len(spent) // _AT_START :], _USUAL_PERCENTILE))
    excess = np.convolve(np.maximum(spent - (1 + _VARIATION) * usual, 0), np.ones(_BEGUN_ROWS), "valid")
    late = np.flatnonzero(excess > max(_BEGUN_S, _BEGUN_SHARE * usual))
    return float(at[late[0]]) if len(late) else None


def windows_s(sums: "Floats", ends: "Floats") -> list[float]:
    """The seconds that equal parts of the overwritten data took."""
    import numpy as np

    edges = np.linspace(0, sums[-1], WINDOWS + 1)
    return [float(each) for each in np.diff(np.interp(edges, sums, ends))]


def _waf(bench: Bench) -> float | None:
    """Write amplification so far, or None without counters. Excludes the padding of programs that flushes cause."""
    found = bench.box.counters()
    if found is None or not found.host_written_bytes:
        return None
    padded = int(bench.facts.get("write-buffer", {}).get("padded_bytes", 0))
    return (found.nand_written_bytes - padded) / found.host_written_bytes


def _row_bytes(bench: Bench) -> int:
    """Bytes per row over which the speed is computed: a whole number of stripes, at least four requests."""
    row = _stripe_bytes(bench)
    return row * -(-4 * _BLOCK_BYTES // row) if row else 4 * _BLOCK_BYTES


def _stripe_bytes(bench: Bench) -> int:
    """Bytes that all dies program together, or 0 if the geometry is not known."""
    return int(bench.value("parallel_units") or 0) * (bench.program_bytes or 0)


def _rows(sums: "Floats", ends: "Floats", row: int) -> tuple["Floats", "Floats"]:
    """The end of each row in bytes, and the seconds that each row took."""
    import numpy as np

    edges = np.arange(row, sums[-1], row)
    return edges[1:], np.diff(np.interp(edges, sums, ends))


def _teeth(at: "Floats", spent: "Floats", row: int) -> tuple["Floats", Estimate | None]:
    """The rows that take longest at a regular distance, and this distance, or None. Shorter delays have other
    causes."""
    import numpy as np

    excess = spent - np.median(spent)
    # A delay can be split between two rows.
    excess = excess + np.append(np.maximum(excess[1:], 0), 0)
    tall = float(np.median(np.sort(excess)[-12:]))
    if tall < 0.2 * np.median(spent):
        return np.zeros(0), None
    shares = 0.75, 0.55, 0.4, 0.25, 0.15
    delayed = at[excess > shares[-1] * tall]
    for share in shares:
        peaks = at[excess > share * tall]
        teeth = peaks[np.concatenate([[True], np.diff(peaks) > 2.5 * row])]
        period = _period(teeth, row)
        if period is not None and _throughout(teeth, period, float(delayed[-1] - delayed[0])):
            return teeth, period
    return np.zeros(0), None


def _throughout(teeth: "Floats", period: Estimate, delayed_bytes: float) -> bool:
    """Whether delays recur most of the time in which there are any. The parts of one long delay, as copies of an erase
    unit cause it, recur only for a while."""
    import numpy as np

    single = np.round(np.diff(teeth) / period.value) == 1
    return float(single.sum() * period.value) >= _THROUGHOUT * delayed_bytes


def _period(teeth: "Floats", row: int) -> Estimate | None:
    """The distance between teeth, or None if fewer than three in four gaps are regular."""
    import numpy as np

    if len(teeth) < _TEETH_MIN:
        return None
    gaps = np.diff(teeth)
    usual = float(np.median(gaps))
    numbers = np.round(gaps / usual)
    regular = (np.abs(gaps / np.maximum(numbers, 1) - usual) <= max(0.05 * usual, 1.1 * row)) & (numbers >= 1)
    if regular.mean() < 0.75 or (numbers == 1).mean() < 0.6:
        return None
    longest = _longest(regular)
    places = np.concatenate([[0], np.cumsum(numbers[longest])])
    slope, intercept = np.polyfit(places, teeth[longest.start : longest.stop + 1], 1)
    left = teeth[longest.start : longest.stop + 1] - (slope * places + intercept)
    half = max(1.65 * float(np.std(left)) * 3.5 / (float(places[-1]) * math.sqrt(len(places))), 1e-4 * float(slope))
    return Estimate(float(slope), float(slope) - half, float(slope) + half)


def _repeated(spent: "Floats", row: int) -> Estimate | None:
    """The distance after which the delays of rows repeat, from their autocorrelation, or None.

    Other work of garbage collection differs between erase units and adds delays of its own. Only the second half is
    used, where the spare area is used up.
    """
    import numpy as np

    later = spent[len(spent) // 2 :]
    delays = np.minimum(np.log(np.maximum(later / np.median(later), 1)), _DELAY_LOG_MAX)
    delays = delays - delays.mean()
    count = len(delays)
    if count < 8 * _LAG_MIN or not delays.any():
        return None
    spectrum = np.fft.rfft(delays, 2 * count)
    correlation = np.fft.irfft(spectrum * np.conj(spectrum))[:count]
    correlation = correlation / correlation[0] * count / (count - np.arange(count))

    def near(lag: float) -> int:
        first = max(1, round(lag) - 1)
        return first + int(np.argmax(correlation[first : round(lag) + 2]))

    def stands_out(lag: int) -> float:
        # Compared with the correlation half a period away, because multiples of the period correlate as well.
        return float(
            np.mean(
                [
                    correlation[near(lag * each)] - correlation[near(lag * (each - 0.5))]
                    for each in range(1, _REPEATS + 1)
                ]
            )
        )

    scores = {lag: stands_out(lag) for lag in range(_LAG_MIN, count // (_REPEATS + 1))}
    best = max(scores.values())
    if best < _CORRELATED_MIN:
        return None
    # Odd multiples of a period stand out as much as the period itself.
    lag = min(each for each, score in scores.items() if score >= 0.65 * best)
    lag = max((each for each in (lag, lag + 1) if each in scores), key=scores.__getitem__)
    period = near(lag * _REPEATS) / _REPEATS
    return Estimate(period * row, (period - 1 / _REPEATS) * row, (period + 1 / _REPEATS) * row)


def _longest(regular: "NDArray[np.bool_]") -> slice:
    """The longest run of regular gaps."""
    best, begin = slice(0, 0), 0
    for at, is_regular in enumerate([*regular.tolist(), False]):
        if is_regular:
            continue
        if at - begin > best.stop - best.start:
            best = slice(begin, at)
        begin = at + 1
    return best


def _with_parity(bench: Bench) -> float:
    """Bytes of flash per byte of host data, including parity."""
    parity = bench.value("parity.units_per_stripe")
    return parity / (parity - 1) if parity else 1.0


def _unit(bench: Bench, period: Estimate) -> int:
    """Records the erase unit, as whole pages of all dies if these are known. Returns its size in bytes."""
    share = _with_parity(bench)
    stripe = _stripe_bytes(bench)
    pages = round(period.value * share / stripe) if stripe else 0
    near = pages and abs(pages * stripe / (period.value * share) - 1) < 0.03
    unit = pages * stripe if near else round(period.value * share)
    low, high = min(unit, round(period.low * share)), max(unit, round(period.high * share))
    if bench.value("slc_cache_bytes") is not None:
        # Erase units in SLC mode hold a third, or less with more bits per cell, and are visible as well.
        low, high = round(low / 2), 3 * high
    bench.infer("erase_unit_bytes", Estimate(unit, low, high), whole=True)
    if pages:
        # Of each plane.
        together = bench.value("nand.pages_per_program") or 1
        found = Estimate(*(each * together for each in (pages, min(pages, low / stripe), max(pages, high / stripe))))
        bench.infer("nand.pages_per_block", found, whole=True)
    return unit


def _infer(
    bench: Bench,
    teeth: "Floats",
    at: "Floats",
    spent: "NDArray[np.float64]",
    period: Estimate,
    row: int,
    begun: float | None,
) -> None:
    import numpy as np

    with_parity = _with_parity(bench)
    unit = _unit(bench, period)
    usual = float(np.median(spent))
    longer = [float((spent[(at >= tooth) & (at < tooth + 3 * row)] - usual).sum()) for tooth in teeth]
    erase = 1e6 * float(np.median(longer))
    if erase > _ERASE_US_MAX:
        for key in ("over_provisioning", "nand.erase_us"):
            bench.cannot_tell(key, f"delays of {erase / 1e3:.3g} ms repeat, which are longer than an erase")
        return
    bench.infer("nand.erase_us", Estimate(erase, 0.7 * erase, 1.3 * erase))
    if bench.value("slc_cache_bytes") is not None or (begun is not None and begun > _DOUBLE_MIN * with_parity):
        bench.cannot_tell("over_provisioning", "the drive writes data twice, through an SLC cache: erases begin early")
        return
    # Host data occupies additional flash for parity.
    used = (sum(each.written_bytes for each in bench.before) + float(teeth[0])) * with_parity
    size = bench.capacity_bytes
    spare = [(used + kept * unit) / size - 1 for kept in (_KEPT_UNITS[1], _KEPT_UNITS[0], _KEPT_UNITS[2])]
    bench.infer("over_provisioning", Estimate(*spare))
    bench.outcome.facts |= {"first_tooth_bytes": used, "period_bytes": period.value}


def _picture(at: "Floats", spent: "Floats", teeth: "Floats", period: Estimate | None) -> Picture:
    import numpy as np

    finding = "Overwriting in sequence shows no regular erases"
    if period is not None:
        finding = (
            f"Delays recur every {format_bytes_binary(int(period.value))}, from {format_bytes(int(teeth[0]))} on: "
            "an erase unit each"
        )
    step = max(1, len(at) // 2000)
    # The delay of a tooth is in its row or in one of the two behind it.
    begun = np.searchsorted(at, teeth).tolist()
    longest = [int(each + np.argmax(spent[each : each + 3])) for each in begun if each < len(at)]
    near = {each + by for each in longest for by in (-1, 0, 1)}
    # The first row is taken by the write buffer.
    shown = sorted({*range(1, len(at), step), *near} & set(range(1, len(at))))
    return Picture(
        "erases",
        finding,
        "Time that one page of every die takes to be written, over bytes overwritten in sequence.",
        "GB overwritten",
        "milliseconds a stripe",
        [Line("measured", [(float(at[each]) / 1e9, 1e3 * float(spent[each])) for each in shown])],
        [Marks("erase", [(float(at[each]) / 1e9, 1e3 * float(spent[each])) for each in longest])] if longest else [],
    )


EXPERIMENT = Experiment(
    NAME,
    "the full drive overwritten in sequence",
    ("erase_unit_bytes", "over_provisioning", "nand.pages_per_block", "nand.erase_us"),
    _run,
    write_share=WRITE_SHARE,
    rests=1,
    whole_drive=True,
    needs=lambda _known, facts: None if "fill" in facts else "the drive was not filled",
)
