"""Read tails under garbage collection: reads and writes at a fixed rate, on a purged drive and in the steady state."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, fill, job, random_writes

WRITE_SHARES_PERCENT = (0, 10, 30, 50)
QUICK_SHARES_PERCENT = (0, 30)


def points(setting: Setting) -> Sequence[Point]:
    shares, seconds = (QUICK_SHARES_PERCENT, 5) if setting.quick else (WRITE_SHARES_PERCENT, 60)
    timed = ("norandommap", "time_based", f"runtime={seconds}s")
    mixed = [Step(f"{share} % writes", job("randrw", "4k", 8, f"rwmixwrite={share}", *timed)) for share in shares]
    return [
        Point("written once sequentially", [fill(), *mixed]),
        Point("in the steady state", [fill(), random_writes("saturate", quick=setting.quick), *mixed]),
    ]


PROTOCOL = Protocol(
    name="read-tails",
    title="Read tail latency during garbage collection",
    source="the latency experiments of `docs/simulate/time.md`: reads wait for programs and erases of their die",
    quick_gives_up="two of the four mixes, the steady state (two passes instead), and all but 5 s per mix",
    points=points,
    columns=("read_mean_us", "read_p99_us", "read_p999_us", "waf"),
)
