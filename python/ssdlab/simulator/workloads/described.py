"""A workload described by a few numbers, as the text of a fio job file."""

from ssdlab.errors import InputError

_DISTRIBUTIONS = ("uniform", "zipf:THETA", "pareto:H", "hot:SPACE/WRITES")


def job_text(space_bytes: int | None, block_bytes: int, skew: str, read_percent: float) -> str:
    """Random writes of one size over `space_bytes` (None: the whole drive) with the given skew and share of reads.

    Raises InputError if `read_percent` or `skew` is out of range.
    """
    if not 0 <= read_percent < 100:
        raise InputError(f"--reads is {read_percent:g} %; allowed: 0 to below 100, because only writes wear a drive")
    lines = [
        "[described]",
        "ioengine=libaio",
        "direct=1",
        "norandommap",
        "randrepeat=0",
        f"bs={block_bytes}",
        "iodepth=32",
    ]
    lines.append(f"size={'100%' if space_bytes is None else space_bytes}")
    lines += ["rw=randrw", f"rwmixread={read_percent:g}"] if read_percent else ["rw=randwrite"]
    distribution = _distribution(skew)
    lines += [f"random_distribution={distribution}"] if distribution else []
    return "\n".join(lines) + "\n"


def _distribution(skew: str) -> str | None:
    kind, _, shape = skew.partition(":")
    if skew == "uniform":
        return None
    if kind in ("zipf", "pareto") and shape:
        return f"{kind}:{shape}"
    space, slash, writes = shape.partition("/")
    if kind == "hot" and slash and space.isdigit() and writes.isdigit() and 0 < int(space) < 100 > int(writes) > 0:
        return f"zoned:{writes}/{space}:{100 - int(writes)}/{100 - int(space)}"
    raise InputError(
        f"--skew is {skew!r}; allowed: {', '.join(_DISTRIBUTIONS)} (hot:20/80: 20 % of the space, 80 % of the writes)"
    )
