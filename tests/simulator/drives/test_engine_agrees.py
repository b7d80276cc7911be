"""The engine accepts the output of `resolve`: same keys, same policies, and no drive that only one of them accepts."""

import json
from fractions import Fraction

import msgspec
import pytest

from ssdlab import _engine
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.drives.policies import known
from ssdlab.simulator.drives.resolve import ResolvedDrive
from ssdlab.simulator.engine.plain import Outcome


def outcome(drive: ResolvedDrive, *, timed: bool = False) -> Outcome:
    """The outcome of a run with one write."""
    sizes = [{"bytes": 4096, "percent": 100.0}]
    job = {
        "name": "one",
        "clone": 0,
        "stage": 0,
        "direction": "write",
        "sequential": True,
        "read_percent": 0.0,
        "offset_bytes": 0,
        "size_bytes": 4096,
        "io_bytes": 4096,
        "number_ios": None,
        "loops": 1,
        "block_sizes": {"read": sizes, "write": sizes, "trim": sizes},
        "block_align_bytes": {"read": 4096, "write": 4096, "trim": 4096},
        "distribution": {"name": "random"},
        "random_map": True,
        "seed": 1,
        "iodepth": 1,
    }
    specification = {
        "seed": 1,
        "drive": drive.specification(),
        "timed": timed,
        "until": {"kind": "job"},
        "series_points_max": 16,
        "jobs": [job],
    }
    return msgspec.json.decode(_engine.run(json.dumps(specification)), type=Outcome)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in ("tiny", "textbook", "pny-120gb", "generic-nvme-960")),
        *((name, {"ftl.reserved_bytes": "4096"}) for name in ("tiny", "textbook", "pny-120gb", "generic-nvme-960")),
        ("pny-120gb", {"slc_cache.static_bytes": "1GB"}),
        ("generic-nvme-960", {"slc_cache.static_bytes": "4GB", "slc_cache.dynamic_bytes_max": "30GB"}),
        ("generic-nvme-960", {"slc_cache.static_bytes": "4GB", "nand.pages_per_program": "2"}),
    ],
)
def test_capacities_are_the_engine_s(name: str, settings: dict[str, str]) -> None:
    scale = Fraction(1, 64) if name.startswith(("pny", "generic")) else None
    drive = resolve(load(name), settings=settings, scale=scale)
    expected = {
        "mapping_unit_bytes": drive.capacity.mapping_unit_bytes,
        "physical_units": drive.capacity.physical_units,
        "user_units": drive.capacity.user_units,
        "erase_units": drive.capacity.erase_units,
        "units_per_erase_unit": drive.capacity.units_per_erase_unit,
        "data_units_per_erase_unit": drive.capacity.data_units_per_erase_unit,
    }
    capacity = outcome(drive)["capacity"]
    assert {key: value for key, value in capacity.items() if key in expected} == expected


def test_every_policy_can_be_chosen_and_runs_at_the_least_over_provisioning() -> None:
    for kind, of_kind in known().items():
        for name in of_kind:
            settings = {f"ftl.{kind}": name}
            least = resolve(load("textbook"), settings=settings).over_provisioning_min
            drive = resolve(load("textbook"), over_provisioning=least, settings=settings)
            assert drive.specification()["ftl"][kind] == {"name": name} | of_kind[name].parameters
            assert outcome(drive)["failure"] is None


def test_an_outcome_is_of_the_generated_types() -> None:
    found = outcome(resolve(load("tiny")), timed=True)
    (job,) = found["jobs"]
    assert (job["name"], job["write"]["ios"], job["ledger"]["host_written_bytes"]) == ("one", 1, 4096)
    run, timing = found["timing"], job["timing"]
    assert run is not None and timing is not None
    assert timing["write"]["count"] == 1
    assert run["simulated_ns"] == timing["end_ns"]
