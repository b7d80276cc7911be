"""JESD219A on both drives: its enterprise mix, and one parameter for the difference to a client's workload.

The published figures are for the standard's client workload, a recorded trace that must not be copied. The parameter is
the share of the written bytes that garbage collection never copies, because the files are written sequentially and
deleted or overwritten before. These bytes are programmed once; the others are those of the mix. Write amplification is
then share + (1 - share) x that of the mix.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Range, Row, StudyResult, Table
from ssdlab.experiments.studies.pny_over_provisioning.drives import (
    BYTES_PER_GB,
    COMPETITOR,
    DRIVES,
    FOLDER,
    PNY,
    RESERVE_GB,
    TOLERANCE,
    figure,
    reserving,
    written_gb,
)
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory import closed_forms, endurance

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result

JOB = "endurance.fio"
SCALE = "1/32"
SEEDS = 3
GB_PER_DAY = 40

AS_FILED = "as in the drive files"
_BY_FREQUENCY = {"ftl.placement": "frequency-frontiers", "ftl.placement.frontiers": "16"}
_AGE = {"ftl.victim": "cost-benefit"}
POLICIES: Mapping[str, Mapping[str, str]] = {
    AS_FILED: {},
    "victims by age": _AGE,
    "open erase units by update frequency": _BY_FREQUENCY,
    "both": _BY_FREQUENCY | _AGE,
}
"""The settings of the translation layer that were tried with the drives' reserve. The rows state the first."""
RESERVES_GB = (0.0, 1.0, 2.0, 2.5, RESERVE_GB, 3.5, 4.0)
"""The reserves that were tried: at the right one, one share explains both drives."""

OTHERS = (
    "nova-v128",
    "c300-128gb",
    "x25m-g2-160gb",
    "intel-545s-256gb",
    "generic-sata-mlc-256",
    "generic-sata-tlc-500",
    "generic-nvme-tlc-1000",
)
"""The consumer drives of the catalogue that reduce no data and keep no flash from it."""

SHARE = 0.793
"""The fitted share: least squares of the relative deviations of both published figures."""
FITTED = Fitted(("reserve", "share never copied"), 2)
_SHARES = tuple(permille / 1000 for permille in range(1000))


def with_share(waf_of_mix: float, share: float = SHARE) -> float:
    """The write amplification if `share` of the written bytes is programmed once and never copied."""
    return share + (1 - share) * waf_of_mix


@dataclass(frozen=True)
class Mix:
    """The mix on a drive: bytes from the secure erase to the end of the run, and WAF in the steady state."""

    host_gb: float
    """Bytes written by the host up to the end of the run, in 10^9 bytes of the full drive."""
    nand_gb: float
    settled_waf: float

    @classmethod
    def of(cls, result: "Result") -> "Mix":
        """The figures of a run, with bytes converted from the scaled to the full drive."""
        scale = float(Fraction(result.specification.scale))
        assert result.settled_waf is not None
        return cls(
            result.ledger.host_written_bytes / scale / BYTES_PER_GB,
            result.ledger.programmed_bytes / scale / BYTES_PER_GB,
            result.settled_waf,
        )

    def waf(self, host_gb: float, share: float) -> float:
        """NAND writes over host writes from the secure erase until the host has written `host_gb`, as in SMART."""
        mixed_gb = (1 - share) * host_gb
        nand_gb = self.nand_gb + self.settled_waf * (mixed_gb - self.host_gb)
        return share + nand_gb / host_gb


