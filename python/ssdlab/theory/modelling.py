"""`ssdlab.model`: write amplification in closed form for one or several spare areas, without a simulation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ssdlab.errors import InputError, check_word
from ssdlab.foundation.quantities import format_share, left_empties_of, parse_share, spare_areas_of
from ssdlab.presentation.report.lines import Line, Marks
from ssdlab.presentation.report.shown import Shown, said
from ssdlab.theory import closed_forms
from ssdlab.theory.field_inference import more

if TYPE_CHECKING:
    import polars as pl

    from ssdlab.presentation.report.figure import Figure

Victim = Literal["fifo", "greedy", "d-choices", "random"]
UNITS_PER_ERASE_UNIT = 256
_D = 10
_CURVE_STEPS = 100


@dataclass(frozen=True)
class Row:
    """One spare area with the formula's result. Shares are fractions."""

    over_provisioning: float
    spare_factor: float
    alpha: float
    """The alpha of the formula: 1 + OP, divided by the live share if units are trimmed."""
    write_amplification: float


@dataclass(frozen=True, repr=False)
class Modelled(Shown):
    """Write amplification in closed form, by spare area."""

    formula: str
    """The formula with its parameters, in words."""
    units_per_erase_unit: int
    live_share: float
    """The share of the host's units that hold data; below 1 if units are trimmed."""
    rows: Sequence[Row]
    curve: Callable[[float], float]
    """The write amplification at any over-provisioning, as a share."""

    def __repr__(self) -> str:
        wafs = [row.write_amplification for row in self.rows]
        ends = " to ".join(dict.fromkeys(map(said, (min(wafs), max(wafs)))))
        return f"<Modelled: {self.formula}, WAF {ends}>"

    def frame(self) -> "pl.DataFrame":
        """A frame with one row for each spare area.

        Columns: over_provisioning and spare_factor (shares), alpha (a ratio), write_amplification.
        """
        import polars as pl

        return pl.DataFrame([asdict(row) for row in self.rows])

    def to_dict(self) -> Mapping[str, object]:
        """The object that `ssdlab model --format json` prints."""
        return {
            "formula": self.formula,
            "units_per_erase_unit": self.units_per_erase_unit,
            "live_share": self.live_share,
            "rows": [asdict(row) for row in self.rows],
        }

    def figures(self) -> "Sequence[Figure]":
        """The curve around the spare areas, with these as points."""
        from ssdlab.presentation.report.charts.published import published_lines

        asked = [row.over_provisioning for row in self.rows]
        low, high = max(0.5 * min(asked), 0.01 * max(asked)), max(1.5 * max(asked), 0.3)
        shares = [low * (high / low) ** (step / _CURVE_STEPS) for step in range(_CURVE_STEPS + 1)]
        first, last = min(self.rows, key=_size), max(self.rows, key=_size)
        ends = [f"{each.write_amplification:.2f} at {format_share(each.over_provisioning)}" for each in (first, last)]
        points = [(100 * row.over_provisioning, row.write_amplification) for row in self.rows]
        return (
            published_lines(
                name="model",
                title=f"Write amplification {', '.join(dict.fromkeys(ends))} of spare area",
                caption=f"Closed form: {self.formula}; the spare areas that were asked for as points.",
                lines=[Line("closed form", [(100 * share, self.curve(share)) for share in shares])],
                marks=[Marks("closed form", points)],
                marked="asked for",
                x_title="over-provisioning, %",
                y_title="write amplification (WAF)",
            ),
        )


def _size(row: Row) -> float:
    return row.over_provisioning


def model(
    op: float | str | Sequence[float | str],
    *,
    left_empty: float | str | Sequence[float | str] | None = None,
    victim: Victim = "greedy",
    units_per_erase_unit: int = UNITS_PER_ERASE_UNIT,
    d: int | None = None,
    hot_writes: float | str | None = None,
    hot_space: float | str | None = None,
    separate: bool = False,
    hot_spare: float | str | None = None,
    trim: float | str | None = None,
) -> Modelled:
    """Computes write amplification in closed form, as `ssdlab model`: steady state, random writes of one mapping unit,
    many erase units.

    `op` is the effective over-provisioning, (T - U) / U without reserve, parity, bad blocks and the unwritten part of
    open erase units: one or several shares (0.07 or "7%"). `left_empty`: shares of the capacity that the host leaves
    empty; each spare area then grows with them. `units_per_erase_unit` has no effect for "fifo" and "random". `d` is
    the number of erase units that "d-choices" draws, by default 10. `hot_writes` and `hot_space` are the shares of the
    writes and of the space of the hot part; `separate` gives hot and cold data spare areas of their own, of which the
    hot part has the share `hot_spare`, by default the optimum. `trim` is the share of requests that trim a live unit.

    Raises InputError, which names the argument, its value and what is allowed.

        ssdlab.model(["7%", 0.28]).frame()["write_amplification"]
    """
    check_word("--victim", victim, get_args(Victim))
    shares, empties = spare_areas_of(op), left_empties_of(left_empty)
    hot = [_inner(name, value) for name, value in (("hot-writes", hot_writes), ("hot-space", hot_space))]
    spare = _inner("hot-spare", hot_spare)
    _check(victim, d, hot, trim, is_separate=separate, has_spare=spare is not None)
    try:
        pool, formula = _pool(victim, units_per_erase_unit, d)
        live = closed_forms.live_share(_share("trim", trim)) if trim is not None else 1.0
        whole = pool
        if hot[0] is not None and hot[1] is not None:
            whole, formula = _skewed(hot[0], hot[1], spare, pool, formula, is_separate=separate)
        rows = []
        for over_provisioning in [more(each, share) for share in empties or [0.0] for each in shares]:
            effective = closed_forms.with_live_share(over_provisioning, live)
            factor = closed_forms.spare_factor(over_provisioning)
            rows.append(Row(over_provisioning, factor, 1 + effective, whole(effective)))
    except ValueError as error:
        raise InputError(_in_options(str(error))) from error
    return Modelled(
        formula,
        units_per_erase_unit,
        live,
        rows,
        lambda share: whole(closed_forms.with_live_share(share, live)),
    )


