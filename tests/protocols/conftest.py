"""Protocols are tested on the drives that the tests of measuring serve."""

import importlib.util
from pathlib import Path

# Test folders are not packages, and two files are called conftest.
_SPEC = importlib.util.spec_from_file_location(
    "conftest_of_measure", Path(__file__).parents[1] / "measure" / "conftest.py"
)
assert _SPEC is not None and _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
serve = _MODULE.serve
pytest_collection_modifyitems = _MODULE.pytest_collection_modifyitems