@dataclass(frozen=True)
class Policy:
    """A setting of the translation layer on both drives, and the shares fitted with it."""

    name: str
    mixes: Mapping[str, Mix]
    """The mix on each drive."""
    shares: Mapping[str, float] = field(init=False)
    """The share by drive, fitted to its own published figure only."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", {drive: self.best((drive,)) for drive in self.mixes})

    def waf(self, drive: str, share: float) -> float:
        """The write amplification for the published bytes that the host wrote to the drive."""
        return self.mixes[drive].waf(written_gb(drive)[1], share)

    def best(self, drives: Sequence[str]) -> float:
        """The share with the smallest sum of squared relative deviations on these drives."""
        return min(
            _SHARES, key=lambda share: sum((self.waf(drive, share) / published_waf(drive) - 1) ** 2 for drive in drives)
        )


def run(context: Context) -> StudyResult:
    """Simulates the mix on both drives with each translation layer and each reserve, with several seeds as filed."""
    layers = {**POLICIES, **{_keeping(gb): reserving(gb) for gb in RESERVES_GB if gb != RESERVE_GB}}
    labels = {
        (layer, drive, seed): f"{drive}; JESD219A's mix, {layer}; seed {seed}"
        for layer in layers
        for seed in (context.seeds(SEEDS) if layer == AS_FILED else context.seeds(1))
        for drive in DRIVES
    }
    scale = context.scale(SCALE)
    job = context.job(FOLDER / JOB, USED_PERCENT="100")
    specifications = {
        label: specify(
            job,
            drive_of(DRIVES[drive], scale=scale, settings=layers[layer]),
            seed=seed,
            until="steady",
            timed=False,
        )
        for (layer, drive, seed), label in labels.items()
    }
    results = context.simulate(specifications)
    mixes = {key: Mix.of(results[label]) for key, label in labels.items()}
    fitted = {name: Policy(name, {drive: mixes[name, drive, context.seed] for drive in DRIVES}) for name in layers}
    policies = [fitted[name] for name in POLICIES]
    reserves = {gb: fitted[AS_FILED if gb == RESERVE_GB else _keeping(gb)] for gb in RESERVES_GB}
    stated = fitted[AS_FILED]
    spread = {
        drive: [mixes[AS_FILED, drive, seed].waf(written_gb(drive)[1], SHARE) for seed in context.seeds(SEEDS)]
        for drive in DRIVES
    }
    wafs = {drive: stated.waf(drive, SHARE) for drive in DRIVES}
    return StudyResult(
        finding=f"Under the endurance workload 7 % of over-provisioning lowers the write amplification from "
        f"{wafs[COMPETITOR]:.2f} to {wafs[PNY]:.2f}, so the same flash lasts "
        f"{wafs[COMPETITOR] / wafs[PNY]:.1f} times as long.",
        rows=_rows(stated, reserves[0.0], spread),
        figures=[_reserve_figure(reserves), _share_figure(stated)],
        tables=[_reserves_table(reserves), _others_table(), _policies_table(policies), _life_table(stated)],
        notes=[
            "JESD219A's client workload is a recorded trace that may not be copied. What it has and the enterprise mix "
            "has not is one number here: the share of the written bytes that garbage collection never copies. In a "
            "client these are files that are written in sequence and deleted, overwritten or trimmed before garbage "
            "collection reaches them: downloads, caches, page files. Simulated as such, in files of 1 to 2 % of the "
            "drive that are trimmed when they are written, they give the same write amplification within 4 %.",
            f"Two numbers were fitted to these two points: the share, and the {RESERVE_GB:g} GB of flash that both "
            "drives keep for firmware, tables and blocks that replace bad ones. The rows count as saturated. Without "
            f"a reserve the best share gives {_with_best(reserves[0.0])}. The speeds of the other test were not used.",
        ],
    )


def _keeping(gb: float) -> str:
    return f"a reserve of {gb:g} GB"


def _with_best(policy: Policy) -> str:
    best = policy.best(tuple(DRIVES))
    return " and ".join(f"{policy.waf(drive, best):.2f}" for drive in (PNY, COMPETITOR))


def published_waf(drive: str) -> float:
    """NAND writes over host writes, with two decimals as printed."""
    nand_gb, host_gb = written_gb(drive)
    return round(nand_gb / host_gb, 2)


def _rows(stated: Policy, plain: Policy, spread: Mapping[str, Sequence[float]]) -> list[Row]:
    group = "WAF under JESD219A, from the secure erase, a share of the bytes never copied"
    wafs = {drive: stated.waf(drive, SHARE) for drive in DRIVES}
    unfitted = {drive: plain.waf(drive, 0.0) for drive in DRIVES}
    rows = [
        Row(
            f"{drive}, {written_gb(drive)[1]:,.0f} GB from the host",
            published_waf(drive),
            wafs[drive],
            "WAF",
            tolerance=TOLERANCE,
            fitted=FITTED,
            unfitted=unfitted[drive],
            spread=(min(values), max(values)),
            group=group,
            note=f"Published as {written_gb(drive)[0]:,.0f} GB of NAND writes. Unfitted: the mix alone, on a "
            "drive without a reserve.",
        )
        for drive, values in spread.items()
    ]
    rows.append(
        Row(
            "WAF at 0 % over WAF at 7 %",
            round(published_waf(COMPETITOR) / published_waf(PNY), 2),
            wafs[COMPETITOR] / wafs[PNY],
            "",
            tolerance=TOLERANCE,
            fitted=FITTED,
            unfitted=unfitted[COMPETITOR] / unfitted[PNY],
            group=group,
            note='The white paper says "up to 50 % more data"; its own gigabytes make it 52 %.',
        )
    )
    host_gb = written_gb(PNY)[1]
    needless_tb = [
        (policy.mixes[COMPETITOR].waf(host_gb, share) - policy.waf(PNY, share)) * host_gb / 1000
        for policy, share in ((stated, SHARE), (plain, 0.0))
    ]
    rows.append(
        Row(
            f"needless NAND writes at 0 % for {host_gb:,.0f} GB from the host",
            Range(figure("needless NAND writes over the rated life")[0]),
            needless_tb[0],
            "TB",
            tolerance=TOLERANCE,
            printed="text",
            fitted=FITTED,
            unfitted=needless_tb[1],
            group=group,
            note="The white paper says more than 10 TB over the rated life, and not how long that is; what it wrote to "
            "its own drive is taken.",
        )
    )
    for drive, other in ((PNY, COMPETITOR), (COMPETITOR, PNY)):
        share = stated.shares[other]
        rows.append(
            Row(
                drive,
                published_waf(drive),
                stated.waf(drive, share),
                "WAF",
                tolerance=TOLERANCE,
                fitted=FITTED,
                group="One drive from the share of the other",
                note=f"The share fitted to the other drive is {100 * share:.1f} %. No prediction: the reserve is where "
                "the shares of both drives agree.",
            )
        )
    return rows


def _life_table(stated: Policy) -> Table:
    rows: list[Sequence[str | float | None]] = []
    for what, share in (("the mix alone", 0.0), (f"{100 * SHARE:.1f} % of the bytes never copied", SHARE)):
        for drive, name in DRIVES.items():
            model = drive_of(name)
            factor = with_share(stated.mixes[drive].settled_waf, share)
            tbw = endurance.lifetime_bytes(model.endurance_cycles, model.capacity.physical_bytes, factor)
            years = tbw / (GB_PER_DAY * BYTES_PER_GB * endurance.DAYS_PER_YEAR)
            rows.append((f"{what}; {drive}", factor, tbw / endurance.BYTES_PER_TB, years))
    return Table(
        "Life in terabytes and years",
        ("workload and drive", "WAF, steady", "TBW, TB", f"years at {GB_PER_DAY} GB a day"),
        rows,
        f"Host writes until all flash has its {drive_of(DRIVES[PNY]).endurance_cycles:,} cycles, worn evenly.",
    )


def _reserves_table(reserves: Mapping[float, Policy]) -> Table:
    rows: list[Sequence[str | float | None]] = []
    for gb, policy in reserves.items():
        shares = policy.shares
        crossed = [
            100 * (policy.waf(drive, shares[other]) / published_waf(drive) - 1)
            for drive, other in ((PNY, COMPETITOR), (COMPETITOR, PNY))
        ]
        over = [f"{drive_of(DRIVES[drive], settings=reserving(gb)).capacity.over_provisioning:.1%}" for drive in DRIVES]
        rows.append((f"{gb:g} GB", *over, *(100 * shares[drive] for drive in DRIVES), *crossed))
    return Table(
        "What the reserve decides",
        (
            "reserve",
            "PNY: (T - U) / U",
            "competitor",
            "PNY: share alone, %",
            "competitor",
            "PNY from the competitor's share, %",
            "competitor from PNY's, %",
        ),
        rows,
        "The share of the written bytes that is never copied, fitted to each drive alone, and how far each drive's "
        "write amplification is off with the share of the other. T: the flash that holds data; U: what the user may "
        "use.",
    )


def _others_table() -> Table:
    """Other consumer drives without a reserve in their files, and what the share of flash of these two would do."""
    share = RESERVE_GB * BYTES_PER_GB / drive_of(DRIVES[PNY], settings=reserving(0.0)).capacity.physical_bytes
    rows: list[Sequence[str | float | None]] = []
    for name in OTHERS:
        capacity = drive_of(name).capacity
        assert capacity.held_out_bytes == 0, name
        kept = capacity.physical_bytes * (1 - share) / capacity.user_bytes - 1
        over = (capacity.over_provisioning, kept)
        wafs = [closed_forms.greedy(each, capacity.units_per_erase_unit) for each in over]
        rows.append((name, *(f"{each:.1%}" for each in over), *wafs))
    return Table(
        "What the same reserve would be on other consumer drives",
        ("drive", "(T - U) / U", "with the reserve", "WAF, uniform random writes", "with the reserve"),
        rows,
        f"No source gives the reserve of any of these drives, so that their files have none. With {share:.1%} of the "
        "flash, as these two are fitted to keep, a full drive would write so much more. From theory (greedy), without "
        "a run.",
    )


def _policies_table(policies: Sequence[Policy]) -> Table:
    rows: list[Sequence[str | float | None]] = []
    for policy in policies:
        best = policy.best(tuple(DRIVES))
        values = [policy.waf(drive, best) for drive in (PNY, COMPETITOR)]
        rows.append(
            (
                policy.name,
                *(policy.waf(drive, 0.0) for drive in (PNY, COMPETITOR)),
                *(f"{100 * policy.shares[drive]:.1f}" for drive in (PNY, COMPETITOR)),
                f"{100 * best:.1f}",
                *values,
                values[1] / values[0],
            )
        )
    published = [published_waf(PNY), published_waf(COMPETITOR)]
    rows.append(("published", *published, "0", "0", "0", *published, published[1] / published[0]))
    return Table(
        "What the choice of the translation layer decides",
        (
            "translation layer",
            "PNY: WAF of the mix",
            "competitor",
            "PNY: share alone, %",
            "competitor",
            "share for both, %",
            "PNY: WAF with it",
            "competitor",
            "ratio",
        ),
        rows,
        "The share of the written bytes that is never copied, fitted to each drive alone and to both. The nearer the "
        "shares of the two drives, the better one number explains both.",
    )


def _reserve_figure(reserves: Mapping[float, Policy]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, published_lines

    lines = [
        Line(drive.split(",")[0], [(gb, 100 * policy.shares[drive]) for gb, policy in reserves.items()], dotted=True)
        for drive in DRIVES
    ]
    return published_lines(
        name="choice-of-the-reserve",
        title=f"Only with a reserve of {RESERVE_GB:g} GB does one share of bytes explain both drives",
        caption="The share of the written bytes that is never copied, as each drive's published write amplification "
        "asks for it, against the flash that both drives keep from data. They cross where it was taken.",
        lines=lines,
        x_title="reserve, GB",
        y_title="share of the bytes that is never copied, %",
    )


def _share_figure(stated: Policy) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    lines, marks = [], []
    shares = [index / 20 for index in range(19)]
    for drive in DRIVES:
        label = drive.split(",")[0]
        lines.append(Line(label, [(100 * share, stated.waf(drive, share)) for share in shares]))
        marks.append(Marks(label, [(100 * stated.shares[drive], published_waf(drive))]))
    apart = 100 * abs(stated.shares[PNY] - stated.shares[COMPETITOR])
    return published_lines(
        name="choice-of-the-share",
        title=f"One share explains both drives: the two fitted alone are {apart:.1f} points apart",
        caption="Write amplification from the secure erase on against the share of the written bytes that is never "
        "copied; the marks are the published figures, at the share that each drive alone would be fitted with.",
        lines=lines,
        marks=marks,
        x_title="share of the bytes that is never copied, %",
        y_title="write amplification (WAF)",
        number_format=".2f",
    )
