"""A laboratory for solid-state drives: how do spare area, free space, TRIM and fragmentation affect a drive?

    import ssdlab

    drive = ssdlab.drive("generic-tlc-480", op=0.07)
    result = ssdlab.run("jobs/randwrite.fio", drive, seed=1)
    result.waf, result.jobs[0].write.total_ios, result.timeseries

    compared = ssdlab.compare("jobs/randwrite.fio", "generic-tlc-480", op=[0.07, 0.28], scale="1/64")
    compared.frame(), compared.plot(), compared.write("out/compared")

Each function does the same as the command of its name. It raises InputError if the input is wrong and RunFailed if a
run fails. Results have a frame, a chart and a display for notebooks (`ssdlab.report.shown`). A script that executes
runs in several processes does not need `if __name__ == "__main__"`. The import is fast: each name is loaded at its
first use.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError, RunFailed

if TYPE_CHECKING:
    from ssdlab.advice.advising import advise
    from ssdlab.advice.fitting import fit
    from ssdlab.comparison.comparing import compare
    from ssdlab.drives.resolve import drive
    from ssdlab.replays.replaying import replay
    from ssdlab.results import Result
    from ssdlab.runs import run_many
    from ssdlab.serving.mounting import mount
    from ssdlab.specification import Specification
    from ssdlab.studies.studying import study
    from ssdlab.sweeps.sweeping import sweep
    from ssdlab.targets.device.measuring import measure
    from ssdlab.targets.running import run
    from ssdlab.workloads.specifying import specify

__all__ = [
    "InputError",
    "Result",
    "RunFailed",
    "Specification",
    "advise",
    "compare",
    "drive",
    "fit",
    "measure",
    "mount",
    "replay",
    "run",
    "run_many",
    "specify",
    "study",
    "sweep",
]

_LOADED_ON_DEMAND = {
    "Result": "ssdlab.results",
    "Specification": "ssdlab.specification",
    "advise": "ssdlab.advice.advising",
    "compare": "ssdlab.comparison.comparing",
    "drive": "ssdlab.drives.resolve",
    "fit": "ssdlab.advice.fitting",
    "measure": "ssdlab.targets.device.measuring",
    "mount": "ssdlab.serving.mounting",
    "replay": "ssdlab.replays.replaying",
    "run": "ssdlab.targets.running",
    "run_many": "ssdlab.runs",
    "specify": "ssdlab.workloads.specifying",
    "study": "ssdlab.studies.studying",
    "sweep": "ssdlab.sweeps.sweeping",
}


def __getattr__(name: str) -> Any:
    if name in _LOADED_ON_DEMAND:
        return getattr(import_module(_LOADED_ON_DEMAND[name]), name)
    if name == "__version__":
        return version("ssdlab")
    raise AttributeError(f"module 'ssdlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
