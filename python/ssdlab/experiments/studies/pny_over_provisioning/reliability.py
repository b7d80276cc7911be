"""Monte Carlo of the share of drives that reach their rated TBW, and are still fast then, by over-provisioning.

Write amplification and speed at each spare area come from the engine, lifetimes from `ssdlab.theory.lifetime`, which is
compared with simulations of a small drive until it fails.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Row, StudyResult, Table
from ssdlab.experiments.studies.pny_over_provisioning.drives import FOLDER
from ssdlab.experiments.studies.pny_over_provisioning.endurance import JOB, with_share
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.results.speed import speed
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory import endurance
from ssdlab.theory.lifetime import Calibration, Wear, lives

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.theory.lifetime import Lives

SCALE = "1/64"
DRIVES = 1000
"""The number of drives per variant in the Monte Carlo."""
BLOCK_SPREAD = 0.1
DRIVE_SPREAD = 0.1
ZERO, SEVEN = 0.0499, 0.1198
"""(T - U) / U of the two drives of the white paper, without the flash that they reserve."""
CALIBRATED_OP = (0.02, 0.03, ZERO, 0.07, 0.09, SEVEN, 0.20, 0.30)
SHOWN_OP = (0.03, 0.04, ZERO, 0.06, 0.07, 0.085, 0.10, SEVEN, 0.15, 0.20)
SPREADS = (0.05, BLOCK_SPREAD, 0.2)
"""Half and twice the assumed spread of cycles, of blocks and of drives."""
RATED_SHARE = 0.8
"""The rated TBW, as a share of the lifetime writes of the drive with 0 % if all cycles of its flash were used."""
SPEED_SHARE = 0.8
"""The minimum speed, as a share of the speed of a new drive with 0 %."""
DEAD_DRIVES = 6
DEAD_CALIBRATED_OP = (0.03, 0.05, 0.08, 0.143)


def run(context: Context) -> StudyResult:
    """Calibrates the model, draws lifetimes, and checks the model against simulations."""
    import polars as pl

    calibration = _calibrated(context)
    at_zero = CALIBRATED_OP.index(ZERO)
    assert calibration.iops is not None
    fast_iops = SPEED_SHARE * calibration.iops[at_zero]
    zero = drive_of("pny-120gb", op=ZERO)
    rated = RATED_SHARE * endurance.lifetime_bytes(
        zero.endurance_cycles, zero.capacity.physical_bytes, calibration.waf[at_zero]
    )
    wear = Wear(BLOCK_SPREAD, DRIVE_SPREAD)
    found = {
        op: lives(drive_of("pny-120gb", op=op), calibration, wear, drives=DRIVES, seed=context.seed, iops_min=fast_iops)
        for op in SHOWN_OP
    }
    check = _checked(context)
    reaching = {op: found[op].share_reaching(rated) for op in SHOWN_OP}
    fast = {op: found[op].share_reaching(rated, fast=True) for op in SHOWN_OP}
    group = f"Reliability: {DRIVES:,} drives, rated {rated / endurance.BYTES_PER_TB:.0f} TB"
    rows = [
        *(
            Row(f"{_label(op)}: reach their rated TBW", None, 100 * reaching[op], "% of drives", group=group)
            for op in (ZERO, SEVEN)
        ),
        *(
            Row(f"{_label(op)}: and are fast until then", None, 100 * fast[op], "% of drives", group=group)
            for op in (ZERO, SEVEN)
        ),
        Row(
            "fast lifetime model against full simulations until death",
            None,
            100 * (check.modelled / check.simulated - 1),
            "% apart",
            group=group,
            note=f"{DEAD_DRIVES} drives of 256 MiB, each simulated write by write until it turned read-only after "
            f"{check.simulated / 1e9:.2f} GB on average; the model says {check.modelled / 1e9:.2f} GB.",
        ),
    ]
    frame = pl.DataFrame(
        [
            {"over_provisioning": op, "drive": index, "host_bytes": life, "fast_host_bytes": fast_life}
            for op, drawn in found.items()
            for index, (life, fast_life) in enumerate(
                zip(drawn.host_bytes.tolist(), drawn.fast_host_bytes.tolist(), strict=True)
            )
        ]
    )
    return StudyResult(
        finding=f"Of drives rated at {rated / endurance.BYTES_PER_TB:.0f} TB, {100 * reaching[ZERO]:.0f} % reach it "
        f"with 0 % of over-provisioning and {100 * reaching[SEVEN]:.0f} % with 7 %.",
        rows=rows,
        figures=[_survival(found, rated), _against_op(reaching, fast)],
        series={"lives": frame},
        tables=[_spreads_table(calibration, rated, context.seed), _calibration_table(calibration, found)],
        notes=[
            f"A block bears 3,000 cycles on average; blocks of a drive differ by {BLOCK_SPREAD:.0%}, drives by "
            f"{DRIVE_SPREAD:.0%} (standard deviations, normal). These, the rated TBW ({RATED_SHARE:.0%} of what all "
            f"cycles would give the drive with 0 %) and the speed to keep ({SPEED_SHARE:.0%} of what it has when new) "
            "are assumed: the white paper gives no numbers for its statement.",
            "A drive dies when it has no spare blocks left for its host's data, and slows down on the way there, since "
            "each lost block is spare area lost.",
        ],
    )


class _Check:
    def __init__(self, simulated: float, modelled: float) -> None:
        self.simulated = simulated
        self.modelled = modelled


def _label(op: float) -> str:
    return {ZERO: "0 % OP", SEVEN: "7 % OP"}.get(op, f"{op:.0%} in all")


def _calibrated(context: Context) -> Calibration:
    """Steady-state WAF of the endurance workload and IOPS of 4 KiB random writes at each spare area."""
    scale = context.scale(SCALE)
    endurance_job = context.job(FOLDER / JOB, USED_PERCENT="100")
    writes = context.job(FOLDER / "steady-writes.fio")
    specifications = {}
    for op in CALIBRATED_OP:
        drive = drive_of("pny-120gb", op=op, scale=scale)
        specifications[f"endurance workload, OP {op:.2%}"] = specify(
            endurance_job, drive, seed=context.seed, until="steady", timed=False
        )
        specifications[f"random writes, OP {op:.2%}"] = specify(
            writes, drive, seed=context.seed, until="steady", precondition="fill"
        )
    results = context.simulate(specifications)
    waf = [with_share(results[f"endurance workload, OP {op:.2%}"].settled_waf or 0.0) for op in CALIBRATED_OP]
    iops = [_iops(results[f"random writes, OP {op:.2%}"]) for op in CALIBRATED_OP]
    return Calibration(CALIBRATED_OP, waf, iops)


def _iops(result: "Result") -> float:
    """Writes per second in the rounds of the steady state."""
    found = speed(result)
    assert found is not None
    return found.write.iops


def _checked(context: Context) -> _Check:
    """Compares the engine with the model on small drives that are written until they fail."""
    import numpy as np

    path = str(FOLDER / "small-drive.toml")
    mortal = drive_of(path)
    until_worn_out, steady = context.job(FOLDER / "until-worn-out.fio"), context.job(FOLDER / "steady-writes.fio")
    dead = context.simulate_to_the_end(
        {
            f"small drive until it dies, seed {seed}": specify(
                until_worn_out, mortal, seed=seed, precondition="fill", timed=False
            )
            for seed in context.seeds(DEAD_DRIVES)
        }
    )
    points = context.simulate(
        {
            f"small drive, OP {op:.1%}": specify(
                steady,
                drive_of(path, op=op, settings={"faults.wear_out": "false"}),
                seed=context.seed,
                until="steady",
                precondition="fill",
                timed=False,
            )
            for op in DEAD_CALIBRATED_OP
        }
    )
    calibration = Calibration(DEAD_CALIBRATED_OP, [result.settled_waf or 0.0 for result in points.values()])
    modelled = lives(mortal, calibration, Wear(BLOCK_SPREAD), drives=100, seed=context.seed)
    simulated = [result.ledger.host_written_bytes for result in dead.values()]
    return _Check(float(np.mean(simulated)), float(modelled.host_bytes.mean()))


def _survival(found: "dict[float, Lives]", rated: float) -> "Figure":
    import numpy as np

    from ssdlab.presentation.report.charts.published import Line, published_lines

    shares = np.linspace(0, 1, 101)
    lines = []
    for op in (ZERO, 0.10, SEVEN, 0.20):
        life = np.sort(found[op].host_bytes) / 1e12
        left = [(0.0, 100.0), *((float(np.quantile(life, share)), 100 * (1 - float(share))) for share in shares)]
        lines.append(Line(_label(op), left))
    return published_lines(
        name="survival",
        title="More spare area lets the same flash carry more writes from the host",
        caption=f"Drives that still take writes, of {DRIVES:,} each whose blocks differ, under the endurance workload; "
        f"rated: {rated / 1e12:.0f} TB.",
        lines=lines,
        x_title="written by the host, TB",
        y_title="drives alive, %",
    )


def _against_op(reaching: dict[float, float], fast: dict[float, float]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, published_lines

    return published_lines(
        name="reaching-rating",
        title=f"{100 * reaching[ZERO]:.0f} % of the drives reach their rated TBW with 0 % of over-provisioning, "
        f"{100 * reaching[SEVEN]:.0f} % with 7 %",
        caption="Share of drives that reach the rated TBW, and that are still fast then, against the whole of "
        f"over-provisioning, the hidden {ZERO:.0%} of a drive with 0 % included. TBW: the terabytes that may be "
        "written; T: the flash that holds data; U: what the user may use.",
        lines=[
            Line("reach the rated TBW", [(100 * op, 100 * share) for op, share in reaching.items()]),
            Line("and are still fast", [(100 * op, 100 * share) for op, share in fast.items()]),
        ],
        x_title="over-provisioning, (T - U) / U, %",
        y_title="drives, %",
    )


def _spreads_table(calibration: Calibration, rated: float, seed: int) -> Table:
    rows: list[Sequence[str | float | None]] = []
    for spread in SPREADS:
        shares = [
            100
            * lives(
                drive_of("pny-120gb", op=op), calibration, Wear(spread, spread), drives=DRIVES, seed=seed
            ).share_reaching(rated)
            for op in (ZERO, SEVEN)
        ]
        rows.append((f"{spread:.0%}", *shares, shares[1] - shares[0]))
    return Table(
        "The spread of cycles halved and doubled",
        ("blocks and drives differ by", "0 % OP: reach their rated TBW, %", "7 % OP", "more with 7 %, points"),
        rows,
        f"Of {DRIVES:,} drives each, rated {rated / endurance.BYTES_PER_TB:.0f} TB. More spare area lets more drives "
        "reach their rating with each spread.",
    )


def _calibration_table(calibration: Calibration, found: "dict[float, Lives]") -> Table:
    assert calibration.iops is not None
    rows = []
    for op, waf, iops in zip(calibration.over_provisioning, calibration.waf, calibration.iops, strict=True):
        drawn = found.get(op)
        median = sorted(drawn.host_bytes.tolist())[DRIVES // 2] / 1e12 if drawn else None
        worst = sorted(drawn.host_bytes.tolist())[DRIVES // 100] / 1e12 if drawn else None
        rows.append((f"{op:.2%}", waf, f"{iops:,.0f}", worst, median))
    return Table(
        "What the lifetime model was calibrated with, and the lives it gives",
        ("(T - U) / U", "WAF, endurance workload", "4 KiB random writes/s", "99 % live for, TB", "half live for, TB"),
        rows,
    )
