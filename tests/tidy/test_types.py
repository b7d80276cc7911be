"""Objects say their keys: `dict[str, Any]` stands only where a format is another's, and in one alias for each of these.

Such a dictionary hides a misspelt key from the type checkers. What crosses a boundary of ssdlab's own is a TypedDict, a
dataclass or a struct; the objects of the engine are in `ssdlab/engine/plain.py`.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "python/ssdlab"
NAMELESS = "dict[str, Any]"

FORMATS = {
    "engine/plain.py": "parameters of a policy, which each policy has of its own",
    "engine/types.py": "the same",
    "foreign.py": "the alias for JSON and TOML of others",
    "report/theme.py": "the alias for Vega-Lite's specifications",
}
# Not typed yet: rows of tables and objects of results that only their own page or command reads. The list may shrink.
UNTYPED = [
    "advice/fit_measured.py",
    "advice/fitting.py",
    "advice/page.py",
    "atlas/page.py",
    "cli/advise_smart.py",
    "cli/demo.py",
    "cli/drives.py",
    "cli/health.py",
    "cli/identify.py",
    "diagnosis/check.py",
    "diagnosis/reads.py",
    "fleet/page.py",
    "health/concerns.py",
    "health/drive.py",
    "health/served.py",
    "health/standing.py",
    "health/summary.py",
    "identification/drive.py",
    "identification/evidence.py",
    "identification/identify.py",
    "identification/output.py",
    "protocols/figures.py",
    "protocols/output.py",
    "refresh/refreshing.py",
    "report/charts/encodings.py",
    "studies/contract.py",
    "studies/measured.py",
    "studies/output.py",
    "studies/real_drives/asked.py",
    "studies/real_drives/measuring.py",
    "sweeps/rows.py",
    "targets/alone.py",
    "targets/device/disk_use.py",
    "targets/device/health.py",
    "workloads/filesystem/script.py",
]


def nameless() -> set[str]:
    """The files of the library that have such a dictionary."""
    return {
        str(path.relative_to(LIBRARY)) for path in LIBRARY.rglob("*.py") if NAMELESS in path.read_text(encoding="utf-8")
    }


def test_only_formats_of_others_have_dictionaries_of_anything() -> None:
    new = nameless() - FORMATS.keys() - set(UNTYPED)
    assert not new, f"write a TypedDict, or, for a format of others, ssdlab.foreign.JsonObject: {sorted(new)}"


def test_the_lists_name_no_file_without_one() -> None:
    gone = (FORMATS.keys() | set(UNTYPED)) - nameless()
    assert not gone, f"take these off the lists: {sorted(gone)}"