def _share(option: str, given: float | str) -> float:
    try:
        return parse_share(given if isinstance(given, str) else repr(float(given)).removesuffix(".0"))
    except InputError as error:
        raise InputError(f"--{option}: {error}") from None


def _inner(option: str, given: float | str | None) -> float | None:
    """A share that is neither 0 nor 100 %."""
    if given is None:
        return None
    share = _share(option, given)
    if not 0 < share < 1:
        raise InputError(f"--{option}: {given!r} is out of range; allowed: above 0% and below 100%")
    return share


def _check(
    victim: str,
    d: int | None,
    hot: Sequence[float | None],
    trim: float | str | None,
    *,
    is_separate: bool,
    has_spare: bool,
) -> None:
    """Raises InputError for options that do not go together."""
    is_skewed = hot[0] is not None
    if is_skewed != (hot[1] is not None):
        raise InputError("--hot-writes and --hot-space go together")
    if is_separate and not is_skewed:
        raise InputError("--separate needs --hot-writes and --hot-space")
    if has_spare and not is_separate:
        raise InputError("--hot-spare needs --separate")
    if d is not None and victim != "d-choices":
        raise InputError(f"--d is {d}, but the victim policy is {victim!r}; it requires --victim d-choices")
    if trim is not None and is_skewed:
        raise InputError("--trim is for uniform writes; no closed form combines it with --hot-writes")
    if is_skewed and not is_separate and victim != "fifo":
        raise InputError(
            f"no closed form for hot and cold writes to one open erase unit under {victim!r}; "
            "use --victim fifo, or --separate"
        )


def _in_options(message: str) -> str:
    """A formula's error message with the option's name instead of the formula's argument."""
    argument, _, rest = message.partition(" ")
    option = {"trim_share": "trim", "over_provisioning": "op"}.get(argument, argument.replace("_", "-"))
    return f"--{option} {rest}"


def _pool(victim: str, units_per_erase_unit: int, d: int | None) -> tuple[Callable[[float], float], str]:
    """Write amplification as a function of over-provisioning under uniform writes, and the name of the formula."""
    drawn = _D if d is None else d
    return {
        "fifo": (closed_forms.fifo, "FIFO"),
        "random": (closed_forms.random_victim, "random victim"),
        "greedy": (
            lambda op: closed_forms.greedy(op, units_per_erase_unit),
            f"greedy, {units_per_erase_unit} units per erase unit",
        ),
        "d-choices": (
            lambda op: closed_forms.d_choices(op, units_per_erase_unit, drawn),
            f"d-choices, d = {drawn}, {units_per_erase_unit} units per erase unit",
        ),
    }[victim]


def _skewed(
    hot_writes: float,
    hot_space: float,
    hot_spare: float | None,
    pool: Callable[[float], float],
    pool_formula: str,
    *,
    is_separate: bool,
) -> tuple[Callable[[float], float], str]:
    """The same as `_pool` for hot and cold writes, through one open erase unit or separate ones."""
    writes, space = (hot_writes, 1 - hot_writes), (hot_space, 1 - hot_space)
    words = f"{format_share(hot_writes)} of the writes on {format_share(hot_space)} of the space"
    if not is_separate:
        return lambda op: closed_forms.fifo_classes(op, writes, space), f"FIFO, one open erase unit, {words}"
    if hot_spare is None:
        hot = closed_forms.square_root_split(writes, space)[0]
        split = f"{format_share(hot)} of the spare area (optimal split)"
    else:
        hot = hot_spare
        split = f"{format_share(hot)} of the spare area"
    spare = (hot, 1 - hot)
    return (
        lambda op: closed_forms.separated_pools(op, writes, space, spare, pool),
        f"separated pools, {pool_formula}; hot: {words}, {split}",
    )
