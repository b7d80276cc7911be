"""The corpus: every case by its name, in groups that tests run in parallel."""

from collections.abc import Callable, Iterator

import cases_catalogue
import cases_corners
import cases_features
import cases_jobs
import cases_namespaces
import cases_policies
import cases_refused
import cases_served
import cases_traces
import cases_zones
from case import Case

GROUPS: dict[str, Callable[[], Iterator[tuple[str, Case]]]] = {
    "catalogue": cases_catalogue.catalogue,
    "policies": cases_policies.policies,
    "jobs": cases_jobs.jobs,
    "alone": cases_features.alone,
    "pairs": cases_features.in_pairs,
    "resumed": cases_features.resumed,
    "live": cases_features.live,
    "served": cases_served.served,
    "traces": cases_traces.traces,
    "idle": cases_corners.idle,
    "maps": cases_corners.maps,
    "together": cases_corners.together,
    "partly": cases_corners.partly,
    "faults": cases_corners.faults,
    "steps": cases_corners.steps,
    "refused": cases_refused.refused,
    "namespaces": cases_namespaces.namespaces,
    "zones": cases_zones.zoned,
}


def group(name: str) -> dict[str, Case]:
    """The cases of a group, by names such as `catalogue/timed/tiny`. Raises ValueError if two have the same name."""
    cases: dict[str, Case] = {}
    for rest, case in GROUPS[name]():
        if f"{name}/{rest}" in cases:
            raise ValueError(f"{name}/{rest} is there twice")
        cases[f"{name}/{rest}"] = case
    return cases


def all_cases() -> dict[str, Case]:
    return {name: case for of_group in GROUPS for name, case in group(of_group).items()}
