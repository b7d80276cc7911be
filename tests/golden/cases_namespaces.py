"""Drives with several namespaces: combined with each feature, placement policies, saved states, runs in steps."""

from collections.abc import Iterator

from case import Case, Live, Resumed, Run
from cases_features import FEATURES
from parts import KIB, MIB, UNIT, Changes, Json, drive, fill, job, per_direction, specification

# The rest of the 24 MiB of the small drive belongs to no namespace.
_SIZES = {"database": 10 * MIB, "log": 4 * MIB, "backup": 8 * MIB}
_ENTRIES = [{"name": name, "size_bytes": size} for name, size in _SIZES.items()]
_ON: Changes = {"namespace": _ENTRIES}


def _places() -> dict[str, dict[str, int]]:
    """The range of each namespace, as keys of a job."""
    found: dict[str, dict[str, int]] = {}
    at = 0
    for name, size in _SIZES.items():
        found[name] = {"offset_bytes": at, "size_bytes": size}
        at += size
    return found


def _tenants(share: float) -> list[dict[str, Json]]:
    """Fills all namespaces; then their tenants write in parallel: skewed, in sequence, and in large blocks with trims.
    `share` is the amount of the first tenant as a share of the small drive."""
    places = _places()
    parts = per_direction([{"bytes": 512, "percent": 30.0}, {"bytes": 8 * KIB, "percent": 70.0}])
    return [
        fill(size_bytes=sum(_SIZES.values()), share=1.0),
        job(
            **places["database"],
            name="database",
            stage=1,
            direction="read-write",
            share=share,
            block_sizes=parts,
            block_align_bytes=per_direction(512),
            distribution={"name": "zipf", "theta": 1.1, "center": None},
        ),
        job(**places["log"], name="log", stage=1, sequential=True, block_bytes=16 * KIB, share=share / 2, iodepth=1),
        job(**places["backup"], name="backup", stage=1, block_bytes=128 * KIB, share=share, seed=12),
        job(
            **places["backup"], name="trims", stage=1, direction="trim", block_bytes=64 * KIB, share=share / 8, seed=13
        ),
    ]


def namespaces() -> Iterator[tuple[str, Case]]:
    together: dict[str, Changes] = {"none": {}} | FEATURES
    for name, changes in together.items():
        on = drive(changes | _ON)
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            yield f"{clock}/{name}", Run(specification(_tenants(0.8), on, timed=timed))
    for placement in ("single", "class-spare"):
        on = drive(_ON | {"ftl.placement": {"name": placement}})
        yield f"untimed/{placement}", Run(specification(_tenants(0.8), on, timed=False))
    # Reads ahead beyond the last namespace, where nothing was written.
    on = drive(FEATURES["read-ahead"] | _ON)
    last = job(**_places()["backup"], name="reads", stage=1, direction="read", sequential=True, share=0.3, iodepth=1)
    yield "timed/read-to-the-end", Run(specification([_tenants(0.8)[0], last], on))
    on = drive(_ON)
    after = specification(_tenants(0.4)[1:], on)
    yield "resumed/alike", Resumed(specification(_tenants(0.4), on, timed=False), after)
    others = [{**entry, "size_bytes": entry["size_bytes"] - UNIT} for entry in _ENTRIES]
    yield (
        "resumed/other-sizes",
        Resumed(specification(_tenants(0.1), on), specification([], drive({"namespace": others}))),
    )
    calls: list[list[Json]] = [["advance", 2500, 1e6], ["end_job"], ["advance", 10**9, 1e6], ["outcome"]]
    yield "live/ended", Live(specification(_tenants(0.4), on), calls)
    yield from _refused()


def _refused() -> Iterator[tuple[str, Case]]:
    wrong = {
        "none-left": [*_ENTRIES, {"name": "more", "size_bytes": 3 * MIB}],
        "part-of-a-unit": [{"name": "odd", "size_bytes": MIB + 1}],
        "empty": [{"name": "empty", "size_bytes": 0}],
        "same-name": [_ENTRIES[0], _ENTRIES[0]],
        "no-word": [{"name": "a b", "size_bytes": MIB}],
        "too-many": [{"name": f"n{number}", "size_bytes": UNIT} for number in range(129)],
    }
    for name, entries in wrong.items():
        yield (
            f"refused/{name}",
            Run(specification([job(size_bytes=UNIT, number_ios=10)], drive({"namespace": entries}))),
        )
    yield "refused/job-beyond", Run(specification([job(number_ios=10)], drive(_ON)))
