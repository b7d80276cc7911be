"""Are requests mapped to the right addresses, and does each volume get its own drive?"""

from pathlib import Path
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.replays.plan import volumes_of
from ssdlab.simulator.workloads.traces.recording import opened
from ssdlab.simulator.workloads.traces.specification import DriveWrites

# The capacity of `tiny.toml`.
TINY_BYTES = 1 << 20
UNIT = 4096


def test_folding_is_the_modulus(replayed: Any, write_trace: Any) -> None:
    """The reference trace has the addresses modulo the drive, split at its end, and needs no map."""
    far = [("write", TINY_BYTES * (index % 7) + index * 7919 * 512 % (3 * TINY_BYTES), 65536) for index in range(200)]
    twin = []
    for operation, at, length in far:
        at %= TINY_BYTES
        first = min(length, TINY_BYTES - at)
        twin += [(operation, at, first), *([(operation, 0, length - first)] if first < length else [])]
    write_trace("far.log", far)
    write_trace("twin.log", twin)
    folded, strict = replayed("far.log"), replayed("twin.log", address_map="strict")
    assert folded.ledger == strict.ledger
    assert folded.trace_counts["split"] == len(twin) - len(far) > 0
    assert folded.trace_counts["moved"] == sum(at >= TINY_BYTES for _, at, _ in far)
    assert folded.trace_counts["writes"] == len(far)
    assert folded.jobs[-1].write.total_ios == len(twin)


def test_packing_follows_the_first_touch(replayed: Any, write_trace: Any) -> None:
    """Over a space a million times the drive; the reference trace packs addresses with a dictionary."""
    far = [("trim", 0, 1 << 30)]
    far += [
        ("read" if index % 5 == 0 else "write", index * 7919 % 80 * (1 << 34) + 512 * (index % 3), 2 * UNIT)
        for index in range(900)
    ]
    places: dict[int, int] = {}
    twin = []
    for operation, at, length in far[1:]:
        while length:
            part = min(length, UNIT - at % UNIT)
            place = places.setdefault(at // UNIT, len(places))
            twin.append((operation, place * UNIT + at % UNIT, part))
            at, length = at + part, length - part
    # Without a fill, because the rest of a partially written unit must not exist.
    write_trace("far.log", far)
    write_trace("twin.log", twin)
    packed, strict = (
        replayed("far.log", address_map="compact", precondition="none"),
        replayed("twin.log", address_map="strict", precondition="none"),
    )
    assert packed.trace_counts["placed_units"] == len(places)
    assert packed.trace_counts["trimmed_nowhere_bytes"] == 1 << 30
    assert packed.ledger.host_written_bytes == strict.ledger.host_written_bytes
    assert packed.ledger.programmed_units == strict.ledger.programmed_units
    assert packed.wear == strict.wear


def test_what_does_not_fit_is_refused(folder: Path, replayed: Any, write_trace: Any) -> None:
    write_trace("wide.log", [("write", index * UNIT * 3, UNIT) for index in range(400)])
    with pytest.raises(InputError, match=r"wide\.log: .*touch more than 256 units .* --map fold"):
        replayed("wide.log", address_map="compact")
    with pytest.raises(InputError, match=rf"reaches to byte {399 * 3 * UNIT + UNIT:,}, .*{TINY_BYTES:,}; .*--map"):
        replayed("wide.log", address_map="strict")


@pytest.mark.parametrize("options", [{"until_steady": True}, {"loop_until": DriveWrites(None, UNIT)}])
def test_what_never_writes_is_not_repeated(replayed: Any, write_trace: Any, options: Any) -> None:
    write_trace("reads.log", [("read", 0, UNIT)])
    with pytest.raises(InputError, match="writes nothing"):
        replayed("reads.log", **options)


def test_repeating_reaches_the_steady_state(replayed: Any, write_trace: Any) -> None:
    write_trace("random.log", [("write", index * index * 7 % 256 * UNIT, UNIT) for index in range(300)])
    result = replayed("random.log", until_steady=True)
    assert result.steady_state.reached
    assert result.trace_counts["passes"] >= 5


@pytest.fixture
def two_volumes(write_trace: Any) -> dict[str, list[tuple[str, int, int]]]:
    """`both.csv` in Alibaba's format with two interleaved volumes, and each alone as `VOLUME.log`."""
    requests = {
        "7": [("write", index * 37 % 256 * UNIT, UNIT) for index in range(700)],
        "12": [("write", index * 61 % 200 * UNIT, 2 * UNIT) for index in range(500)],
    }
    for volume, of_volume in requests.items():
        write_trace(f"{volume}.log", of_volume)
    return requests


def test_volumes(folder: Path, replayed: Any, two_volumes: Any) -> None:
    lines = [
        f"{volume},W,{at},{length},{time}"
        for volume, requests in two_volumes.items()
        for time, (_, at, length) in enumerate(requests)
    ]
    lines.sort(key=lambda line: int(line.rpartition(",")[2]))
    (folder / "both.csv").write_text("\n".join(lines) + "\n")
    alone = {volume: replayed(f"{volume}.log").ledger for volume in two_volumes}
    assert {volume: replayed("both.csv", volume=volume).ledger for volume in two_volumes} == alone

    with opened([str(folder / "both.csv")], None, 0) as recording:
        with pytest.raises(InputError, match=r"has 2 volumes: .*: 7 \(700 requests\), 12 \(500 requests\)"):
            volumes_of(recording, [], each=False)
        with pytest.raises(InputError, match=r"--volume 112: .* no such volume; did you mean '12'"):
            volumes_of(recording, ["112"], each=False)
        assert volumes_of(recording, ["12"], each=False) == ["12"]
        assert volumes_of(recording, [], each=True) == ["7", "12"]
    with opened([str(folder / "7.log")], None, 0) as recording:
        assert volumes_of(recording, [], each=False) == volumes_of(recording, [], each=True) == [None]

    merged = replayed("both.csv", precondition="none")
    written = sum(length for requests in two_volumes.values() for _, _, length in requests)
    assert merged.ledger.host_written_bytes == written
