"""A laboratory for solid-state drives: how do spare area, free space, TRIM and fragmentation affect a drive?

    import ssdlab

    drive = ssdlab.drive("generic-tlc-480", op=0.07)
    result = ssdlab.run("jobs/randwrite.fio", drive, seed=1)
    result.waf, result.jobs[0].write.total_ios, result.timeseries

    compared = ssdlab.compare("jobs/randwrite.fio", "generic-tlc-480", op=[0.07, 0.28], scale="1/64")
    compared.frame(), compared.plot(), compared.write("out/compared")

Each function does the same as the command of its name. It raises InputError if the input is wrong, in terms of its
arguments, and RunFailed if a run fails. Results have a frame, a chart and a display for notebooks
(`ssdlab.presentation.report.shown`). A script that executes runs in several processes does not need
`if __name__ == "__main__"`. The import is fast: each name is loaded at its first use.
"""

from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError, RunFailed, speaking_python

if TYPE_CHECKING:
    from ssdlab.experiments.advice.advising import advise
    from ssdlab.experiments.advice.fitting import fit
    from ssdlab.experiments.advice.living import lifetime
    from ssdlab.experiments.comparison.comparing import compare
    from ssdlab.experiments.protocols.carrying_out import protocol
    from ssdlab.experiments.replays.replaying import replay
    from ssdlab.experiments.studies.studying import study
    from ssdlab.experiments.sweeps.sweeping import sweep
    from ssdlab.field.health.surveying import health
    from ssdlab.hardware.device.measuring import measure
    from ssdlab.hardware.identification.identifying import identify
    from ssdlab.serving.mounting import mount
    from ssdlab.simulator.drives.listing import drives, policies
    from ssdlab.simulator.drives.resolve import drive
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.runs import run_many
    from ssdlab.simulator.specification import Specification
    from ssdlab.simulator.targets.running import run
    from ssdlab.simulator.workloads.specifying import specify
    from ssdlab.theory.modelling import model
    from ssdlab.theory.pricing import price

__all__ = [
    "InputError",
    "Result",
    "RunFailed",
    "Specification",
    "advise",
    "compare",
    "drive",
    "drives",
    "fit",
    "health",
    "identify",
    "lifetime",
    "measure",
    "model",
    "mount",
    "policies",
    "price",
    "protocol",
    "replay",
    "run",
    "run_many",
    "specify",
    "study",
    "sweep",
]

_LOADED_ON_DEMAND = {
    "Result": "ssdlab.simulator.results",
    "Specification": "ssdlab.simulator.specification",
    "advise": "ssdlab.experiments.advice.advising",
    "compare": "ssdlab.experiments.comparison.comparing",
    "drive": "ssdlab.simulator.drives.resolve",
    "drives": "ssdlab.simulator.drives.listing",
    "fit": "ssdlab.experiments.advice.fitting",
    "health": "ssdlab.field.health.surveying",
    "identify": "ssdlab.hardware.identification.identifying",
    "lifetime": "ssdlab.experiments.advice.living",
    "measure": "ssdlab.hardware.device.measuring",
    "model": "ssdlab.theory.modelling",
    "mount": "ssdlab.serving.mounting",
    "policies": "ssdlab.simulator.drives.listing",
    "price": "ssdlab.theory.pricing",
    "protocol": "ssdlab.experiments.protocols.carrying_out",
    "replay": "ssdlab.experiments.replays.replaying",
    "run": "ssdlab.simulator.targets.running",
    "run_many": "ssdlab.simulator.runs",
    "specify": "ssdlab.simulator.workloads.specifying",
    "study": "ssdlab.experiments.studies.studying",
    "sweep": "ssdlab.experiments.sweeps.sweeping",
}


def __getattr__(name: str) -> Any:
    if name in _LOADED_ON_DEMAND:
        found = getattr(import_module(_LOADED_ON_DEMAND[name]), name)
        # Kept, so that each later use is the same object.
        globals()[name] = speaking_python(found) if isfunction(found) else found
        return globals()[name]
    if name == "__version__":
        # Here, because it takes as long to load as everything else that this file needs.
        from importlib.metadata import version

        return version("ssdlab")
    raise AttributeError(f"module 'ssdlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
