"""The advised spare area meets the limit in a run of the whole drive, and a tenth less does not."""

from pathlib import Path

import pytest

from small_drives import drive_file
from ssdlab.experiments.advice.confirmation import confirmed
from ssdlab.experiments.advice.described import Described, of_job_file, of_numbers
from ssdlab.experiments.advice.limits import Limit, write_amplification
from ssdlab.experiments.advice.search import least
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.trials import Demand, Trials
from ssdlab.simulator.drives import load

SEED_OF_CHECK = 77
# 512 erase units of 2048 units: 4 GiB. The scaled-down drive is an eighth of it.
UNITS_OF_MINIATURE = 131072

JOBS = Path(__file__).parents[3] / "jobs"
MIXED = "[mix]\nrw=randwrite\nbssplit=4k/60:16k/30:64k/10\nnorandommap\nrandrepeat=0\n"
SEQUENTIAL = "[mix]\nrw=randwrite\nbs=4k\npercentage_random=60\nnorandommap\nrandrepeat=0\n"


def _file(folder: Path, text: str) -> Described:
    path = folder / "job.fio"
    path.write_text(text)
    return of_job_file(str(path))


WORKLOADS = {
    **{f"uniform to {waf}": ("uniform", waf) for waf in (1.5, 2.0, 3.0, 4.5)},
    **{f"zipf {theta}": (f"zipf:{theta}", 2.0) for theta in (0.6, 0.8, 0.99, 1.1, 1.2)},
    **{f"hot {hot}": (f"hot:{hot}", 2.5) for hot in ("20/80", "10/90", "5/50", "1/60")},
    "pareto": ("pareto:0.2", 2.0),
    "half of it is read": ("reads", 2.5),
    "two thirds in use": ("space", 1.8),
    "16 KiB": ("large", 2.5),
    "mixed sizes": (MIXED, 2.5),
    "two fifths in sequence": (SEQUENTIAL, 2.5),
    "jesd219": ("jesd219-enterprise.fio", 3.0),
}


def _workload(folder: Path, kind: str) -> Described:
    if kind.startswith("["):
        return _file(folder, kind)
    if kind.endswith(".fio"):
        return of_job_file(str(JOBS / kind))
    if kind == "space":
        return of_numbers(int(4 * 2**30 * 0.62) // 4096 * 4096, 4096, "uniform", 0)
    if kind == "large":
        return of_numbers(None, 16384, "uniform", 0)
    if kind == "reads":
        return of_numbers(None, 4096, "uniform", 50)
    return of_numbers(None, 4096, kind, 0)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    path = tmp_path_factory.mktemp("drive") / "four-gib.toml"
    path.write_text(drive_file("four-gib", blocks=512, pages=2048, user_bytes=4 * 2**30 * 94 // 100 // 4096 * 4096))
    return Setting(load(str(path)), {})


@pytest.mark.parametrize("name", WORKLOADS)
def test_it_holds_and_a_tenth_less_does_not(tmp_path: Path, setting: Setting, name: str) -> None:
    kind, bound = WORKLOADS[name]
    trials = Trials(_workload(tmp_path, kind), setting, Demand(None, None), [write_amplification(bound)], workers=1)
    scale = setting.scale_for(UNITS_OF_MINIATURE)
    assert scale is not None
    found = confirmed(trials, least(trials, scale), None)
    assert found.over_provisioning is not None
    assert found.over_provisioning > found.own, "a case that asks for nothing shows nothing"
    whole, less = (
        trial.figure("waf")
        for trial in trials.at([found.over_provisioning, 0.9 * found.over_provisioning], None, [SEED_OF_CHECK])
    )
    assert whole is not None
    assert less is not None
    assert whole <= bound < less, f"{found.over_provisioning:.4f}: {whole:.4f}, with a tenth less {less:.4f}"


def test_a_drive_that_reduces_data_outlives_its_cycles_at_a_write_amplification_of_1(tmp_path: Path) -> None:
    """A regression: no amount of spare area was said to meet a life that the drive as sold has."""
    path = tmp_path / "small.toml"
    path.write_text(drive_file("small", blocks=256, pages=64, user_bytes=50 << 20))
    setting = Setting(load(str(path)), {"data_reduction.compression": "true", "ftl.reserve_erase_units": "2"})
    full = setting.at(None, None)
    daily_bytes = full.endurance_cycles * full.capacity.physical_bytes / (4 * 365)
    job = _file(tmp_path, "[w]\nrw=randwrite\nbs=4k\nbuffer_compress_percentage=80\n")
    trials = Trials(job, setting, Demand(daily_bytes, None), [Limit("years", 5, False, "--life 5y")], workers=1)
    found = least(trials, None)
    assert found.over_provisioning == found.own
